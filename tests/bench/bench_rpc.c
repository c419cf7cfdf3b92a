/* How fast a call gets through the FUSE device, in two placements: client, driver and DSP on one core, or the client on another
 * core than driver and DSP.
 *
 * An INVOKE is an ioctl to the driver and a message to the PD's process and back, each with two changes of process; nothing
 * that keeps driver and PD apart can do with less.  So its floor is a bare FUSE ioctl, answered at once, plus a ping-pong
 * between two processes, and both are measured here, in the same run.  `hop` is a bare FUSE ioctl whose server asks a third
 * process before it answers: that floor as one piece, with what three processes cost in caches.
 *
 * Buffers are compared with the memcpys that cannot be left out: the skel's own (it copies its input to its output), and for
 * inline buffers one in and one out. */
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "bench_rig.h"
#include "fastrpc_uapi.h"
#include "skel/hxt_skel.h"

enum { SESSIONS_MAX = 14, CLIENTS_MAX = 16 };
#define ECHO_HOP _IOWR('h', 1, struct fastrpc_invoke)

static char echo_path[96];
static pid_t echo_pid;
static struct bench_pong hop = {bench_futex_wait, bench_futex_set, NULL, 0};

/* --- the floor -------------------------------------------------------------------------------------------------- */

static void echo_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct stat st = {.st_ino = ino, .st_mode = S_IFREG | 0666, .st_nlink = 1};

    (void)fi;
    fuse_reply_attr(req, &st, 1e9);
}

static void echo_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    (void)ino;
    fuse_reply_open(req, fi);
}

static void echo_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int cmd, void *arg,
                       struct fuse_file_info *fi, unsigned flags, const void *in, size_t in_bytes,
                       size_t out_bytes)
{
    (void)ino, (void)arg, (void)fi, (void)flags, (void)out_bytes;
    if (cmd == ECHO_HOP)
        bench_pong(&hop);
    fuse_reply_ioctl(req, 0, in, in_bytes);
}

/* A file system that is one file, whose ioctl returns what it got. */
static int serve_echo(void)
{
    static const struct fuse_lowlevel_ops ops = {.getattr = echo_getattr, .open = echo_open, .ioctl = echo_ioctl};
    char *argv[] = {"bench-echo", "-o", "fsname=hexrig-bench"};
    struct fuse_args args = FUSE_ARGS_INIT(3, argv);
    struct fuse_session *se = fuse_session_new(&args, &ops, sizeof(ops), NULL);

    if (!se || fuse_set_signal_handlers(se) || fuse_session_mount(se, echo_path))
        return 1;
    fuse_session_loop(se);
    fuse_session_unmount(se);
    return 0;
}

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

    bench_end(echo_pid);
    unlink(echo_path);
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

    if (ioctl(*(int *)p, FASTRPC_IOCTL_INVOKE, &inv))
        fail("echo");
}

static void hop_once(void *p)
{
    struct fastrpc_invoke inv = {0};

    if (ioctl(*(int *)p, ECHO_HOP, &inv))
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
    bench_pin(0, rig_core < 0 ? -1 : 0);
    bench_rig_move(rig_core);
    bench_pin(echo_pid, rig_core);
    bench_pin(hop.pid, rig_core);
}

/* What calls() measures, round about, so that a disturbance does not meet one of them alone. */
enum { ECHO, HOP, PONG, PONG_HERE, NULL_INVOKE, SMALL_INVOKE, N_MEASURED };

static void calls(const char *where, int rig_core)
{
    static const char sum[] = "FUSE ioctl + ping-pong on a core";
    static struct bench_times t[N_MEASURED];
    double least[N_MEASURED];
    int fd = open(echo_path, O_RDWR | O_CLOEXEC), is_one_core = rig_core == 0;
    struct client c;

    if (fd < 0)
        fail(echo_path);
    open_client(&c);
    for (int i = 0; i < N_MEASURED; i++)
        t[i].n = 0;
    for (int round = 0; round < 4; round++) {
        bench_more(&t[ECHO], echo_once, &fd, 1000);
        bench_more(&t[HOP], hop_once, &fd, 1000);
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

static void call_when_told(struct client *c, int go, int ready, int n)
{
    char token;

    (void)!write(ready, "r", 1);
    (void)!read(go, &token, 1); /* ends when the parent closes the other end */
    for (int i = 0; i < n; i++)
        invoke(c);
    _exit(0);
}

/* Calls per second of n processes that call at the same time.  The device has 14 sessions: with more clients than that, some
 * share one. */
static double calls_per_second(int n)
{
    enum { CALLS = 2000 };
    struct client c[SESSIONS_MAX];
    int go[2], ready[2], sessions = n < SESSIONS_MAX ? n : SESSIONS_MAX;
    pid_t pid[CLIENTS_MAX];
    char token;
    double start;

    if (pipe(go) || pipe(ready))
        fail("pipe");
    for (int i = 0; i < sessions; i++)
        open_client(&c[i]);
    for (int i = 0; i < n; i++) {
        pid[i] = fork();
        if (pid[i] == 0) {
            close(go[1]);
            call_when_told(&c[i % sessions], go[0], ready[1], CALLS);
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
    for (int i = 0; i < sessions; i++)
        close(c[i].fd);
    return (double)n * CALLS / start * 1e6;
}

static void scaling(const char *where)
{
    static const int counts[] = {1, 4, CLIENTS_MAX};
    double one = 0;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        double rate = 0;

        for (int round = 0; round < 3; round++) {
            double r = calls_per_second(counts[i]);

            rate = r > rate ? r : rate;
            usleep(100000); /* the PDs of the last round go */
        }
        one = i ? one : rate;
        printf("%2d client%-11s %-9s %9.2f us %7.2fx of the calls/s of one client (%.0f calls/s)\n", counts[i],
               counts[i] == 1 ? "" : "s", where, counts[i] / rate * 1e6, rate / one, rate);
    }
}

/* Until the server has mounted over its file: before, an ioctl reaches the file below. */
static void await_echo(void)
{
    struct fastrpc_invoke inv = {0};
    int served = 0;

    for (int i = 0; i < 500 && !served; i++) {
        int fd = open(echo_path, O_RDWR | O_CLOEXEC);

        served = fd >= 0 && ioctl(fd, FASTRPC_IOCTL_INVOKE, &inv) == 0;
        if (fd >= 0)
            close(fd);
        if (!served)
            usleep(10000);
    }
    if (!served)
        fail("echo server");
}

static void start_echo(void)
{
    int fd;

    snprintf(echo_path, sizeof(echo_path), "%.60s/echo", bench_rig.dir);
    fd = open(echo_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        fail(echo_path);
    close(fd);
    bench_pong_start(&hop, -1);
    echo_pid = fork();
    if (echo_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        _exit(serve_echo());
    }
    await_echo();
}

int main(void)
{
    static const struct {
        const char *where;
        int rig_core;
    } placements[] = {{"one core", 0}, {"two cores", 1}};

    bench_rig_start();
    start_echo();
    for (size_t i = 0; i < sizeof(placements) / sizeof(placements[0]); i++) {
        place(placements[i].rig_core);
        calls(placements[i].where, placements[i].rig_core);
        buffers(placements[i].where, 64 << 10, "64 KiB");
        buffers(placements[i].where, 1 << 20, "1 MiB");
    }
    place(-1);
    scaling("any core");
    bench_end(echo_pid);
    bench_end(hop.pid);
    unlink(echo_path);
    bench_rig_stop();
    return 0;
}
