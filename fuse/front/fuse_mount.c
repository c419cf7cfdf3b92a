/* Running fusermount3 and taking the descriptor that it sends. */
#include "fuse_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hx_stage.h"

enum { MOUNT_MS = 5000 }; /* its part of the 10 s that `up` waits for */

static _Noreturn void run(const char *const *argv, int quiet)
{
    int null = quiet ? open("/dev/null", O_RDWR) : -1;
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (null >= 0)
        dup2(null, 2);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

/* fusermount3 finds its end of the socket by _FUSE_COMMFD. */
static pid_t start(const char *dir, const char *options, int fd)
{
    const char *const argv[] = {"fusermount3", "-o", options, "--", dir, NULL};
    pid_t pid = fork();
    char text[16];

    if (pid)
        return pid;
    snprintf(text, sizeof(text), "%d", fd);
    setenv("_FUSE_COMMFD", text, 1);
    fcntl(fd, F_SETFD, 0);
    run(argv, 0);
}

/* A descriptor, or negative errno. */
static int receive(int socket)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } cbuf;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = cbuf.bytes,
                       .msg_controllen = sizeof(cbuf.bytes)};
    struct pollfd p = {.fd = socket, .events = POLLIN};
    struct cmsghdr *h;
    ssize_t n;
    int fd;

    if (poll(&p, 1, MOUNT_MS) <= 0)
        return -ETIMEDOUT;
    do {
        n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    h = n ? CMSG_FIRSTHDR(&m) : NULL;
    if (!h || h->cmsg_type != SCM_RIGHTS)
        return -EIO; /* it has said why, on stderr */
    memcpy(&fd, CMSG_DATA(h), sizeof(fd));
    return fd;
}

static void unmount(const char *dir)
{
    const char *const argv[] = {"fusermount3", "-u", "-z", "-q", "--", dir, NULL};
    pid_t pid;

    if (umount2(dir, MNT_DETACH | UMOUNT_NOFOLLOW) == 0 || geteuid() == 0)
        return;
    pid = fork();
    if (pid == 0)
        run(argv, 1);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Whether any mount is of that device. */
static int is_in_mountinfo(const struct hx_fuse_mount *m)
{
    char line[4096], device[32];
    int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC), found = 0;
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

    snprintf(device, sizeof(device), " 0:%u ", m->dev);
    while (f && !found && fgets(line, sizeof(line), f))
        found = strstr(line, device) != NULL; /* behind two numbers; no field before it has one of its own */
    if (f)
        fclose(f);
    else if (fd >= 0)
        close(fd);
    return found || !f;
}

/* The mount is new, so its server, who is us, is not asked. */
static void find_device(struct hx_fuse_mount *m, const char *dir)
{
    struct statx st;

    if (statx(AT_FDCWD, dir, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &st) || st.stx_dev_major)
        return;
    m->dev = st.stx_dev_minor;
    m->mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
}

int hx_fuse_was_detached(const struct hx_fuse_mount *m)
{
    struct pollfd p = {.fd = m->mounts, .events = POLLPRI};

    return m->mounts >= 0 && poll(&p, 1, 0) == 1 && (p.revents & POLLPRI) && !is_in_mountinfo(m);
}

int hx_fuse_mount(struct hx_fuse_mount *m, const char *dir, const char *options)
{
    int pair[2];
    pid_t pid;

    *m = (struct hx_fuse_mount){.fd = -1, .keep = -1, .helper = -1, .mounts = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return -errno;
    pid = start(dir, options, pair[1]);
    m->fd = pid < 0 ? -errno : 0;
    close(pair[1]);
    hx_stage_at("driver.mount.asked");
    if (pid > 0)
        m->fd = receive(pair[0]);
    hx_stage_at("driver.mount.got");
    if (m->fd > 0) {
        m->keep = pair[0];
        m->helper = (int)syscall(SYS_pidfd_open, pid, 0);
        find_device(m, dir);
        return 0;
    }
    /* With the socket goes the descriptor that may be in it, so that nothing hangs; then the mount can go.  It may be there
     * already although nothing has come. */
    if (pid > 0)
        kill(pid, SIGKILL);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(pair[0]);
    if (pid > 0)
        unmount(dir);
    return m->fd;
}

int hx_fuse_is_mounted(const struct hx_fuse_mount *m)
{
    struct pollfd p = {.fd = m->fd};

    return !(poll(&p, 1, 0) == 1 && (p.revents & (POLLERR | POLLNVAL))) && (m->mounts < 0 || is_in_mountinfo(m));
}

void hx_fuse_unmount(struct hx_fuse_mount *m, const char *dir, int is_mounted)
{
    if (m->helper >= 0) { /* or it complains that the mount is away */
        syscall(SYS_pidfd_send_signal, m->helper, SIGKILL, NULL, 0);
        close(m->helper);
    }
    if (is_mounted)
        unmount(dir);
    if (m->keep >= 0)
        close(m->keep);
    if (m->mounts >= 0)
        close(m->mounts);
    *m = (struct hx_fuse_mount){.fd = -1, .keep = -1, .helper = -1, .mounts = -1};
}
