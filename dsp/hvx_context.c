/* HVX contexts and the modelled time of the calling thread, see dsp/include/qurt_hvx.h and machine.h.
 *
 * A thread really waits until a context is free, and is charged for it what the machine did meanwhile: the pcycles of the
 * holds that ended while it waited, shared among the contexts.  A caller that meets nobody never waits, so its
 * figures repeat; where callers overlap, they depend on how the threads really met. */
#include "qurt_hvx.h"

#include <errno.h>
#include <time.h>

#include "HAP_farf.h"
#include "hexrig_hvx_count.h"
#include "machine.h"

#define EXPORT __attribute__((visibility("default")))
#define NONE (-1)

static __thread struct {
    uint64_t queue_pcycles;
    uint64_t hold_start; /* exec pcycles when the context was taken */
    int context;         /* index of the held HVX context, or NONE */
} now = {.context = NONE};

void hx_vtime_begin(void)
{
    hx_hvx_reset();
    now.queue_pcycles = 0;
}

/* The first cost model: every counted HVX operation is one packet of one pcycle (DESIGN.md 10). */
struct hx_vtime hx_vtime_spent(void)
{
    uint64_t ops = hx_hvx_ops(&hx_hvx_counts);

    return (struct hx_vtime){.exec_pcycles = ops, .queue_pcycles = now.queue_pcycles, .hvx_ops = ops};
}

/* Under the machine's lock. */
static int pick_free(void)
{
    for (int i = 0; i < (int)hx_machine->hvx_contexts; i++)
        if (hx_machine->hvx[i].client == 0)
            return i;
    return NONE;
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
    if (now.context != NONE) {
        FARF(ERROR, "qurt_hvx_lock: this thread holds HVX context %d already", now.context);
        return QURT_HVX_LOCK_ERROR;
    }
    hx_machine_lock();
    uint64_t held = hx_machine->held_pcycles;
    while ((now.context = pick_free()) == NONE)
        wait_freed();
    hx_machine->hvx[now.context].client = hx_pd_client ? hx_pd_client : -1;
    now.queue_pcycles += (hx_machine->held_pcycles - held) / hx_machine->hvx_contexts;
    hx_machine_unlock();
    now.hold_start = hx_vtime_spent().exec_pcycles;
    return QURT_HVX_LOCK_SUCCESS;
}

EXPORT int qurt_hvx_unlock(void)
{
    if (!hx_machine || now.context == NONE)
        return QURT_HVX_LOCK_ERROR;
    hx_machine_lock();
    hx_machine->hvx[now.context].client = 0;
    hx_machine->held_pcycles += hx_vtime_spent().exec_pcycles - now.hold_start;
    now.context = NONE;
    pthread_cond_broadcast(&hx_machine->freed);
    hx_machine_unlock();
    return QURT_HVX_LOCK_SUCCESS;
}

int hx_hvx_context_held(void)
{
    return now.context != NONE;
}

int hx_hvx_release_leaked(void)
{
    return qurt_hvx_unlock() == QURT_HVX_LOCK_SUCCESS;
}
