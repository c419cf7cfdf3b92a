/* The socket front end's client side: many calls in flight on one connection.
 *
 * Every waiting thread is either the reader (one at a time: it takes replies off the socket for everybody) or sleeps on
 * its call's eventfd.  Why that cannot deadlock on full sockets: a thread that sends waits for nothing but the socket, and
 * as long as a call waits for its reply some waiting thread reads, so the server can always send its replies.
 *
 * Signals: read() and recv() restart under SA_RESTART and return EINTR otherwise; only then is the driver informed
 * (HX_FRAME_INTERRUPT, once per call).  A call under SA_RESTART goes on waiting; the kernel would send it again.  Unlike
 * there, a signal that is handled between two system calls of ours goes unnoticed. */
#include "hx_transport.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hx_frame_io.h"
#include "hx_frame_pack.h"
#include "hx_stage.h"

#define RESULT_RESTART (-512) /* the kernel's ERESTARTSYS: the call was given up because of a signal */

enum interrupt_state { INTR_NONE, INTR_WANTED, INTR_SENT };

struct call {
    struct call *next;
    int bell; /* eventfd: done, or "read now"; a spurious ring does no harm */
    int done;
    int waiting; /* sent; its thread is in wait_done() */
    int fault;   /* a part of the reply did not fit where it belongs */
    int result;
    enum interrupt_state interrupt;
    char *arg; /* caller's struct, where the reply's goes */
    struct hx_frame_out out;
};

struct socket_transport {
    struct hx_transport base;
    int sock;
    pid_t pid; /* the process that may use it: replies to a forked child would go astray */

    pthread_mutex_t send_lock; /* held for a whole frame; never taken while holding `lock` */

    pthread_mutex_t lock;   /* protects all below */
    struct call *in_flight; /* list */
    struct call *spare;     /* list: reused, so that a call does not allocate */
    uint32_t last_id;
    int reading; /* a thread is the reader */
    int broken;  /* negative errno once the connection is unusable */
    _Atomic int interrupts_wanted;

    /* reader only */
    struct hx_frame_reply head;
    size_t head_got;
    struct hx_frame_seg segs[HX_FRAME_MAX_SEGS];
};

static void ring(struct call *c)
{
    uint64_t one = 1;

    /* cannot fail: the counter is far from its limit */
    if (write(c->bell, &one, sizeof(one)) < 0)
        abort();
}

static struct call *call_get(struct socket_transport *s)
{
    struct call *c;

    pthread_mutex_lock(&s->lock);
    c = s->spare;
    if (c)
        s->spare = c->next;
    pthread_mutex_unlock(&s->lock);
    if (c)
        return c;
    c = malloc(sizeof(*c));
    if (!c)
        return NULL;
    c->bell = eventfd(0, EFD_CLOEXEC);
    if (c->bell < 0) {
        free(c);
        return NULL;
    }
    return c;
}

static void call_put(struct socket_transport *s, struct call *c)
{
    pthread_mutex_lock(&s->lock);
    c->next = s->spare;
    s->spare = c;
    pthread_mutex_unlock(&s->lock);
}

/* Under lock. */
static void finish(struct socket_transport *s, struct call *c, int result)
{
    struct call **p = &s->in_flight;

    while (*p != c)
        p = &(*p)->next;
    *p = c->next;
    if (c->interrupt == INTR_WANTED)
        atomic_fetch_sub(&s->interrupts_wanted, 1);
    c->interrupt = INTR_NONE;
    c->result = result;
    c->done = 1;
    ring(c);
}

/* Under lock: every call ends with rc, now and from now on. */
static void break_connection(struct socket_transport *s, int rc)
{
    if (!s->broken)
        s->broken = rc;
    while (s->in_flight)
        finish(s, s->in_flight, s->broken);
}

/* Takes one call whose interrupt is wanted; 0 when there is none. */
static uint64_t take_interrupt(struct socket_transport *s)
{
    uint64_t id = 0;

    pthread_mutex_lock(&s->lock);
    for (struct call *c = s->in_flight; c; c = c->next) {
        if (c->interrupt == INTR_WANTED) {
            c->interrupt = INTR_SENT;
            atomic_fetch_sub(&s->interrupts_wanted, 1);
            id = c->out.head.id;
            break;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return id;
}

/* Sends pending interrupts.  Whoever held send_lock calls this after releasing it, so none is forgotten; a thread that reads
 * must not wait for the lock: its holder may be waiting for the server to read, and the server for us. */
static void send_interrupts(struct socket_transport *s)
{
    while (atomic_load(&s->interrupts_wanted) > 0 && pthread_mutex_trylock(&s->send_lock) == 0) {
        struct hx_frame f = {.magic = HX_FRAME_MAGIC, .op = HX_FRAME_INTERRUPT};
        struct iovec iov = {&f, sizeof(f)};

        f.id = take_interrupt(s);
        if (f.id)
            hx_frame_send(s->sock, &iov, 1, NULL, 0); /* the reader notices a broken socket */
        pthread_mutex_unlock(&s->send_lock);
    }
}

static void want_interrupt(struct socket_transport *s, struct call *c)
{
    pthread_mutex_lock(&s->lock);
    if (!c->done && c->interrupt == INTR_NONE) {
        c->interrupt = INTR_WANTED;
        atomic_fetch_add(&s->interrupts_wanted, 1);
    }
    pthread_mutex_unlock(&s->lock);
    send_interrupts(s);
}

static struct call *find_call(struct socket_transport *s, uint64_t id)
{
    struct call *c;

    pthread_mutex_lock(&s->lock);
    for (c = s->in_flight; c; c = c->next)
        if (c->out.head.id == id)
            break;
    pthread_mutex_unlock(&s->lock);
    return c;
}

/* The reply's bytes go straight to where they belong, which must be memory that this very call offered, else -EPROTO. */
static int read_segments(struct socket_transport *s, struct call *c, uint64_t left, int *intr)
{
    uint32_t n = s->head.n_segs;
    uint64_t table = (uint64_t)n * sizeof(s->segs[0]);
    int rc;

    if (left < table)
        return -EPROTO;
    left -= table;
    rc = hx_frame_recv(s->sock, s->segs, table, intr);
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        struct hx_frame_seg *g = &s->segs[i];

        if (g->len > left || !hx_frame_may_write(&c->out, g->addr, g->len))
            return -EPROTO;
        left -= g->len;
        rc = hx_frame_recv_user(s->sock, (void *)(uintptr_t)g->addr, g->len, intr);
        if (rc == -EFAULT) {
            c->fault = 1;
            rc = 0;
        }
    }
    return rc == 0 && left ? -EPROTO : rc;
}

/* Reads the body of the reply in s->head.  The call cannot vanish: its thread waits until it is done. */
static int read_body(struct socket_transport *s, int *intr)
{
    struct call *c = find_call(s, s->head.id);
    uint64_t left = s->head.body_bytes;
    int rc = 0, result = s->head.result;

    if (!c || left < s->head.arg_bytes ||
        (s->head.arg_bytes && s->head.arg_bytes != c->out.head.arg_bytes))
        return -EPROTO;
    if (s->head.arg_bytes)
        rc = hx_frame_recv(s->sock, c->arg, s->head.arg_bytes, intr);
    if (rc == 0)
        rc = read_segments(s, c, left - s->head.arg_bytes, intr);
    if (rc)
        return rc;
    if (c->fault)
        result = -EFAULT;
    pthread_mutex_lock(&s->lock);
    finish(s, c, result == RESULT_RESTART ? -EINTR : result);
    pthread_mutex_unlock(&s->lock);
    return 0;
}

/* As the reader: takes one reply, or notices a signal (*intr). */
static int read_reply(struct socket_transport *s, int *intr)
{
    int rc = hx_frame_recv_head(s->sock, &s->head, &s->head_got);

    if (rc == -EINTR) {
        *intr = 1;
        return 0;
    }
    return rc ? rc : read_body(s, intr);
}

/* Becomes the reader for one reply.  Under lock, which is released meanwhile. */
static void read_for_all(struct socket_transport *s, struct call *c)
{
    int intr = 0, rc;

    s->reading = 1;
    pthread_mutex_unlock(&s->lock);
    rc = read_reply(s, &intr);
    if (intr)
        want_interrupt(s, c);
    pthread_mutex_lock(&s->lock);
    s->reading = 0;
    if (rc)
        break_connection(s, rc);
}

static void sleep_on_bell(struct socket_transport *s, struct call *c)
{
    uint64_t n;
    int intr;

    pthread_mutex_unlock(&s->lock);
    intr = read(c->bell, &n, sizeof(n)) < 0 && errno == EINTR;
    if (intr)
        want_interrupt(s, c);
    pthread_mutex_lock(&s->lock);
}

/* Under lock: wakes a waiting thread to be the next reader.  One that is still sending would not notice. */
static void pass_on_reading(struct socket_transport *s)
{
    for (struct call *c = s->in_flight; c && !s->reading; c = c->next) {
        if (c->waiting) {
            ring(c);
            break;
        }
    }
}

static void wait_done(struct socket_transport *s, struct call *c)
{
    pthread_mutex_lock(&s->lock);
    c->waiting = 1;
    while (!c->done) {
        if (s->reading)
            sleep_on_bell(s, c);
        else
            read_for_all(s, c);
    }
    c->waiting = 0;
    pass_on_reading(s);
    pthread_mutex_unlock(&s->lock);
}

/* The call's own fault, found before a byte went out: unreadable memory, a descriptor closed meanwhile, no memory for
 * either.  No reply can be under way to it. */
static int only_this_call(int rc, size_t sent)
{
    return sent == 0 && (rc == -EFAULT || rc == -EBADF || rc == -ENOMEM || rc == -ENOBUFS ||
                         rc == -ETOOMANYREFS);
}

static void send_call(struct socket_transport *s, struct call *c)
{
    size_t sent;
    int rc = hx_frame_send_count(s->sock, c->out.iov, c->out.n_iov, c->out.fds, c->out.head.n_fds,
                                 &sent);

    if (only_this_call(rc, sent)) {
        pthread_mutex_lock(&s->lock);
        if (!c->done)
            finish(s, c, rc);
        pthread_mutex_unlock(&s->lock);
    } else if (rc) {
        /* A frame may be cut off in the middle, so nothing after it would make sense.  Only the reader ends calls,
         * because it may be writing into their memory: it notices the shutdown. */
        shutdown(s->sock, SHUT_RDWR);
    }
}

/* Puts the call on the list before it is sent: the reply may be faster than this thread. */
static int submit(struct socket_transport *s, struct call *c)
{
    int rc;

    pthread_mutex_lock(&s->send_lock);
    pthread_mutex_lock(&s->lock);
    rc = s->broken;
    if (rc == 0) {
        c->next = s->in_flight;
        s->in_flight = c;
    }
    pthread_mutex_unlock(&s->lock);
    if (rc == 0)
        send_call(s, c);
    pthread_mutex_unlock(&s->send_lock);
    send_interrupts(s);
    return rc;
}

static int socket_ioctl(struct hx_transport *t, unsigned long cmd, void *arg)
{
    struct socket_transport *s = (struct socket_transport *)t;
    struct call *c;
    uint64_t id;
    int rc;

    if (s->pid != getpid())
        return -ECONNREFUSED; /* not ENOTCONN, which would say that the rig has died */
    c = call_get(s);
    if (!c)
        return -ENOMEM;
    pthread_mutex_lock(&s->lock);
    id = (uint64_t)gettid() << 32 | ++s->last_id;
    pthread_mutex_unlock(&s->lock);
    c->done = 0;
    c->waiting = 0;
    c->fault = 0;
    c->interrupt = INTR_NONE;
    c->arg = arg;
    rc = hx_frame_pack(&c->out, id, cmd, arg);
    if (rc == 0)
        rc = submit(s, c);
    if (rc == 0) {
        hx_stage_at("client.socket.sent");
        wait_done(s, c);
        rc = c->result;
    }
    call_put(s, c);
    return rc;
}

static void socket_close(struct hx_transport *t)
{
    struct socket_transport *s = (struct socket_transport *)t;

    close(s->sock);
    while (s->spare) {
        struct call *c = s->spare;

        s->spare = c->next;
        close(c->bell);
        free(c);
    }
    pthread_mutex_destroy(&s->send_lock);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static const struct hx_transport_ops socket_ops = {socket_ioctl, socket_close};

int hx_transport_socket_open(const char *node, struct hx_transport **out)
{
    struct socket_transport *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return -ENOMEM;
    rc = hx_frame_connect(node, &s->sock);
    if (rc) {
        free(s);
        return rc;
    }
    s->base.ops = &socket_ops;
    s->pid = getpid();
    pthread_mutex_init(&s->send_lock, NULL);
    pthread_mutex_init(&s->lock, NULL);
    *out = &s->base;
    return 0;
}
