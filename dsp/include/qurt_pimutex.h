/* Mutexes with priority inheritance (published names): recursive mutexes, qurt_rmutex.h.
 *
 * Inheritance is for a holder that a thread of middling urgency keeps from running.  Here every thread has a processor of its own, so
 * there is nothing to inherit; who waits gets the mutex by urgency. */
#ifndef QURT_PIMUTEX_H
#define QURT_PIMUTEX_H

#include "qurt_rmutex.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline void qurt_pimutex_init(qurt_mutex_t *lock)
{
    qurt_rmutex_init(lock);
}

static inline void qurt_pimutex_destroy(qurt_mutex_t *lock)
{
    qurt_rmutex_destroy(lock);
}

static inline void qurt_pimutex_lock(qurt_mutex_t *lock)
{
    qurt_rmutex_lock(lock);
}

static inline void qurt_pimutex_unlock(qurt_mutex_t *lock)
{
    qurt_rmutex_unlock(lock);
}

/* 0, or not 0: another thread holds it. */
static inline int qurt_pimutex_try_lock(qurt_mutex_t *lock)
{
    return qurt_rmutex_try_lock(lock);
}

#ifdef __cplusplus
}
#endif

#endif
