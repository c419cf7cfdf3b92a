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
#include <sys/wait.h>
#include <unistd.h>

#include "hx_rig_internal.h"

static const char *const device_nodes[] = {HX_NODE, HX_NODE "-secure"};

static int mount_dir(const char *mount, char *dir, size_t bytes)
{
    if (mount)
        return (size_t)snprintf(dir, bytes, "%s", mount) < bytes ? 0 : -ENAMETOOLONG;
    hx_rig_default_mount(dir, bytes);
    return 0;
}

/* What is at dir: 0 and its status text, -ENOENT nothing, -ENOTCONN a rig that has died, else its error. */
static int rig_at(const char *dir, char **status)
{
    char node[HX_PATH_BYTES];
    int rc = hx_rig_join(node, sizeof(node), dir, HX_NODE);

    if (rc == 0)
        rc = hx_rig_read_node(node, "status", status);
    if (rc == -ENOTDIR)
        return -ENOENT;
    return rc == -ECONNREFUSED || rc == -ECONNABORTED ? -ENOTCONN : rc;
}

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

/* Removes what a killed rig left at dir: a mount without a server, sockets that nobody listens to. */
static int clean_dead(const char *dir)
{
    const char *const unmount[] = {"fusermount3", "-u", "-z", "-q", dir, NULL};
    char node[HX_PATH_BYTES], *status = NULL;
    int rc;

    run_quietly(unmount);
    for (size_t i = 0; i < 2; i++) {
        struct stat st;

        if (hx_rig_join(node, sizeof(node), dir, device_nodes[i]) == 0 && lstat(node, &st) == 0 &&
            S_ISSOCK(st.st_mode))
            unlink(node);
    }
    rc = rig_at(dir, &status);
    free(status);
    return rc == -ENOENT ? 0 : -ENOTCONN;
}

/* A file of ours that nobody else can have put there as a link. */
static int open_log(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat st;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
        close(fd);
        return -EPERM;
    }
    return fd;
}

/* What the rig said while it started (why it fell back to sockets, say) is for the person who starts it. */
static void show_log(const char *path, off_t from)
{
    char buf[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return;
    while ((n = pread(fd, buf, sizeof(buf), from)) > 0) {
        fwrite(buf, 1, (size_t)n, stderr);
        from += n;
    }
    close(fd);
}

static int up_at(const struct hx_rig_cfg *cfg, const char *dir, pid_t *pid, char *why, size_t n)
{
    char log[HX_PATH_BYTES];
    struct hx_spawn_opts o = {.dir = dir, .log = log};
    struct hx_rig_proc proc;
    struct stat st;
    int rc;

    hx_rig_log_path(log, sizeof(log));
    o.log_fd = open_log(log);
    if (o.log_fd < 0)
        return hx_rig_why(o.log_fd, why, n, "%s: %s", log, strerror(-o.log_fd));
    fstat(o.log_fd, &st);
    rc = hx_rig_make_dir(dir, &o.remove_dir);
    if (rc) {
        hx_rig_why(rc, why, n, "%s: %s", dir, strerror(-rc));
    } else {
        rc = hx_rig_spawn(cfg, &o, &proc, why, n);
        show_log(log, st.st_size);
        if (rc && o.remove_dir)
            rmdir(dir);
    }
    close(o.log_fd);
    if (rc == 0) {
        *pid = proc.pid;
        close(proc.pidfd);
    }
    return rc;
}

int hx_rig_up(const struct hx_rig_cfg *cfg, pid_t *pid, char *why, size_t why_bytes)
{
    char dir[HX_PATH_BYTES - 32], *status = NULL, text[32];
    int rc = mount_dir(cfg->mount, dir, sizeof(dir));

    if (rc)
        return hx_rig_why(rc, why, why_bytes, "mount: %s", strerror(-rc));
    rc = rig_at(dir, &status);
    if (rc == 0) {
        hx_rig_why(0, why, why_bytes, "%s: a rig runs there already, pid %s", dir,
                   hx_rig_value(status, "pid", text, sizeof(text)));
        free(status);
        return -EALREADY;
    }
    if (rc == -ENOTCONN)
        rc = clean_dead(dir);
    if (rc && rc != -ENOENT)
        return hx_rig_why(rc, why, why_bytes, "%s: %s", dir, strerror(-rc));
    return up_at(cfg, dir, pid, why, why_bytes);
}

/* A pid from a status text is only believed when it is a hexrig-fuse. */
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

int hx_rig_down(const char *mount, char *why, size_t why_bytes)
{
    char dir[HX_PATH_BYTES - 32], *status = NULL, text[32];
    int rc = mount_dir(mount, dir, sizeof(dir));
    pid_t pid;

    if (rc)
        return hx_rig_why(rc, why, why_bytes, "mount: %s", strerror(-rc));
    rc = rig_at(dir, &status);
    if (rc == -ENOENT)
        return hx_rig_why(rc, why, why_bytes, "%s: no rig runs there", dir);
    if (rc == -ENOTCONN) {
        rc = clean_dead(dir);
        rmdir(dir); /* only when empty: it was the dead rig's */
        return rc ? hx_rig_why(rc, why, why_bytes, "%s: the dead rig's mount stays", dir) : 0;
    }
    if (rc)
        return hx_rig_why(rc, why, why_bytes, "%s: status: %s", dir, strerror(-rc));
    pid = (pid_t)atoi(hx_rig_value(status, "pid", text, sizeof(text)));
    free(status);
    status = NULL;
    rc = end_pid(pid);
    if (rc)
        return hx_rig_why(rc, why, why_bytes, "%s: rig with pid %d: %s", dir, (int)pid,
                          strerror(-rc));
    rc = rig_at(dir, &status);
    free(status);
    if (rc != -ENOENT)
        return hx_rig_why(-EBUSY, why, why_bytes, "%s: the rig has ended, its nodes stay", dir);
    return 0;
}

int hx_rig_read(const char *mount, const char *node, char **text)
{
    char dir[HX_PATH_BYTES - 32], path[HX_PATH_BYTES];
    int rc;

    if (!mount && hx_rig_connected_node(path, sizeof(path)) == 0)
        return hx_rig_read_node(path, node, text);
    rc = mount_dir(mount, dir, sizeof(dir));
    if (rc == 0)
        rc = hx_rig_join(path, sizeof(path), dir, HX_NODE);
    return rc ? rc : hx_rig_read_node(path, node, text);
}
