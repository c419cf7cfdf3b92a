/* Background rigs: start, end, ask. */
#include "hx_export.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hx_rig_internal.h"
#include "hx_transport.h"

/* Opens a regular file of ours: never a link that somebody else put there, nor a FIFO, whose open() may wait for ever. */
static int open_log(const char *path, char *why, size_t why_bytes)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    struct stat st;
    int rc = 0;

    if (fd < 0 && errno != ENXIO) /* that is a FIFO that nobody reads, or a socket */
        return hx_rig_why(-errno, why, why_bytes, "%s: %s", path, strerror(errno));
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
        rc = hx_rig_why(-EPERM, why, why_bytes, "%s: not a file; the log of rigs has to be one", path);
    else if (st.st_uid != geteuid())
        rc = hx_rig_why(-EPERM, why, why_bytes, "%s: belongs to user %u, not to user %u who asks", path,
                        (unsigned)st.st_uid, (unsigned)geteuid());
    if (rc && fd >= 0)
        close(fd);
    return rc ? rc : fd;
}

/* The text and the number of a line like "hexrig-fuse[4711]: text", which a rig writes into a log that it shares with others;
 * NULL for any other line. */
static const char *tagged(const char *line, long *pid)
{
    size_t n = strncmp(line, "hexrig-", 7) == 0 ? 7 + strcspn(line + 7, "[: ") : 0;
    char *end;

    if (line[n] != '[')
        return NULL;
    *pid = strtol(line + n + 1, &end, 10);
    return strncmp(end, "]: ", 3) == 0 ? end + 1 : NULL;
}

/* Prints what the rig logged while it started (why it fell back to sockets, say), but not what other rigs logged in the
 * meantime. */
static void show_log(const char *path, off_t from, pid_t pid)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;

    if (f && fseeko(f, from, SEEK_SET) == 0)
        while (getline(&line, &room, f) > 0) {
            long whose = pid;
            const char *text = tagged(line, &whose);

            if (text && whose == pid)
                fprintf(stderr, "%.*s%s", (int)strcspn(line, "["), line, text);
            else if (!text)
                fputs(line, stderr); /* a loader's or a sanitizer's */
        }
    free(line);
    if (f)
        fclose(f);
    else if (fd >= 0)
        close(fd);
}

static int up_at(const struct hx_rig_cfg *cfg, const char *dir, pid_t *pid, char *why, size_t n)
{
    char log[HX_PATH_BYTES];
    struct hx_spawn_opts o = {.dir = dir, .log = log};
    struct hx_rig_proc proc;
    struct stat st;
    int claim, rc, lock;

    hx_rig_log_path(log, sizeof(log));
    o.log_fd = open_log(log, why, n);
    if (o.log_fd < 0)
        return o.log_fd;
    fstat(o.log_fd, &st);
    rc = hx_rig_lock(dir, &lock, why, n);
    claim = rc ? rc : hx_rig_claim(dir, &o.remove_dir, why, n);
    rc = claim;
    if (claim >= 0) {
        rc = hx_rig_spawn(cfg, &o, &proc, why, n);
        show_log(log, st.st_size, proc.pid);
        if (rc && o.remove_dir)
            rmdir(dir);
        close(claim);
    }
    hx_rig_unlock(dir, lock);
    close(o.log_fd);
    if (rc == 0) {
        *pid = proc.pid;
        close(proc.pidfd);
    }
    return rc;
}

int hx_rig_up(const struct hx_rig_cfg *cfg, pid_t *pid, char *why, size_t why_bytes)
{
    char dir[HX_PATH_BYTES - 32];
    int rc = hx_rig_mount_dir(cfg->mount, dir, sizeof(dir), why, why_bytes);

    if (rc)
        return rc;
    if (!cfg->mount) {
        rc = hx_rig_check_owner(dir, why, why_bytes);
        if (rc && rc != -ENOENT)
            return rc;
    }
    return up_at(cfg, dir, pid, why, why_bytes);
}

/* A pid from a status text is only trusted if it is a hexrig-fuse. */
static int open_rig_pid(pid_t pid)
{
    char path[64], comm[32] = "";
    int fd = (int)syscall(SYS_pidfd_open, pid, 0), comm_fd;

    if (fd < 0)
        return -errno;
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    comm_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (comm_fd >= 0) {
        ssize_t n = read(comm_fd, comm, sizeof(comm) - 1);

        comm[n > 0 ? n : 0] = '\0';
        close(comm_fd);
    }
    if (strcmp(comm, "hexrig-fuse\n") != 0) {
        close(fd);
        return -ESRCH;
    }
    return fd;
}

static int end_pid(pid_t pid)
{
    int fd = open_rig_pid(pid), rc;

    if (fd < 0)
        return fd;
    rc = syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) ? -errno : 0;
    if (rc == 0)
        rc = hx_rig_wait_end(fd, HX_RIG_END_MS);
    close(fd);
    return rc;
}

static int down_dead(const char *dir, char *why, size_t why_bytes)
{
    int rc = hx_rig_clean_dead(dir);

    if (hx_rig_made_dir(dir))
        rmdir(dir); /* only when empty */
    return rc ? hx_rig_why(rc, why, why_bytes,
                           "%s: what is mounted there is dead, and not this user's rig", dir)
              : 0;
}

/* Where `mount` is, and that it is ours when nobody named it. */
static int find_dir(const char *mount, char *dir, size_t bytes, char *why, size_t why_bytes)
{
    int rc = hx_rig_mount_dir(mount, dir, bytes, why, why_bytes);

    return rc || mount ? rc : hx_rig_check_owner(dir, why, why_bytes);
}

static int down_at(const char *dir, char *why, size_t why_bytes)
{
    char *status = NULL, text[32];
    pid_t pid;
    int rc;

    rc = hx_rig_at(dir, &status);
    if (rc == -ENOTCONN || (rc == -ENOENT && hx_rig_left_side_sockets(dir)))
        return down_dead(dir, why, why_bytes);
    if (rc)
        return hx_rig_read_failed(rc, dir, why, why_bytes);
    pid = (pid_t)atoi(hx_rig_value(status, "pid", text, sizeof(text)));
    free(status);
    status = NULL;
    rc = end_pid(pid);
    if (rc)
        return hx_rig_why(rc, why, why_bytes, "%s: rig with pid %d: %s", dir, (int)pid,
                          strerror(-rc));
    rc = hx_rig_at(dir, &status);
    free(status);
    if (rc != -ENOENT)
        return hx_rig_why(-EBUSY, why, why_bytes, "%s: the rig has ended, its nodes stay", dir);
    return 0;
}

int hx_rig_down(const char *mount, char *why, size_t why_bytes)
{
    char dir[HX_PATH_BYTES - 32];
    int rc = find_dir(mount, dir, sizeof(dir), why, why_bytes), lock;

    if (rc)
        return rc;
    rc = hx_rig_lock(dir, &lock, why, why_bytes);
    if (rc)
        return rc;
    rc = down_at(dir, why, why_bytes);
    hx_rig_unlock(dir, lock);
    return rc;
}

/* The device node of the rig that `mount` means, and its folder. */
static int find_node(const char *mount, char *node, size_t node_bytes, char *dir, size_t dir_bytes,
                     char *why, size_t why_bytes)
{
    int rc;

    if (!mount && hx_rig_connected_node(node, node_bytes) == 0) {
        const char *slash = strrchr(node, '/');

        snprintf(dir, dir_bytes, "%.*s", slash ? (int)(slash - node) : 1, slash ? node : ".");
        return 0;
    }
    rc = find_dir(mount, dir, dir_bytes, why, why_bytes);
    if (rc)
        return rc;
    rc = hx_rig_join(node, node_bytes, dir, HX_NODE);
    return rc ? hx_rig_why(rc, why, why_bytes, "%s: %s", dir, strerror(-rc)) : 0;
}

int hx_rig_read_why(const char *mount, const char *node, char **text, char *why, size_t why_bytes)
{
    char dir[HX_PATH_BYTES - 32], path[HX_PATH_BYTES];
    int rc = find_node(mount, path, sizeof(path), dir, sizeof(dir), why, why_bytes);

    if (rc)
        return rc;
    rc = hx_rig_ask_settled(path, node, NULL, text);
    return rc ? hx_rig_read_failed(rc, dir, why, why_bytes) : 0;
}

int hx_rig_read(const char *mount, const char *node, char **text)
{
    return hx_rig_read_why(mount, node, text, NULL, 0);
}

static int write_file(const char *dir, const char *node, const char *text)
{
    char path[HX_PATH_BYTES];
    int rc = hx_rig_join(path, sizeof(path), dir, node), fd;

    if (rc)
        return rc;
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    rc = write(fd, text, strlen(text)) < 0 ? -errno : 0;
    close(fd);
    return rc;
}

/* A write to `node` failed by `rc` with what may mean that the rig has ended since its status was read. */
static int lost_rig(int rc, const char *device, const char *dir, const char *node, const char *old_pid, char *why, size_t why_bytes)
{
    char pid[32], *status = NULL;
    int asked = hx_rig_ask_settled(device, "status", NULL, &status);

    if (asked)
        return hx_rig_read_failed(asked, dir, why, why_bytes);
    hx_rig_value(status, "pid", pid, sizeof(pid));
    free(status);
    return strcmp(pid, old_pid) == 0
               ? hx_rig_why(rc, why, why_bytes, "%s: %s: %s", dir, node, strerror(-rc))
               : hx_rig_why(-ENOTCONN, why, why_bytes, "%s: the rig has ended, and another one runs there now", dir);
}

/* Through a socket, which also says why it failed; through the file where a rig has no sockets. */
int hx_rig_write(const char *mount, const char *node, const char *text, char *why, size_t why_bytes)
{
    char dir[HX_PATH_BYTES - 32], device[HX_PATH_BYTES], socket[HX_PATH_BYTES], sockets[HX_PATH_BYTES];
    char pid[32], *status, *reply = NULL;
    int rc = find_node(mount, device, sizeof(device), dir, sizeof(dir), why, why_bytes);

    if (rc)
        return rc;
    rc = hx_rig_ask_settled(device, "status", NULL, &status);
    if (rc)
        return hx_rig_read_failed(rc, dir, why, why_bytes);
    hx_rig_value(status, "sockets", sockets, sizeof(sockets));
    hx_rig_value(status, "pid", pid, sizeof(pid));
    free(status);
    if (*sockets)
        rc = hx_rig_join(socket, sizeof(socket), sockets, HX_NODE);
    if (rc == 0)
        rc = *sockets ? hx_transport_socket_write(socket, node, text, &reply)
                      : write_file(dir, node, text);
    if (rc && reply && *reply)
        hx_rig_why(rc, why, why_bytes, "%s", reply);
    else if (rc == -ENOENT || hx_rig_has_gone(rc))
        rc = lost_rig(rc, device, dir, node, pid, why, why_bytes);
    else if (rc)
        hx_rig_why(rc, why, why_bytes, "%s: %s: %s", dir, node, strerror(-rc));
    free(reply);
    return rc;
}
