/* Protects a client from another one that takes all it can.  Beside a greedy process, with up to 28 threads in one session or with eight
 * sessions, a polite client of small calls keeps at least half of its rate as far as hexrig decides: the driver serves processes in
 * turns, whatever one of them has queued, and copies large buffers in pieces.  Who gets a processor is the kernel's decision, so two
 * things are measured, by medians over single calls of the polite client:
 *   - the time of a call, at most twice as long as alone: beside clients that wait in the DSP and leave the processors alone, and beside
 *     large copies, which would hold up the driver's one thread for ten times as long;
 *   - how many calls of the greedy client end during one of the polite client's, beside clients that keep the driver busy. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "conformance/client.h"
#include "own_rig.h"
#include "remote.h"

enum { SAMPLES = 4000, SKIPPED = 200, LARGE = 1 << 20, PATIENCE_S = 60, TURNS_MOST = 4, TRIES = 4 };

char mount_dir[64] = "rig"; /* in the folder that the test works in */
const struct access *dev;

static struct board {
    _Atomic int ready; /* sessions of the greedy client */
    _Atomic unsigned long greedy_calls;
    _Atomic unsigned n;  /* calls of the polite client in this measurement */
    struct sample {
        float us;
        unsigned turns; /* calls of the greedy client meanwhile */
    } samples[SAMPLES];
} *board;

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* --- the greedy client -------------------------------------------------------------------------------------------------- */

/* One call of a session: by the library, whose session is shared by all threads, or by ioctls of a session of the thread's own. */
struct session {
    bool raw;
    remote_handle64 h;
    struct file file;
};

static int call(const struct session *s, uint32_t method, uint32_t value, void *in, void *out, uint32_t n)
{
    struct hxt_in head = {0, value};
    remote_arg pra[3] = {{.buf = {&head, sizeof(head)}}, {.buf = {in, n}}, {.buf = {out, n}}};
    struct fastrpc_invoke_args args[3] = {arg(&head, sizeof(head)), arg(in, n), arg(out, n)};
    const uint32_t sc = n ? REMOTE_SCALARS_MAKE(method, 2, 1) : REMOTE_SCALARS_MAKE(method, 1, 0);

    return s->raw ? invoke(s->file.h, s->file.skel, sc, args) : remote_handle64_invoke(s->h, sc, pra);
}

static struct session open_session(bool raw)
{
    struct remote_rpc_control_unsigned_module u = {.domain = CDSP_DOMAIN_ID, .enable = 1};
    struct session s = {.raw = raw};

    remote_session_control(DSPRPC_CONTROL_UNSIGNED_MODULE, &u, sizeof(u));
    if (raw)
        s.file = open_skel();
    else
        need_is(remote_handle64_open(HXT_SKEL_URI CDSP_DOMAIN, &s.h), 0, "open");
    return s;
}

static const struct greed {
    const char *name;
    uint32_t method, value, bytes;
    bool raw; /* sessions: each thread has one; otherwise all share one */
    int threads;
    bool is_slow, is_many; /* asserted: the time of a call, the turns */
} greeds[] = {
    {"28 threads that wait in the DSP", HXT_BLOCK, 5, 0, false, 28, true, false},
    {"8 sessions that wait in the DSP", HXT_BLOCK, 5, 0, true, 8, true, false},
    {"28 threads of small calls", HXT_ECHO, 0, 64, false, 28, false, true},
    {"8 sessions of small calls", HXT_ECHO, 0, 64, true, 8, false, true},
    {"4 threads of 1 MiB calls", HXT_ECHO, 0, LARGE, false, 4, true, false},
    {"8 sessions of 1 MiB calls", HXT_ECHO, 0, LARGE, true, 8, true, false},
};

static const struct greed *greed;
static struct session shared_session;

static void *take_all(void *unused)
{
    struct session s = greed->raw ? open_session(true) : shared_session;
    char *in = calloc(2, LARGE);

    (void)unused;
    for (board->ready++;; board->greedy_calls++)
        if (!in || call(&s, greed->method, greed->value, in, in + LARGE, greed->bytes))
            _exit(1);
    return NULL;
}

static _Noreturn void be_greedy(void)
{
    if (!greed->raw)
        shared_session = open_session(false);
    for (int i = 0; i < greed->threads; i++) {
        pthread_t t;

        if (pthread_create(&t, NULL, take_all, NULL))
            _exit(1);
    }
    for (;;)
        pause();
}

/* --- the polite client -------------------------------------------------------------------------------------------------- */

static _Noreturn void be_polite(void)
{
    struct session s = open_session(false);
    char in[64] = "please", out[64];

    for (;;) {
        const unsigned long turns = board->greedy_calls;
        const double start = now_us();
        unsigned n;

        need_is(call(&s, HXT_ECHO, 0, in, out, sizeof(in)), 0, "HXT_ECHO");
        n = board->n;
        if (n < SAMPLES) {
            board->samples[n] = (struct sample){(float)(now_us() - start), (unsigned)(board->greedy_calls - turns)};
            atomic_compare_exchange_strong(&board->n, &n, n + 1); /* not when it was set to 0 meanwhile */
        }
    }
}

/* --- measuring ---------------------------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    return (x->us > y->us) - (x->us < y->us);
}

static int by_turns(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    return (x->turns > y->turns) - (x->turns < y->turns);
}

static int is_measured(void *n)
{
    return board->n >= *(unsigned *)n;
}

static int is_ready(void *unused)
{
    (void)unused;
    return board->ready == greed->threads;
}

/* Medians; the first calls do not count. */
static struct sample measure(void)
{
    static struct sample s[SAMPLES];
    struct sample median;

    board->n = 0;
    assert_true(hxt_until(is_measured, &(unsigned){SKIPPED}, PATIENCE_S));
    board->n = 0;
    assert_true(hxt_until(is_measured, &(unsigned){SAMPLES}, PATIENCE_S));
    memcpy(s, board->samples, sizeof(s));
    qsort(s, SAMPLES, sizeof(s[0]), by_time);
    median.us = s[SAMPLES / 2].us;
    qsort(s, SAMPLES, sizeof(s[0]), by_turns);
    median.turns = s[SAMPLES / 2].turns;
    return median;
}

static pid_t start_client(void (*work)(void))
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        work();
    return pid;
}

static void end_client(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* 1: what is asserted of this greedy client holds. */
static int row(void)
{
    struct sample alone = measure(), beside, after;
    pid_t greedy;

    board->ready = 0;
    greedy = start_client(be_greedy);
    assert_true(hxt_until(is_ready, NULL, PATIENCE_S));
    beside = measure();
    end_client(greedy);
    after = measure();
    if (after.us > alone.us)
        alone = after;
    printf("| %s | %s | a call: %.0f us alone, %.0f us beside them: %.2f of the rate | %u of their calls meanwhile |\n",
           own_rig_front_end, greed->name, alone.us, beside.us, alone.us / beside.us, beside.turns);
    return !(greed->is_slow && beside.us > 2 * alone.us) && !(greed->is_many && beside.turns > TURNS_MOST);
}

/* A row is measured again when it does not hold, since other programs may have taken the processors: no number of times helps where the
 * driver is unfair. */
static void test_a_polite_client_keeps_half_of_its_rate(void **state)
{
    const pid_t polite = start_client(be_polite);
    int wrong = 0;

    (void)state;
    for (greed = greeds; greed < greeds + HXT_LEN(greeds); greed++) {
        int holds = 0;

        for (int i = 0; i < TRIES && !holds; i++)
            holds = row();
        wrong += !holds;
    }
    end_client(polite);
    assert_int_equal(wrong, 0);
}

static int start(void **state)
{
    return own_rig_start(state) || chdir(hxt_tmpdir()) ? -1 : 0;
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_polite_client_keeps_half_of_its_rate),
    };

    own_rig_front_end = front_end;
    dev = strcmp(front_end, "socket") == 0 ? &access_socket : &access_fuse;
    board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        return 1;
    return hxt_run_group(front_end, tests, HXT_LEN(tests), start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
