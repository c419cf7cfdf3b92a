/* A FastRPC client that knows nothing of hexrig: it opens a device node and does ioctls.  Linked dynamically and statically.
 * tests/cases/run_with.sh runs it bare, with the preload helper and under the seccomp launcher.
 *
 *     run_with_client NODE WHAT...       one process, one check after the other; says what failed and exits 1 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fastrpc_uapi.h"
#include "hxt_skel.h"

enum { BYTES = 5000, WHOLE = 8192 }; /* asked for, and what that is in pages */

static const char *node;
static char **self; /* argv */

/* --- checks ----------------------------------------------------------------------------------------------------- */

static void need(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "run_with_client: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void need_errno(int rc, int error, const char *what)
{
    int got = errno;

    if (rc == -1 && got == error)
        return;
    fprintf(stderr, "run_with_client: %s: result %d, %s; not -1, %s\n", what, rc, strerror(got),
            strerror(error));
    exit(1);
}

static int open_device(void)
{
    int fd = open(node, O_RDWR | O_NONBLOCK);

    need(fd >= 0, node);
    return fd;
}

/* --- a PD with the test skel ------------------------------------------------------------------------------------ */

static struct fastrpc_invoke_args arg(const void *p, size_t n)
{
    return (struct fastrpc_invoke_args){(uintptr_t)p, n, -1, 0};
}

static struct fastrpc_invoke_args arg_fd(const void *p, size_t n, int fd)
{
    return (struct fastrpc_invoke_args){(uintptr_t)p, n, fd, 0};
}

static int invoke(int dev, uint32_t handle, uint32_t sc, struct fastrpc_invoke_args *args)
{
    struct fastrpc_invoke inv = {handle, sc, (uintptr_t)args};

    return ioctl(dev, FASTRPC_IOCTL_INVOKE, &inv);
}

static uint32_t load_skel(int dev)
{
    static const char uri[] = HXT_SKEL_URI;
    struct fastrpc_init_create c = {.filefd = -1, .attrs = FASTRPC_MODE_UNSIGNED_MODULE};
    uint32_t in[2] = {sizeof(uri), 256}, out[2] = {0, 1};
    char dlerr[256] = "";
    struct fastrpc_invoke_args a[4] = {arg(in, sizeof(in)), arg(uri, sizeof(uri)), arg(out, sizeof(out)),
                                       arg(dlerr, sizeof(dlerr))};

    need(ioctl(dev, FASTRPC_IOCTL_INIT_CREATE, &c) == 0, "INIT_CREATE");
    need(invoke(dev, FASTRPC_HANDLE_REMOTECTL1, REMOTE_SCALARS_MAKE(2, 2, 2), a) == 0, "open1");
    need(out[1] == 0, dlerr);
    return out[0];
}

/* --- shared memory ---------------------------------------------------------------------------------------------- */

static int alloc_buff(int dev)
{
    struct fastrpc_alloc_dma_buf a = {.fd = -77, .size = BYTES};

    need(ioctl(dev, FASTRPC_IOCTL_ALLOC_DMA_BUFF, &a) == 0, "ALLOC_DMA_BUFF");
    need(a.fd > 2 && a.size == BYTES && a.flags == 0, "ALLOC_DMA_BUFF: its answer");
    return a.fd;
}

static int alloc_heap(void)
{
    struct dma_heap_allocation_data a = {.len = BYTES, .fd_flags = O_RDWR | O_CLOEXEC};
    int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);

    need(heap >= 0, "/dev/dma_heap/system");
    need(ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &a) == 0, "DMA_HEAP_IOCTL_ALLOC");
    need((fcntl((int)a.fd, F_GETFD) & FD_CLOEXEC) != 0, "DMA_HEAP_IOCTL_ALLOC: O_CLOEXEC");
    need((fcntl(heap, F_GETFD) & FD_CLOEXEC) != 0, "/dev/dma_heap/system: O_CLOEXEC");
    close(heap);
    return (int)a.fd;
}

static void *map(int fd)
{
    struct stat st;
    void *p;

    need(fstat(fd, &st) == 0 && st.st_size == WHOLE, "the buffer has whole pages");
    need_errno(ftruncate(fd, 0), EPERM, "its size is fixed");
    p = mmap(NULL, WHOLE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    need(p != MAP_FAILED, "mmap");
    for (int i = 0; i < WHOLE; i++)
        need(((char *)p)[i] == 0, "the buffer is zeroed");
    return p;
}

struct visit {
    int dev, fd, result;
    uint32_t skel;
    struct hxt_gate *gate;
};

static void *wait_at_gate(void *p)
{
    struct visit *v = p;
    struct hxt_in in = {7, 100000};
    struct fastrpc_invoke_args a[2] = {arg(&in, sizeof(in)), arg_fd(v->gate, sizeof(*v->gate), v->fd)};

    v->result = invoke(v->dev, v->skel, REMOTE_SCALARS_MAKE(HXT_WAIT, 2, 0), a);
    return NULL;
}

/* While the call runs, each side sees what the other writes: no copies. */
static void check_shared(const char *from, int dev, int fd)
{
    const struct timespec pause_ = {.tv_nsec = 5000000};
    struct visit v = {dev, fd, -1, load_skel(dev), map(fd)};
    pthread_t thread;

    need(pthread_create(&thread, NULL, wait_at_gate, &v) == 0, "pthread_create");
    for (int i = 0; i < 12000 && !__atomic_load_n(&v.gate->inside, __ATOMIC_SEQ_CST); i++)
        nanosleep(&pause_, NULL);
    need(__atomic_load_n(&v.gate->inside, __ATOMIC_SEQ_CST) == 1, "the DSP's writing is seen while it runs");
    __atomic_store_n(&v.gate->open, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    need(v.result == 7, "the client's writing is seen while the DSP runs");
    printf("%s: descriptor %d, %d bytes; client and DSP saw each other's writes while a call ran\n", from, fd, WHOLE);
    munmap(v.gate, WHOLE);
}

/* Bytes go to the DSP and back inside one buffer. */
static void check_echo(int dev, int fd, uint32_t skel)
{
    char *p = mmap(NULL, WHOLE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct hxt_in in = {0, 0};
    struct fastrpc_invoke_args a[3] = {arg(&in, sizeof(in)), arg_fd(p, 100, fd), arg_fd(p + 4096, 100, fd)};

    need(p != MAP_FAILED, "mmap");
    memset(p, 0x5a, 100);
    need(invoke(dev, skel, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a) == 0, "echo");
    need(memcmp(p, p + 4096, 100) == 0, "echo: the bytes");
    munmap(p, WHOLE);
}

/* --- what can be asked for -------------------------------------------------------------------------------------- */

static void do_refused(void)
{
    struct fastrpc_alloc_dma_buf a = {.size = BYTES};

    need_errno(ioctl(open_device(), FASTRPC_IOCTL_ALLOC_DMA_BUFF, &a), EOPNOTSUPP, "ALLOC_DMA_BUFF");
}

static void do_buff(void)
{
    int dev = open_device(), fd = alloc_buff(dev);

    need((fcntl(dev, F_GETFL) & (O_ACCMODE | O_NONBLOCK)) == (O_RDWR | O_NONBLOCK), "flags of the open");
    need((fcntl(dev, F_GETFD) & FD_CLOEXEC) == 0, "no O_CLOEXEC");
    check_shared("ALLOC_DMA_BUFF", dev, fd);
    close(fd);
    close(dev);
}

static void do_heap(void)
{
    struct dma_heap_allocation_data bad = {.len = BYTES, .heap_flags = 1};
    int dev = open_device(), fd = alloc_heap(), heap = open("/dev/dma_heap/system", O_RDWR);

    check_shared("/dev/dma_heap/system", dev, fd);
    need_errno(ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &bad), EINVAL, "unknown heap flags");
    need_errno(ioctl(dev, DMA_HEAP_IOCTL_ALLOC, &bad), ENOTTY, "the device is no heap");
    close(heap);
    close(fd);
    close(dev);
}

static void do_sizes(void)
{
    static const uint64_t sizes[] = {0, 1ull << 32, UINT64_MAX};
    int dev = open_device();

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct fastrpc_alloc_dma_buf a = {.fd = -77, .size = sizes[i]};

        need_errno(ioctl(dev, FASTRPC_IOCTL_ALLOC_DMA_BUFF, &a), ENOMEM, "a size that cannot be");
        need(a.fd == -77, "an error writes nothing");
    }
    need_errno(ioctl(dev, FASTRPC_IOCTL_ALLOC_DMA_BUFF, NULL), EFAULT, "no struct");
    close(dev);
}

/* Descriptors that were made by dup(), closed, used again, or were never a rig's. */
static void do_fds(void)
{
    struct fastrpc_alloc_dma_buf a = {.size = BYTES};
    int dev = open_device(), twin = dup(dev), other, high;

    close(dev);
    other = open("/dev/null", O_RDWR);
    need(other == dev, "the number is used again");
    need_errno(ioctl(other, FASTRPC_IOCTL_ALLOC_DMA_BUFF, &a), ENOTTY, "ALLOC_DMA_BUFF on /dev/null");
    need_errno(ioctl(other, DMA_HEAP_IOCTL_ALLOC, &a), ENOTTY, "DMA_HEAP_IOCTL_ALLOC on /dev/null");
    high = fcntl(twin, F_DUPFD, 500);
    close(twin);
    close(alloc_buff(high));
    need_errno(ioctl(twin, FASTRPC_IOCTL_ALLOC_DMA_BUFF, &a), EBADF, "ALLOC_DMA_BUFF on a closed number");
    close(other);
    close(high);
    need_errno(open("/dev/fastrpc-nsp", O_RDWR), ENOENT, "other files of /dev");
    need_errno(open("relative-and-missing", O_RDWR), ENOENT, "other files");
}

static void *alloc_many(void *p)
{
    for (int i = 0; i < 50; i++)
        close(alloc_buff(*(int *)p));
    return NULL;
}

static void do_threads(void)
{
    pthread_t thread[8];
    int dev = open_device();

    for (int i = 0; i < 8; i++)
        need(pthread_create(&thread[i], NULL, alloc_many, &dev) == 0, "pthread_create");
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    close(dev);
}

/* A child inherits it all, and so does the program that it becomes. */
static void do_child(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        do_fds();
        execl(self[0], self[0], node, "buff", "spellings", NULL);
        _exit(1);
    }
    need(waitpid(pid, &status, 0) == pid && status == 0, "the child");
}

/* Every way to spell it; flags that are no constant become __open_2() and its like in a fortified build. */
static void do_spellings(void)
{
    volatile int plain = O_RDWR | O_CLOEXEC;
    char path[4096];
    struct stat st;
    int tmp;

    snprintf(path, sizeof(path), "%s-secure", node);
    int dev[] = {open(path, plain), open64(path, plain), openat(AT_FDCWD, path, plain), openat64(AT_FDCWD, path, plain),
                 open(path, O_RDWR | O_CLOEXEC), open64(path, O_RDWR | O_CLOEXEC),
                 openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC), openat64(AT_FDCWD, path, O_RDWR | O_CLOEXEC)};
    for (size_t i = 0; i < sizeof(dev) / sizeof(dev[0]); i++) {
        need(dev[i] >= 0, path);
        need((fcntl(dev[i], F_GETFD) & FD_CLOEXEC) != 0, "O_CLOEXEC");
        close(alloc_buff(dev[i]));
        close(dev[i]);
    }
    umask(0);
    tmp = open("/tmp", O_TMPFILE | O_RDWR, 0604);
    need(tmp >= 0 && fstat(tmp, &st) == 0 && (st.st_mode & 07777) == 0604, "the mode of another file");
    close(tmp);
}

/* How the open library sees that the machine has a CDSP. */
static void do_name(void)
{
    int fd = open("/sys/class/remoteproc/remoteproc0/name", O_RDONLY);
    char text[16] = "";

    need(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, "name of remote processor 0");
    need(strcmp(text, "cdsp\n") == 0, text);
    close(fd);
}

/* Only what has to be is handed to the launcher: with that stopped, calls run. */
static void do_stopped(void)
{
    int dev = open_device(), fd = alloc_buff(dev);
    uint32_t skel = load_skel(dev);
    pid_t parent = getppid();

    need(parent > 1 && kill(parent, SIGSTOP) == 0, "SIGSTOP");
    for (int i = 0; i < 100; i++)
        check_echo(dev, fd, skel);
    kill(parent, SIGCONT);
    close(fd);
    close(dev);
}

/* Says its process id and stays. */
static void do_hold(void)
{
    int dev = open_device();

    alloc_buff(dev);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    pause();
}

static void do_abort(void)
{
    raise(SIGKILL);
}

static void do_exit_42(void)
{
    exit(42);
}

/* Leaves a process behind that opens the device a second later. */
static void do_orphan(void)
{
    if (fork() == 0) {
        sleep(1);
        do_buff();
        printf("orphan done\n");
        exit(0);
    }
}

/* Its skel crashes. */
static void do_crash(void)
{
    const struct hxt_in in = {0, 0};
    struct fastrpc_invoke_args a[1] = {arg(&in, sizeof(in))};
    int dev = open_device();

    need((unsigned)invoke(dev, load_skel(dev), REMOTE_SCALARS_MAKE(HXT_CRASH, 1, 0), a) == 0x80000430, "the code of a crash");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } what[] = {
        {"refused", do_refused}, {"buff", do_buff},       {"heap", do_heap},     {"sizes", do_sizes},
        {"fds", do_fds},         {"threads", do_threads}, {"child", do_child},   {"spellings", do_spellings},
        {"stopped", do_stopped}, {"hold", do_hold},       {"abort", do_abort},   {"exit-42", do_exit_42},
        {"orphan", do_orphan},   {"name", do_name},     {"crash", do_crash},
    };
    size_t n = sizeof(what) / sizeof(what[0]);

    self = argv;
    node = argc > 1 ? argv[1] : "";
    for (int i = 2; i < argc; i++) {
        size_t k = 0;

        while (k < n && strcmp(argv[i], what[k].name) != 0)
            k++;
        if (k == n) {
            fprintf(stderr, "run_with_client: what is '%s'?\n", argv[i]);
            return 2;
        }
        what[k].run();
    }
    return 0;
}
