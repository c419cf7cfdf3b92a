/* Packing an ioctl and all that it points to into one frame. */
#include "hx_frame_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "fastrpc_uapi.h"
#include "hx_rpcmem.h"
#include "remote_scalars.h"

static void add_iov(struct hx_frame_out *f, const void *base, size_t len)
{
    if (len == 0)
        return;
    f->iov[f->n_iov].iov_base = (void *)base;
    f->iov[f->n_iov].iov_len = len;
    f->n_iov++;
    f->head.body_bytes += len;
}

static int add_seg(struct hx_frame_out *f, uint64_t addr, uint64_t len, uint32_t flags)
{
    uint64_t end;

    if (len == 0)
        return 0;
    if (addr == 0 || __builtin_add_overflow(addr, len, &end))
        return -EFAULT;
    if (len > HX_FRAME_MAX_BODY)
        return -EINVAL;
    if (f->head.n_segs == HX_FRAME_MAX_SEGS)
        return -E2BIG;
    f->segs[f->head.n_segs++] = (struct hx_frame_seg){addr, len, flags, 0};
    return 0;
}

/* 0 and -1 both mean "no descriptor", as in the driver. */
static int is_fd(int fd)
{
    return fd != 0 && fd != -1;
}

static int add_fd(struct hx_frame_out *f, int fd)
{
    struct hx_frame_fd *d;
    void *va = NULL;
    size_t len = 0;

    if (!is_fd(fd))
        return 0;
    for (uint32_t i = 0; i < f->head.n_fds; i++)
        if (f->fds[i].fd == fd)
            return 0;
    if (fcntl(fd, F_GETFD) < 0)
        return 0; /* left out, the driver refuses the call; with it, sendmsg() would refuse the frame */
    if (f->head.n_fds == HX_FRAME_MAX_FDS)
        return -E2BIG;
    hx_rpcmem_find_fd(fd, &va, &len);
    d = &f->fds[f->head.n_fds++];
    *d = (struct hx_frame_fd){.fd = fd, .va = (uintptr_t)va, .len = len};
    return 0;
}

static int pack_invoke(struct hx_frame_out *f, const struct fastrpc_invoke *inv)
{
    const struct fastrpc_invoke_args *a = (const void *)(uintptr_t)inv->args;
    uint32_t n_in = REMOTE_SCALARS_INBUFS(inv->sc);
    uint32_t n_bufs = n_in + REMOTE_SCALARS_OUTBUFS(inv->sc);
    uint32_t n = REMOTE_SCALARS_LENGTH(inv->sc);
    int rc = add_seg(f, inv->args, n * sizeof(*a), HX_SEG_IN);

    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        if (a[i].length == 0)
            continue;
        if (i >= n_bufs || is_fd(a[i].fd))
            rc = add_fd(f, a[i].fd);
        else
            rc = add_seg(f, a[i].ptr, a[i].length, i < n_in ? HX_SEG_IN : HX_SEG_OUT);
    }
    return rc;
}

static int pack_create(struct hx_frame_out *f, const struct fastrpc_init_create *c)
{
    int rc = add_fd(f, c->filefd);

    /* a length that the driver refuses needs no bytes: it looks at the length first */
    if (rc || c->filelen > FASTRPC_INIT_FILELEN_MAX)
        return rc;
    return add_seg(f, c->file, c->filelen, HX_SEG_IN);
}

static int pack_static(struct hx_frame_out *f, const struct fastrpc_init_create_static *c)
{
    if (c->namelen > FASTRPC_NAMELEN_MAX)
        return 0;
    return add_seg(f, c->name, c->namelen, HX_SEG_IN);
}

static int pack_pointers(struct hx_frame_out *f, unsigned long cmd, void *arg)
{
    switch (cmd) {
    case FASTRPC_IOCTL_INVOKE:
        return pack_invoke(f, arg);
    case FASTRPC_IOCTL_INIT_CREATE:
        return pack_create(f, arg);
    case FASTRPC_IOCTL_INIT_CREATE_STATIC:
        return pack_static(f, arg);
    case FASTRPC_IOCTL_MEM_MAP:
        return add_fd(f, ((struct fastrpc_mem_map *)arg)->fd);
    default:
        return 0;
    }
}

int hx_frame_pack(struct hx_frame_out *f, uint64_t id, unsigned long cmd, void *arg)
{
    size_t arg_bytes = _IOC_DIR(cmd) == _IOC_NONE ? 0 : _IOC_SIZE(cmd);
    int rc;

    if (arg_bytes > HX_FRAME_MAX_ARG)
        return -EINVAL;
    if (arg_bytes && !arg)
        return -EFAULT;
    f->n_iov = 0;
    f->head = (struct hx_frame){.magic = HX_FRAME_MAGIC,
                                .op = HX_FRAME_IOCTL,
                                .id = id,
                                .cmd = (uint32_t)cmd,
                                .arg_bytes = (uint32_t)arg_bytes};
    rc = pack_pointers(f, cmd, arg);
    if (rc)
        return rc;
    add_iov(f, &f->head, sizeof(f->head));
    f->head.body_bytes = 0; /* the header does not count */
    add_iov(f, arg, arg_bytes);
    add_iov(f, f->segs, f->head.n_segs * sizeof(f->segs[0]));
    add_iov(f, f->fds, f->head.n_fds * sizeof(f->fds[0]));
    for (uint32_t i = 0; i < f->head.n_segs; i++)
        if (f->segs[i].flags & HX_SEG_IN)
            add_iov(f, (const void *)(uintptr_t)f->segs[i].addr, f->segs[i].len);
    return f->head.body_bytes > HX_FRAME_MAX_BODY ? -EINVAL : 0;
}

int hx_frame_may_write(const struct hx_frame_out *f, uint64_t addr, uint64_t len)
{
    for (uint32_t i = 0; i < f->head.n_segs; i++) {
        const struct hx_frame_seg *s = &f->segs[i];

        if ((s->flags & HX_SEG_OUT) && addr >= s->addr && len <= s->len &&
            addr - s->addr <= s->len - len)
            return 1;
    }
    return 0;
}
