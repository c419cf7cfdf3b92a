/* Another process's memory and descriptors, see client_memory.h. */
#include "client_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

typedef ssize_t (*vm_fn)(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                         unsigned long, unsigned long);

static int transfer(vm_fn fn, pid_t tid, void *here, uint64_t there, uint64_t len)
{
    struct iovec local = {here, len}, remote = {(void *)(uintptr_t)there, len};
    ssize_t n = fn(tid, &local, 1, &remote, 1, 0);

    if (n < 0)
        return -errno;
    return (uint64_t)n == len ? 0 : -EFAULT;
}

int hx_client_read(pid_t tid, void *dst, uint64_t addr, uint64_t len)
{
    return transfer(process_vm_readv, tid, dst, addr, len);
}

int hx_client_write(pid_t tid, uint64_t addr, const void *src, uint64_t len)
{
    return transfer(process_vm_writev, tid, (void *)(uintptr_t)src, addr, len);
}

pid_t hx_client_process(pid_t tid)
{
    char path[64], line[256];
    int tgid = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/status", tid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    while (!tgid && fgets(line, sizeof(line), f))
        if (sscanf(line, "Tgid: %d", &tgid) != 1)
            tgid = 0;
    fclose(f);
    return tgid;
}

int hx_client_fd(pid_t tid, int fd)
{
    int pidfd = (int)syscall(SYS_pidfd_open, tid, 0), got;

    if (pidfd < 0) /* not a process's first thread */
        pidfd = (int)syscall(SYS_pidfd_open, hx_client_process(tid), 0);
    if (pidfd < 0)
        return -errno;
    got = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
    if (got < 0)
        got = -errno;
    close(pidfd);
    return got;
}

int hx_client_locate(pid_t tid, uint64_t inode, uint64_t addr, uint64_t *va, uint64_t *len,
                     uint64_t *offset)
{
    char path[64], line[512];
    int rc = -ENOENT;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/maps", tid);
    f = fopen(path, "re");
    if (!f)
        return -errno;
    while (rc && fgets(line, sizeof(line), f)) {
        uint64_t start, end, off, ino;

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64, &start, &end, &off,
                   &ino) != 4 || addr < start || addr >= end)
            continue;
        if (ino != inode)
            break;
        *va = start;
        *len = end - start;
        *offset = off;
        rc = 0;
    }
    fclose(f);
    return rc;
}
