/* The folder of a rig: whose it is, whether a rig may start there, what a dead one left in it. */
#include "hx_rig_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hx_transport.h"

static const char *const device_nodes[] = {HX_NODE, HX_NODE "-secure"};

/* Like stat(), but asks no FUSE server: it may have been stopped. */
static int look(const char *path, int flags, struct statx *st)
{
    return statx(AT_FDCWD, path, flags | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
                 STATX_BASIC_STATS, st) ? -errno : 0;
}

/* --- whose folder it is */

/* As in /proc/self/mountinfo: links resolved, but for the last part, and blanks as octal numbers. */
static int mountinfo_name(const char *dir, char *name, size_t bytes)
{
    char *copy = strdup(dir), *copy2 = strdup(dir), *parent = NULL, plain[PATH_MAX];
    size_t n = 0;

    if (copy && copy2)
        parent = realpath(dirname(copy), NULL);
    if (parent)
        snprintf(plain, sizeof(plain), "%s/%s", strcmp(parent, "/") ? parent : "", basename(copy2));
    free(copy);
    free(copy2);
    if (!parent)
        return -errno;
    free(parent);
    for (const char *p = plain; *p && n + 5 < bytes; p++)
        n += (size_t)snprintf(name + n, bytes - n, strchr(" \t\n\\", *p) ? "\\%03o" : "%c", *p);
    name[n] = '\0';
    return 0;
}

/* The user who mounted a FUSE file system at dir: its files may claim any owner.  -ENOENT: there is none. */
static int mount_owner(const char *dir, uid_t *uid)
{
    char want[PATH_MAX], *line = NULL, *at, *user;
    size_t room = 0;
    FILE *f = mountinfo_name(dir, want, sizeof(want)) ? NULL : fopen("/proc/self/mountinfo", "re");
    int rc = -ENOENT;

    while (f && getline(&line, &room, f) > 0) {
        at = line;
        for (int i = 0; at && i < 4; i++) /* id, parent, device, root */
            at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
        if (!at || strncmp(at, want, strlen(want)) != 0 || at[strlen(want)] != ' ')
            continue;
        user = strstr(at, "user_id=");
        rc = user ? 0 : -ENOENT; /* the last one covers the others */
        if (user)
            *uid = (uid_t)strtoul(user + 8, NULL, 10);
    }
    free(line);
    if (f)
        fclose(f);
    return rc;
}

int hx_rig_check_owner(const char *dir, char *why, size_t why_bytes)
{
    char node[HX_PATH_BYTES];
    struct statx st;
    uid_t uid;
    int rc, mounted = mount_owner(dir, &uid) == 0;

    if (!mounted) {
        rc = look(dir, AT_SYMLINK_NOFOLLOW, &st);
        if (rc)
            return hx_rig_why(rc, why, why_bytes, "%s: %s", dir,
                              rc == -ENOENT ? "no rig runs there" : strerror(-rc));
        uid = st.stx_uid;
    }
    if (uid != geteuid())
        return hx_rig_why(-EPERM, why, why_bytes, "%s: belongs to user %u, not to user %u who asks",
                          dir, (unsigned)uid, (unsigned)geteuid());
    /* a look into a mount would ask its server; sockets lie in plain folders */
    if (!mounted && hx_rig_join(node, sizeof(node), dir, HX_NODE) == 0 &&
        look(node, AT_SYMLINK_NOFOLLOW, &st) == 0 && S_ISSOCK(st.stx_mode) &&
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
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
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

int hx_rig_clean_dead(const char *dir)
{
    const char *const unmount[] = {"fusermount3", "-u", "-z", "-q", dir, NULL};
    char *status = NULL;
    int rc;

    if (hx_rig_is_mount(dir))
        run_quietly(unmount);
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

    if (look(dir, 0, &st))
        return errno == ENOTCONN;
    if (st.stx_attributes & st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
        return 1;
    if (hx_rig_join(parent, sizeof(parent), dir, "..") || look(parent, 0, &up))
        return 0;
    return st.stx_dev_major != up.stx_dev_major || st.stx_dev_minor != up.stx_dev_minor ||
           st.stx_ino == up.stx_ino; /* the last: it is / */
}

/* A rig covers or mixes with what is there, so nothing may be but the sockets of a dead rig. */
static int check_vacant(const char *dir, char *why, size_t why_bytes)
{
    DIR *d;
    struct dirent *e;
    struct stat st;
    int rc = 0;

    if (hx_rig_is_mount(dir))
        return hx_rig_why(-EBUSY, why, why_bytes, "%s: is a mount point; a rig needs an empty folder",
                          dir);
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

/* Locks the folder itself: nothing is left of that.  1 when it is another folder by then. */
static int lock_folder(const char *dir, int *fd)
{
    struct stat mine, now;
    int rc;

    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return errno == ENOENT ? 1 : -errno;
    while ((rc = flock(*fd, LOCK_EX)) && errno == EINTR)
        ;
    if (rc == 0 && fstat(*fd, &mine) == 0 && stat(dir, &now) == 0 && mine.st_dev == now.st_dev &&
        mine.st_ino == now.st_ino)
        return 0;
    rc = rc ? -errno : 1;
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
    if (rc)
        return hx_rig_why(rc, why, why_bytes, "%s: %s", dir, strerror(-rc));
    rc = settle(dir, why, why_bytes); /* somebody else may have had the lock until now */
    if (rc == 0)
        rc = check_vacant(dir, why, why_bytes);
    if (rc) {
        close(fd);
        return rc;
    }
    remove_sockets(dir);
    return fd;
}
