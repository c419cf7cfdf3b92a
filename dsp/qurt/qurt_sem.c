/* Semaphores, whose ups carry their times, and barriers. */
#include "qurt_sem.h"

#include <string.h>

#include "HAP_farf.h"
#include "qurt_barrier.h"
#include "qurt_wait.h"
#include "cost/vtime.h"

enum { VAL_MAX = 65535 };

/* --- semaphores */

HX_EXPORT void qurt_sem_init_val(qurt_sem_t *sem, unsigned short val)
{
    memset(sem, 0, sizeof(*sem));
    sem->val = val;
    sem->ups = val; /* long ago */
}

HX_EXPORT void qurt_sem_init(qurt_sem_t *sem)
{
    qurt_sem_init_val(sem, 1);
}

static int somebody_waits(const void *object)
{
    int waits;

    hx_qurt_enter();
    waits = hx_qurt_waiter(object, 0) != NULL;
    hx_qurt_leave();
    return waits;
}

HX_EXPORT void qurt_sem_destroy(qurt_sem_t *sem)
{
    if (somebody_waits(sem))
        FARF(ERROR, "qurt_sem_destroy: threads wait for semaphore %p", (void *)sem);
}

HX_EXPORT int qurt_sem_add(qurt_sem_t *sem, unsigned int amt)
{
    uint64_t now;
    int rc = 0;

    hx_qurt_enter();
    now = hx_vt_now();
    for (; amt && hx_qurt_unpark(sem, now); amt--)
        ;
    if (amt > (unsigned)(VAL_MAX - sem->val)) {
        amt = 0;
        rc = QURT_EFAILED;
    }
    sem->val = (unsigned short)(sem->val + amt);
    for (; amt; amt--, sem->ups++) {
        unsigned long long *at = &sem->at[sem->ups % QURT_SEM_TIMES];

        /* When the list of times is full, two ups share the later one's. */
        if (sem->ups - sem->downs < QURT_SEM_TIMES || *at < now)
            *at = now;
    }
    hx_qurt_leave();
    if (rc)
        FARF(ERROR, "qurt_sem_add: semaphore %p would count beyond %d", (void *)sem, VAL_MAX);
    return rc;
}

/* 0 or ETIMEDOUT; under the lock. */
static int down(qurt_sem_t *sem, uint64_t us)
{
    int rc;

    if (!sem->val)
        return hx_qurt_park(sem, us);
    rc = hx_qurt_meet(sem->at[sem->downs % QURT_SEM_TIMES], us);
    if (!rc) {
        sem->downs++;
        sem->val--;
    }
    return rc;
}

HX_EXPORT int qurt_sem_down(qurt_sem_t *sem)
{
    hx_qurt_self();
    hx_qurt_enter();
    down(sem, HX_QURT_FOREVER);
    hx_qurt_leave();
    return 0;
}

HX_EXPORT int qurt_sem_try_down(qurt_sem_t *sem)
{
    int rc = -1;

    hx_qurt_enter();
    if (sem->val)
        rc = down(sem, HX_QURT_FOREVER);
    hx_qurt_leave();
    return rc;
}

HX_EXPORT int qurt_sem_down_timed(qurt_sem_t *sem, unsigned long long int duration)
{
    int rc;

    hx_qurt_self();
    hx_qurt_enter();
    rc = down(sem, duration);
    hx_qurt_leave();
    return rc ? QURT_ETIMEDOUT : QURT_EOK;
}

HX_EXPORT unsigned short qurt_sem_get_val(qurt_sem_t *sem)
{
    unsigned short val;

    hx_qurt_enter();
    val = sem->val;
    hx_qurt_leave();
    return val;
}

/* --- barriers */

HX_EXPORT int qurt_barrier_init(qurt_barrier_t *barrier, unsigned int threads_total)
{
    memset(barrier, 0, sizeof(*barrier));
    barrier->threads_total = threads_total;
    return threads_total ? 0 : QURT_EINVALID;
}

HX_EXPORT int qurt_barrier_destroy(qurt_barrier_t *barrier)
{
    if (somebody_waits(barrier))
        FARF(ERROR, "qurt_barrier_destroy: threads wait at barrier %p", (void *)barrier);
    return 0;
}

HX_EXPORT int qurt_barrier_wait(qurt_barrier_t *barrier)
{
    uint64_t now;
    int last;

    hx_qurt_self();
    hx_qurt_enter();
    now = hx_vt_now();
    if (barrier->count == 0 || barrier->latest < now)
        barrier->latest = now;
    last = ++barrier->count >= barrier->threads_total;
    if (last) {
        barrier->count = 0;
        while (hx_qurt_unpark(barrier, barrier->latest))
            ;
        hx_qurt_meet(barrier->latest, HX_QURT_FOREVER);
    } else {
        hx_qurt_park(barrier, HX_QURT_FOREVER);
    }
    hx_qurt_leave();
    return last ? QURT_BARRIER_SERIAL_THREAD : QURT_BARRIER_OTHER;
}
