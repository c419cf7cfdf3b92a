/* Futexes by address.  Threads park as on all objects, because a wake has to carry its time to the sleeper. */
#include "qurt_futex.h"

#include <stdatomic.h>
#include <stddef.h>

#include "qurt_wait.h"
#include "cost/vtime.h"

enum {
    WAKES = 64,
    LATE_MS = 10, /* how long a waker may take from changing the value to its wake */
};

/* Latest wakes by address; under the lock. */
static struct {
    const void *address;
    int value;                /* at the wake */
    uint64_t at;              /* pcycle */
    struct hx_vt_origin from; /* of the waker */
    uint64_t number;
} wakes[WAKES];
static uint64_t n_wakes;

static int value_of(const void *address)
{
    return atomic_load((const _Atomic int *)address);
}

/* Where threads wait for the wake that belongs to a change that they have already seen; no other object lies there. */
static const void *late_key(const void *address)
{
    return (const char *)address + 1;
}

static void remember(const void *address, uint64_t at)
{
    unsigned slot = 0;

    for (unsigned i = 0; i < WAKES; i++) {
        if (wakes[i].address == address) {
            slot = i;
            break;
        }
        if (wakes[i].number < wakes[slot].number)
            slot = i;
    }
    if (wakes[slot].address != address || wakes[slot].at < at) {
        wakes[slot].at = at;
        wakes[slot].from = hx_vt_origin();
    }
    wakes[slot].address = address;
    wakes[slot].value = value_of(address);
    wakes[slot].number = ++n_wakes;
}

/* Moves the thread to where the wake that belongs to the change of the value would have put it.  The waker may not have got
 * that far yet; or there is no such wake, and the change carries no time. */
static void catch_up(const void *address)
{
    int value = value_of(address);

    for (unsigned i = 0; i < WAKES; i++)
        if (wakes[i].address == address && wakes[i].value == value) {
            if (wakes[i].at > hx_vt_now())
                hx_vt_woken(wakes[i].from.queue);
            hx_qurt_meet(wakes[i].at, HX_QURT_FOREVER);
            hx_qurt_follow(&wakes[i].from);
            return;
        }
    hx_qurt_park_briefly(late_key(address), LATE_MS);
}

HX_EXPORT int qurt_futex_wait(void *lock, int val)
{
    int differs;

    hx_qurt_self();
    hx_qurt_enter();
    /* A waker changes the value before it takes our lock, so no wake is lost. */
    differs = value_of(lock) != val;
    if (differs)
        catch_up(lock);
    else
        hx_qurt_park(lock, HX_QURT_FOREVER);
    hx_qurt_leave();
    return differs ? -1 : 0;
}

HX_EXPORT int qurt_futex_wake(void *lock, int n_to_wake)
{
    int n = 0;

    hx_qurt_enter();
    remember(lock, hx_vt_now());
    while (n < n_to_wake && hx_qurt_unpark(lock, hx_vt_now()))
        n++;
    while (hx_qurt_unpark(late_key(lock), hx_vt_now()))
        ;
    hx_qurt_leave();
    return n;
}
