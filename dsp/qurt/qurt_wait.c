/* Parking threads on an address until somebody hands them what they wait for, and the time that goes with it. */
#include "qurt_wait.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "HAP_farf.h"
#include "base/machine.h"
#include "cost/shared.h"
#include "cost/turns.h"

struct hx_qthread *hx_qurt_threads;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all QuRT objects of the PD */
static struct hx_qthread *parked;                        /* in the order in which they came */
static unsigned last_id;

static __thread struct hx_qthread *self;
static pthread_key_t key_of_self; /* frees the records of threads that QuRT did not start */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget_foreign(void *arg)
{
    struct hx_qthread *t = arg;

    hx_qurt_lock();
    hx_qurt_remove(t);
    hx_qurt_unlock();
    pthread_cond_destroy(&t->woken);
    free(t);
}

static void make_key(void)
{
    pthread_key_create(&key_of_self, forget_foreign);
}

struct hx_qthread *hx_qurt_self(void)
{
    if (self)
        return self;
    self = calloc(1, sizeof(*self));
    if (!self)
        hx_qurt_fatal("qurt: no memory for a thread's record");
    self->priority = HX_QURT_PRIORITY;
    pthread_once(&once, make_key);
    pthread_setspecific(key_of_self, self);
    hx_qurt_lock();
    hx_qurt_add(self);
    hx_qurt_unlock();
    return self;
}

void hx_qurt_set_self(struct hx_qthread *t)
{
    self = t;
}

void hx_qurt_lock(void)
{
    pthread_mutex_lock(&lock);
}

void hx_qurt_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void hx_qurt_enter(void)
{
    hx_hvx_settle();
    hx_vt_order_begin();
    hx_qurt_lock();
}

void hx_qurt_leave(void)
{
    hx_qurt_unlock();
    hx_vt_order_end();
}

void hx_qurt_add(struct hx_qthread *t)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->woken, &attr);
    pthread_condattr_destroy(&attr);
    t->id = ++last_id;
    t->next = hx_qurt_threads;
    hx_qurt_threads = t;
}

void hx_qurt_remove(struct hx_qthread *t)
{
    struct hx_qthread **at = &hx_qurt_threads;

    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
}

struct hx_qthread *hx_qurt_find(unsigned id)
{
    struct hx_qthread *t = hx_qurt_threads;

    while (t && t->id != id)
        t = t->next;
    return t;
}

static uint64_t handoff(void)
{
    return hx_machine ? (uint64_t)hx_machine->cost.handoff_pcycles : 0;
}

/* Whether a thread that works for call `mine` is to work for `from` when that wakes it. */
static int is_to_follow(const struct hx_qthread *t, const struct hx_vt_origin *from, const struct hx_vt_origin *mine)
{
    return t->created && !t->serves && from->party > mine->party;
}

int hx_qurt_is_to_follow(const struct hx_vt_origin *from)
{
    const struct hx_vt_origin mine = hx_vt_origin();

    self->serves = hx_shared_serves();
    return is_to_follow(self, from, &mine);
}

/* Takes the thread out of the line and lets it go. */
static void send_off(struct hx_qthread *t, int result, uint64_t at)
{
    struct hx_qthread **p = &parked;
    uint64_t then = at;

    while (*p != t)
        p = &(*p)->next_parked;
    *p = t->next_parked;
    t->key = NULL;
    t->result = result;
    t->at = at;
    t->from = hx_vt_origin();
    t->follows = !result && is_to_follow(t, &t->from, &t->mine);
    if (!result && at > t->mine.start_pcycles)
        then += handoff();
    if (then != UINT64_MAX)
        hx_turns_wake(t->place, then, t->follows ? t->from.party : 0);
    pthread_cond_signal(&t->woken);
}

/* Pcycle at which a wait of `us` that begins now is over. */
static uint64_t limit_of(uint64_t us)
{
    return us >= UINT64_MAX / 1000 ? UINT64_MAX : hx_vt_now() + hx_vt_pcycles_of_ns(us * 1000);
}

static struct timespec real_after(uint64_t ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000L;
    if (t.tv_nsec >= 1000000000L) {
        t.tv_nsec -= 1000000000L;
        t.tv_sec++;
    }
    return t;
}

/* The thread had to wait until `at` when its clock is behind; then the hand-off takes time as well. */
static void reach(uint64_t at)
{
    if (at > hx_vt_now())
        hx_vt_reach(HX_VT_SYNC, at + handoff());
}

void hx_qurt_join(const struct hx_vt_origin *from, uint64_t at)
{
    struct hx_vt_origin o = *from;

    o.start_pcycles = at;
    hx_turns_move(o.party, o.start_pcycles);
    hx_vt_thread_begin(&o);
}

static void join_call(const struct hx_vt_origin *from)
{
    hx_qurt_join(from, hx_vt_now());
}

void hx_qurt_follow(const struct hx_vt_origin *from)
{
    if (hx_qurt_is_to_follow(from))
        join_call(from);
}

void hx_qurt_work_for(const struct hx_vt_origin *from)
{
    if (from->start_pcycles > hx_vt_now())
        hx_vt_woken(from->queue);
    reach(from->start_pcycles);
    if (from->party != hx_vt_origin().party)
        join_call(from);
}

/* Nothing has come in time, really.  It may still come in virtual time: from threads of the call that are not there yet. */
static void give_up(struct hx_qthread *t, uint64_t limit)
{
    hx_qurt_unlock();
    hx_turns_resume(limit);
    hx_qurt_lock();
    if (t->key)
        send_off(t, ETIMEDOUT, limit);
}

static void line_up(struct hx_qthread *t, const void *key, uint64_t limit)
{
    struct hx_qthread **p = &parked;

    t->key = key;
    t->limit = limit;
    t->place = hx_turns_place();
    t->mine = hx_vt_origin();
    t->serves = hx_shared_serves();
    t->next_parked = NULL;
    while (*p)
        p = &(*p)->next_parked;
    *p = t;
}

/* Parks until `limit` by the virtual clock (UINT64_MAX: no limit), and until `until` really (NULL: for ever). */
static int park(const void *key, uint64_t limit, const struct timespec *until)
{
    struct hx_qthread *t = self;

    hx_hvx_thread_waits();
    line_up(t, key, limit);
    hx_turns_block(limit);
    while (t->key)
        if (!until)
            pthread_cond_wait(&t->woken, &lock);
        else if (pthread_cond_timedwait(&t->woken, &lock, until) == ETIMEDOUT && t->key)
            give_up(t, limit);
    if (!t->result) {
        if (t->at > hx_vt_now())
            hx_vt_woken(t->from.queue);
        reach(t->at);
        if (t->follows)
            join_call(&t->from);
    } else if (limit != UINT64_MAX) {
        hx_vt_reach(HX_VT_SYNC, limit);
    }
    return t->result;
}

int hx_qurt_park(const void *key, uint64_t us)
{
    uint64_t limit = limit_of(us);
    struct timespec until;

    if (limit == UINT64_MAX)
        return park(key, limit, NULL);
    until = real_after(us / 1000 < HX_QURT_PATIENCE_MS ? HX_QURT_PATIENCE_MS : us / 1000 + 1);
    return park(key, limit, &until);
}

int hx_qurt_park_briefly(const void *key, unsigned ms)
{
    const struct timespec until = real_after(ms);

    return park(key, UINT64_MAX, &until);
}

struct hx_qthread *hx_qurt_waiter(const void *key, uint64_t at)
{
    struct hx_qthread *best = NULL;

    for (struct hx_qthread *t = parked, *next; t; t = next) {
        next = t->next_parked;
        if (t->key != key)
            continue;
        if (at > t->limit)
            send_off(t, ETIMEDOUT, t->limit);
        else if (!best || t->priority < best->priority)
            best = t;
    }
    return best;
}

struct hx_qthread *hx_qurt_unpark(const void *key, uint64_t at)
{
    struct hx_qthread *t = hx_qurt_waiter(key, at);

    if (t)
        send_off(t, 0, at);
    return t;
}

int hx_qurt_meet(uint64_t at, uint64_t us)
{
    uint64_t limit = limit_of(us);

    if (at <= limit) {
        reach(at);
        return 0;
    }
    hx_vt_reach(HX_VT_SYNC, limit);
    return ETIMEDOUT;
}

void hx_qurt_fatal(const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    FARF(FATAL, "%s", text);
    abort();
}
