/* Root PD and user PDs as plain functions, see fake_dsp.h. */
#include "fake_dsp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote_scalars.h"

enum { NOBODY = 1 << 28 }; /* a pid that there cannot be */
enum { WRITES_MOST = 1 << 20 }; /* bytes of an out buffer: more than anybody compares, and less than all of an arena for each input */

static int root[HX_PD_FDS];
static int pd[FASTRPC_MAX_SESSIONS][HX_PD_FDS]; /* 0: none */

static void close_all(int fd[HX_PD_FDS])
{
    for (unsigned i = 0; i < HX_PD_FDS; i++)
        if (fd[i] > 0)
            close(fd[i]);
    memset(fd, 0, sizeof(root));
}

void fake_dsp_open(struct hx_driver *d)
{
    if (hx_channel_create(&d->dsp.channel, &d->loop, 0, root))
        abort();
    d->dsp.channel.rings_bell = true;
    d->dsp.pid = NOBODY;
}

void fake_dsp_close(struct hx_driver *d)
{
    hx_context_abort(d, &d->dsp.channel, -EPIPE);
    hx_channel_close(&d->dsp.channel);
    close_all(root);
    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        close_all(pd[i]);
    d->dsp.pid = 0;
    d->dsp.failed = false;
}

void fake_dsp_restart(struct hx_driver *d)
{
    hx_session_ssr_all(d);
    fake_dsp_close(d);
    fake_dsp_open(d);
}

void fake_dsp_end_pd(unsigned slot)
{
    close_all(pd[slot]);
}

/* Takes a control message; its descriptors become a new PD's, or are let go of.  1; 0: there is none; -1: there will be none. */
static int take_control(int ctl)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * HX_PD_FDS)];
        struct cmsghdr align;
    } cbuf;
    struct hx_ctl c = {0};
    struct iovec iov = {&c, sizeof(c)};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = cbuf.bytes, .msg_controllen = sizeof(cbuf.bytes)};
    int fd[HX_PD_FDS] = {0};
    ssize_t n = recvmsg(ctl, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n <= 0)
        return n == 0 ? -1 : 0;
    if (CMSG_FIRSTHDR(&m))
        memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), CMSG_FIRSTHDR(&m)->cmsg_len - CMSG_LEN(0));
    if (c.op == HX_CTL_PD && c.id >= 1 && c.id <= FASTRPC_MAX_SESSIONS) {
        close_all(pd[c.id - 1]);
        memcpy(pd[c.id - 1], fd, sizeof(fd));
    } else {
        close_all(fd);
    }
    return 1;
}

/* Inside the piece of the arena that the request names, or the driver has done something wrong. */
static uint8_t *inside(const struct hx_channel *c, const struct hx_msg *m, uint64_t at, uint64_t bytes)
{
    if (m->size > HX_ARENA_BYTES || m->addr > HX_ARENA_BYTES - m->size || at < m->addr || at - m->addr > m->size ||
        bytes > m->size - (at - m->addr))
        abort();
    return c->arena + at;
}

/* What a method of the PD does; DMA handles it gives back at once. */
static void echo(const struct hx_channel *c, const struct hx_msg *m)
{
    const unsigned n_in = REMOTE_SCALARS_INBUFS(m->sc), n_bufs = n_in + REMOTE_SCALARS_OUTBUFS(m->sc);
    struct hx_invoke *head = (void *)inside(c, m, m->addr, sizeof(*head));
    const struct hx_arg *a = (const void *)inside(c, m, m->addr + sizeof(*head), head->n_args * sizeof(*a));
    unsigned n_back = 0;
    const uint8_t *in = NULL;
    size_t n = 0;

    if (head->n_args < n_bufs)
        abort();
    for (unsigned i = 0; i < n_bufs; i++) {
        uint8_t *at = a[i].len && a[i].kind == HX_ARG_INLINE ? inside(c, m, a[i].addr, a[i].len) : NULL;

        if (at && i < n_in && !n) {
            in = at;
            n = a[i].len;
        }
        for (uint64_t k = 0; at && i >= n_in && k < a[i].len && k < WRITES_MOST; k++)
            at[k] = fake_dsp_byte(in, n, i - n_in, k);
    }
    for (unsigned i = n_bufs; i < head->n_args; i++) /* DMA handles */
        if (a[i].map > 0 && n_back < FASTRPC_MAX_FDLIST)
            head->fdlist[n_back++] = (uint64_t)a[i].map;
}

/* A kernel call: maps have an address. */
static void serve_kernel(const struct hx_channel *c, const struct hx_msg *m)
{
    const struct hx_arg *a = (const void *)inside(c, m, m->addr + sizeof(struct hx_invoke), sizeof(*a));
    const struct hx_kmem_mapped mapped = {.vaddr = 0x10000000};

    if (REMOTE_SCALARS_OUTBUFS(m->sc))
        memcpy(inside(c, m, a[1].addr, sizeof(mapped)), &mapped, sizeof(mapped));
}

/* The session whose PD a RELEASE ends, if its end is to come later; else NULL. */
static const struct hx_session *ends_later(const struct hx_driver *d, const struct hx_msg *m)
{
    const struct hx_channel *c = &d->dsp.channel;
    const struct hx_arg *a = (const void *)inside(c, m, m->addr + sizeof(struct hx_invoke), sizeof(*a));
    const struct hx_kcreate *in = (const void *)inside(c, m, a->addr, sizeof(*in));
    const struct hx_session *s = in->client_id >= 1 && in->client_id <= FASTRPC_MAX_SESSIONS ? d->session[in->client_id - 1] : NULL;

    return REMOTE_SCALARS_METHOD(m->sc) == FASTRPC_RMID_RELEASE && s && s->number % 2 ? s : NULL;
}

static bool serve_root(struct hx_driver *d, enum fake_dsp_mood mood)
{
    const struct hx_channel *c = &d->dsp.channel;
    bool any = false;
    struct hx_msg m;
    int rc;

    while ((rc = take_control(root[HX_FD_CTL])) == 1)
        any = true;
    if (rc < 0) { /* hx_dsp_crash() */
        fake_dsp_restart(d);
        return true;
    }
    while (hx_ring_pop(&c->rings->request, &m) == 0) {
        const bool release = REMOTE_SCALARS_METHOD(m.sc) == FASTRPC_RMID_RELEASE;
        const struct hx_session *s = ends_later(d, &m);
        const int32_t id = s ? s->client_id : 0;
        const uint32_t number = s ? s->number : 0;
        struct hx_reply r = {.ctx = m.ctx, .retval = s ? HX_RELEASE_ENDS : mood == FAKE_DSP_REFUSES && !release ? -1 : 0};

        serve_kernel(c, &m);
        hx_ring_push(&c->rings->reply, &r);
        hx_context_replies(d, &d->dsp.channel, HX_RING_SLOTS);
        if (s && !hx_session_pd_ended(d, id, number))
            abort();
        any = true;
    }
    return any;
}

static void answer(struct hx_driver *d, struct hx_channel *c, const struct hx_msg *m, enum fake_dsp_mood mood)
{
    struct hx_reply r = {.ctx = m->ctx, .exec_pcycles = 100};
    const bool kernel = m->handle == FASTRPC_HANDLE_KERNEL;

    if (mood == FAKE_DSP_FORGES)
        for (uint64_t id = 0; id < FASTRPC_CTX_MAX + 2; id += 51)
            if (!d->context[id % FASTRPC_CTX_MAX] || d->context[id % FASTRPC_CTX_MAX]->channel != c) /* not its own calls */
                hx_ring_push(&c->rings->reply, &(struct hx_reply){.ctx = id << HX_CTX_ID_SHIFT | HX_PD_USER});
    if (kernel)
        serve_kernel(c, m);
    else
        echo(c, m);
    hx_ring_push(&c->rings->reply, &r);
    if (mood == FAKE_DSP_REPEATS)
        hx_ring_push(&c->rings->reply, &r);
    if (mood == FAKE_DSP_BREAKS)
        atomic_fetch_add(&c->rings->reply.tail, HX_RING_SLOTS + 1);
}

static bool serve_pd(struct hx_driver *d, unsigned slot, enum fake_dsp_mood mood)
{
    struct hx_channel *c = &d->session[slot]->channel;
    bool any = false;
    struct hx_msg m;

    while (take_control(pd[slot][HX_FD_CTL]) == 1)
        any = true;
    while (c->rings && hx_ring_pop(&c->rings->request, &m) == 0) {
        any = true;
        if (mood == FAKE_DSP_DIES) {
            fake_dsp_end_pd(slot);
            break;
        }
        if (mood != FAKE_DSP_SLEEPS)
            answer(d, c, &m, mood);
    }
    return any;
}

bool fake_dsp_serve(struct hx_driver *d, enum fake_dsp_mood mood)
{
    bool any = serve_root(d, mood);

    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        if (d->session[i] && d->session[i]->channel.rings && pd[i][HX_FD_CTL] > 0)
            any |= serve_pd(d, i, mood);
    return any;
}

bool fake_dsp_is_busy(const struct hx_driver *d)
{
    unsigned n = 0;

    for (unsigned i = 0; i < FASTRPC_MAX_SESSIONS; i++)
        n += d->session[i] != NULL;
    for (unsigned i = 1; i < FASTRPC_CTX_MAX; i++)
        n += d->context[i] != NULL;
    return n > 0;
}
