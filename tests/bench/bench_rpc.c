/* How fast a call gets through the FUSE device, in two placements: client, driver and DSP on one core, or the client on another
 * core than driver and DSP.
 *
 * An INVOKE is an ioctl to the driver and a message to the PD's process and back, each with two changes of process; nothing
 * that keeps driver and PD apart can do with less.  So its floor is a bare FUSE ioctl, answered at once, plus a ping-pong
 * between two processes, and both are measured here, in the same run.  `hop` (bench_echo.h) is that floor as one piece, with what three
 * processes cost in caches, and with as many of them the machine's limit for many clients.
 *
 * Buffers are compared with the memcpys that cannot be left out: the skel's own (it copies its input to its output), and for
 * inline buffers one in and one out. */
#include <stdint.h>

#include "bench_echo.h"
#include "skel/hxt_skel.h"

enum { SESSIONS_MAX = BENCH_HOPS, CLIENTS_MAX = 16 };

/* --- the client ------------------------------------------------------------------------------------------------- */

struct client {
    int fd;
    uint32_t handle;
    struct hxt_in in;
    struct fastrpc_invoke_args args[3];
    struct fastrpc_invoke inv;
};

static _Noreturn void fail(const char *what)
{
    int error = errno;

    bench_echo_stop();
    errno = error;
    bench_fail(what);
}

static struct fastrpc_invoke_args arg(void *p, size_t n, int fd)
{
    return (struct fastrpc_invoke_args){(uintptr_t)p, n, fd, 0};
}

static void open_client(struct client *c)
{
    static char uri[] = HXT_SKEL_URI;
    struct fastrpc_init_create create = {.filefd = -1, .attrs = FASTRPC_MODE_UNSIGNED_MODULE};
    uint32_t in[2] = {sizeof(uri), 64}, out[2] = {0, 1};
    char dlerr[64];
    struct fastrpc_invoke_args a[4] = {arg(in, sizeof(in), -1), arg(uri, sizeof(uri), -1),
                                       arg(out, sizeof(out), -1), arg(dlerr, sizeof(dlerr), -1)};
    struct fastrpc_invoke open1 = {FASTRPC_HANDLE_REMOTECTL1, 0x02020200, (uintptr_t)a};

    c->fd = open(bench_rig.device, O_RDWR | O_CLOEXEC);
    if (c->fd < 0 || ioctl(c->fd, FASTRPC_IOCTL_INIT_CREATE, &create) ||
        ioctl(c->fd, FASTRPC_IOCTL_INVOKE, &open1) || out[1])
        fail("client");
    c->handle = out[0];
    c->in = (struct hxt_in){0, 0};
    c->args[0] = arg(&c->in, sizeof(c->in), -1);
    c->args[1] = c->args[2] = arg(NULL, 0, -1);
    c->inv = (struct fastrpc_invoke){c->handle, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), (uintptr_t)c->args};
}

/* Without arguments: the method `close`, which the test skel answers with 0. */
static void invoke_null(void *p)
{
    struct client *c = p;
    struct fastrpc_invoke inv = {c->handle, REMOTE_SCALARS_MAKE(1, 0, 0), 0};

    if (ioctl(c->fd, FASTRPC_IOCTL_INVOKE, &inv))
        fail("invoke");
}

static void invoke(void *p)
{
    struct client *c = p;

    if (ioctl(c->fd, FASTRPC_IOCTL_INVOKE, &c->inv))
        fail("invoke");
}

static void echo_once(void *p)
{
    struct fastrpc_invoke inv = {0};

    if (ioctl(*(int *)p, ECHO_BARE, &inv))
        fail("echo");
}

struct hop_client {
    int fd;
    uint32_t hop;
};

static void hop_once(void *p)
{
    const struct hop_client *c = p;
    struct fastrpc_invoke inv = {.handle = c->hop};

    if (ioctl(c->fd, ECHO_HOP, &inv))
        fail("hop");
}

struct copy {
    void *from, *to;
    size_t n;
};

static void copy_once(void *p)
{
    struct copy *c = p;

    memcpy(c->to, c->from, c->n);
    __asm__ volatile("" ::: "memory");
}

/* --- what is printed -------------------------------------------------------------------------------------------- */

static void place(int rig_core)
{
    bench_rig_move(rig_core);
    bench_echo_move(rig_core);
    bench_pin(0, rig_core < 0 ? -1 : 0);
    if (rig_core >= 0 && sched_getcpu() != 0)
        fail("this process is not on core 0");
}

/* What calls() measures, round about, so that a disturbance does not meet one of them alone. */
enum { ECHO, HOP, PONG, PONG_HERE, NULL_INVOKE, SMALL_INVOKE, N_MEASURED };

static void calls(const char *where, int rig_core)
{
    static const char sum[] = "FUSE ioctl + ping-pong on a core";
    static struct bench_times t[N_MEASURED];
    double least[N_MEASURED];
    int fd = open(bench_echo.path, O_RDWR | O_CLOEXEC), is_one_core = rig_core == 0;
    struct hop_client hop = {fd, 0};
    struct client c;

    if (fd < 0)
        fail(bench_echo.path);
    open_client(&c);
    for (int i = 0; i < N_MEASURED; i++)
        t[i].n = 0;
    for (int round = 0; round < 4; round++) {
        bench_more(&t[ECHO], echo_once, &fd, 1000);
        bench_more(&t[HOP], hop_once, &hop, 1000);
        bench_more_pongs(&t[PONG], &bench_futex, rig_core, 1500);
        bench_more_pongs(&t[PONG_HERE], &bench_futex, 0, 1500); /* as driver and DSP, which share a core in both placements */
        bench_more(&t[NULL_INVOKE], invoke_null, &c, 1000);
        bench_more(&t[SMALL_INVOKE], invoke, &c, 1000);
    }
    for (int i = 0; i < N_MEASURED; i++)
        least[i] = bench_quantile(&t[i], 0);
    bench_row("null invoke", where, &t[NULL_INVOKE], least[ECHO], "a bare FUSE ioctl", is_one_core ? "" : "<= 0.7x");
    bench_row("null invoke", where, &t[NULL_INVOKE], least[PONG], "a futex ping-pong", "");
    bench_row("null invoke", where, &t[NULL_INVOKE], least[ECHO] + least[PONG_HERE], sum, "");
    bench_row("null invoke", where, &t[NULL_INVOKE], least[HOP], "FUSE ioctl with a hop", is_one_core ? "<= 1.2x" : "");
    bench_row("invoke, 8 bytes in", where, &t[SMALL_INVOKE], least[ECHO] + least[PONG_HERE], sum, "");
    close(fd);
    close(c.fd);
}

static void buffers(const char *where, size_t n, const char *size)
{
    int mem = memfd_create("bench", MFD_CLOEXEC), runs = n > 500000 ? 50 : 500;
    struct copy heap = {malloc(n), malloc(n), n};
    static struct bench_times t;
    struct client c;
    char name[32];
    uint8_t *shared;
    double copy;

    if (mem < 0 || !heap.from || !heap.to || ftruncate(mem, (off_t)(2 * n)))
        fail("buffers");
    shared = mmap(NULL, 2 * n, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
    memset(heap.from, 1, n);
    memset(heap.to, 2, n);
    memset(shared, 3, 2 * n);
    open_client(&c);
    copy = bench_us(copy_once, &heap, runs);
    c.args[1] = arg(heap.from, n, -1);
    c.args[2] = arg(heap.to, n, -1);
    snprintf(name, sizeof(name), "%s copied", size);
    t.n = 0;
    bench_more(&t, invoke, &c, runs);
    bench_row(name, where, &t, 3 * copy, "three memcpys", "");
    c.args[1] = arg(shared, n, mem);
    c.args[2] = arg(shared + n, n, mem);
    snprintf(name, sizeof(name), "%s shared", size);
    t.n = 0;
    bench_more(&t, invoke, &c, runs);
    bench_row(name, where, &t, copy, "one memcpy", "");
    munmap(shared, 2 * n);
    close(mem);
    close(c.fd);
    free(heap.from);
    free(heap.to);
}

/* --- many clients ------------------------------------------------------------------------------------------------- */

struct caller {
    void (*call)(void *arg);
    void *arg;
};

static void call_when_told(const struct caller *c, int go, int ready, int n)
{
    char token;

    (void)!write(ready, "r", 1);
    (void)!read(go, &token, 1); /* ends when the parent closes the other end */
    for (int i = 0; i < n; i++)
        c->call(c->arg);
    _exit(0);
}

/* Calls per second of n processes that call at the same time. */
static double calls_per_second(const struct caller *c, int n)
{
    enum { CALLS = 500 };
    int go[2], ready[2];
    pid_t pid[CLIENTS_MAX];
    char token;
    double start;

    if (pipe(go) || pipe(ready))
        fail("pipe");
    for (int i = 0; i < n; i++) {
        pid[i] = fork();
        if (pid[i] == 0) {
            close(go[1]);
            call_when_told(&c[i], go[0], ready[1], CALLS);
        }
    }
    for (int i = 0; i < n; i++)
        (void)!read(ready[0], &token, 1);
    start = bench_now_us();
    close(go[1]);
    for (int i = 0; i < n; i++)
        waitpid(pid[i], NULL, 0);
    start = bench_now_us() - start;
    close(go[0]);
    close(ready[0]);
    close(ready[1]);
    return (double)n * CALLS / start * 1e6;
}

/* The device has 14 sessions: with more clients than that, some share one. */
static double rig_calls_per_second(int n)
{
    struct client c[SESSIONS_MAX];
    struct caller callers[CLIENTS_MAX] = {{0}};
    int sessions = n < SESSIONS_MAX ? n : SESSIONS_MAX;
    double rate;

    for (int i = 0; i < sessions; i++)
        open_client(&c[i]);
    for (int i = 0; i < n; i++)
        callers[i] = (struct caller){invoke_null, &c[i % sessions]};
    rate = calls_per_second(callers, n);
    for (int i = 0; i < sessions; i++)
        close(c[i].fd);
    bench_rig_await_idle();
    return rate;
}

/* With as many processes behind the server, which allows one caller for each of them. */
static double floor_calls_per_second(int n)
{
    struct hop_client c[SESSIONS_MAX];
    struct caller callers[SESSIONS_MAX] = {{0}};
    double rate;

    for (int i = 0; i < n; i++) {
        c[i] = (struct hop_client){open(bench_echo.path, O_RDWR | O_CLOEXEC), (uint32_t)i};
        if (c[i].fd < 0)
            fail(bench_echo.path);
        callers[i] = (struct caller){hop_once, &c[i]};
    }
    rate = calls_per_second(callers, n);
    for (int i = 0; i < n; i++)
        close(c[i].fd);
    return rate;
}

static void scaling(const char *where)
{
    static const int counts[] = {1, 4, SESSIONS_MAX, CLIENTS_MAX};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        int n = counts[i], floor_n = n < SESSIONS_MAX ? n : SESSIONS_MAX;
        double rate = 0, limit = 0;

        for (int round = 0; round < 12; round++) {
            double r = rig_calls_per_second(n), f = floor_calls_per_second(floor_n);

            rate = r > rate ? r : rate;
            limit = f > limit ? f : limit;
        }
        printf("%2d client%-9s %-9s %8.2f us a call       %6.2fx of the calls/s of FUSE ioctls with a hop, %d at a time "
               "(%.0f/s and %.0f/s)%s\n",
               n, n == 1 ? "" : "s", where, 1e6 / rate, rate / limit, floor_n, rate, limit,
               n == CLIENTS_MAX ? ", aim >= 0.9x" : "");
    }
}

int main(void)
{
    static const struct {
        const char *where;
        int rig_core;
    } placements[] = {{"one core", 0}, {"two cores", 1}};

    bench_rig_start();
    if (bench_echo_start())
        fail("echo server");
    for (size_t i = 0; i < sizeof(placements) / sizeof(placements[0]); i++) {
        place(placements[i].rig_core);
        calls(placements[i].where, placements[i].rig_core);
        buffers(placements[i].where, 64 << 10, "64 KiB");
        buffers(placements[i].where, 1 << 20, "1 MiB");
    }
    place(-1);
    scaling("any core");
    bench_echo_stop();
    bench_rig_stop();
    return 0;
}
