/* Packing an ioctl and all that it points to into one frame. */
#include "hx_frame_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fastrpc_uapi.h"
#include "hx_maps.h"
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

static int put_seg(struct hx_frame_out *f, struct hx_frame_seg seg)
{
    if (f->head.n_segs == HX_FRAME_MAX_SEGS)
        return -E2BIG;
    f->segs[f->head.n_segs++] = seg;
    return 0;
}

static int add_seg(struct hx_frame_out *f, uint64_t addr, uint64_t len, uint32_t flags)
{
    uint64_t end;

    if (len == 0)
        return 0;
    if (len > HX_FRAME_MAX_BODY) /* nor would the kernel have memory for it, whatever is at its address */
        return -ENOMEM;
    if (addr == 0 || __builtin_add_overflow(addr, len, &end))
        return -EFAULT;
    return put_seg(f, (struct hx_frame_seg){.addr = addr, .len = len, .flags = flags});
}

/* 0 and -1 both mean "no descriptor", as in the driver. */
static int is_fd(int fd)
{
    return fd != 0 && fd != -1;
}

static int add_fd(struct hx_frame_out *f, int fd)
{
    if (!is_fd(fd))
        return 0;
    for (uint32_t i = 0; i < f->head.n_fds; i++)
        if (f->fds[i].fd == fd)
            return 0;
    if (fcntl(fd, F_GETFD) < 0)
        return 0; /* left out, the driver refuses the call; with it, sendmsg() would refuse the frame */
    if (f->head.n_fds == HX_FRAME_MAX_FDS)
        return -E2BIG;
    f->fds[f->head.n_fds++] = (struct hx_frame_fd){.fd = fd};
    return 0;
}

/* Offset of `addr` in the file of `fd`, by the process's mappings.  0, -ENOENT (the file is not mapped there), or negative errno. */
static int ask_kernel(int *maps, int fd, uint64_t addr, uint64_t *offset)
{
    struct stat st;

    if (fstat(fd, &st))
        return -ENOENT;
    if (*maps < 0)
        *maps = hx_maps_open("/proc/self/maps");
    return *maps < 0 ? -EFAULT : hx_maps_locate(*maps, st.st_ino, addr, offset);
}

/* Says where a shared buffer lies in its file.  What rpcmem_alloc() gave out is known; anything else the client may have mapped
 * again and again.  *maps: /proc/self/maps, opened when it is wanted. */
static int add_place(struct hx_frame_out *f, int *maps, int fd, uint64_t addr)
{
    uint64_t offset;
    int rc = hx_rpcmem_locate(fd, (const void *)(uintptr_t)addr, &offset);

    if (rc)
        rc = ask_kernel(maps, fd, addr, &offset);
    if (rc)
        return rc == -ENOENT ? 0 : -EFAULT;
    return put_seg(f, (struct hx_frame_seg){.addr = addr, .offset = offset, .flags = HX_SEG_FILE, .fd = fd});
}

static int add_shared(struct hx_frame_out *f, int *maps, int fd, uint64_t addr)
{
    int rc = add_fd(f, fd);

    return rc ? rc : add_place(f, maps, fd, addr);
}

static int pack_invoke(struct hx_frame_out *f, const struct fastrpc_invoke *inv)
{
    const struct fastrpc_invoke_args *a = (const void *)(uintptr_t)inv->args;
    uint32_t n_in = REMOTE_SCALARS_INBUFS(inv->sc);
    uint32_t n_bufs = n_in + REMOTE_SCALARS_OUTBUFS(inv->sc);
    uint32_t n = REMOTE_SCALARS_LENGTH(inv->sc);
    int maps = -1, rc = add_seg(f, inv->args, n * sizeof(*a), HX_SEG_IN);

    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        if (a[i].length == 0)
            continue;
        if (i >= n_bufs)
            rc = add_fd(f, a[i].fd);
        else if (is_fd(a[i].fd))
            rc = add_shared(f, &maps, a[i].fd, a[i].ptr);
        else
            rc = add_seg(f, a[i].ptr, a[i].length, i < n_in ? HX_SEG_IN : HX_SEG_OUT);
    }
    if (maps >= 0)
        close(maps);
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
    return f->head.body_bytes > HX_FRAME_MAX_BODY ? -ENOMEM : 0;
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
