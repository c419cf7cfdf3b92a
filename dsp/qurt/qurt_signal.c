/* Signals of 32 and 64 bits; each bit remembers the time at which it was set. */
#include "qurt_signal.h"

#include <string.h>

#include "HAP_farf.h"
#include "qurt_signal_at.h"
#include "qurt_wait.h"
#include "cost/vtime.h"

typedef unsigned long long bits;

/* --- under the lock, which wait_locked() gives away for a while; `signals` is the object, `at` its times */

static int satisfied(bits set, bits mask, int all)
{
    return all ? (set & mask) == mask : (set & mask) != 0;
}

/* When the wait for `mask` was satisfied. */
static uint64_t time_of(bits set, const bits *at, bits mask, int all)
{
    uint64_t t = all ? 0 : UINT64_MAX;

    for (bits left = set & mask; left; left &= left - 1) {
        uint64_t a = at[__builtin_ctzll(left)];

        if (all ? a > t : a < t)
            t = a;
    }
    return t == UINT64_MAX ? 0 : t;
}

static bits set_locked(bits *signals, bits *at, bits mask, uint64_t now)
{
    struct hx_qthread *t;
    bits old = *signals;

    for (bits left = mask & ~old; left; left &= left - 1)
        at[__builtin_ctzll(left)] = now;
    *signals |= mask;
    t = hx_qurt_waiter(signals, 0);
    if (t && satisfied(*signals, t->mask, t->all))
        hx_qurt_unpark(signals, time_of(*signals, at, t->mask, t->all));
    return old;
}

static int wait_locked(bits *signals, const bits *at, bits mask, unsigned attribute, uint64_t us)
{
    struct hx_qthread *self = hx_qurt_self();
    int rc;

    self->mask = mask;
    self->all = attribute == QURT_SIGNAL_ATTR_WAIT_ALL;
    if (satisfied(*signals, mask, self->all))
        return hx_qurt_meet(time_of(*signals, at, mask, self->all), us);
    rc = hx_qurt_park(signals, us);
    hx_qurt_leave(); /* the wait has ended the operation: others may set and clear before the bits are read */
    hx_qurt_enter();
    return rc;
}

/* --- both sizes */

static bits set(bits *signals, bits *at, bits mask, uint64_t now)
{
    bits old;

    hx_qurt_enter();
    old = set_locked(signals, at, mask, now);
    hx_qurt_leave();
    return old;
}

static bits clear(bits *signals, bits mask)
{
    bits old;

    hx_qurt_enter();
    old = *signals;
    *signals &= ~mask;
    hx_qurt_leave();
    return old;
}

static int wait_for(bits *signals, const bits *at, bits mask, unsigned attribute, uint64_t us,
                    bits *now)
{
    struct hx_qthread *other;
    int rc;

    hx_qurt_self();
    hx_qurt_enter();
    other = hx_qurt_waiter(signals, 0);
    rc = wait_locked(signals, at, mask, attribute, us);
    *now = *signals;
    hx_qurt_leave();
    if (other)
        FARF(ERROR, "qurt_signal_wait: two threads wait for signal object %p", (void *)signals);
    return rc ? QURT_ETIMEDOUT : QURT_EOK;
}

static void destroy(const bits *signals)
{
    int waits;

    hx_qurt_enter();
    waits = hx_qurt_waiter(signals, 0) != NULL;
    hx_qurt_leave();
    if (waits)
        FARF(ERROR, "qurt_signal_destroy: a thread waits for signal object %p",
             (const void *)signals);
}

/* --- the published names */

HX_EXPORT void qurt_signal_init(qurt_signal_t *s)
{
    memset(s, 0, sizeof(*s));
}

HX_EXPORT void qurt_signal_destroy(qurt_signal_t *s)
{
    destroy(&s->signals);
}

HX_EXPORT unsigned int qurt_signal_wait(qurt_signal_t *s, unsigned int mask,
                                        unsigned int attribute)
{
    bits now;

    wait_for(&s->signals, s->at, mask, attribute, HX_QURT_FOREVER, &now);
    return (unsigned)now;
}

HX_EXPORT int qurt_signal_wait_timed(qurt_signal_t *s, unsigned int mask,
                                     unsigned int attribute, unsigned int *signals,
                                     unsigned long long int duration)
{
    bits now;
    int rc;

    if (duration < QURT_TIMER_MIN_DURATION || duration > QURT_TIMER_MAX_DURATION)
        return QURT_EINVALID;
    rc = wait_for(&s->signals, s->at, mask, attribute, duration, &now);
    *signals = (unsigned)now;
    return rc;
}

HX_EXPORT void qurt_signal_set(qurt_signal_t *s, unsigned int mask)
{
    set(&s->signals, s->at, mask, hx_vt_now());
}

HX_EXPORT unsigned int qurt_signal_get(qurt_signal_t *s)
{
    return (unsigned)clear(&s->signals, 0);
}

HX_EXPORT void qurt_signal_clear(qurt_signal_t *s, unsigned int mask)
{
    clear(&s->signals, mask);
}

HX_EXPORT unsigned int qurt_anysignal_set(qurt_anysignal_t *s, unsigned int mask)
{
    return (unsigned)set(&s->signals, s->at, mask, hx_vt_now());
}

HX_EXPORT unsigned int qurt_anysignal_clear(qurt_anysignal_t *s, unsigned int mask)
{
    return (unsigned)clear(&s->signals, mask);
}

HX_EXPORT int qurt_anysignal_wait_timed(qurt_anysignal_t *s, unsigned int mask,
                                        unsigned int *signals, unsigned long long int duration)
{
    return qurt_signal_wait_timed(s, mask, QURT_SIGNAL_ATTR_WAIT_ANY, signals, duration);
}

void hx_qurt_signal_at(qurt_anysignal_t *s, unsigned int mask, uint64_t at)
{
    set(&s->signals, s->at, mask, at);
}

HX_EXPORT void qurt_signal_64_init(qurt_signal_64_t *s)
{
    memset(s, 0, sizeof(*s));
}

HX_EXPORT void qurt_signal_64_destroy(qurt_signal_64_t *s)
{
    destroy(&s->signals);
}

HX_EXPORT unsigned long long qurt_signal_64_wait(qurt_signal_64_t *s, unsigned long long mask,
                                                 unsigned int attribute)
{
    bits now;

    wait_for(&s->signals, s->at, mask, attribute, HX_QURT_FOREVER, &now);
    return now;
}

HX_EXPORT void qurt_signal_64_set(qurt_signal_64_t *s, unsigned long long mask)
{
    set(&s->signals, s->at, mask, hx_vt_now());
}

HX_EXPORT unsigned long long qurt_signal_64_get(qurt_signal_64_t *s)
{
    return clear(&s->signals, 0);
}

HX_EXPORT void qurt_signal_64_clear(qurt_signal_64_t *s, unsigned long long mask)
{
    clear(&s->signals, mask);
}
