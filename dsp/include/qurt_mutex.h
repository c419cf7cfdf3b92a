/* Mutexes (published names).
 *
 * A mutex goes to the most urgent waiter, among equals to the first.  The new holder's clock goes on to the release.  A
 * release by a thread that does not hold the mutex is ignored with a line in the log; locking a mutex that one holds,
 * which hangs the device, ends the PD with the reason. */
#ifndef QURT_MUTEX_H
#define QURT_MUTEX_H

#include "qurt_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For qurt_mutex_* and qurt_rmutex_*; all zero is an unlocked mutex. */
typedef struct {
    unsigned int holder;           /* thread id, 0: unlocked */
    unsigned int count;            /* qurt_rmutex: locks to be undone */
    unsigned long long released;   /* pcycle of the last release */
} qurt_mutex_t;

#define QURT_MUTEX_INIT {0, 0, 0}

void qurt_mutex_init(qurt_mutex_t *lock);
void qurt_mutex_destroy(qurt_mutex_t *lock); /* nobody holds it, or the log says so */
void qurt_mutex_lock(qurt_mutex_t *lock);
void qurt_mutex_unlock(qurt_mutex_t *lock);

/* 0, or not 0: it is held, by whomever. */
int qurt_mutex_try_lock(qurt_mutex_t *lock);

/* QURT_EOK or QURT_ETIMEDOUT; `duration` in us. */
int qurt_mutex_lock_timed(qurt_mutex_t *lock, unsigned long long int duration);

#ifdef __cplusplus
}
#endif

#endif
