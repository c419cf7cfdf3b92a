/* Hostile ioctls: addresses that are nowhere, sizes that are too large, descriptors that are no memory, and handles, maps, VTCM and
 * queues of the target. */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "hx_frame.h"
#include "hxt.h"
#include "skel/hxt_queue.h"

static struct file own; /* the attacker's session, with the test skel in it */

int refusal(int rc)
{
    return rc == -1 ? errno : rc;
}

/* --- addresses --------------------------------------------------------------------------------------------------------- */

static const uint64_t nowhere[] = {
    1, 4096, 0x7ffffffff000, 0x800000000000, 0xffff888000000000, 0xffffffff81000000, UINT64_MAX - 4096, UINT64_MAX - 15,
};

static void take(int sock, void *to, size_t n)
{
    need(recv(sock, to, n, MSG_WAITALL) == (ssize_t)n, "the rig closed the connection");
}

/* An INVOKE with n arguments at `at`, of which the frame brings those at `args`, if not NULL, and nothing else that they point to.
 * A file has no frame: the driver reads what it wants. */
static int invoke_bare(uint32_t sc, uint64_t at, const struct fastrpc_invoke_args *args, uint64_t n)
{
    struct fastrpc_invoke inv = {own.skel, sc, at};
    struct hx_frame_seg seg = {.addr = at, .len = n * sizeof(*args), .flags = HX_SEG_IN};
    struct hx_frame f = {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_IOCTL, .id = 99, .cmd = (uint32_t)FASTRPC_IOCTL_INVOKE,
                         .arg_bytes = sizeof(inv), .n_segs = args != NULL,
                         .body_bytes = sizeof(inv) + (args ? sizeof(seg) + seg.len : 0)};
    struct hx_frame_reply r;
    char byte;

    if (dev->kernel)
        return refusal(dev->ioctl(own.h, FASTRPC_IOCTL_INVOKE, &inv));
    send(own.h, &f, sizeof(f), MSG_NOSIGNAL);
    send(own.h, &inv, sizeof(inv), MSG_NOSIGNAL);
    if (args) {
        send(own.h, &seg, sizeof(seg), MSG_NOSIGNAL);
        send(own.h, args, seg.len, MSG_NOSIGNAL);
    }
    take(own.h, &r, sizeof(r));
    for (; r.body_bytes; r.body_bytes--)
        take(own.h, &byte, 1);
    return r.result < 0 && r.result >= -4095 ? -r.result : r.result;
}

static int arguments_nowhere(const struct target *t, int i)
{
    (void)t;
    return invoke_bare(REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), nowhere[i], NULL, 3);
}
static int input_nowhere(const struct target *t, int i)
{
    struct fastrpc_invoke_args a[1] = {{nowhere[i], 8, -1, 0}};

    (void)t;
    return invoke_bare(REMOTE_SCALARS_MAKE(HXT_ECHO, 1, 0), (uintptr_t)a, a, 1);
}
static int output_nowhere(const struct target *t, int i)
{
    struct fastrpc_invoke_args a[1] = {{nowhere[i], 8, -1, 0}};

    (void)t;
    return invoke_bare(REMOTE_SCALARS_MAKE(HXT_ECHO, 0, 1), (uintptr_t)a, a, 1);
}

/* The array ends with its page, so that only `arg` of its 540 arguments are there. */
static int fewer_arguments(const struct target *t, int n)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct fastrpc_invoke_args *a = (void *)(page + 4096 - (size_t)n * sizeof(*a));
    int error;

    (void)t;
    munmap(page + 4096, 4096);
    error = invoke_bare(REMOTE_SCALARS_MAKEX(0, HXT_ECHO, 255, 255, 15, 15), (uintptr_t)a, a, (uint64_t)n);
    munmap(page, 4096);
    return error;
}

static const uint64_t too_long[] = {257u << 20, 1ULL << 32, 1ULL << 40, INT64_MAX, UINT64_MAX};

static int long_input(const struct target *t, int i)
{
    static char some[8];
    struct fastrpc_invoke_args a[1] = {{(uintptr_t)some, too_long[i], -1, 0}};

    (void)t;
    return invoke_bare(REMOTE_SCALARS_MAKE(HXT_ECHO, 1, 0), (uintptr_t)a, a, 1);
}
static int long_output(const struct target *t, int i)
{
    static char some[8];
    struct fastrpc_invoke_args a[1] = {{(uintptr_t)some, too_long[i], -1, 0}};

    (void)t;
    return invoke_bare(REMOTE_SCALARS_MAKE(HXT_ECHO, 0, 1), (uintptr_t)a, a, 1);
}

/* --- descriptors ------------------------------------------------------------------------------------------------------- */

enum kind { NOT_OPEN, MINUS_TWO, INT_LARGEST, PIPE, SOCKET, FOLDER, TEXT, NULL_DEVICE, ZERO_DEVICE, BY_PATH, EPOLL, EVENT, TIMER,
            PIDFD, NODE, OWN_MEM, EMPTY };

static int make(const struct target *t, int kind)
{
    int fd[2] = {-1, -1}, mem = memfd_create("x", 0), got = -1;

    switch ((enum kind)kind) {
    case NOT_OPEN: got = t->fd + 200; break;
    case MINUS_TWO: got = -2; break;
    case INT_LARGEST: got = INT_MAX; break;
    case PIPE: got = pipe(fd) ? -1 : fd[0]; break;
    case SOCKET: got = socketpair(AF_UNIX, SOCK_STREAM, 0, fd) ? -1 : fd[0]; break;
    case FOLDER: got = open("/", O_RDONLY | O_DIRECTORY); break;
    case TEXT: got = open("/etc/passwd", O_RDONLY); break;
    case NULL_DEVICE: got = open("/dev/null", O_RDWR); break;
    case ZERO_DEVICE: got = open("/dev/zero", O_RDWR); break;
    case BY_PATH: got = open(hxt_path("/proc/self/fd/%d", mem), O_PATH); break;
    case EPOLL: got = epoll_create1(0); break;
    case EVENT: got = eventfd(0, 0); break;
    case TIMER: got = timerfd_create(CLOCK_MONOTONIC, 0); break;
    case PIDFD: got = (int)syscall(SYS_pidfd_open, getpid(), 0); break;
    case NODE: got = own.h; break;
    case OWN_MEM: got = open("/proc/self/mem", O_RDWR); break;
    case EMPTY: return mem;
    }
    close(mem);
    return got;
}

static int map_of_kind(const struct target *t, int kind)
{
    struct fastrpc_mem_map m = {.fd = make(t, kind), .length = 4096};
    int rc = refusal(dev->ioctl(own.h, FASTRPC_IOCTL_MEM_MAP, &m));

    if (m.fd > 2 && m.fd != own.h)
        close(m.fd);
    return rc;
}
static int invoke_of_kind(const struct target *t, int kind)
{
    uint32_t head[2] = {0, 0};
    char out[8];
    struct fastrpc_invoke_args a[3] = {arg(head, sizeof(head)), {(uintptr_t)head, 8, make(t, kind), 0}, arg(out, sizeof(out))};
    int rc = refusal(invoke(own.h, own.skel, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a));

    if (a[1].fd > 2 && a[1].fd != own.h)
        close(a[1].fd);
    return rc;
}

/* --- what is the target's ----------------------------------------------------------------------------------------------- */

static int fresh(void) /* a session with a PD and no skel */
{
    int h = open_node("fastrpc-cdsp");

    need_is(init_create(h, FASTRPC_MODE_UNSIGNED_MODULE, 0), 0, "INIT_CREATE");
    return h;
}
static int its_handle(const struct target *t, int arg_)
{
    struct hxt_in in = {0, 0};
    struct fastrpc_invoke_args a[1] = {arg(&in, sizeof(in))};
    int h = fresh(), rc = refusal(invoke(h, t->skel + (uint32_t)arg_, REMOTE_SCALARS_MAKE(HXT_BLOCK, 1, 0), a));

    dev->close(h);
    return rc;
}
static int close_its_handle(const struct target *t, int unused)
{
    uint32_t in[2] = {t->skel, 256};
    int32_t error = 0;
    char dlerr[256];
    struct fastrpc_invoke_args a[3] = {arg(in, sizeof(in)), arg(&error, sizeof(error)), arg(dlerr, sizeof(dlerr))};
    int h = fresh(), rc = refusal(invoke(h, FASTRPC_HANDLE_REMOTECTL1, REMOTE_SCALARS_MAKE(3, 1, 2), a));

    (void)unused;
    dev->close(h);
    return rc ? rc : error;
}
static int kernels_handle(const struct target *t, int method)
{
    (void)t;
    return refusal(invoke(own.h, FASTRPC_HANDLE_KERNEL, REMOTE_SCALARS_MAKE((uint32_t)method, 0, 0), NULL));
}
static int unmap_its_buffer(const struct target *t, int fd)
{
    struct fastrpc_mem_unmap u = {.fd = fd ? t->fd : -1, .vaddr = t->vaddr, .length = t->bytes};

    return refusal(dev->ioctl(own.h, FASTRPC_IOCTL_MEM_UNMAP, &u));
}
static int munmap_its_buffer(const struct target *t, int unused)
{
    struct fastrpc_req_munmap u = {.vaddrout = t->vaddr, .size = t->bytes};

    (void)unused;
    return refusal(dev->ioctl(own.h, FASTRPC_IOCTL_MUNMAP, &u));
}
static int all_of_vtcm(const struct target *t, int bytes)
{
    struct hxt_vtcm v = {0};
    int rc = refusal(call1(own, HXT_VTCM, 0, (uint32_t)bytes, &v, sizeof(v)));

    (void)t;
    return rc ? rc : v.address ? 0 : ENOMEM;
}
#ifndef __SANITIZE_ADDRESS__ /* it lies elsewhere then */
static int see_its_vtcm(const struct target *t, int way)
{
    uint32_t n = 0;
    int rc = refusal(call1(own, HXT_VTCM_LOOK, 0, (uint32_t)way, &n, sizeof(n)));

    (void)t;
    return rc ? rc : n ? 0 : ENODATA;
}
#endif
static int release_its_vtcm(const struct target *t, int unused)
{
    (void)unused;
    return refusal(call0(own, HXT_RELEASE, 0, t->context));
}
static int create_again(const struct target *t, int unused)
{
    (void)t;
    (void)unused;
    return refusal(init_create(own.h, FASTRPC_MODE_UNSIGNED_MODULE, 0));
}
static int create_signed(const struct target *t, int filelen)
{
    int h = open_node("fastrpc-cdsp"), rc = refusal(init_create(h, filelen ? FASTRPC_MODE_UNSIGNED_MODULE : 0, (uint32_t)filelen));

    (void)t;
    dev->close(h);
    return rc;
}
static int its_queue(const struct target *t, int offset)
{
    static uint32_t skel;
    struct hxq_start in = {t->queue + (uint64_t)offset, 0, 0};
    struct fastrpc_invoke_args a[1] = {arg(&in, sizeof(in))};

    if (!skel)
        need_is(hostile_open(own.h, HXT_QUEUE_URI, sizeof(HXT_QUEUE_URI), &skel), 0, "the queue skel");
    return refusal(invoke(own.h, skel, REMOTE_SCALARS_MAKE(HXQ_START, 1, 0), a));
}
static int what_is_right(const struct target *t, int unused)
{
    char in[8] = "payload", out[8] = "";

    (void)t;
    (void)unused;
    return refusal(echo(own, 0, arg(in, 8), arg(out, 8))) || memcmp(in, out, 8) ? EIO : 0;
}

static const struct attempt attempts[] = {
    {"fewer arguments than it says", fewer_arguments, 1, EFAULT},
    {"none of 540 arguments", fewer_arguments, 0, EFAULT},
    {"the target's handle", its_handle, 0, AEE_DSP(AEE_EINVHANDLE)},
    {"the handle after it", its_handle, 1, AEE_DSP(AEE_EINVHANDLE)},
    {"the handle of another use", its_handle, 256, AEE_DSP(AEE_EINVHANDLE)},
    {"close the target's handle", close_its_handle, 0, AEE_DSP(AEE_EINVHANDLE)},
    {"the kernel's handle, create", kernels_handle, FASTRPC_RMID_CREATE, EPERM},
    {"the kernel's handle, release", kernels_handle, FASTRPC_RMID_RELEASE, EPERM},
    {"the kernel's handle, map", kernels_handle, FASTRPC_RMID_MEM_MAP, EPERM},
    {"unmap the target's buffer", unmap_its_buffer, 0, EINVAL},
    {"unmap it by its descriptor", unmap_its_buffer, 1, EINVAL},
    {"MUNMAP of the target's buffer", munmap_its_buffer, 0, EINVAL},
    {"all of VTCM", all_of_vtcm, 8 << 20, ENOMEM},
    {"more than VTCM", all_of_vtcm, 9 << 20, ENOMEM},
#ifndef __SANITIZE_ADDRESS__
    {"see the target's VTCM", see_its_vtcm, HXT_BY_FORCE, ENODATA},
#endif
    {"release the target's VTCM", release_its_vtcm, 0, AEE_EBADPARM},
    {"a second PD", create_again, 0, AEE_DSP(AEE_EBADSTATE)},
    {"a signed PD", create_signed, 0, ECONNREFUSED},
    {"a shell that is too large", create_signed, FASTRPC_INIT_FILELEN_MAX + 1, EINVAL},
    {"the target's queue", its_queue, 0, AEE_ENOSUCH},
    {"the queue after it", its_queue, 1, AEE_ENOSUCH},
    {"what is right", what_is_right, 0, 0},
};

static const struct {
    const char *name;
    enum kind kind;
} kinds[] = {
    {"a number that is not open", NOT_OPEN}, {"-2", MINUS_TWO}, {"the largest int", INT_LARGEST}, {"a pipe", PIPE},
    {"a socket", SOCKET}, {"a folder", FOLDER}, {"a text file", TEXT}, {"/dev/null", NULL_DEVICE}, {"/dev/zero", ZERO_DEVICE},
    {"memory by its path", BY_PATH}, {"epoll", EPOLL}, {"an event", EVENT}, {"a timer", TIMER}, {"a pidfd", PIDFD},
    {"the node itself", NODE}, {"/proc/self/mem", OWN_MEM}, {"empty memory", EMPTY},
};

static bool is_open(enum kind kind)
{
    return kind != NOT_OPEN && kind != MINUS_TWO && kind != INT_LARGEST;
}

void hostile_calls(const struct target *t)
{
    own = open_skel();
    for (int i = 0; i < (int)HXT_LEN(nowhere); i++) {
        const char *at = hxt_path("0x%llx", (unsigned long long)nowhere[i]);

        hostile_tell("arguments at", at, EFAULT, arguments_nowhere(t, i));
        hostile_tell("input at", at, EFAULT, input_nowhere(t, i));
        hostile_tell("output at", at, EFAULT, output_nowhere(t, i));
    }
    for (int i = 0; i < (int)HXT_LEN(too_long); i++) {
        const char *n = hxt_path("%llu bytes", (unsigned long long)too_long[i]);

        hostile_tell("input of", n, ENOMEM, long_input(t, i));
        hostile_tell("output of", n, ENOMEM, long_output(t, i));
    }
    for (size_t i = 0; i < HXT_LEN(kinds); i++) {
        hostile_tell("map", kinds[i].name, is_open(kinds[i].kind) ? EINVAL : EBADF, map_of_kind(t, (int)kinds[i].kind));
        hostile_tell("pass", kinds[i].name, EINVAL, invoke_of_kind(t, (int)kinds[i].kind));
    }
    for (size_t i = 0; i < HXT_LEN(attempts); i++)
        hostile_tell(attempts[i].name, "", attempts[i].expected, attempts[i].run(t, attempts[i].arg));
    close_file(own);
}
