/* Mutexes, recursive mutexes and conditions; each mutex remembers the time of its last release. */
#include "qurt_mutex.h"

#include "HAP_farf.h"
#include "qurt_cond.h"
#include "qurt_rmutex.h"
#include "qurt_wait.h"
#include "cost/vtime.h"

/* --- under the lock */

static void give_to(qurt_mutex_t *m, struct hx_qthread *t)
{
    m->holder = t ? t->id : 0;
    m->count = t != NULL;
    if (t)
        t->n_held++;
}

/* 0 or ETIMEDOUT.  The caller does not hold it. */
static int take(qurt_mutex_t *m, struct hx_qthread *self, uint64_t us)
{
    int rc;

    if (m->holder)
        return hx_qurt_park(m, us); /* let_go() has given it to us */
    rc = hx_qurt_meet(m->released, us);
    if (!rc)
        give_to(m, self);
    return rc;
}

static void let_go(qurt_mutex_t *m, struct hx_qthread *self)
{
    self->n_held--;
    m->released = hx_vt_now();
    give_to(m, hx_qurt_unpark(m, m->released));
}

/* --- both kinds */

static int lock_within(qurt_mutex_t *m, int recursive, uint64_t us, const char *what)
{
    struct hx_qthread *self = hx_qurt_self();
    int again, rc = 0;

    hx_qurt_enter();
    again = m->holder == self->id;
    if (again && recursive)
        m->count++;
    else if (!again)
        rc = take(m, self, us);
    hx_qurt_leave();
    if (again && !recursive)
        hx_qurt_fatal("%s: thread %u holds mutex %p already and would wait for itself", what,
                      self->id, (void *)m);
    return rc ? QURT_ETIMEDOUT : QURT_EOK;
}

static void unlock(qurt_mutex_t *m, const char *what)
{
    struct hx_qthread *self = hx_qurt_self();
    unsigned holder;

    hx_qurt_enter();
    holder = m->holder;
    if (holder == self->id && --m->count == 0)
        let_go(m, self);
    hx_qurt_leave();
    if (!holder)
        FARF(ERROR, "%s: mutex %p is not locked", what, (void *)m);
    else if (holder != self->id)
        FARF(ERROR, "%s: mutex %p is held by thread %u, not by the caller %u", what, (void *)m,
             holder, self->id);
}

static int try_lock(qurt_mutex_t *m, int recursive)
{
    struct hx_qthread *self = hx_qurt_self();
    int rc = QURT_EFAILED;

    hx_qurt_enter();
    if (m->holder == 0) {
        /* Fails by the mutex's real state, not by the clock, which does not move in a loop of tries. */
        rc = take(m, self, HX_QURT_FOREVER);
    } else if (m->holder == self->id && recursive) {
        m->count++;
        rc = 0;
    }
    hx_qurt_leave();
    return rc;
}

static void destroy(qurt_mutex_t *m, const char *what)
{
    unsigned holder;

    hx_qurt_enter();
    holder = m->holder;
    *m = (qurt_mutex_t)QURT_MUTEX_INIT;
    hx_qurt_leave();
    if (holder)
        FARF(ERROR, "%s: mutex %p is held by thread %u", what, (void *)m, holder);
}

/* --- the published names */

HX_EXPORT void qurt_mutex_init(qurt_mutex_t *m)
{
    *m = (qurt_mutex_t)QURT_MUTEX_INIT;
}

HX_EXPORT void qurt_mutex_destroy(qurt_mutex_t *m)
{
    destroy(m, "qurt_mutex_destroy");
}

HX_EXPORT void qurt_mutex_lock(qurt_mutex_t *m)
{
    lock_within(m, 0, HX_QURT_FOREVER, "qurt_mutex_lock");
}

HX_EXPORT int qurt_mutex_lock_timed(qurt_mutex_t *m, unsigned long long int duration)
{
    return lock_within(m, 0, duration, "qurt_mutex_lock_timed");
}

HX_EXPORT void qurt_mutex_unlock(qurt_mutex_t *m)
{
    unlock(m, "qurt_mutex_unlock");
}

HX_EXPORT int qurt_mutex_try_lock(qurt_mutex_t *m)
{
    return try_lock(m, 0);
}

HX_EXPORT void qurt_rmutex_init(qurt_mutex_t *m)
{
    *m = (qurt_mutex_t)QURT_MUTEX_INIT;
}

HX_EXPORT void qurt_rmutex_destroy(qurt_mutex_t *m)
{
    destroy(m, "qurt_rmutex_destroy");
}

HX_EXPORT void qurt_rmutex_lock(qurt_mutex_t *m)
{
    lock_within(m, 1, HX_QURT_FOREVER, "qurt_rmutex_lock");
}

HX_EXPORT int qurt_rmutex_lock_timed(qurt_mutex_t *m, unsigned long long int duration)
{
    return lock_within(m, 1, duration, "qurt_rmutex_lock_timed");
}

HX_EXPORT void qurt_rmutex_unlock(qurt_mutex_t *m)
{
    unlock(m, "qurt_rmutex_unlock");
}

HX_EXPORT int qurt_rmutex_try_lock(qurt_mutex_t *m)
{
    return try_lock(m, 1);
}

HX_EXPORT void qurt_cond_init(qurt_cond_t *cond)
{
    cond->raw = 0;
}

HX_EXPORT void qurt_cond_destroy(qurt_cond_t *cond)
{
    int waits;

    hx_qurt_enter();
    waits = hx_qurt_waiter(cond, 0) != NULL;
    hx_qurt_leave();
    if (waits)
        FARF(ERROR, "qurt_cond_destroy: threads wait for condition %p", (void *)cond);
}

HX_EXPORT void qurt_cond_wait(qurt_cond_t *cond, qurt_mutex_t *m)
{
    struct hx_qthread *self = hx_qurt_self();
    int mine;

    hx_qurt_enter();
    mine = m->holder == self->id;
    if (mine) {
        let_go(m, self);
        hx_qurt_park(cond, HX_QURT_FOREVER);
        hx_qurt_leave(); /* the wait has ended the operation, and the mutex may be gone to others who come before */
        hx_qurt_enter();
        take(m, self, HX_QURT_FOREVER);
    }
    hx_qurt_leave();
    if (!mine)
        FARF(ERROR, "qurt_cond_wait: thread %u does not hold mutex %p", self->id, (void *)m);
}

HX_EXPORT void qurt_cond_signal(qurt_cond_t *cond)
{
    hx_qurt_enter();
    hx_qurt_unpark(cond, hx_vt_now());
    hx_qurt_leave();
}

HX_EXPORT void qurt_cond_broadcast(qurt_cond_t *cond)
{
    hx_qurt_enter();
    while (hx_qurt_unpark(cond, hx_vt_now()))
        ;
    hx_qurt_leave();
}
