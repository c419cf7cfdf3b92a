/* The driver's event loop: epoll, timers, and rings that need no system call while both sides are awake. */
#include "loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 16 };
enum { POLL_US = 60, MISSES_MAX = 10 }; /* after so many misses one sleep in 1024 begins with a poll */

void hx_loop_close(struct hx_loop *l)
{
    if (l->epoll > 0) {
        close(l->timer_watch.fd);
        close(l->epoll);
    }
}

/* Events of the round that is being served; hx_loop_del() strikes out what must no longer be called. */
static struct epoll_event batch[BATCH];
static int batch_n;

uint64_t hx_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Arms the timerfd for the first timer. */
static void set_alarm(struct hx_loop *l)
{
    uint64_t at = l->timers ? l->timers->at_us : 0;
    struct itimerspec when = {.it_value = {(time_t)(at / 1000000), (long)(at % 1000000) * 1000}};

    timerfd_settime(l->timer_watch.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void timers_ready(void *arg)
{
    struct hx_loop *l = arg;
    uint64_t rings;

    if (read(l->timer_watch.fd, &rings, sizeof(rings)) < 0)
        return;
    while (l->timers && l->timers->at_us <= now_us()) {
        struct hx_timer *t = l->timers;
        l->timers = t->next;
        t->at_us = 0;
        t->fn(t->arg);
    }
    set_alarm(l);
}

void hx_loop_after(struct hx_loop *l, struct hx_timer *t, uint64_t us, hx_loop_fn fn, void *arg)
{
    struct hx_timer **p = &l->timers;

    *t = (struct hx_timer){.at_us = now_us() + us, .fn = fn, .arg = arg};
    while (*p && (*p)->at_us <= t->at_us)
        p = &(*p)->next;
    t->next = *p;
    *p = t;
    set_alarm(l);
}

void hx_loop_cancel(struct hx_loop *l, struct hx_timer *t)
{
    struct hx_timer **p = &l->timers;

    if (!t->at_us)
        return;
    while (*p && *p != t)
        p = &(*p)->next;
    if (*p)
        *p = t->next;
    t->at_us = 0;
    set_alarm(l);
}

int hx_loop_init(struct hx_loop *l)
{
    memset(l, 0, sizeof(*l));
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (l->epoll < 0)
        return -errno;
    l->timer_watch = (struct hx_watch){timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                                       timers_ready, l};
    return l->timer_watch.fd < 0 ? -errno : hx_loop_add(l, &l->timer_watch);
}

int hx_loop_add(struct hx_loop *l, struct hx_watch *w)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = w};

    return epoll_ctl(l->epoll, EPOLL_CTL_ADD, w->fd, &e) ? -errno : 0;
}

int hx_loop_add_ring(struct hx_loop *l, struct hx_ring_watch *w)
{
    /* edge-triggered: one event per ring of the bell, and the counter need not be read */
    struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.ptr = &w->bell};

    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, w->bell.fd, &e))
        return -errno;
    w->next = l->rings;
    l->rings = w;
    return 0;
}

int hx_loop_want(struct hx_loop *l, struct hx_watch *w, bool in, bool out)
{
    struct epoll_event e = {.events = (in ? EPOLLIN : 0) | (out ? EPOLLOUT : 0), .data.ptr = w};

    return epoll_ctl(l->epoll, EPOLL_CTL_MOD, w->fd, &e) ? -errno : 0;
}

static void forget_ring(struct hx_loop *l, const struct hx_watch *bell)
{
    for (struct hx_ring_watch **p = &l->rings; *p; p = &(*p)->next)
        if (&(*p)->bell == bell) {
            if (l->next_ring == *p)
                l->next_ring = (*p)->next;
            *p = (*p)->next;
            return;
        }
}

void hx_loop_del(struct hx_loop *l, struct hx_watch *w)
{
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
    forget_ring(l, w);
    for (int i = 0; i < batch_n; i++)
        if (batch[i].data.ptr == w)
            batch[i].data.ptr = NULL;
}

/* Serves what came while we were awake: no bell was rung for it. */
static void serve_rings(struct hx_loop *l)
{
    for (struct hx_ring_watch *w = l->rings; w; w = l->next_ring) {
        l->next_ring = w->next; /* hx_loop_del() may change it */
        if (*w->expected && !hx_ring_is_empty(w->ring)) {
            l->poll.due = true;
            w->bell.ready(w->bell.arg);
        }
    }
}

static bool expects_entries(const struct hx_loop *l)
{
    for (const struct hx_ring_watch *w = l->rings; w; w = w->next)
        if (*w->expected)
            return true;
    return false;
}

static bool has_entries(const struct hx_loop *l)
{
    for (const struct hx_ring_watch *w = l->rings; w; w = w->next)
        if (*w->expected && !hx_ring_is_empty(w->ring))
            return true;
    return false;
}

/* Tells the producers that we are about to sleep.  False: something has come in the meantime, so we must not.
 * [tests/model/message_ring.pml: NO_RECHECK of its REPLY ring] */
static bool fall_asleep(struct hx_loop *l)
{
    bool empty = true;

    for (struct hx_ring_watch *w = l->rings; w; w = w->next)
        if (*w->expected) {
            hx_ring_doze(w->ring);
            empty &= hx_ring_is_empty(w->ring);
        }
    return empty;
}

static void wake_up(struct hx_loop *l)
{
    for (struct hx_ring_watch *w = l->rings; w; w = w->next)
        if (*w->expected)
            hx_ring_rouse(w->ring);
}

/* During a call and behind it, looks for events and entries for POLL_US, unless that has not paid of late.  True: something has come. */
static bool poll_a_while(struct hx_loop *l)
{
    struct hx_loop_poll *p = &l->poll;
    const bool expects = expects_entries(l), due = expects || p->due;
    uint64_t end;

    p->due = expects; /* its answer may come by the bell */
    if (!due)
        return false;
    if (p->rest) {
        p->rest--;
        return false;
    }
    end = now_us() + POLL_US;
    do {
        batch_n = epoll_wait(l->epoll, batch, BATCH, 0);
        if (batch_n || has_entries(l)) {
            p->misses = 0;
            return true;
        }
    } while (now_us() < end);
    p->misses += p->misses < MISSES_MAX;
    p->rest = (1u << p->misses) - 1;
    return false;
}

/* Events into `batch`, none when there is something else to do. */
static void wait_for_events(struct hx_loop *l)
{
    const bool may_wait = !l->stop && !l->has_work;

    if (may_wait && poll_a_while(l))
        return;
    batch_n = epoll_wait(l->epoll, batch, BATCH, fall_asleep(l) && may_wait ? -1 : 0);
    wake_up(l);
}

static void tick_again(void *arg)
{
    struct hx_loop *l = arg;

    hx_loop_after(l, &l->tick_timer, (uint64_t)l->tick_ms * 1000, tick_again, l);
}

int hx_loop_run(struct hx_loop *l)
{
    batch_n = 0;
    set_alarm(l);
    if (l->tick_ms > 0 && !l->tick_timer.at_us) /* not a timeout of epoll_wait(), which would arm a kernel timer in every round */
        tick_again(l);
    while (!l->stop) {
        serve_rings(l);
        wait_for_events(l);
        if (batch_n < 0) {
            batch_n = 0;
            if (errno != EINTR)
                return -errno;
        }
        for (int i = 0; i < batch_n; i++) {
            struct hx_watch *w = batch[i].data.ptr;
            if (w)
                w->ready(w->arg);
        }
        batch_n = 0;
        if (l->tick)
            l->tick(l->tick_arg);
    }
    return 0;
}
