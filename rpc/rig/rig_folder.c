/* The folder of a rig: who owns it, whether a rig may start there, what a dead one left in it. */
#include "hx_rig_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hx_transport.h"

enum { LOCK_MS = 50, MOUNTS_MAX = 8 };

static const char *const device_nodes[] = {HX_NODE, HX_NODE "-secure"};

/* Like stat(), but asks no FUSE server: it may have been stopped. */
static int stat_cached(const char *path, int flags, struct statx *st)
{
    return statx(AT_FDCWD, path, flags | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
                 STATX_BASIC_STATS, st) ? -errno : 0;
}

/* --- whose folder it is */

int hx_rig_check_owner(const char *dir, char *why, size_t why_bytes)
{
    char node[HX_PATH_BYTES];
    struct statx st;
    struct hx_mount_info m;
    uid_t uid;
    int rc, mounted = hx_rig_find_mount(dir, &m) == 0 && m.owned;

    if (mounted) {
        uid = m.uid; /* the files of a FUSE file system may claim any owner */
    } else {
        rc = stat_cached(dir, AT_SYMLINK_NOFOLLOW, &st);
        if (rc)
            return hx_rig_why(rc, why, why_bytes, "%s: %s", dir,
                              rc == -ENOENT ? "no rig runs there" : strerror(-rc));
        uid = st.stx_uid;
    }
    if (uid != geteuid())
        return hx_rig_why(-EPERM, why, why_bytes, "%s: belongs to user %u, not to user %u who asks",
                          dir, (unsigned)uid, (unsigned)geteuid());
    /* not inside a mount, where it would ask its server; sockets lie in plain folders */
    if (!mounted && hx_rig_join(node, sizeof(node), dir, HX_NODE) == 0 &&
        stat_cached(node, AT_SYMLINK_NOFOLLOW, &st) == 0 && S_ISSOCK(st.stx_mode) &&
        hx_transport_socket_peer(node, &uid) == 0 && uid != geteuid() && uid != 0)
        return hx_rig_why(-EPERM, why, why_bytes, "%s: a rig of user %u listens, not of user %u "
                          "who asks", node, (unsigned)uid, (unsigned)geteuid());
    return 0;
}

/* --- dead rigs */

static void run_quietly(const char *const *argv)
{
    pid_t pid = fork();
    int status, null;

    if (pid == 0) {
        null = open("/dev/null", O_RDWR);
        for (int fd = 0; null >= 0 && fd < 3; fd++)
            dup2(null, fd);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
}

static void remove_sockets(const char *dir)
{
    for (size_t i = 0; i < 2; i++) {
        char node[HX_PATH_BYTES];
        struct stat st;

        if (hx_rig_join(node, sizeof(node), dir, device_nodes[i]) == 0 && lstat(node, &st) == 0 &&
            S_ISSOCK(st.st_mode))
            unlink(node);
    }
}

/* The folder that fuse/front/side_sockets.c makes. */
static int side_folder(const char *dir, char *path, size_t bytes)
{
    struct stat st;

    return (size_t)snprintf(path, bytes, "%s.socket", dir) < bytes && lstat(path, &st) == 0 &&
           S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

int hx_rig_left_side_sockets(const char *dir)
{
    char path[HX_PATH_BYTES];
    char *status = NULL;
    int rc = side_folder(dir, path, sizeof(path)) ? hx_rig_at(path, &status) : -ENOENT;

    free(status);
    return rc == -ENOTCONN;
}

/* A fusermount3 that mounts or watches dir.  It may hang in the mount itself. */
static int is_helper_of(const char *pid, const char *dir)
{
    char args[8192], *last = args;
    ssize_t n = hx_rig_program_args(pid, "fusermount3", args, sizeof(args));

    for (char *p = args; n > 0 && p < args + n; p += strlen(p) + 1)
        last = p;
    return n > 0 && strcmp(last, dir) == 0;
}

static void kill_helpers(const char *dir)
{
    DIR *d = opendir("/proc");
    struct dirent *e;

    while (d && (e = readdir(d)))
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && is_helper_of(e->d_name, dir))
            kill(atoi(e->d_name), SIGKILL); /* EPERM: another user's */
    if (d)
        closedir(d);
}

int hx_rig_clean_dead(const char *dir)
{
    const char *const unmount[] = {"fusermount3", "-u", "-z", "-q", "--", dir, NULL};
    char path[HX_PATH_BYTES], *status = NULL;
    struct hx_mount_info m;
    int rc;

    if (hx_rig_find_mount(dir, &m) == 0 && m.rig)
        kill_helpers(dir);
    for (int i = 0; i < MOUNTS_MAX && hx_rig_find_mount(dir, &m) == 0 && m.rig; i++)
        run_quietly(unmount);
    if (hx_rig_left_side_sockets(dir) && side_folder(dir, path, sizeof(path))) {
        remove_sockets(path);
        rmdir(path);
    }
    remove_sockets(dir);
    rc = hx_rig_at(dir, &status);
    free(status);
    return rc == -ENOENT ? 0 : -ENOTCONN;
}

/* --- starting one */

int hx_rig_is_mount(const char *dir)
{
    char parent[HX_PATH_BYTES];
    struct statx st, up;

    if (stat_cached(dir, 0, &st))
        return errno == ENOTCONN;
    if (st.stx_attributes & st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
        return 1;
    if (hx_rig_join(parent, sizeof(parent), dir, "..") || stat_cached(parent, 0, &up))
        return 0;
    return st.stx_dev_major != up.stx_dev_major || st.stx_dev_minor != up.stx_dev_minor ||
           st.stx_ino == up.stx_ino; /* the last: it is / */
}

/* 0: flock() has it; -EBUSY: somebody else keeps it locked for longer than a rig takes to start; other errors. */
static int wait_for_lock(int fd)
{
    int rc = -1;

    errno = EWOULDBLOCK;
    for (int ms = 0; rc && errno == EWOULDBLOCK && ms <= 2 * HX_RIG_START_MS; ms += LOCK_MS) {
        rc = flock(fd, LOCK_EX | LOCK_NB);
        if (rc && errno == EWOULDBLOCK && usleep(LOCK_MS * 1000))
            errno = EWOULDBLOCK; /* a signal ended the sleep */
    }
    return rc == 0 ? 0 : errno == EWOULDBLOCK ? -EBUSY : -errno;
}

static int lock_path(const char *dir, char *path, size_t bytes)
{
    return (size_t)snprintf(path, bytes, "%s.lock", dir) < bytes ? 0 : -ENAMETOOLONG;
}

/* Our own regular file, or -1: one of somebody else's locks nobody out. */
static int open_lock(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid())) {
        close(fd);
        return -1;
    }
    return fd;
}

int hx_rig_lock(const char *dir, int *lock, char *why, size_t why_bytes)
{
    char path[HX_PATH_BYTES];
    struct stat mine, now;
    int rc;

    *lock = -1;
    if (lock_path(dir, path, sizeof(path)))
        return 0;
    for (;;) {
        int fd = open_lock(path);

        if (fd < 0)
            return 0;
        rc = wait_for_lock(fd);
        if (rc == 0 && fstat(fd, &mine) == 0 && stat(path, &now) == 0 && mine.st_dev == now.st_dev &&
            mine.st_ino == now.st_ino) {
            *lock = fd;
            return 0;
        }
        close(fd);
        if (rc) /* else whoever had it has removed it */
            return hx_rig_why(rc, why, why_bytes, "%s: another process has been starting or ending a rig there for %d s",
                              dir, 2 * HX_RIG_START_MS / 1000);
    }
}

void hx_rig_unlock(const char *dir, int lock)
{
    char path[HX_PATH_BYTES];

    if (lock < 0)
        return;
    if (lock_path(dir, path, sizeof(path)) == 0)
        unlink(path);
    close(lock);
}

/* A rig would hide or mix with what is there, so there may be nothing but the sockets of a dead rig. */
static int check_vacant(const char *dir, char *why, size_t why_bytes)
{
    DIR *d;
    struct dirent *e;
    struct stat st;
    int rc = 0;

    if (hx_rig_is_mount(dir))
        return hx_rig_why(-EBUSY, why, why_bytes,
                          "%s: is a mount point; a rig needs an empty folder", dir);
    d = opendir(dir);
    if (!d)
        return hx_rig_why(-errno, why, why_bytes, "%s: %s", dir, strerror(errno));
    while (rc == 0 && (e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (strncmp(e->d_name, HX_NODE, strlen(HX_NODE)) != 0 ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISSOCK(st.st_mode))
            rc = hx_rig_why(-ENOTEMPTY, why, why_bytes,
                            "%s: is not empty ('%s'); a rig needs an empty folder", dir, e->d_name);
    }
    closedir(d);
    return rc;
}

/* 0: no rig is at dir, and nothing of a dead one any more. */
static int settle(const char *dir, char *why, size_t why_bytes)
{
    char *status = NULL, pid[32];
    int rc = hx_rig_at(dir, &status);

    if (rc == 0) {
        hx_rig_why(0, why, why_bytes, "%s: a rig runs there already, pid %s", dir,
                   hx_rig_value(status, "pid", pid, sizeof(pid)));
        free(status);
        return -EALREADY;
    }
    if (rc == -ENOTCONN)
        rc = hx_rig_clean_dead(dir);
    return rc && rc != -ENOENT ? hx_rig_read_failed(rc, dir, why, why_bytes) : 0;
}

/* Locks the folder itself, which leaves no file behind.  1 when it is another folder by then; -EBUSY: somebody else keeps it
 * locked for longer than a rig takes to start (whoever may read a folder may lock it). */
static int lock_folder(const char *dir, int *fd)
{
    struct stat mine, now;
    int rc;

    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return errno == ENOENT ? 1 : -errno;
    rc = wait_for_lock(*fd);
    if (rc == 0 && fstat(*fd, &mine) == 0 && stat(dir, &now) == 0 && mine.st_dev == now.st_dev &&
        mine.st_ino == now.st_ino)
        return 0;
    if (rc == 0)
        rc = 1;
    close(*fd);
    *fd = -1;
    return rc;
}

int hx_rig_claim(const char *dir, int *created, char *why, size_t why_bytes)
{
    int rc, fd = -1, made;

    *created = 0;
    do {
        rc = settle(dir, why, why_bytes);
        if (rc)
            return rc;
        rc = hx_rig_make_dir(dir, &made);
        if (rc == 0)
            rc = lock_folder(dir, &fd);
        *created = made;
    } while (rc > 0);
    if (rc) {
        hx_rig_why(rc, why, why_bytes, "%s: %s", dir,
                   rc == -ELOOP ? "is a symbolic link; name the folder that it leads to"
                                : strerror(-rc));
        goto fail;
    }
    rc = settle(dir, why, why_bytes); /* another process may have held the lock until now */
    if (rc == 0)
        rc = check_vacant(dir, why, why_bytes);
    if (rc)
        goto fail;
    remove_sockets(dir);
    return fd;
fail:
    if (*created)
        rmdir(dir); /* fails when it is in use by now */
    if (fd >= 0)
        close(fd);
    return rc;
}
