/* Protects that a call with result 0 has put its bytes where its caller wanted them, while other threads of the process
 * open and close sessions, crash PDs, and map, unmap and free memory whose descriptor numbers are used again at once.
 *
 * SOAK_S (2): seconds on each front end. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "kept_log.h"
#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"
#include "skel/hxt_skel.h"

enum { THREADS = 8, SESSIONS = 2, BUFFERS = 4, BYTES = 8192, UNTOUCHED = 0x77 };

static struct {
    _Atomic unsigned long calls, good, wrong, opened, crashed, closed, mapped;
} count;
static _Atomic int over;

struct actor {
    pthread_t thread;
    struct hxt_rng rng;
    unsigned session;
    remote_handle64 h; /* 0: none */
    uint8_t *buffer[BUFFERS]; /* NULL: none */
};

static int domain_of(const struct actor *a)
{
    return CDSP_DOMAIN_ID + 8 * (int)a->session;
}

static void open_handle(struct actor *a)
{
    char uri[200];

    snprintf(uri, sizeof(uri), "%s&_session=%u", HXT_SKEL_URI CDSP_DOMAIN, a->session);
    if (remote_handle64_open(uri, &a->h))
        a->h = 0;
    else
        atomic_fetch_add(&count.opened, 1);
}

static void close_handle(struct actor *a)
{
    if (a->h)
        remote_handle64_close(a->h);
    a->h = 0;
}

static void crash(struct actor *a)
{
    struct hxt_in in = {0};
    remote_arg pra[1] = {{.buf = {&in, sizeof(in)}}};

    if (a->h && remote_handle64_invoke(a->h, REMOTE_SCALARS_MAKE(HXT_CRASH, 1, 0), pra))
        atomic_fetch_add(&count.crashed, 1);
    close_handle(a);
}

static void close_session(struct actor *a)
{
    struct remote_rpc_session_close c = {.domain = (uint32_t)domain_of(a)};

    if (remote_session_control(FASTRPC_SESSION_CLOSE, &c, sizeof(c)) == 0)
        atomic_fetch_add(&count.closed, 1);
    a->h = 0;
}

static uint8_t **some_buffer(struct actor *a)
{
    uint8_t **b = &a->buffer[hxt_below(&a->rng, BUFFERS)];

    if (!*b)
        *b = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, BYTES);
    return b;
}

static void map(struct actor *a)
{
    uint8_t *b = *some_buffer(a);

    if (b && fastrpc_mmap(domain_of(a), rpcmem_to_fd(b), b, 0, BYTES, FASTRPC_MAP_FD) == 0)
        atomic_fetch_add(&count.mapped, 1);
}

static void unmap(struct actor *a)
{
    uint8_t *b = *some_buffer(a);

    if (b)
        fastrpc_munmap(domain_of(a), rpcmem_to_fd(b), b, BYTES);
}

static void release(struct actor *a)
{
    uint8_t **b = some_buffer(a);

    rpcmem_free(*b);
    *b = NULL;
}

static int all_are(const uint8_t *p, int byte)
{
    for (int i = 0; i < BYTES; i++)
        if (p[i] != byte)
            return 0;
    return 1;
}

/* From one shared buffer into another. */
static void call(struct actor *a)
{
    const uint8_t byte = (uint8_t)hxt_below(&a->rng, 100);
    uint8_t *from = *some_buffer(a), *to = *some_buffer(a);
    struct hxt_in in = {0};
    remote_arg pra[3] = {{.buf = {&in, sizeof(in)}}, {.buf = {from, BYTES}}, {.buf = {to, BYTES}}};
    int rc;

    if (!a->h)
        open_handle(a);
    if (!a->h || !from || !to || from == to)
        return;
    memset(from, byte, BYTES);
    memset(to, UNTOUCHED + 128, BYTES);
    rc = remote_handle64_invoke(a->h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), pra);
    atomic_fetch_add(&count.calls, 1);
    if (rc) {
        close_handle(a);
    } else if (all_are(to, byte + 1) && all_are(from, byte)) {
        atomic_fetch_add(&count.good, 1);
    } else if (atomic_fetch_add(&count.wrong, 1) < 5) {
        printf("wrong: 0x%02x became 0x%02x...0x%02x\n", byte, to[0], to[BYTES - 1]);
    }
}

static void act(struct actor *a)
{
    const uint64_t n = hxt_below(&a->rng, 1000);

    if (n < 5)
        crash(a);
    else if (n < 10)
        close_session(a);
    else if (n < 15)
        close_handle(a);
    else if (n < 250)
        map(a);
    else if (n < 300)
        unmap(a);
    else if (n < 500)
        release(a);
    else
        call(a);
}

static void *run_actor(void *arg)
{
    struct actor *a = arg;

    while (!atomic_load(&over))
        act(a);
    close_handle(a);
    for (int i = 0; i < BUFFERS; i++)
        rpcmem_free(a->buffer[i]);
    return NULL;
}

/* For hxt_until(): something went wrong, or there was enough of everything. */
static int is_enough(void *seconds)
{
    return count.wrong || (count.good > 20UL * *(unsigned *)seconds && count.crashed && count.mapped);
}

/* Each session is one. */
static int open_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

static int has_fds(void *most)
{
    return open_fds() <= *(int *)most;
}

static void test_result_0_means_the_right_bytes(void **state)
{
    static struct actor actors[THREADS];
    const char *soak = getenv("SOAK_S");
    unsigned seconds = soak ? (unsigned)atoi(soak) : 2;
    int fds = open_fds();

    (void)state;
    log_begin(); /* the library says whenever no session is free */
    for (unsigned i = 0; i < THREADS; i++) {
        actors[i].session = i % SESSIONS;
        hxt_rng_init(&actors[i].rng, i);
        assert_int_equal(pthread_create(&actors[i].thread, NULL, run_actor, &actors[i]), 0);
    }
    for (unsigned s = 0; s < seconds * 10 && !count.wrong; s++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    hxt_until(is_enough, &seconds, 20 + seconds);
    atomic_store(&over, 1);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(actors[i].thread, NULL);
    log_end("");
    print_message("%s: calls=%lu ok=%lu wrong=%lu opened=%lu crashed=%lu closed=%lu mapped=%lu\n",
                  own_rig_front_end, count.calls, count.good, count.wrong, count.opened, count.crashed,
                  count.closed, count.mapped);
    assert_int_equal(count.wrong, 0);
    assert_true(is_enough(&seconds));
    assert_true(hxt_until(has_fds, &fds, 30)); /* no session is left that nobody has */
}

static int on_front_end(const char *front_end)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result_0_means_the_right_bytes),
    };
    const char *soak = getenv("SOAK_S");

    own_rig_front_end = front_end;
    own_rig_seconds = 600 + (soak ? atoi(soak) : 0);
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(on_front_end);
}
