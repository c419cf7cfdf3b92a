/* The driver's end of a channel: made, written to, read from. */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hx_memfd.h"

enum { KEEP_BYTES = 8 << 20 }; /* a smaller piece keeps its pages for the next call */

static int shared_memory(const char *name, size_t bytes, void **map)
{
    int fd = hx_memfd_make(name, bytes, MFD_CLOEXEC), rc;

    if (fd < 0)
        return fd;
    *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (*map != MAP_FAILED)
        return fd;
    rc = -errno;
    *map = NULL;
    close(fd);
    return rc;
}

int hx_channel_create(struct hx_channel *c, struct hx_loop *loop, unsigned pd, int peer_fd[HX_PD_FDS])
{
    int pair[2], rc;
    void *rings = NULL, *arena = NULL;

    memset(c, 0, sizeof(*c));
    c->req_bell = c->rep_bell = c->ctl = c->arena_fd = -1;
    for (int i = 0; i < HX_PD_FDS; i++)
        peer_fd[i] = -1;
    rc = peer_fd[HX_FD_RINGS] = shared_memory("hexrig-rings", sizeof(*c->rings), &rings);
    c->rings = rings;
    if (rc < 0)
        goto fail;
    rc = peer_fd[HX_FD_ARENA] = shared_memory("hexrig-arena", HX_ARENA_BYTES, &arena);
    c->arena = arena;
    if (rc < 0)
        goto fail;
    rc = hx_pd_log_open(&c->log, loop, pd, &peer_fd[HX_FD_LOG]);
    if (rc)
        goto fail;
    c->space.size = HX_ARENA_BYTES;
    c->req_bell = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    c->rep_bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->req_bell < 0 || c->rep_bell < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        rc = -errno;
        goto fail;
    }
    c->ctl = pair[0];
    setsockopt(c->ctl, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)); /* who says that it crashes */
    peer_fd[HX_FD_CTL] = pair[1];
    peer_fd[HX_FD_REQ_BELL] = fcntl(c->req_bell, F_DUPFD_CLOEXEC, 3);
    peer_fd[HX_FD_REP_BELL] = fcntl(c->rep_bell, F_DUPFD_CLOEXEC, 3);
    c->arena_fd = fcntl(peer_fd[HX_FD_ARENA], F_DUPFD_CLOEXEC, 3);
    if (peer_fd[HX_FD_REQ_BELL] >= 0 && peer_fd[HX_FD_REP_BELL] >= 0 && c->arena_fd >= 0)
        return 0;
    rc = -errno;
fail:
    for (int i = 0; i < HX_PD_FDS; i++) {
        if (peer_fd[i] >= 0)
            close(peer_fd[i]);
        peer_fd[i] = -1;
    }
    hx_channel_close(c);
    return rc;
}

int hx_channel_send(struct hx_channel *c, const struct hx_msg *msg)
{
    uint64_t one = 1;
    int rc = hx_ring_push(&c->rings->request, msg);

    if (rc)
        return rc;
    if (c->rings_bell)
        return write(c->req_bell, &one, sizeof(one)) < 0 ? -errno : 0;
    if (hx_ring_must_wake(&c->rings->request))
        hx_ring_wake(&c->rings->request);
    return 0;
}

int hx_channel_take(struct hx_channel *c, struct hx_reply *reply)
{
    return hx_ring_pop(&c->rings->reply, reply);
}

/* Sends *ctl, numbered, with n descriptors. */
static int send_control(struct hx_channel *c, struct hx_ctl *ctl, const int *fd, int n)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * HX_PD_FDS)];
        struct cmsghdr align;
    } cbuf;
    struct iovec iov = {ctl, sizeof(*ctl)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

    ctl->seq = c->ctl_seq + 1;
    if (n) {
        memset(&cbuf, 0, sizeof(cbuf));
        m.msg_control = cbuf.bytes;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)n);
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)n);
        memcpy(CMSG_DATA(h), fd, sizeof(int) * (size_t)n);
    }
    if (sendmsg(c->ctl, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return -errno;
    c->ctl_seq++;
    return 0;
}

int hx_channel_control(struct hx_channel *c, enum hx_ctl_op op, int32_t id, uint64_t size,
                       const int *fd, int n)
{
    struct hx_ctl ctl = {.op = op, .id = id, .client_fd = -1, .size = size};

    return send_control(c, &ctl, fd, n);
}

int hx_channel_map(struct hx_channel *c, int32_t id, int client_fd, uint64_t size, int fd)
{
    struct hx_ctl ctl = {.op = HX_CTL_MAP, .id = id, .client_fd = client_fd, .size = size};

    return send_control(c, &ctl, &fd, 1);
}

void hx_channel_give(struct hx_channel *c, uint64_t offset, uint64_t bytes)
{
    hx_arena_give(&c->space, offset);
    if (bytes > KEEP_BYTES) /* best effort: on failure the pages merely stay */
        (void)!fallocate(c->arena_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                         (off_t)bytes);
}

void hx_channel_close(struct hx_channel *c)
{
    int *fd[] = {&c->req_bell, &c->rep_bell, &c->ctl, &c->arena_fd};

    if (!c->rings)
        return;
    hx_pd_log_close(&c->log);
    munmap(c->rings, sizeof(*c->rings));
    if (c->arena)
        munmap(c->arena, HX_ARENA_BYTES);
    c->rings = NULL;
    c->arena = NULL;
    for (unsigned i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
        if (*fd[i] >= 0)
            close(*fd[i]);
        *fd[i] = -1;
    }
}
