/* Requests of the msm driver as those of Linux's. */
#include "msm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastrpc_uapi.h"
#include "msm_uapi.h"
#include "remote_scalars.h"

typedef int (*ioctl_fn)(int fd, unsigned long cmd, ...);

enum { CDSP = 3, CONTROL_KALLOC = 3 };

static int fail(int error)
{
    errno = error;
    return -1;
}

enum hx_msm_node hx_msm_node(const char *path)
{
    static const char *const names[] = {"/dev/adsprpc-smd", "/dev/adsprpc-smd-secure"};

    for (size_t i = 0; path && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(path, names[i]) == 0)
            return HX_MSM_DSP;
    return path && strcmp(path, "/dev/ion") == 0 ? HX_MSM_ION : HX_MSM_NONE;
}

/* --- calls ------------------------------------------------------------------------------------------------------ */

/* A DMA handle reaches from its offset to the end of its memory; its descriptor is where other arguments have theirs, or in it. */
static int set_handle(struct fastrpc_invoke_args *to, const union msm_arg *arg, int32_t fd)
{
    struct stat st;

    to->fd = fd > 0 ? fd : arg->dma.fd;
    to->ptr = fd > 0 && arg->dma.fd != fd ? 0 : arg->dma.offset;
    if (fstat(to->fd, &st) || (uint64_t)st.st_size < to->ptr)
        return EBADF;
    to->length = (uint64_t)st.st_size - to->ptr;
    return 0;
}

/* bytes: how much of the struct the program has passed. */
static int invoke(ioctl_fn send, int fd, const void *arg, size_t bytes)
{
    struct msm_invoke in = {0};

    memcpy(&in, arg, bytes);
    const unsigned n = REMOTE_SCALARS_LENGTH(in.sc), n_bufs = REMOTE_SCALARS_INBUFS(in.sc) + REMOTE_SCALARS_OUTBUFS(in.sc);
    const union msm_arg *args = (const void *)(uintptr_t)in.args;
    const int32_t *fds = (const void *)(uintptr_t)in.fds;
    struct fastrpc_invoke_args to[n + 1];
    struct fastrpc_invoke call = {.handle = in.handle, .sc = in.sc, .args = (uintptr_t)to};

    if (n && !args)
        return fail(EFAULT);
    for (unsigned i = 0; i < n; i++) {
        const int32_t its_fd = fds ? fds[i] : -1;
        int error = 0;

        to[i] = (struct fastrpc_invoke_args){.ptr = args[i].buf.ptr, .length = args[i].buf.length, .fd = its_fd};
        if (i >= n_bufs)
            error = set_handle(&to[i], &args[i], its_fd);
        if (error)
            return fail(error);
    }
    return send(fd, FASTRPC_IOCTL_INVOKE, &call);
}

/* --- PDs -------------------------------------------------------------------------------------------------------- */

static int init(ioctl_fn send, int fd, const void *arg, size_t bytes)
{
    struct msm_init in = {0};
    struct fastrpc_init_create_static fixed;
    struct fastrpc_init_create create;

    memcpy(&in, arg, bytes);
    switch (in.flags) {
    case MSM_ATTACH:
        return send(fd, FASTRPC_IOCTL_INIT_ATTACH, NULL);
    case MSM_ATTACH_SENSORS:
        return send(fd, FASTRPC_IOCTL_INIT_ATTACH_SNS, NULL);
    case MSM_CREATE_STATIC:
        fixed = (struct fastrpc_init_create_static){.namelen = in.filelen, .memlen = in.memlen, .name = in.file};
        return send(fd, FASTRPC_IOCTL_INIT_CREATE_STATIC, &fixed);
    case MSM_CREATE:
        create = (struct fastrpc_init_create){.filelen = in.filelen, .filefd = in.filefd > 0 ? in.filefd : 0,
                                              .attrs = (uint32_t)in.attrs, .siglen = in.siglen, .file = in.file};
        return send(fd, FASTRPC_IOCTL_INIT_CREATE, &create);
    default:
        return fail(ENOTTY);
    }
}

/* In: the DSP that is meant.  Out: whether it has an SMMU. */
static int get_info(uint32_t *info)
{
    if (*info != CDSP)
        return fail(ECONNREFUSED);
    *info = 1;
    return 0;
}

/* bytes: of the struct, which is at least its request. */
static int control(struct msm_control *c, size_t bytes)
{
    if (bytes >= 2 * sizeof(uint32_t) && c->req == CONTROL_KALLOC)
        c->value[0] = 1; /* the kernel allocates, which MMAP without a descriptor asks for */
    return c->req >= 1 && c->req <= CONTROL_KALLOC ? 0 : fail(ENOTTY);
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

/* Memory of the program's is mapped by its descriptor; other memory is the kernel's. */
static int map(ioctl_fn send, int fd, struct msm_mmap *m)
{
    struct fastrpc_mem_map mem = {.fd = m->fd, .flags = m->flags, .vaddrin = m->vaddrin, .length = m->size};
    struct fastrpc_req_mmap req = {.fd = -1, .flags = m->flags, .size = m->size};
    const int has_fd = m->fd > 0;
    int rc = has_fd ? send(fd, FASTRPC_IOCTL_MEM_MAP, &mem) : send(fd, FASTRPC_IOCTL_MMAP, &req);

    if (!rc)
        m->vaddrout = has_fd ? mem.vaddrout : req.vaddrout;
    return rc;
}

static int unmap(ioctl_fn send, int fd, const struct msm_munmap *m)
{
    struct fastrpc_mem_unmap mem = {.fd = -1, .vaddr = m->vaddrout, .length = m->size};
    struct fastrpc_req_munmap req = {.vaddrout = m->vaddrout, .size = m->size};
    int rc = send(fd, FASTRPC_IOCTL_MUNMAP, &req);

    return rc == -1 && errno == EINVAL ? send(fd, FASTRPC_IOCTL_MEM_UNMAP, &mem) : rc;
}

/* --- requests --------------------------------------------------------------------------------------------------- */

enum hx_msm_node hx_msm_of(int fd, uint32_t cmd)
{
    static const char want[] = "/memfd:hexrig-ion (deleted)";
    char link[32], name[sizeof(want) + 1];
    const int saved = errno;
    enum hx_msm_node node = HX_MSM_NONE;

    if (_IOC_TYPE(cmd) == 'R') {
        int flags = fcntl(fd, F_GETFL);

        node = flags >= 0 && (flags & O_APPEND) ? HX_MSM_DSP : HX_MSM_NONE;
    } else if (_IOC_TYPE(cmd) == 'I') {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        if (readlink(link, name, sizeof(name)) == sizeof(want) - 1 && memcmp(name, want, sizeof(want) - 1) == 0)
            node = HX_MSM_ION;
    }
    errno = saved;
    return node;
}

int hx_msm_ioctl(ioctl_fn send, int fd, uint32_t cmd, void *arg)
{
    if (!arg)
        return fail(EFAULT);
    switch (cmd) {
    case MSM_INVOKE:
    case MSM_INVOKE_FD:
    case MSM_INVOKE_ATTRS:
    case MSM_INVOKE_CRC:
        return invoke(send, fd, arg, _IOC_SIZE(cmd));
    case MSM_INIT:
    case MSM_INIT_ATTRS:
        return init(send, fd, arg, _IOC_SIZE(cmd));
    case MSM_MMAP:
    case MSM_MMAP_64:
        return map(send, fd, arg);
    case MSM_MUNMAP:
    case MSM_MUNMAP_64:
        return unmap(send, fd, arg);
    case MSM_GETINFO:
        return get_info(arg);
    case MSM_SETMODE:
        return 0; /* serial or parallel is a library's matter here */
    default:
        return _IOC_NR(cmd) == MSM_CONTROL_NR && _IOC_SIZE(cmd) >= sizeof(uint32_t) ? control(arg, _IOC_SIZE(cmd)) : fail(ENOTTY);
    }
}
