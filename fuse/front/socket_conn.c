/* One connection of the socket front end: reading frames and their descriptors, and sending replies. */
#include "socket_conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/closer.h"
#include "base/memory_fd.h"

enum { FULL_BYTES = 1 << 20, WAITING_MAX = 64 << 20, TURN_BYTES = 256 << 10, SENT_AT_ONCE = 16 }; /* SENT_AT_ONCE: blocks */

void hx_frame_free(struct hx_socket_frame *f)
{
    if (!f)
        return;
    free(f->body);
    free(f);
}

static int check_head(const struct hx_conn *c, const char **why)
{
    const struct hx_frame *h = &c->frame->head;
    const struct {
        bool bad;
        const char *why;
    } rules[] = {
        {h->magic != HX_FRAME_MAGIC, "frame: bad magic"},
        {h->op < HX_FRAME_IOCTL || h->op > HX_FRAME_WRITE, "frame: unknown op"},
        {h->id == 0, "frame: id 0"},
        {h->arg_bytes > HX_FRAME_MAX_ARG, "frame: arg too large"},
        {h->n_segs > HX_FRAME_MAX_SEGS, "frame: too many segments"},
        {h->n_fds != c->n_fds, "frame: not the descriptors that it announces"},
        {h->n_fds && h->op != HX_FRAME_IOCTL, "frame: descriptors for an op without"},
        {h->body_bytes > HX_FRAME_MAX_BODY, "frame: body too large"},
        {c->body_max && h->body_bytes > c->body_max, "frame: body too large for a client without a PD"},
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].bad) {
            *why = rules[i].why;
            return -EPROTO;
        }
    return 0;
}

int hx_frame_parse(struct hx_socket_frame *f, const char **why)
{
    const struct hx_frame *h = &f->head;
    uint64_t segs = (uint64_t)h->n_segs * sizeof(struct hx_frame_seg),
             fds = (uint64_t)h->n_fds * sizeof(struct hx_frame_fd),
             arg = h->arg_bytes, used = arg + segs + fds;

    *why = "frame: segments after an arg that is no multiple of 8 bytes";
    if (segs + fds && arg % 8)
        return -EPROTO;
    *why = "frame: body shorter than its parts";
    if (used > h->body_bytes)
        return -EPROTO;
    f->arg = f->body;
    f->segs = (struct hx_frame_seg *)(void *)(f->body + arg);
    f->fds = (struct hx_frame_fd *)(void *)(f->body + arg + segs);
    f->data = f->body + used;
    for (unsigned i = 0; i < h->n_segs; i++)
        if (f->segs[i].flags & HX_SEG_IN) {
            if (f->segs[i].len > h->body_bytes - used)
                return -EPROTO;
            used += f->segs[i].len;
        }
    *why = "frame: body longer than its parts";
    if (used != h->body_bytes)
        return -EPROTO;
    return 0;
}

void hx_conn_close_fds(struct hx_conn *c)
{
    for (unsigned i = 0; i < c->n_fds; i++)
        if (c->fd[i] >= 0)
            close(c->fd[i]);
    c->n_fds = 0;
}

unsigned hx_conn_fds(const struct hx_conn *c)
{
    unsigned n = 0;

    for (unsigned i = 0; i < c->n_fds; i++)
        n += c->fd[i] >= 0;
    return n;
}

/* One recvmsg() brings HX_FRAME_MAX_FDS descriptors at most, the kernel's own limit, in one SCM_RIGHTS.  There is always room for all:
 * what the kernel has to drop it closes in this thread.  *n: how many came, in fd[]. */
static ssize_t receive(struct hx_conn *c, void *dst, size_t bytes, int fd[HX_FRAME_MAX_FDS], unsigned *n, int *flags)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * HX_FRAME_MAX_FDS)];
        struct cmsghdr align;
    } cbuf;
    struct iovec iov = {dst, bytes};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = cbuf.bytes, .msg_controllen = sizeof(cbuf.bytes)};
    ssize_t got = recvmsg(c->watch.fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *h = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;

    while (h && (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS))
        h = CMSG_NXTHDR(&m, h);
    *flags = m.msg_flags;
    *n = h ? (unsigned)((h->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0;
    if (*n)
        memcpy(fd, CMSG_DATA(h), *n * sizeof(int));
    return got;
}

/* What is refused keeps its place in the order. */
static void refuse_fds(struct hx_conn *c)
{
    int refused[HX_FRAME_MAX_FDS];
    unsigned n = 0;

    for (unsigned i = 0; i < c->n_fds; i++)
        if (i >= c->fds_max || !hx_fd_is_memory(c->fd[i])) {
            refused[n++] = c->fd[i];
            c->fd[i] = -1;
        }
    if (n)
        hx_close_later(c->uid, refused, n);
}

static ssize_t broken(void)
{
    errno = EPROTO;
    return -1;
}

/* The first bytes of a frame, with its descriptors. */
static ssize_t receive_head(struct hx_conn *c, struct hx_frame *head, const char **why)
{
    int flags;
    ssize_t got = receive(c, head, sizeof(*head), c->fd, &c->n_fds, &flags);

    if (got <= 0)
        return got;
    refuse_fds(c);
    *why = flags & MSG_CTRUNC ? "frame: descriptors that could not be received"
                              : "frame: descriptors with a part of a head";
    return flags & MSG_CTRUNC || (c->n_fds && (size_t)got < sizeof(*head)) ? broken() : got;
}

/* Everything else brings none. */
static ssize_t receive_rest(struct hx_conn *c, void *dst, size_t bytes, const char **why)
{
    int fd[HX_FRAME_MAX_FDS], flags;
    unsigned n;
    ssize_t got = receive(c, dst, bytes, fd, &n, &flags);

    if (got <= 0)
        return got;
    if (n)
        hx_close_later(c->uid, fd, n);
    *why = "frame: descriptors behind its beginning";
    return n || flags & MSG_CTRUNC ? broken() : got;
}

static int hold(struct hx_conn *c, bool held)
{
    c->held = held;
    return hx_loop_want(c->loop, &c->watch, !c->full && !held, c->waits);
}

int hx_conn_resume(struct hx_conn *c)
{
    return c->held && !hx_closer_is_behind(c->uid) ? hold(c, false) : 0;
}

int hx_conn_read(struct hx_conn *c, struct hx_socket_frame **frame, const char **why)
{
    const size_t head = sizeof(struct hx_frame);
    uint64_t left = c->turn_bytes ? c->turn_bytes : TURN_BYTES; /* then others have their turn */
    int rc;

    *why = "closed";
    if (c->full || c->held)
        return 0;
    if (hx_closer_is_behind(c->uid))
        return hold(c, true);
    if (!c->frame) {
        c->frame = calloc(1, sizeof(*c->frame));
        c->got = 0;
        if (!c->frame)
            return -ENOMEM;
    }
    for (;;) {
        struct hx_socket_frame *f = c->frame;
        uint64_t want = c->got < head ? head : head + f->head.body_bytes;
        uint8_t *at = c->got < head ? (uint8_t *)&f->head + c->got : f->body + (c->got - head);

        if (c->got == want)
            break;
        if (!left)
            return 0;
        want -= c->got;
        ssize_t n = c->got ? receive_rest(c, at, want < left ? want : left, why) : receive_head(c, &f->head, why);
        if (n == 0)
            return -ECONNRESET;
        if (n < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        c->got += (uint64_t)n;
        left -= left < (uint64_t)n ? left : (uint64_t)n;
        if (c->got == head) {
            rc = check_head(c, why);
            if (rc)
                return rc;
            f->body = malloc(f->head.body_bytes ? f->head.body_bytes : 1);
            if (!f->body)
                return -ENOMEM;
        }
    }
    rc = hx_frame_parse(c->frame, why);
    if (rc)
        return rc;
    *frame = c->frame;
    c->frame = NULL;
    return 1;
}

/* A client that does not read its replies is not served any further. */
static int watch_both_ways(struct hx_conn *c)
{
    bool waits = c->out.bytes != 0, full = c->out.bytes > FULL_BYTES;

    if (waits == c->waits && full == c->full)
        return 0;
    c->waits = waits;
    c->full = full;
    return hx_loop_want(c->loop, &c->watch, !full && !c->held, waits);
}

uint8_t *hx_conn_blocks_add(struct hx_conn_blocks *b, size_t n)
{
    struct hx_conn_block *block = malloc(sizeof(*block) + n);

    if (!block)
        return NULL;
    block->next = NULL;
    block->len = n;
    *(b->first ? b->end : &b->first) = block;
    b->end = &block->next;
    b->bytes += n;
    return block->bytes;
}

static void drop_first(struct hx_conn_blocks *b)
{
    struct hx_conn_block *first = b->first;

    b->first = first->next;
    free(first);
}

void hx_conn_blocks_free(struct hx_conn_blocks *b)
{
    while (b->first)
        drop_first(b);
    b->bytes = 0;
}

/* Of what waits, at most `most` bytes.  Number of pieces. */
static unsigned waiting(const struct hx_conn *c, size_t most, struct iovec iov[SENT_AT_ONCE])
{
    size_t at = c->out_at;
    unsigned n = 0;

    for (struct hx_conn_block *b = c->out.first; b && n < SENT_AT_ONCE && most; b = b->next) {
        const size_t len = b->len - at < most ? b->len - at : most;

        iov[n++] = (struct iovec){b->bytes + at, len};
        most -= len;
        at = 0;
    }
    return n;
}

static void sent(struct hx_conn *c, size_t n)
{
    c->out.bytes -= n;
    c->out_at += n;
    while (c->out.first && c->out_at >= c->out.first->len) {
        c->out_at -= c->out.first->len;
        drop_first(&c->out);
    }
}

int hx_conn_flush(struct hx_conn *c)
{
    size_t most = c->turn_bytes ? c->turn_bytes : SIZE_MAX;

    while (c->out.bytes && most) {
        struct iovec iov[SENT_AT_ONCE];
        struct msghdr m = {.msg_iov = iov, .msg_iovlen = waiting(c, most, iov)};
        ssize_t n = sendmsg(c->watch.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            return -errno;
        if (n < 0)
            break;
        sent(c, (size_t)n);
        most -= (size_t)n;
    }
    return watch_both_ways(c);
}

int hx_conn_write(struct hx_conn *c, struct hx_conn_blocks *b)
{
    if (c->out.bytes > WAITING_MAX)
        return -ENOBUFS;
    if (!b->first)
        return 0;
    *(c->out.first ? c->out.end : &c->out.first) = b->first;
    c->out.end = b->end;
    c->out.bytes += b->bytes;
    *b = (struct hx_conn_blocks){0};
    return 0;
}

void hx_conn_close(struct hx_conn *c)
{
    hx_loop_del(c->loop, &c->watch);
    shutdown(c->watch.fd, SHUT_RDWR); /* the client sees its end now, whenever what it has sent is closed */
    hx_close_connection_later(c->uid, c->watch.fd);
    hx_conn_close_fds(c);
    hx_frame_free(c->frame);
    hx_conn_blocks_free(&c->out);
}
