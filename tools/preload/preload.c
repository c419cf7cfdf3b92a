/* libhexrig-preload.so: lets an unmodified, dynamically linked FastRPC client find the rig and get shared memory from it.
 *
 *     LD_PRELOAD=build/lib/libhexrig-preload.so PROGRAM         or: hexrig run-with --preload -- PROGRAM
 *
 * open() and its relatives: /dev/fastrpc-cdsp and /dev/fastrpc-cdsp-secure become the nodes of the rig that runs
 * (HEXRIG_DEVICE, else the default mount, else /dev itself); /dev/dma_heap/system and the name of remote processor 0 become
 * stand-ins.  ioctl(): ALLOC_DMA_BUFF on a rig's node and DMA_HEAP_IOCTL_ALLOC on the stand-in give a memfd.  Everything else
 * goes to the next library untouched; but what programs for Qualcomm's own kernels ask of /dev/adsprpc-smd and /dev/ion is translated
 * (msm.h).
 *
 * Nothing is remembered about descriptors: the two rare ioctls look at the file behind theirs.  So dup(), fork(), exec(),
 * descriptors that came over a socket and numbers that were closed and used again are all right, and close() need not be known. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client_nodes.h"
#include "hx_rig_internal.h"
#include "msm.h"

/* The headers' prototypes of open() and ioctl() are inlines in a fortified build; these symbols must be plain functions. */
#define EXPORT __attribute__((visibility("default")))

enum next { OPEN, OPEN64, OPENAT, OPENAT64, OPEN_2, OPEN64_2, OPENAT_2, OPENAT64_2, IOCTL, STAT, STAT64, ACCESS };

/* The function that the program would have got.  Found on first use: a constructor of another library may come before ours. */
static void *next_of(enum next which)
{
    static const char *const names[] = {
        [OPEN] = "open",         [OPEN64] = "open64",         [OPENAT] = "openat",
        [OPENAT64] = "openat64", [OPEN_2] = "__open_2",       [OPEN64_2] = "__open64_2",
        [OPENAT_2] = "__openat_2", [OPENAT64_2] = "__openat64_2", [IOCTL] = "ioctl",
        [STAT] = "stat",         [STAT64] = "stat64",         [ACCESS] = "access",
    };
    static _Atomic(void *) found[sizeof(names) / sizeof(names[0])];

    if (!found[which])
        found[which] = dlsym(RTLD_NEXT, names[which]); /* threads that race here store the same */
    return found[which];
}

typedef int (*open_fn)(const char *path, int flags, ...);
typedef int (*openat_fn)(int dir, const char *path, int flags, ...);
typedef int (*ioctl_fn)(int fd, unsigned long cmd, ...);

/* The default mount's node, when one is there and the folder is this user's. */
static int default_device(char *device, size_t bytes)
{
    char dir[HX_PATH_BYTES];
    struct statx st;

    hx_rig_default_mount(dir, sizeof(dir));
    return statx(AT_FDCWD, dir, AT_STATX_DONT_SYNC | AT_SYMLINK_NOFOLLOW, STATX_UID, &st) == 0 &&
           st.stx_uid == geteuid() && hx_rig_join(device, bytes, dir, HX_NODE) == 0 &&
           statx(AT_FDCWD, device, AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0; /* not our own access() */
}

/* Path of the rig's fastrpc-cdsp, in the order of hx_rig.h.  Whether a rig is there, open() will tell. */
static void find_device(char *device, size_t bytes)
{
    const char *env = getenv("HEXRIG_DEVICE");

    if (env && *env)
        snprintf(device, bytes, "%s", env);
    else if (!default_device(device, bytes))
        snprintf(device, bytes, "/dev/" HX_NODE);
}

static int failed(int rc)
{
    errno = -rc;
    return -1;
}

/* The answer for one of our nodes. */
static int open_node(enum hx_client_node node, int flags)
{
    char device[HX_PATH_BYTES], path[HX_PATH_BYTES + 8];
    openat_fn next = (openat_fn)next_of(OPENAT);
    int rc;

    if (node == HX_CLIENT_HEAP || node == HX_CLIENT_PROC) {
        rc = hx_client_stand_in(node, flags);
        return rc < 0 ? failed(rc) : rc;
    }
    find_device(device, sizeof(device));
    rc = hx_client_node_path(node, device, path, sizeof(path));
    return rc ? failed(rc) : next(AT_FDCWD, path, flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_APPEND)); /* O_APPEND: msm.h */
}

/* Without its mark the descriptor would be taken for Linux's own, whose requests have other numbers. */
static int mark_msm(int fd)
{
    const int now = fcntl(fd, F_GETFL);
    int rc = now < 0 || fcntl(fd, F_SETFL, now | O_APPEND) ? -errno : 0;

    if (!rc)
        return fd;
    close(fd);
    return failed(rc);
}

/* The same for a node of Qualcomm's own kernels. */
static int open_msm_node(enum hx_msm_node node, int flags)
{
    int fd = node == HX_MSM_ION ? hx_msm_open_ion(flags) : open_node(HX_CLIENT_SECURE, flags & O_CLOEXEC ? O_RDWR | O_CLOEXEC : O_RDWR);

    if (node == HX_MSM_ION)
        return fd < 0 ? failed(fd) : fd;
    return fd < 0 ? fd : mark_msm(fd);
}

static int has_mode(int flags)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

static int do_open(enum next which, const char *path, int flags, mode_t mode)
{
    open_fn next = (open_fn)next_of(which);
    enum hx_client_node node = hx_client_node(path);

    if (node != HX_CLIENT_OTHER)
        return open_node(node, flags);
    if (hx_msm_node(path))
        return open_msm_node(hx_msm_node(path), flags);
    return next ? next(path, flags, mode) : failed(-ENOSYS);
}

/* An absolute path makes the folder meaningless, and ours are absolute. */
static int do_openat(enum next which, int dir, const char *path, int flags, mode_t mode)
{
    openat_fn next = (openat_fn)next_of(which);
    enum hx_client_node node = hx_client_node(path);

    if (node != HX_CLIENT_OTHER)
        return open_node(node, flags);
    if (hx_msm_node(path))
        return open_msm_node(hx_msm_node(path), flags);
    return next ? next(dir, path, flags, mode) : failed(-ENOSYS);
}

#define MODE(last)                                                                                 \
    ({                                                                                             \
        mode_t mode_ = 0;                                                                          \
        va_list ap_;                                                                               \
        va_start(ap_, last);                                                                       \
        if (has_mode(last))                                                                        \
            mode_ = va_arg(ap_, mode_t);                                                           \
        va_end(ap_);                                                                               \
        mode_;                                                                                     \
    })

EXPORT int open(const char *path, int flags, ...)
{
    return do_open(OPEN, path, flags, MODE(flags));
}

EXPORT int open64(const char *path, int flags, ...)
{
    return do_open(OPEN64, path, flags, MODE(flags));
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
    return do_openat(OPENAT, dir, path, flags, MODE(flags));
}

EXPORT int openat64(int dir, const char *path, int flags, ...)
{
    return do_openat(OPENAT64, dir, path, flags, MODE(flags));
}

/* What _FORTIFY_SOURCE makes of a call without a mode. */
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags);
EXPORT int __openat_2(int dir, const char *path, int flags);
EXPORT int __openat64_2(int dir, const char *path, int flags);

int __open_2(const char *path, int flags)
{
    return do_open(OPEN_2, path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
    return do_open(OPEN64_2, path, flags, 0);
}

int __openat_2(int dir, const char *path, int flags)
{
    return do_openat(OPENAT_2, dir, path, flags, 0);
}

int __openat64_2(int dir, const char *path, int flags)
{
    return do_openat(OPENAT64_2, dir, path, flags, 0);
}

/* --- is it there? ------------------------------------------------------------------------------------------------ */

/* What to look at in the place of `path`, which is itself when it is none of our nodes.  Daemons wait for their device so. */
static const char *seen_as(const char *path, char *own, size_t bytes)
{
    enum hx_client_node node = hx_client_node(path);
    char device[HX_PATH_BYTES];

    if (hx_msm_node(path) == HX_MSM_DSP)
        node = HX_CLIENT_SECURE;
    if (hx_msm_node(path) == HX_MSM_ION || node == HX_CLIENT_HEAP)
        return "/dev/null"; /* a device, like they */
    if (node != HX_CLIENT_CDSP && node != HX_CLIENT_SECURE)
        return path;
    find_device(device, sizeof(device));
    return hx_client_node_path(node, device, own, bytes) ? path : own;
}

EXPORT int stat(const char *restrict path, struct stat *restrict st)
{
    int (*next)(const char *, struct stat *) = (int (*)(const char *, struct stat *))next_of(STAT);
    char own[HX_PATH_BYTES + 8];

    return next ? next(seen_as(path, own, sizeof(own)), st) : failed(-ENOSYS);
}

EXPORT int stat64(const char *restrict path, struct stat64 *restrict st)
{
    int (*next)(const char *, struct stat64 *) = (int (*)(const char *, struct stat64 *))next_of(STAT64);
    char own[HX_PATH_BYTES + 8];

    return next ? next(seen_as(path, own, sizeof(own)), st) : failed(-ENOSYS);
}

EXPORT int access(const char *path, int mode)
{
    int (*next)(const char *, int) = (int (*)(const char *, int))next_of(ACCESS);
    char own[HX_PATH_BYTES + 8];

    return next ? next(seen_as(path, own, sizeof(own)), mode) : failed(-ENOSYS);
}

/* The requests that need a descriptor made here, and whose they are. */
static enum hx_client_node request_for(unsigned long cmd)
{
    switch ((uint32_t)cmd) { /* as the kernel: musl's callers leave rubbish above */
    case FASTRPC_IOCTL_ALLOC_DMA_BUFF:
        return HX_CLIENT_CDSP;
    case DMA_HEAP_IOCTL_ALLOC:
        return HX_CLIENT_HEAP;
    default:
        return HX_CLIENT_OTHER;
    }
}

static enum hx_client_node kind_of(int fd)
{
    char device[HX_PATH_BYTES];

    find_device(device, sizeof(device));
    return hx_client_fd_kind(0, fd, device);
}

static int allocate(enum hx_client_node node, void *arg)
{
    struct fastrpc_alloc_dma_buf *buff = arg;
    struct dma_heap_allocation_data *heap = arg;
    int fd;

    if (!arg)
        return failed(-EFAULT);
    fd = node == HX_CLIENT_HEAP ? hx_client_alloc_heap(heap) : hx_client_alloc_buff(buff);
    if (fd < 0)
        return failed(fd);
    if (node == HX_CLIENT_HEAP)
        heap->fd = (uint32_t)fd;
    else
        buff->fd = fd;
    return 0;
}

EXPORT int ioctl(int fd, unsigned long cmd, ...)
{
    ioctl_fn next = (ioctl_fn)next_of(IOCTL);
    enum hx_msm_node msm = hx_msm_of(fd, (uint32_t)cmd);
    enum hx_client_node node = request_for(cmd);
    int saved = errno;
    va_list ap;
    void *arg;

    va_start(ap, cmd);
    arg = va_arg(ap, void *);
    va_end(ap);
    if (msm == HX_MSM_ION)
        return hx_msm_ion_ioctl((uint32_t)cmd, arg);
    if (msm == HX_MSM_DSP && next && kind_of(fd) == HX_CLIENT_CDSP)
        return hx_msm_ioctl(next, fd, (uint32_t)cmd, arg);
    if (node != HX_CLIENT_OTHER && kind_of(fd) == node)
        return allocate(node, arg);
    errno = saved;
    return next ? next(fd, cmd, arg) : failed(-ENOSYS);
}
