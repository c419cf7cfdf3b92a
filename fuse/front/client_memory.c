/* Reading and writing another process's memory, and taking its descriptors. */
#include "client_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/call.h"
#include "hx_maps.h"

typedef ssize_t (*vm_fn)(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                         unsigned long, unsigned long);

static int transfer(vm_fn fn, pid_t tid, const struct hx_piece *p, unsigned n)
{
    struct iovec local[HX_PIECES_MAX], remote[HX_PIECES_MAX];
    uint64_t want = 0;
    ssize_t moved;

    for (unsigned i = 0; i < n; i++) {
        local[i] = (struct iovec){p[i].here, p[i].len};
        remote[i] = (struct iovec){(void *)(uintptr_t)p[i].there, p[i].len};
        if (__builtin_add_overflow(want, p[i].len, &want))
            return -EFAULT;
    }
    moved = fn(tid, local, n, remote, n, 0);
    if (moved < 0)
        return -errno;
    if ((uint64_t)moved == want)
        return 0;
    /* a piece is missing, or together they exceed the 2 GiB that one call moves */
    for (unsigned i = 0; i < n && n > 1; i++) {
        int rc = transfer(fn, tid, &p[i], 1);
        if (rc)
            return rc;
    }
    return n > 1 ? 0 : -EFAULT;
}

int hx_client_read_pieces(pid_t tid, const struct hx_piece *p, unsigned n)
{
    return transfer(process_vm_readv, tid, p, n);
}

int hx_client_write_pieces(pid_t tid, const struct hx_piece *p, unsigned n)
{
    return transfer(process_vm_writev, tid, p, n);
}

int hx_client_read(pid_t tid, void *dst, uint64_t addr, uint64_t len)
{
    return hx_client_read_pieces(tid, &(struct hx_piece){dst, addr, len}, 1);
}

bool hx_client_same_file(pid_t tid, int fd, int own)
{
    static pid_t self;

    if (!self)
        self = getpid();
    return syscall(SYS_kcmp, tid, self, KCMP_FILE, fd, own) == 0;
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

static bool is_our_namespace(int ns)
{
    static struct stat own;
    struct stat st;

    return (own.st_ino || stat("/proc/self/ns/user", &own) == 0) && fstat(ns, &st) == 0 && st.st_ino == own.st_ino &&
           st.st_dev == own.st_dev;
}

uid_t hx_client_user(pid_t tid, uid_t uid)
{
    char path[64];
    uid_t maker = 0;
    int ns, outer;

    snprintf(path, sizeof(path), "/proc/%d/ns/user", tid);
    ns = open(path, O_RDONLY | O_CLOEXEC);
    while (ns >= 0 && !is_our_namespace(ns)) {
        if (ioctl(ns, NS_GET_OWNER_UID, &maker))
            maker = 0;
        outer = ioctl(ns, NS_GET_PARENT);
        close(ns);
        ns = outer;
    }
    if (ns >= 0)
        close(ns);
    return maker == 0 || maker == geteuid() ? uid : maker;
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

int hx_client_locate(pid_t tid, uint64_t inode, uint64_t addr, uint64_t *offset)
{
    char path[64];
    int maps, rc;

    snprintf(path, sizeof(path), "/proc/%d/maps", tid);
    maps = hx_maps_open(path);
    if (maps < 0)
        return -EFAULT;
    rc = hx_maps_locate(maps, inode, addr, offset);
    close(maps);
    return rc == 0 || rc == -ENOENT ? rc : -EFAULT;
}
