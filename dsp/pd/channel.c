/* The DSP's end of a channel: the shared ring, its bells, and the socket that carries descriptors. */
#include "channel.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/low_memory.h"
#include "base/placement.h"

int hx_dsp_channel_open(struct hx_dsp_channel *c, const int *fd)
{
    memset(c, 0, sizeof(*c));
    memcpy(c->fd, fd, sizeof(c->fd));
    pthread_mutex_init(&c->pop, NULL);
    pthread_mutex_init(&c->push, NULL);
    c->rings = mmap(NULL, sizeof(*c->rings), PROT_READ | PROT_WRITE, MAP_SHARED, fd[HX_FD_RINGS],
                    0);
    if (c->rings == MAP_FAILED) {
        c->rings = NULL;
        return -errno;
    }
    c->arena = hx_low_map(HX_ARENA_BYTES, fd[HX_FD_ARENA]);
    if (!c->arena)
        return -errno;
    hx_placement_shared(c->rings, sizeof(*c->rings));
    hx_placement_shared(c->arena, HX_ARENA_BYTES);
    return 0;
}

static int pop(struct hx_dsp_channel *c, struct hx_msg *msg)
{
    int rc;

    pthread_mutex_lock(&c->pop);
    rc = hx_ring_pop(&c->rings->request, msg);
    pthread_mutex_unlock(&c->pop);
    return rc;
}

int hx_dsp_channel_take(struct hx_dsp_channel *c, struct hx_msg *msg)
{
    int rc;

    while ((rc = pop(c, msg)) == -EAGAIN)
        hx_ring_wait(&c->rings->request);
    return rc;
}

int hx_dsp_channel_take_rung(struct hx_dsp_channel *c, struct hx_msg *msg)
{
    uint64_t one;

    /* The bell is a semaphore: it was rung for exactly one message, which is in the ring by now.
     * [tests/model/message_ring.pml: EARLY_BELL] */
    while (read(c->fd[HX_FD_REQ_BELL], &one, sizeof(one)) < 0)
        if (errno != EINTR)
            return -errno;
    return pop(c, msg);
}

void hx_dsp_channel_answer(struct hx_dsp_channel *c, const struct hx_reply *reply)
{
    uint64_t one = 1;

    pthread_mutex_lock(&c->push);
    int rc = hx_ring_push(&c->rings->reply, reply);
    pthread_mutex_unlock(&c->push);
    /* The ring holds more replies than the channel has contexts: only a broken driver can fill it, and it will not
     * miss an answer that it did not ask for. */
    if (rc == 0 && hx_ring_must_wake(&c->rings->reply) &&
        write(c->fd[HX_FD_REP_BELL], &one, sizeof(one)) < 0)
        return;
}

int hx_dsp_channel_control(struct hx_dsp_channel *c, struct hx_ctl *ctl, int *fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * HX_PD_FDS)];
        struct cmsghdr align;
    } cbuf;
    struct iovec iov = {ctl, sizeof(*ctl)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = cbuf.bytes,
                       .msg_controllen = sizeof(cbuf.bytes)};
    ssize_t n;

    for (int i = 0; i < HX_PD_FDS; i++)
        fd[i] = -1;
    do {
        n = recvmsg(c->fd[HX_FD_CTL], &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n == 0 || errno == ECONNRESET ? 0 : -errno;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h))
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
            memcpy(fd, CMSG_DATA(h), h->cmsg_len - CMSG_LEN(0));
    return n == (ssize_t)sizeof(*ctl) ? 1 : -EPROTO;
}

void hx_dsp_channel_close(struct hx_dsp_channel *c)
{
    if (c->rings)
        munmap(c->rings, sizeof(*c->rings));
    hx_low_unmap(c->arena, HX_ARENA_BYTES);
    for (int i = 0; i < HX_PD_FDS; i++) {
        if (c->fd[i] >= 0)
            close(c->fd[i]);
        c->fd[i] = -1;
    }
    c->rings = NULL;
    c->arena = NULL;
}
