/* Asking the kernel what a process has mapped at an address. */
#include "hx_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* As <linux/fs.h> has it since Linux 6.11; Debian 12's is older. */
struct map_query {
    uint64_t size, flags, addr;
    uint64_t start, end, vma_flags, page_size, offset, inode;
    uint32_t dev_major, dev_minor, name_size, build_id_size;
    uint64_t name_addr, build_id_addr;
};
#define MAP_QUERY _IOWR('f', 17, struct map_query)

int hx_maps_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

/* A stream of its own over the list, from its beginning. */
static FILE *list_again(int maps)
{
    int fd = fcntl(maps, F_DUPFD_CLOEXEC, 3);
    FILE *f = fd < 0 || lseek(fd, 0, SEEK_SET) ? NULL : fdopen(fd, "r");

    if (!f && fd >= 0)
        close(fd);
    return f;
}

/* The mapping that `addr` is in, from the text: slow, but older kernels have no other way. */
static int search_list(int maps, uint64_t addr, struct map_query *q)
{
    FILE *f = list_again(maps);
    int rc = -ENOENT;
    char line[512];

    if (!f)
        return -ENOMEM;
    while (rc && fgets(line, sizeof(line), f))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64, &q->start, &q->end, &q->offset, &q->inode) == 4 &&
            addr >= q->start && addr < q->end)
            rc = 0;
    fclose(f);
    return rc;
}

int hx_maps_locate(int maps, uint64_t inode, uint64_t addr, uint64_t *offset)
{
    struct map_query q = {.size = sizeof(q), .addr = addr};
    int rc = 0;

    if (ioctl(maps, MAP_QUERY, &q))
        rc = errno == ENOTTY ? search_list(maps, addr, &q) : -errno;
    if (rc || q.inode != inode)
        return rc ? rc : -ENOENT;
    *offset = addr - q.start + q.offset;
    return 0;
}
