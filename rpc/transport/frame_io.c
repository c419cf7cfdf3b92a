/* Sending and receiving whole frames over a stream socket, in spite of signals and short reads. */
#include "hx_frame_io.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static void put_fds(struct msghdr *m, void *buf, const struct hx_frame_fd *fds, size_t n)
{
    size_t bytes = n * sizeof(int);
    struct cmsghdr *c;

    memset(buf, 0, CMSG_SPACE(bytes));
    m->msg_control = buf;
    m->msg_controllen = CMSG_SPACE(bytes);
    c = CMSG_FIRSTHDR(m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(bytes);
    for (size_t i = 0; i < n; i++)
        memcpy(CMSG_DATA(c) + i * sizeof(int), &fds[i].fd, sizeof(int));
}

static void consume(struct msghdr *m, size_t n)
{
    while (m->msg_iovlen && n >= m->msg_iov->iov_len) {
        n -= m->msg_iov->iov_len;
        m->msg_iov++;
        m->msg_iovlen--;
    }
    if (m->msg_iovlen) {
        m->msg_iov->iov_base = (char *)m->msg_iov->iov_base + n;
        m->msg_iov->iov_len -= n;
    }
}

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer looks at the bytes that sendmsg() sent after it has returned; by then the reply may be there and another
 * thread may have written it over them. */
#include <sys/syscall.h>
#include <unistd.h>
#define sendmsg(sock, msg, flags) syscall(SYS_sendmsg, sock, msg, flags)
#endif

int hx_frame_send_count(int sock, struct iovec *iov, size_t n_iov, const struct hx_frame_fd *fds,
                        size_t n_fds, size_t *sent)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(HX_FRAME_MAX_FDS * sizeof(int))];
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = n_iov};

    *sent = 0;
    if (n_fds)
        put_fds(&m, control, fds, n_fds);
    while (m.msg_iovlen) {
        ssize_t n = sendmsg(sock, &m, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EPIPE ? -ECONNRESET : -errno;
        m.msg_control = NULL;
        m.msg_controllen = 0;
        *sent += (size_t)n;
        consume(&m, (size_t)n);
    }
    return 0;
}

int hx_frame_send(int sock, struct iovec *iov, size_t n_iov, const struct hx_frame_fd *fds,
                  size_t n_fds)
{
    size_t sent;

    return hx_frame_send_count(sock, iov, n_iov, fds, n_fds, &sent);
}

int hx_frame_recv(int sock, void *buf, size_t n, int *interrupted)
{
    char *p = buf;

    while (n) {
        ssize_t got = recv(sock, p, n, MSG_WAITALL);

        if (got < 0 && errno == EINTR) {
            if (interrupted)
                *interrupted = 1;
            continue;
        }
        if (got < 0)
            return -errno;
        if (got == 0)
            return -ECONNRESET;
        p += got;
        n -= (size_t)got;
    }
    return 0;
}

int hx_frame_recv_user(int sock, void *buf, size_t n, int *interrupted)
{
    char scrap[4096], *p = buf;
    int fault = 0;

    while (n) {
        size_t want = fault && n > sizeof(scrap) ? sizeof(scrap) : n;
        ssize_t got = recv(sock, fault ? scrap : p, want, MSG_WAITALL);

        if (got < 0 && errno == EINTR) {
            if (interrupted)
                *interrupted = 1;
        } else if (got < 0 && errno == EFAULT && !fault) {
            fault = 1; /* what cannot be stored is read all the same: the next reply follows it */
        } else if (got < 0) {
            return -errno;
        } else if (got == 0) {
            return -ECONNRESET;
        } else {
            p += fault ? 0 : got;
            n -= (size_t)got;
        }
    }
    return fault ? -EFAULT : 0;
}

int hx_frame_recv_head(int sock, struct hx_frame_reply *head, size_t *got)
{
    while (*got < sizeof(*head)) {
        ssize_t n = recv(sock, (char *)head + *got, sizeof(*head) - *got, 0);

        if (n < 0)
            return -errno;
        if (n == 0)
            return -ECONNRESET;
        *got += (size_t)n;
    }
    *got = 0;
    if (head->magic != HX_FRAME_MAGIC || head->n_segs > HX_FRAME_MAX_SEGS ||
        head->body_bytes > HX_FRAME_MAX_BODY || head->arg_bytes > HX_FRAME_MAX_TEXT)
        return -EPROTO;
    return 0;
}
