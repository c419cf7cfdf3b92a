/* Answers a program's system calls about the DSP's device and the DMA heap, by seccomp's user notification. */
#include "seccomp_notify.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "client_nodes.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#define NATIVE_ARCH 0 /* equals no call's architecture: hx_seccomp_supported() refuses */
#endif

/* A newer kernel may have longer structs than the header. */
union notification {
    struct seccomp_notif n;
    char room[256];
};
union response {
    struct seccomp_notif_resp r;
    char room[256];
};

/* --- the filter ------------------------------------------------------------------------------------------------- */

static int seccomp(unsigned op, unsigned flags, void *arg)
{
    return (int)syscall(SYS_seccomp, op, flags, arg);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), yes, no)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)

/* Answering with a descriptor in one step came with Linux 5.14.  Without a notification to answer, a kernel that knows it
 * complains about the descriptor, another one about the flag. */
static int can_send_fds(int listener)
{
    struct seccomp_notif_addfd a = {.srcfd = (uint32_t)-1, .flags = SECCOMP_ADDFD_FLAG_SEND};

    return ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &a) < 0 && errno != EINVAL;
}

int hx_seccomp_watch(void)
{
    /* a jump counts the instructions that it skips; the last two are "let it go" and "tell" */
    struct sock_filter code[] = {
        LOAD(arch),
        IF_IS(NATIVE_ARCH, 0, 7),
        LOAD(nr),
        IF_IS(SYS_openat, 6, 0),
#ifdef SYS_open
        IF_IS(SYS_open, 5, 0),
#else
        IF_IS(SYS_openat, 5, 0),
#endif
        IF_IS(SYS_ioctl, 0, 3),
        LOAD(args[1]), /* the low half, which is all of a command */
        IF_IS(FASTRPC_IOCTL_ALLOC_DMA_BUFF, 2, 0),
        IF_IS(DMA_HEAP_IOCTL_ALLOC, 1, 0),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog prog = {sizeof(code) / sizeof(code[0]), code};
    /* A call that we are serving is then interrupted by nothing but its thread's death: a descriptor that was put into the
     * client is always told to it. */
    unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    int fd;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -errno;
    fd = seccomp(SECCOMP_SET_MODE_FILTER, flags, &prog);
    if (fd < 0 && errno == EINVAL) /* before Linux 5.19 */
        fd = seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
    if (fd < 0)
        return -errno;
    return can_send_fds(fd) ? fd : -ENOTSUP;
}

static int refuse(char *err, size_t bytes, const char *text)
{
    snprintf(err, bytes, "%s", text);
    return -ENOTSUP;
}

int hx_seccomp_supported(char *err, size_t why_bytes)
{
    uint32_t action = SECCOMP_RET_USER_NOTIF;
    struct seccomp_notif_sizes sizes;

    if (!NATIVE_ARCH)
        return refuse(err, why_bytes, "this machine's architecture has no filter here");
    if (seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action) || seccomp(SECCOMP_GET_NOTIF_SIZES, 0, &sizes))
        return refuse(err, why_bytes, "this kernel has no seccomp user notification");
    if (sizes.seccomp_notif > sizeof(union notification) ||
        sizes.seccomp_notif_resp > sizeof(union response))
        return refuse(err, why_bytes, "this kernel's seccomp structs are longer than known");
    return 0;
}

/* --- answers ---------------------------------------------------------------------------------------------------- */

struct request {
    int listener;
    struct seccomp_notif n;
    enum hx_client_node node;
    const char *device;
};

static void respond(const struct request *q, int error, uint32_t flags)
{
    union response r = {.r = {.id = q->n.id, .error = error, .flags = flags}};

    /* fails only if the thread is gone */
    ioctl(q->listener, SECCOMP_IOCTL_NOTIF_SEND, &r.r);
}

static void go_on(const struct request *q)
{
    respond(q, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

/* The thread still waits for this answer: only then was its id not another's by now, and what was read under it its own. */
static int is_valid(const struct request *q)
{
    uint64_t id = q->n.id;

    return ioctl(q->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* Puts `fd` into the client and closes it here.  send: its number is the call's result.  Returns the number there, or
 * negative errno. */
static int give_fd(const struct request *q, int fd, int cloexec, int send)
{
    struct seccomp_notif_addfd a = {.id = q->n.id, .srcfd = (uint32_t)fd,
                                    .flags = send ? SECCOMP_ADDFD_FLAG_SEND : 0,
                                    .newfd_flags = cloexec ? O_CLOEXEC : 0};
    int there = ioctl(q->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &a);

    there = there < 0 ? -errno : there;
    close(fd);
    return there;
}

static ssize_t read_client(const struct request *q, void *dst, uint64_t addr, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), first = page - addr % page;
    struct iovec here = {dst, bytes};
    /* in two pieces, as a piece that does not fit is not read at all */
    struct iovec there[2] = {{(void *)(uintptr_t)addr, first < bytes ? first : bytes},
                             {(void *)(uintptr_t)(addr + first), first < bytes ? bytes - first : 0}};

    return process_vm_readv((pid_t)q->n.pid, &here, 1, there, 2, 0);
}

/* --- open ------------------------------------------------------------------------------------------------------- */

static int is_openat(const struct request *q)
{
    return q->n.data.nr == SYS_openat;
}

static int flags_of(const struct request *q)
{
    return (int)q->n.data.args[is_openat(q) ? 2 : 1];
}

static enum hx_client_node opened_node(const struct request *q)
{
    char path[HX_CLIENT_PATH_BYTES];
    ssize_t n = read_client(q, path, q->n.data.args[is_openat(q) ? 1 : 0], sizeof(path));

    if (n <= 0 || !memchr(path, '\0', (size_t)n))
        return HX_CLIENT_OTHER;
    return hx_client_node(path);
}

static int open_for(const struct request *q)
{
    int flags = flags_of(q) & ~(O_CREAT | O_EXCL | O_TRUNC), rc, fd;
    char path[4096];

    if (q->node == HX_CLIENT_HEAP || q->node == HX_CLIENT_PROC)
        return hx_client_stand_in(q->node, O_CLOEXEC);
    rc = hx_client_node_path(q->node, q->device, path, sizeof(path));
    if (rc)
        return rc;
    fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
    return fd < 0 ? -errno : fd;
}

static void serve_open(const struct request *q)
{
    int fd = open_for(q), there;

    if (fd < 0) {
        respond(q, fd, 0);
        return;
    }
    there = give_fd(q, fd, flags_of(q) & O_CLOEXEC, 1);
    if (there < 0)
        respond(q, there, 0);
}

/* --- ioctl ------------------------------------------------------------------------------------------------------ */

union alloc {
    struct fastrpc_alloc_dma_buf buff;
    struct dma_heap_allocation_data heap;
};

/* What differs between the two requests. */
struct alloc_kind {
    uint32_t cmd;
    enum hx_client_node node;
    size_t bytes;
    size_t fd_at; /* offset of the answer */
};

static const struct alloc_kind alloc_kinds[] = {
    {FASTRPC_IOCTL_ALLOC_DMA_BUFF, HX_CLIENT_CDSP, sizeof(struct fastrpc_alloc_dma_buf),
     offsetof(struct fastrpc_alloc_dma_buf, fd)},
    {DMA_HEAP_IOCTL_ALLOC, HX_CLIENT_HEAP, sizeof(struct dma_heap_allocation_data),
     offsetof(struct dma_heap_allocation_data, fd)},
};

static const struct alloc_kind *kind_of(const struct request *q)
{
    size_t i = 0;

    while (alloc_kinds[i].cmd != (uint32_t)q->n.data.args[1])
        i++; /* the filter lets no other through */
    return &alloc_kinds[i];
}

static int tell_fd(const struct request *q, uint64_t addr, int32_t fd)
{
    struct iovec here = {&fd, sizeof(fd)}, there = {(void *)(uintptr_t)addr, sizeof(fd)};

    return process_vm_writev((pid_t)q->n.pid, &here, 1, &there, 1, 0) == sizeof(fd) ? 0 : -EFAULT;
}

/* The ioctl's result. */
static int allocate(const struct request *q, const struct alloc_kind *k)
{
    uint64_t arg = q->n.data.args[2];
    union alloc a;
    int fd, is_heap = k->node == HX_CLIENT_HEAP;

    if (read_client(q, &a, arg, k->bytes) != (ssize_t)k->bytes)
        return -EFAULT;
    fd = is_heap ? hx_client_alloc_heap(&a.heap) : hx_client_alloc_buff(&a.buff);
    if (fd < 0)
        return fd;
    fd = give_fd(q, fd, is_heap && (a.heap.fd_flags & O_CLOEXEC), 0);
    return fd < 0 ? fd : tell_fd(q, arg + k->fd_at, fd);
}

static void serve_ioctl(const struct request *q)
{
    const struct alloc_kind *k = kind_of(q);

    if (hx_client_fd_kind((pid_t)q->n.pid, (int)q->n.data.args[0], q->device) != k->node)
        go_on(q);
    else if (is_valid(q))
        respond(q, allocate(q, k), 0);
}

/* --- one notification ------------------------------------------------------------------------------------------- */

static void *serve_ours(void *arg)
{
    struct request *q = arg;

    if (q->n.data.nr == SYS_ioctl)
        serve_ioctl(q);
    else
        serve_open(q);
    free(q);
    return NULL;
}

/* In a thread: opening a node waits for the rig, and if that was stopped, other programs' files must still open. */
static void serve_aside(const struct request *q)
{
    struct request *copy = malloc(sizeof(*copy));
    pthread_attr_t attr;
    pthread_t thread;

    if (!copy) {
        respond(q, -ENOMEM, 0);
        return;
    }
    *copy = *q;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attr, serve_ours, copy))
        serve_ours(copy);
    pthread_attr_destroy(&attr);
}

void hx_seccomp_serve(int listener, const char *device)
{
    union notification u = {.room = {0}}; /* the kernel wants zeros */
    struct request q = {.listener = listener, .device = device};

    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &u.n))
        return; /* interrupted, or its thread is gone */
    q.n = u.n;
    if (q.n.data.nr == SYS_ioctl) {
        serve_aside(&q);
        return;
    }
    q.node = opened_node(&q);
    if (q.node == HX_CLIENT_OTHER)
        go_on(&q);
    else if (is_valid(&q))
        serve_aside(&q);
}
