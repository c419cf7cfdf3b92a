/* How fast a call gets through: INVOKE on the FUSE device against a bare FUSE ioctl that is answered at once and against a
 * futex ping-pong, buffers copied and shared against memcpy, and several clients at a time.  Both placements: everything on
 * one core, and client and rig on two. */
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "fastrpc_uapi.h"
#include "skel/hxt_skel.h"

static char dir[64], echo_path[96], rig_dir[96];
static pid_t echo_pid, rig_pid;

/* --- the limits ------------------------------------------------------------------------------------------------- */

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
    (void)ino, (void)cmd, (void)arg, (void)fi, (void)flags, (void)out_bytes;
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

struct pingpong {
    _Alignas(64) int word;
};

static void futex_wait(int *word, int value)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
        syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void futex_set(int *word, int value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void pong(void *arg)
{
    struct pingpong *p = arg;

    futex_set(&p->word, 1);
    futex_wait(&p->word, 1);
}

static double futex_us(int other_core)
{
    struct pingpong *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = fork();
    double us;

    if (pid == 0) {
        bench_pin(0, other_core);
        for (;;) {
            futex_wait(&p->word, 0);
            futex_set(&p->word, 0);
        }
    }
    us = bench_us(pong, p, 5000);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    munmap(p, 4096);
    return us;
}

/* --- the client ------------------------------------------------------------------------------------------------- */

struct client {
    int fd;
    uint32_t handle;
    struct hxt_in in;
    struct fastrpc_invoke_args args[3];
    struct fastrpc_invoke inv;
};

static void fail(const char *what)
{
    fprintf(stderr, "bench_rpc: %s: %s\n", what, strerror(errno));
    exit(1);
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
    char dlerr[64], path[128];
    struct fastrpc_invoke_args a[4] = {arg(in, sizeof(in), -1), arg(uri, sizeof(uri), -1),
                                       arg(out, sizeof(out), -1), arg(dlerr, sizeof(dlerr), -1)};
    struct fastrpc_invoke open1 = {FASTRPC_HANDLE_REMOTECTL1, 0x02020200, (uintptr_t)a};

    snprintf(path, sizeof(path), "%s/fastrpc-cdsp", rig_dir);
    c->fd = open(path, O_RDWR | O_CLOEXEC);
    if (c->fd < 0 || ioctl(c->fd, FASTRPC_IOCTL_INIT_CREATE, &create) ||
        ioctl(c->fd, FASTRPC_IOCTL_INVOKE, &open1) || out[1])
        fail("client");
    c->handle = out[0];
    c->in = (struct hxt_in){0, 0};
    c->args[0] = arg(&c->in, sizeof(c->in), -1);
    c->args[1] = c->args[2] = arg(NULL, 0, -1);
    c->inv = (struct fastrpc_invoke){c->handle, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), (uintptr_t)c->args};
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

struct copy {
    void *from, *to;
    size_t n;
};

static void copy_twice(void *p)
{
    struct copy *c = p;

    memcpy(c->to, c->from, c->n);
    __asm__ volatile("" ::: "memory");
    memcpy(c->from, c->to, c->n);
    __asm__ volatile("" ::: "memory");
}

/* --- what is printed -------------------------------------------------------------------------------------------- */

static void move_rig(int core)
{
    char path[64], line[64];
    FILE *f;

    bench_pin(rig_pid, core);
    bench_pin(echo_pid, core);
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", rig_pid, rig_pid);
    f = fopen(path, "r");
    while (f && fscanf(f, "%63s", line) == 1)
        bench_pin(atoi(line), core); /* the DSP; PDs that it forks inherit this */
    if (f)
        fclose(f);
}

static void calls(const char *placement, int rig_core)
{
    struct client c;
    int fd;
    double floor_us, null_us, futex;

    bench_pin(0, 0);
    move_rig(rig_core);
    fd = open(echo_path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        fail(echo_path);
    open_client(&c);
    floor_us = bench_us(echo_once, &fd, 3000);
    futex = futex_us(rig_core);
    null_us = bench_us(invoke, &c, 3000);
    printf("null invoke   %-9s %8.2f us   %.2fx of a bare FUSE ioctl (%.2f us)   %.2fx of a futex ping-pong (%.2f us)\n",
           placement, null_us, null_us / floor_us, floor_us, null_us / futex, futex);
    close(fd);
    close(c.fd);
}

static void buffers(size_t n, const char *name)
{
    int mem = memfd_create("bench", MFD_CLOEXEC);
    uint8_t *shared;
    struct copy heap = {malloc(n), malloc(n), n};
    struct client c;
    double copied_us, shared_us, memcpy_us;

    if (ftruncate(mem, (off_t)(2 * n)))
        fail("memfd");
    shared = mmap(NULL, 2 * n, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
    memset(heap.from, 1, n);
    memset(heap.to, 2, n);
    memset(shared, 3, 2 * n);
    open_client(&c);
    memcpy_us = bench_us(copy_twice, &heap, n > 500000 ? 50 : 500);
    c.args[1] = arg(heap.from, n, -1);
    c.args[2] = arg(heap.to, n, -1);
    copied_us = bench_us(invoke, &c, n > 500000 ? 50 : 500);
    c.args[1] = arg(shared, n, mem);
    c.args[2] = arg(shared + n, n, mem);
    shared_us = bench_us(invoke, &c, n > 500000 ? 50 : 500);
    printf("echo %-8s  copied %10.2f us   shared %10.2f us   two memcpy %8.2f us   copied %.2fx, shared %.2fx of them\n", name,
           copied_us, shared_us, memcpy_us, copied_us / memcpy_us, shared_us / memcpy_us);
    munmap(shared, 2 * n);
    close(mem);
    close(c.fd);
    free(heap.from);
    free(heap.to);
}

/* us per call of each of n clients that call at the same time. */
static double clients(int n)
{
    enum { CALLS = 2000 };
    int go[2], done[2];
    double start, us;
    char token;

    if (pipe(go) || pipe(done))
        fail("pipe");
    for (int i = 0; i < n; i++)
        if (fork() == 0) {
            struct client c;

            close(go[1]);
            open_client(&c);
            (void)!write(done[1], "r", 1);
            (void)!read(go[0], &token, 1); /* ends when the parent closes */
            for (int j = 0; j < CALLS; j++)
                invoke(&c);
            _exit(0);
        }
    for (int i = 0; i < n; i++)
        (void)!read(done[0], &token, 1);
    start = bench_now_us();
    close(go[1]);
    while (wait(NULL) != echo_pid && n-- > 1)
        ;
    us = (bench_now_us() - start) / CALLS;
    close(go[0]);
    close(done[0]);
    close(done[1]);
    return us;
}

static pid_t start_rig(void)
{
    pid_t pid = fork();
    char path[128];

    if (pid == 0) {
        setenv("DSP_LIBRARY_PATH", HXT_BUILD "/tests", 1);
        execl(HXT_BUILD "/libexec/hexrig/hexrig-fuse", "hexrig-fuse", "--mount", rig_dir, "--front-end", "fuse", (char *)NULL);
        _exit(127);
    }
    snprintf(path, sizeof(path), "%s/fastrpc-cdsp", rig_dir);
    for (int i = 0; i < 500 && access(path, F_OK); i++)
        usleep(10000);
    return pid;
}

static void end(pid_t pid)
{
    if (pid > 1) {
        kill(pid, SIGTERM);
        waitpid(pid, NULL, 0);
    }
}

int main(void)
{
    static const int counts[] = {1, 4, 12};
    double one = 0;
    int fd;

    if (access("/dev/fuse", R_OK | W_OK)) {
        printf("skip: /dev/fuse: %s\n", strerror(errno));
        return 77;
    }
    snprintf(dir, sizeof(dir), "/tmp/hexrig-bench-XXXXXX");
    if (!mkdtemp(dir))
        fail(dir);
    snprintf(echo_path, sizeof(echo_path), "%s/echo", dir);
    snprintf(rig_dir, sizeof(rig_dir), "%s/rig", dir);
    fd = open(echo_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    close(fd);
    if (fd < 0 || mkdir(rig_dir, 0700))
        fail(dir);
    setvbuf(stdout, NULL, _IOLBF, 0);
    echo_pid = fork();
    if (echo_pid == 0)
        _exit(serve_echo());
    rig_pid = start_rig();
    calls("one core", 0);
    calls("two cores", 1);
    bench_pin(0, -1);
    move_rig(-1);
    buffers(64 << 10, "64 KiB");
    buffers(1 << 20, "1 MiB");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        double us = clients(counts[i]);
        one = i ? one : us;
        printf("%2d clients    %8.2f us per call and client   %.2f calls at a time against one client\n", counts[i], us,
               one * counts[i] / us);
    }
    end(rig_pid);
    end(echo_pid);
    unlink(echo_path);
    rmdir(rig_dir);
    rmdir(dir);
    return 0;
}
