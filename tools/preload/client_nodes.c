/* Which paths of /dev a client means the DSP and the DMA heap by, and what it gets in their place. */
#include "client_nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hx_memfd.h"

#define HEAP_NAME "hexrig-dma-heap"
#define SECURE_SUFFIX "-secure"

enum hx_client_node hx_client_node(const char *path)
{
    static const struct {
        const char *path;
        enum hx_client_node node;
    } nodes[] = {
        {"/dev/fastrpc-cdsp", HX_CLIENT_CDSP},
        {"/dev/fastrpc-cdsp" SECURE_SUFFIX, HX_CLIENT_SECURE},
        {"/dev/dma_heap/system", HX_CLIENT_HEAP},
        {"/sys/class/remoteproc/remoteproc0/name", HX_CLIENT_PROC},
    };
    enum hx_client_node node = HX_CLIENT_OTHER;

    for (size_t i = 0; path && i < sizeof(nodes) / sizeof(nodes[0]); i++)
        if (strcmp(path, nodes[i].path) == 0)
            node = nodes[i].node;
    /* not by access(), which the preload library answers */
    return node == HX_CLIENT_PROC && faccessat(AT_FDCWD, path, F_OK, 0) == 0 ? HX_CLIENT_OTHER : node;
}

int hx_client_node_path(enum hx_client_node node, const char *device, char *path, size_t bytes)
{
    const char *suffix = node == HX_CLIENT_SECURE ? SECURE_SUFFIX : "";

    return (size_t)snprintf(path, bytes, "%s%s", device, suffix) < bytes ? 0 : -ENAMETOOLONG;
}

int hx_client_stand_in(enum hx_client_node node, int flags)
{
    static const char text[] = "cdsp\n";
    int is_proc = node == HX_CLIENT_PROC;
    int fd = memfd_create(is_proc ? "hexrig-remoteproc" : HEAP_NAME, flags & O_CLOEXEC ? MFD_CLOEXEC : 0);

    if (fd < 0)
        return -errno;
    if (is_proc && pwrite(fd, text, sizeof(text) - 1, 0) != sizeof(text) - 1) {
        close(fd);
        return -EIO;
    }
    return fd;
}

/* "/proc/PID/fd/N" */
static void link_of(pid_t pid, int fd, char *path, size_t bytes)
{
    if (pid)
        snprintf(path, bytes, "/proc/%d/fd/%d", (int)pid, fd);
    else
        snprintf(path, bytes, "/proc/self/fd/%d", fd);
}

static int is_heap(const char *link)
{
    static const char want[] = "/memfd:" HEAP_NAME " (deleted)";
    char name[sizeof(want) + 1];
    ssize_t n = readlink(link, name, sizeof(name));

    return n == sizeof(want) - 1 && memcmp(name, want, sizeof(want) - 1) == 0;
}

/* Like stat(), but an open FUSE file's attributes are not asked for again. */
static int look(const char *path, struct statx *st)
{
    return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, st);
}

static int same_file(const struct statx *a, const struct statx *b)
{
    if (S_ISCHR(a->stx_mode) && S_ISCHR(b->stx_mode)) /* CUSE: the node may be a new one */
        return a->stx_rdev_major == b->stx_rdev_major && a->stx_rdev_minor == b->stx_rdev_minor;
    return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
           a->stx_dev_minor == b->stx_dev_minor;
}

enum hx_client_node hx_client_fd_kind(pid_t pid, int fd, const char *device)
{
    static const enum hx_client_node nodes[] = {HX_CLIENT_CDSP, HX_CLIENT_SECURE};
    char link[64], path[4096];
    struct statx file, node;

    link_of(pid, fd, link, sizeof(link));
    if (is_heap(link))
        return HX_CLIENT_HEAP;
    if (look(link, &file))
        return HX_CLIENT_OTHER;
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
        if (hx_client_node_path(nodes[i], device, path, sizeof(path)) == 0 &&
            look(path, &node) == 0 && same_file(&file, &node))
            return HX_CLIENT_CDSP;
    return HX_CLIENT_OTHER;
}

static int memory(uint64_t bytes, int cloexec)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    if (bytes == 0 || bytes > UINT32_MAX - page)
        return -ENOMEM;
    return hx_memfd_make("hexrig-dma-buf", (bytes + page - 1) / page * page,
                         cloexec ? MFD_CLOEXEC : 0);
}

int hx_client_alloc_buff(const struct fastrpc_alloc_dma_buf *a)
{
    return memory(a->size, 0); /* the driver's descriptor survives exec(), flags are ignored */
}

int hx_client_alloc_heap(const struct dma_heap_allocation_data *a)
{
    if (a->len == 0 || a->fd || a->heap_flags || (a->fd_flags & ~(uint32_t)(O_CLOEXEC | O_ACCMODE)))
        return -EINVAL;
    return memory(a->len, (a->fd_flags & O_CLOEXEC) != 0);
}
