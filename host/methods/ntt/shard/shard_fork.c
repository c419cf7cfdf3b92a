/* The other process as a child of this one. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shard_impl.h"

/* It has nothing to tell people, and must not outlive the one that has. */
static void become_second(struct hx_shard *s, int fd, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    hx_shard_silence(s);
    s->prime = 1;
    s->fd = fd;
}

static int open_fork(struct hx_shard *s, const char *libexec, struct hx_error *err)
{
    const pid_t parent = getpid();
    int ends[2];
    pid_t pid;

    (void)libexec;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return hx_error_set(err, -errno, "crt-shard: no sockets: %s", strerror(errno));
    pid = fork();
    if (pid < 0) {
        const int code = errno;

        close(ends[0]);
        close(ends[1]);
        return hx_error_set(err, -code, "crt-shard: cannot start the second process: %s",
                            strerror(code));
    }
    close(ends[pid ? 1 : 0]);
    if (!pid) {
        become_second(s, ends[1], parent);
        return 0;
    }
    s->fd = ends[0];
    s->child = pid;
    return 0;
}

/* The socket's end comes when the other process ends, so that waiting for it is short. */
static int gone(struct hx_shard *s, struct hx_error *err)
{
    const int child = s->child;
    int status = 0;

    s->child = 0;
    if (child <= 0 || waitpid(child, &status, 0) != child)
        return hx_error_set(err, -EPIPE,
                            "crt-shard: the process with the residues modulo q%d has gone",
                            2 - s->prime);
    return hx_error_set(err, -EPIPE,
                        "crt-shard: the process with the residues modulo q%d has gone (%s %d)",
                        2 - s->prime, WIFSIGNALED(status) ? "signal" : "exit status",
                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Both send while both receive: what is not read fills a socket's buffer. */
static int swap(struct hx_shard *s, const void *mine, void *theirs, size_t bytes,
                struct hx_error *err)
{
    size_t sent = 0, received = 0;

    while (sent < bytes || received < bytes) {
        const int events = (sent < bytes ? POLLOUT : 0) | (received < bytes ? POLLIN : 0);
        struct pollfd p = {s->fd, (short)events, 0};
        ssize_t n;

        if (poll(&p, 1, -1) < 0 && errno != EINTR)
            return hx_error_set(err, -EIO, "crt-shard: poll: %s", strerror(errno));
        if (p.revents & POLLOUT) {
            n = send(s->fd, (const char *)mine + sent, bytes - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n < 0 && errno != EAGAIN && errno != EINTR)
                return gone(s, err);
            sent += n > 0 ? (size_t)n : 0;
        }
        if (p.revents & (POLLIN | POLLHUP)) {
            n = recv(s->fd, (char *)theirs + received, bytes - received, MSG_DONTWAIT);
            if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
                return gone(s, err);
            received += n > 0 ? (size_t)n : 0;
        } else if (p.revents & (POLLERR | POLLNVAL)) {
            return gone(s, err);
        }
    }
    return 0;
}

static void close_fork(struct hx_shard *s)
{
    close(s->fd);
    if (s->child > 0)
        waitpid(s->child, NULL, 0);
}

const struct hx_shard_ops hx_shard_fork = {"fork", open_fork, swap, close_fork};
