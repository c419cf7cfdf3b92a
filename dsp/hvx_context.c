/* HVX contexts, see dsp/include/qurt_hvx.h and machine.h.
 *
 * A thread really waits until a context is free, and its virtual clock goes on to the time at which the context was given
 * back.  A caller that meets nobody never waits, so its figures repeat; where callers overlap, they depend on
 * how the threads really met. */
#include "qurt_hvx.h"

#include <errno.h>
#include <time.h>

#include "HAP_farf.h"
#include "machine.h"
#include "vtime.h"

#define EXPORT __attribute__((visibility("default")))
#define NONE (-1)

static __thread int held = NONE; /* index of the held HVX context */

/* Under the machine's lock. */
static int pick_free(void)
{
    int best = NONE;

    for (int i = 0; i < (int)hx_machine->hvx_contexts; i++)
        if (hx_machine->hvx[i].client == 0 &&
            (best == NONE || hx_machine->hvx[i].free_at < hx_machine->hvx[best].free_at))
            best = i;
    return best;
}

static void wait_freed(void)
{
    struct timespec t;

    /* Bounded: a PD that dies while it waits can take the wake-up of another with it. */
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += 50 * 1000 * 1000;
    if (t.tv_nsec >= 1000000000L) {
        t.tv_nsec -= 1000000000L;
        t.tv_sec++;
    }
    if (pthread_cond_timedwait(&hx_machine->freed, &hx_machine->lock, &t) == EOWNERDEAD)
        pthread_mutex_consistent(&hx_machine->lock);
}

EXPORT int qurt_hvx_lock(int mode)
{
    if (!hx_machine || mode != QURT_HVX_MODE_128B) {
        FARF(ERROR, "qurt_hvx_lock: mode %d, only 128-byte mode (%d) exists", mode,
             QURT_HVX_MODE_128B);
        return QURT_HVX_LOCK_ERROR;
    }
    if (held != NONE) {
        FARF(ERROR, "qurt_hvx_lock: this thread holds HVX context %d already", held);
        return QURT_HVX_LOCK_ERROR;
    }
    hx_machine_lock();
    while ((held = pick_free()) == NONE)
        wait_freed();
    hx_machine->hvx[held].client = hx_pd_client ? hx_pd_client : -1;
    hx_vt_reach(HX_VT_HVX, hx_machine->hvx[held].free_at);
    hx_machine_unlock();
    return QURT_HVX_LOCK_SUCCESS;
}

EXPORT int qurt_hvx_unlock(void)
{
    if (!hx_machine || held == NONE)
        return QURT_HVX_LOCK_ERROR;
    hx_machine_lock();
    hx_machine->hvx[held].client = 0;
    hx_machine->hvx[held].free_at = hx_vt_now();
    held = NONE;
    pthread_cond_broadcast(&hx_machine->freed);
    hx_machine_unlock();
    return QURT_HVX_LOCK_SUCCESS;
}

int hx_hvx_context_held(void)
{
    return held != NONE;
}

int hx_hvx_release_leaked(void)
{
    return qurt_hvx_unlock() == QURT_HVX_LOCK_SUCCESS;
}
