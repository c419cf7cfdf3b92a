/* Protects a rig that runs for days: clients open, call, crash their PDs and die in every way, and afterwards the driver
 * and the DSP hold what they held before: descriptors, PDs, VTCM, memory.
 *
 * SOAK_S (60): seconds on each front end.  The first fifth warms up (tables and heaps grow to their size); then is
 * "before". */
#include <dirent.h>
#include <time.h>

#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"
#include "skel/hxt_skel.h"

enum { AT_A_TIME = 6, VTCM_BYTES = 8 << 20, GROWTH_KIB = 2048 };

/* --- clients: each runs in a process of its own */

static remote_handle64 open_or_die(void)
{
    remote_handle64 h = 0;

    if (remote_handle64_open(HXT_SKEL_URI, &h))
        _exit(1);
    return h;
}

static int call(remote_handle64 h, enum hxt_method m, int code, uint32_t value, void *out, size_t n)
{
    struct hxt_in in = {code, value};
    remote_arg pra[2] = {{.buf = {&in, sizeof(in)}}, {.buf = {out, n}}};

    return remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(m, 1, out != NULL), pra);
}

/* A shared buffer goes in, a copied one comes out. */
static void calls(remote_handle64 h)
{
    enum { N = 256 << 10 };
    struct hxt_in in = {0, 0};
    unsigned char *from = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, N), *to = malloc(N);
    remote_arg pra[3] = {{.buf = {&in, sizeof(in)}}, {.buf = {from, N}}, {.buf = {to, N}}};

    if (!from || !to)
        _exit(1);
    memset(from, 3, N);
    for (int i = 0; i < 5; i++)
        if (remote_handle64_invoke(h, REMOTE_SCALARS_MAKE(HXT_RIPPLE, 2, 1), pra) || to[N - 1] != 4)
            _exit(1);
    rpcmem_free(from);
    free(to);
}

static void tidy(void)
{
    remote_handle64 h = open_or_die();

    calls(h);
    remote_handle64_close(h);
}

static void leaves_everything(void)
{
    struct hxt_vtcm v;
    void *p = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 1 << 20);
    remote_handle64 h = open_or_die();

    calls(h);
    fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(p), p, 0, 1 << 20, FASTRPC_MAP_FD);
    call(h, HXT_VTCM, 1, 256 << 10, &v, sizeof(v));
}

static void crashes(void)
{
    remote_handle64 h = open_or_die();

    if (call(h, HXT_CRASH, 0, 0, NULL, 0) != AEE_DSP(AEE_ECPUEXCEPTION))
        _exit(1);
}

static void is_killed_inside(void)
{
    remote_handle64 h = open_or_die();

    calls(h);
    call(h, HXT_BLOCK, 0, 20000, NULL, 0);
}

static void is_killed_anywhere(void)
{
    for (;;)
        tidy();
}

static const struct {
    void (*run)(void);
    int killed; /* after a while */
} kinds[] = {{tidy, 0}, {leaves_everything, 0}, {crashes, 0}, {is_killed_inside, 1}, {is_killed_anywhere, 1}};

/* --- what the rig holds */

struct holdings {
    int driver_fds, dsp_fds, pds, vtcm_free;
    long driver_kib, dsp_kib;
};

static int entries(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2;
}

static long rss_kib(int pid)
{
    char *text = hxt_read_file(hxt_path("/proc/%d/status", pid), NULL), *at = text ? strstr(text, "VmRSS:") : NULL;
    long kib = at ? atol(at + 6) : -1;

    free(text);
    return kib;
}

/* Children of any thread. */
static int children(int pid)
{
    DIR *d = opendir(hxt_path("/proc/%d/task", pid));
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d))) {
        char *text = hxt_read_file(hxt_path("/proc/%d/task/%s/children", pid, e->d_name), NULL);

        for (char *c = text; c && *c; c++)
            n += *c == ' ';
        free(text);
    }
    if (d)
        closedir(d);
    return n;
}

/* All of VTCM can be had. */
static int whole_vtcm(const char *unused)
{
    struct hxt_vtcm v = {0};
    remote_handle64 h = open_or_die();

    (void)unused;
    call(h, HXT_VTCM, 0, VTCM_BYTES, &v, sizeof(v));
    remote_handle64_close(h);
    return v.address != 0;
}

static int vtcm_is_free(void *unused)
{
    (void)unused;
    return own_rig_run(whole_vtcm, NULL) == 1;
}

static int no_pd(void *unused)
{
    (void)unused;
    return children(own_rig_dsp()) == 0;
}

static struct holdings look(void)
{
    struct holdings h = {.vtcm_free = hxt_until(vtcm_is_free, NULL, 10)};
    int dsp = own_rig_dsp();

    hxt_until(no_pd, NULL, 10);
    usleep(200 * 1000); /* the driver closes a PD's descriptors after it */
    h.pds = children(dsp);
    h.driver_fds = entries(hxt_path("/proc/%d/fd", own_rig_child.pid));
    h.dsp_fds = entries(hxt_path("/proc/%d/fd", dsp));
    h.driver_kib = rss_kib(own_rig_child.pid);
    h.dsp_kib = rss_kib(dsp);
    print_message("driver_fds=%d dsp_fds=%d pds=%d vtcm_free=%d driver_rss_kib=%ld dsp_rss_kib=%ld\n", h.driver_fds,
                  h.dsp_fds, h.pds, h.vtcm_free, h.driver_kib, h.dsp_kib);
    return h;
}

/* --- the run */

static void wave(struct hxt_rng *rng, unsigned long *done)
{
    pid_t pid[AT_A_TIME];
    int kill_it[AT_A_TIME];

    for (int i = 0; i < AT_A_TIME; i++) {
        size_t k = hxt_below(rng, HXT_LEN(kinds));

        kill_it[i] = kinds[k].killed;
        fflush(NULL);
        pid[i] = fork();
        assert_true(pid[i] >= 0);
        if (pid[i] == 0) {
            kinds[k].run();
            _exit(0);
        }
    }
    usleep((useconds_t)hxt_below(rng, 60000));
    for (int i = 0; i < AT_A_TIME; i++) {
        int status;

        if (kill_it[i])
            kill(pid[i], SIGKILL);
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        if (!kill_it[i] && status)
            fail_msg("a client ended with status 0x%x", (unsigned)status);
        ++*done;
    }
}

static void waves(struct hxt_rng *rng, double seconds, unsigned long *done)
{
    struct timespec t;
    double end;

    clock_gettime(CLOCK_MONOTONIC, &t);
    end = (double)t.tv_sec + seconds;
    do {
        wave(rng, done);
        clock_gettime(CLOCK_MONOTONIC, &t);
    } while ((double)t.tv_sec < end);
}

static double soak_seconds(void)
{
    const char *text = getenv("SOAK_S");

    return text ? atof(text) : 60;
}

static void test_clients_that_come_and_die_leave_nothing(void **state)
{
    double seconds = soak_seconds();
    struct holdings before, after;
    unsigned long clients = 0;
    struct hxt_rng rng;
    int dsp = own_rig_dsp();

    (void)state;
    hxt_rng_init(&rng, 1);
    waves(&rng, seconds / 5, &clients);
    before = look();
    waves(&rng, seconds * 4 / 5, &clients);
    after = look();
    print_message("clients=%lu\n", clients);
    assert_int_equal(own_rig_dsp(), dsp); /* no restart meanwhile */
    assert_true(before.vtcm_free && after.vtcm_free);
    assert_int_equal(after.pds, 0);
    assert_int_equal(after.driver_fds, before.driver_fds);
    assert_int_equal(after.dsp_fds, before.dsp_fds);
    assert_true(after.driver_kib > 0 && after.driver_kib <= before.driver_kib + GROWTH_KIB);
    assert_true(after.dsp_kib > 0 && after.dsp_kib <= before.dsp_kib + GROWTH_KIB);
}

static int run(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clients_that_come_and_die_leave_nothing),
    };

    own_rig_front_end = front_end;
    own_rig_seconds = soak_seconds() + 600;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
