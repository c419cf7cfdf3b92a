/* HVX contexts and the virtual time of the calling thread, see dsp/include/qurt_hvx.h and machine.h.
 *
 * Real waiting and modelled waiting are two things.  A thread really waits until a context is free.  On the virtual clock
 * it waits until the context that frees earliest is free, however long that took here. */
#include "qurt_hvx.h"

#include <errno.h>
#include <time.h>

#include "HAP_farf.h"
#include "hexrig_hvx_count.h"
#include "machine.h"

#define EXPORT __attribute__((visibility("default")))
#define NONE (-1)

static __thread struct {
    uint64_t arrive_pcycles; /* virtual time at which the call reached the DSP */
    uint64_t queue_pcycles;
    int context; /* index of the held HVX context, or NONE */
} now = {.context = NONE};

void hx_vtime_begin(uint64_t arrive_ns)
{
    hx_hvx_reset();
    now.arrive_pcycles = (uint64_t)((double)arrive_ns * hx_machine->clock_mhz / 1000.0);
    now.queue_pcycles = 0;
}

/* The first cost model: every counted HVX operation is one packet of one pcycle (DESIGN.md 10). */
struct hx_vtime hx_vtime_spent(void)
{
    uint64_t ops = hx_hvx_ops(&hx_hvx_counts);

    return (struct hx_vtime){.exec_pcycles = ops, .queue_pcycles = now.queue_pcycles, .hvx_ops = ops};
}

static uint64_t thread_pcycles(void)
{
    struct hx_vtime t = hx_vtime_spent();

    return now.arrive_pcycles + t.exec_pcycles + t.queue_pcycles;
}

/* The free context that was given back earliest in virtual time; under the machine's lock. */
static int pick_free(void)
{
    int best = NONE;

    for (int i = 0; i < (int)hx_machine->hvx_contexts; i++)
        if (hx_machine->hvx[i].client == 0 &&
            (best == NONE ||
             hx_machine->hvx[i].free_pcycles < hx_machine->hvx[best].free_pcycles))
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
    if (now.context != NONE) {
        FARF(ERROR, "qurt_hvx_lock: this thread holds HVX context %d already", now.context);
        return QURT_HVX_LOCK_ERROR;
    }
    hx_machine_lock();
    while ((now.context = pick_free()) == NONE)
        wait_freed();
    hx_machine->hvx[now.context].client = hx_pd_client ? hx_pd_client : -1;
    uint64_t free_at = hx_machine->hvx[now.context].free_pcycles, t = thread_pcycles();
    if (free_at > t)
        now.queue_pcycles += free_at - t;
    hx_machine_unlock();
    return QURT_HVX_LOCK_SUCCESS;
}

EXPORT int qurt_hvx_unlock(void)
{
    if (!hx_machine || now.context == NONE)
        return QURT_HVX_LOCK_ERROR;
    hx_machine_lock();
    hx_machine->hvx[now.context].client = 0;
    hx_machine->hvx[now.context].free_pcycles = thread_pcycles();
    now.context = NONE;
    pthread_cond_broadcast(&hx_machine->freed);
    hx_machine_unlock();
    return QURT_HVX_LOCK_SUCCESS;
}

int hx_hvx_release_leaked(void)
{
    return qurt_hvx_unlock() == QURT_HVX_LOCK_SUCCESS;
}
