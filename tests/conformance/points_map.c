/* Buffers by descriptor: what may be mapped, and what a wrong one gives. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"
#include "points.h"

enum { CLOSED = 999, BYTES = 8192 };

/* A descriptor that is open and no dma-buf. */
static int file_that_is_no_memory(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    need(fd >= 0, "/dev/null");
    return fd;
}

static int mem_map(int h, int fd, uint64_t length, uint64_t *vaddr)
{
    struct fastrpc_mem_map m = {.fd = fd, .length = length};
    int rc = dev->ioctl(h, FASTRPC_IOCTL_MEM_MAP, &m);

    *vaddr = m.vaddrout;
    return rc;
}

static int mem_unmap(int h, int fd, uint64_t vaddr)
{
    struct fastrpc_mem_unmap u = {.fd = fd, .vaddr = vaddr};

    return dev->ioctl(h, FASTRPC_IOCTL_MEM_UNMAP, &u);
}

/* HXT_ECHO of `n` bytes from what `fd` is said to hold. */
static int echo_from(struct file f, int fd, void *p, size_t n)
{
    struct fastrpc_invoke_args in = arg(p, n);
    uint8_t out[1];

    in.fd = fd;
    return echo(f, 0, in, arg(out, 1));
}

/* A call with one DMA handle. */
static int with_handle(struct file f, int fd, uint64_t length)
{
    struct hxt_any any = {0};
    struct fastrpc_invoke_args a[2] = {arg(&any, sizeof(any)), {.length = length, .fd = fd}};

    return invoke(f.h, f.skel, REMOTE_SCALARS_MAKEX(0, HXT_ANY, 0, 1, 1, 0), a);
}

void point_25_ebadf_of_mem_map(void)
{
    struct file f = open_skel();
    int other = file_that_is_no_memory();
    uint64_t vaddr;

    need_errno(mem_map(f.h, CLOSED, BYTES, &vaddr), EBADF, "MEM_MAP of a number that is not open");
    need_errno(mem_map(f.h, -2, BYTES, &vaddr), EBADF, "MEM_MAP of -2");
    need_errno(mem_map(f.h, -1, BYTES, &vaddr), EBADF, "MEM_MAP of -1");
    need_errno(mem_map(f.h, other, BYTES, &vaddr), EINVAL, "MEM_MAP of a descriptor that is no dma-buf");
    close(other);
    close_file(f);
}

void point_26_ebadf_of_init_create(void)
{
    struct shared *s = shared_get(BYTES);
    struct fastrpc_init_create c = {.filelen = BYTES, .filefd = CLOSED, .attrs = FASTRPC_MODE_UNSIGNED_MODULE, .file = (uintptr_t)s->p};
    int h = open_node("fastrpc-cdsp"), other = file_that_is_no_memory();

    need_errno(dev->ioctl(h, FASTRPC_IOCTL_INIT_CREATE, &c), EBADF, "a shell in a descriptor that is not open");
    c.filefd = -1;
    need_errno(dev->ioctl(h, FASTRPC_IOCTL_INIT_CREATE, &c), EBADF, "a shell in descriptor -1");
    c.filefd = other;
    need_errno(dev->ioctl(h, FASTRPC_IOCTL_INIT_CREATE, &c), EINVAL, "a shell in a descriptor that is no dma-buf");
    c.filefd = s->fd;
    c.filelen = BYTES + 1;
    need_errno(dev->ioctl(h, FASTRPC_IOCTL_INIT_CREATE, &c), EINVAL, "a shell longer than its dma-buf");
    c.filefd = -1;
    c.filelen = 0;
    need_is(dev->ioctl(h, FASTRPC_IOCTL_INIT_CREATE, &c), 0, "no shell, where the descriptor does not count");
    close(other);
    dev->close(h);
}

void point_27_invoke_gives_einval_for_any_descriptor_it_cannot_map(void)
{
    struct file f = open_skel();
    int other = file_that_is_no_memory();
    char bytes[8] = "";

    need_errno(echo_from(f, CLOSED, bytes, 8), EINVAL, "a buffer in a number that is not open");
    need_errno(echo_from(f, -2, bytes, 8), EINVAL, "a buffer in descriptor -2");
    need_errno(echo_from(f, other, bytes, 8), EINVAL, "a buffer in a descriptor that is no dma-buf");
    need_errno(with_handle(f, CLOSED, 8), EINVAL, "a DMA handle that is not open");
    need_errno(with_handle(f, other, 8), EINVAL, "a DMA handle that is no dma-buf");
    need_is(call0(f, HXT_BLOCK, 5, 0), 5, "a good call afterwards");
    close(other);
    close_file(f);
}

void point_28_what_has_length_0_is_not_mapped(void)
{
    struct file f = open_skel();
    struct hxt_in head = {.code = 6};
    struct fastrpc_invoke_args a[3] = {arg(&head, sizeof(head)), {.fd = CLOSED}, {.fd = CLOSED}};

    need_is(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 1), a), 6, "buffers of length 0 with a number that is not open");
    need_is(with_handle(f, CLOSED, 0), 0, "a DMA handle of length 0 with a number that is not open");
    close_file(f);
}

void point_29_einval_of_a_buffer_longer_than_its_dma_buf(void)
{
    struct file f = open_skel();
    struct shared *s = shared_get(BYTES), *odd = shared_get(100);
    uint64_t vaddr;

    need_errno(echo_from(f, s->fd, s->p, BYTES + 1), EINVAL, "INVOKE of a byte more than there is");
    need_errno(echo_from(f, s->fd, s->p, (size_t)1 << 40), EINVAL, "INVOKE of 1 TiB");
    need_errno(with_handle(f, s->fd, BYTES + 1), EINVAL, "a DMA handle longer than its dma-buf");
    need_errno(mem_map(f.h, s->fd, BYTES + 1, &vaddr), EINVAL, "MEM_MAP of a byte more than there is");
    need_errno(mem_map(f.h, odd->fd, 4097, &vaddr), EINVAL, "MEM_MAP of more than a page");
    need_is(mem_map(f.h, s->fd, BYTES, &vaddr), 0, "MEM_MAP of all of it");
    need_is(mem_unmap(f.h, s->fd, vaddr), 0, "MEM_UNMAP");
    close_file(f);
}

void point_30_a_mapped_buffer_is_not_measured_again(void)
{
    struct file f = open_skel();
    struct shared *s = shared_get(BYTES);
    uint64_t vaddr;
    int rc;

    need_is(mem_map(f.h, s->fd, BYTES, &vaddr), 0, "MEM_MAP");
    errno = 4711;
    rc = echo_from(f, s->fd, s->p, BYTES + 1);
    need(rc < -4095 && errno == 4711, "INVOKE beyond a map is the DSP's to refuse: result %d, %d", rc, errno);
    need_errno(with_handle(f, s->fd, BYTES + 1), EINVAL, "a DMA handle, which is mapped anew");
    need_is(mem_unmap(f.h, s->fd, vaddr), 0, "MEM_UNMAP");
    need_errno(echo_from(f, s->fd, s->p, BYTES + 1), EINVAL, "INVOKE afterwards");
    close_file(f);
}

void point_31_enomem_of_arguments_that_do_not_fit(void)
{
    static const uint64_t lengths[] = {300ull << 20, 1ull << 40, UINT64_MAX};
    struct file f = open_skel();
    struct hxt_in in = {0};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct fastrpc_invoke_args a[2] = {arg(&in, sizeof(in)), arg(&in, lengths[i])};

        need_errno(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_BLOCK, 1, 1), a), ENOMEM, "an out buffer that nothing can hold");
        need_errno(invoke(f.h, f.skel, REMOTE_SCALARS_MAKE(HXT_ECHO, 2, 0), a), ENOMEM, "an in buffer that nothing can hold");
    }
    need_is(call0(f, HXT_BLOCK, 5, 0), 5, "a good call afterwards");
    close_file(f);
}

void point_32_mem_map_twice_wants_mem_unmap_twice(void)
{
    struct file f = open_skel();
    struct shared *s = shared_get(BYTES);
    uint64_t first, second;

    need_is(mem_map(f.h, s->fd, BYTES, &first), 0, "MEM_MAP");
    need_is(mem_map(f.h, s->fd, BYTES, &second), 0, "MEM_MAP of the same once more");
    need_is(mem_unmap(f.h, s->fd, second), 0, "MEM_UNMAP");
    need_is(mem_unmap(f.h, s->fd, second), 0, "MEM_UNMAP once more");
    need_errno(mem_unmap(f.h, s->fd, second), EINVAL, "MEM_UNMAP a third time");
    close_file(f);
}

void point_33_mem_map_passes_flags_and_version_on(void)
{
    static const uint32_t flags[] = {0, 2, 3, 16, 1234567};
    struct file f = open_skel();
    struct shared *s = shared_get(BYTES);

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        struct fastrpc_mem_map m = {.version = (int)(77 * i), .fd = s->fd, .flags = flags[i], .length = BYTES};
        struct fastrpc_mem_unmap u = {.vesion = 99, .fd = -1, .length = 1};

        need_is(dev->ioctl(f.h, FASTRPC_IOCTL_MEM_MAP, &m), 0, "MEM_MAP with any flags and version");
        u.vaddr = m.vaddrout;
        need_is(dev->ioctl(f.h, FASTRPC_IOCTL_MEM_UNMAP, &u), 0, "MEM_UNMAP by a negative number, which any map matches");
    }
    close_file(f);
}
