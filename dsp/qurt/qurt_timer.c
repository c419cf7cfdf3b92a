/* Timers: one host thread per PD sets their signals, at virtual times. */
#include "qurt_timer.h"

#include "qurt_busywait.h"

#include <sched.h>
#include <time.h>

#include "HAP_farf.h"
#include "base/low_memory.h"
#include "qurt_signal_at.h"
#include "qurt_wait.h"
#include "cost/vtime.h"

enum { TIMERS_MAX = 32, STACK_BYTES = 1 << 20 };

struct timer {
    int used, armed;
    qurt_timer_attr_t attr;
    qurt_anysignal_t *signal;
    unsigned mask;
    uint64_t at;      /* pcycle of its next end */
    uint64_t period;  /* pcycles */
    uint64_t real_ns; /* CLOCK_MONOTONIC of its next end */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects timers and running */
static pthread_cond_t changed;
static struct timer timers[TIMERS_MAX];
static int running; /* the thread that sets signals */

static uint64_t real_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* For who sets and stops timers: an operation, and the lock. */
static void enter(void)
{
    hx_vt_order_begin();
    pthread_mutex_lock(&lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
    hx_vt_order_end();
}

/* The armed timer that ends first; NULL: none. */
static struct timer *first(void)
{
    struct timer *best = NULL;

    for (unsigned i = 0; i < TIMERS_MAX; i++)
        if (timers[i].armed && (!best || timers[i].real_ns < best->real_ns))
            best = &timers[i];
    return best;
}

static void fire(struct timer *t)
{
    uint64_t at = t->at;

    t->armed = t->attr.type == QURT_TIMER_PERIODIC;
    t->at += t->period;
    t->real_ns += t->attr.duration * 1000;
    /* Under our lock, so that the signal is the caller's again when qurt_timer_delete() returns. */
    hx_qurt_signal_at(t->signal, t->mask, at);
}

static void *serve(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        struct timer *t = first();

        if (!t) {
            pthread_cond_wait(&changed, &lock);
        } else if (t->real_ns <= real_now()) {
            fire(t);
        } else {
            struct timespec until = {(time_t)(t->real_ns / 1000000000u),
                                     (long)(t->real_ns % 1000000000u)};

            pthread_cond_timedwait(&changed, &lock, &until);
        }
    }
    return NULL;
}

/* Starts the thread at the first timer.  0 or -1; under the lock. */
static int start(void)
{
    pthread_condattr_t ca;
    pthread_attr_t a;
    pthread_t thread;
    void *stack;
    int rc;

    if (running)
        return 0;
    stack = hx_low_map(STACK_BYTES, -1);
    if (!stack)
        return -1;
    pthread_condattr_init(&ca);
    pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &ca);
    pthread_condattr_destroy(&ca);
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    rc = pthread_attr_setstack(&a, stack, STACK_BYTES);
    if (!rc)
        rc = pthread_create(&thread, &a, serve, NULL);
    pthread_attr_destroy(&a);
    if (rc)
        hx_low_unmap(stack, STACK_BYTES);
    running = !rc;
    return rc ? -1 : 0;
}

static int in_range(qurt_timer_duration_t duration)
{
    return duration >= QURT_TIMER_MIN_DURATION && duration <= QURT_TIMER_MAX_DURATION;
}

static void arm(struct timer *t, qurt_timer_duration_t duration)
{
    t->attr.duration = duration;
    t->period = hx_vt_pcycles_of_ns(duration * 1000);
    t->at = hx_vt_now() + t->period;
    t->real_ns = real_now() + duration * 1000;
    t->armed = 1;
    pthread_cond_signal(&changed);
}

/* The timer behind an id; NULL: none. */
static struct timer *timer_of(qurt_timer_t id)
{
    return id >= 1 && id <= TIMERS_MAX && timers[id - 1].used ? &timers[id - 1] : NULL;
}

HX_EXPORT void qurt_timer_attr_init(qurt_timer_attr_t *attr)
{
    *attr = (qurt_timer_attr_t){1000000, QURT_TIMER_ONESHOT};
}

HX_EXPORT void qurt_timer_attr_set_duration(qurt_timer_attr_t *attr,
                                            qurt_timer_duration_t duration)
{
    attr->duration = duration;
}

HX_EXPORT void qurt_timer_attr_set_type(qurt_timer_attr_t *attr, qurt_timer_type_t type)
{
    attr->type = type;
}

HX_EXPORT int qurt_timer_create(qurt_timer_t *timer, const qurt_timer_attr_t *attr,
                                const qurt_anysignal_t *signal, unsigned int mask)
{
    unsigned i = 0;
    int rc = QURT_EMEM;

    if (!in_range(attr->duration))
        return QURT_EINVALID;
    enter();
    while (i < TIMERS_MAX && timers[i].used)
        i++;
    if (i < TIMERS_MAX && !start()) {
        timers[i] = (struct timer){.used = 1,
                                   .attr = *attr,
                                   .signal = (qurt_anysignal_t *)(uintptr_t)signal,
                                   .mask = mask};
        arm(&timers[i], attr->duration);
        *timer = i + 1;
        rc = QURT_EOK;
    }
    leave();
    if (rc)
        FARF(ERROR, "qurt_timer_create: %d timers exist already, or no memory", TIMERS_MAX);
    return rc;
}

/* Stops it, and forgets it when `used` is 0. */
static int stop(qurt_timer_t timer, int used)
{
    struct timer *t;

    enter();
    t = timer_of(timer);
    if (t) {
        t->armed = 0;
        t->used = used;
    }
    leave();
    return t ? QURT_EOK : QURT_EINVALID;
}

HX_EXPORT int qurt_timer_stop(qurt_timer_t timer)
{
    return stop(timer, 1);
}

HX_EXPORT int qurt_timer_delete(qurt_timer_t timer)
{
    return stop(timer, 0);
}

HX_EXPORT int qurt_timer_restart(qurt_timer_t timer, qurt_timer_duration_t duration)
{
    struct timer *t;

    if (!in_range(duration))
        return QURT_EINVALID;
    enter();
    t = timer_of(timer);
    if (t)
        arm(t, duration);
    leave();
    return t ? QURT_EOK : QURT_EINVALID;
}

HX_EXPORT int qurt_timer_sleep(qurt_timer_duration_t duration)
{
    hx_vt_order_begin();
    hx_vt_spend(HX_VT_SLEEP, (double)hx_vt_pcycles_of_ns(duration * 1000));
    hx_vt_order_end();
    sched_yield();
    return QURT_EOK;
}

HX_EXPORT unsigned long long qurt_timer_get_ticks(void)
{
    return hx_vt_seen_ns() * 192 / 10000;
}

HX_EXPORT unsigned long long qurt_sysclock_get_hw_ticks(void)
{
    return qurt_timer_get_ticks();
}

HX_EXPORT unsigned long long qurt_timer_timetick_to_us(unsigned long long ticks)
{
    return (unsigned long long)((unsigned __int128)ticks * 10 / 192);
}

HX_EXPORT unsigned long long qurt_timer_timetick_from_us(unsigned long long us)
{
    return (unsigned long long)((unsigned __int128)us * 192 / 10);
}

HX_EXPORT void qurt_busywait(unsigned int pause_time_us)
{
    hx_vt_spend(HX_VT_CODE, (double)hx_vt_pcycles_of_ns(1000ull * pause_time_us));
}
