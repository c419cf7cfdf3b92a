/* Recursive mutexes (published names): as qurt_mutex.h, but the holder may lock again, and unlocks as often. */
#ifndef QURT_RMUTEX_H
#define QURT_RMUTEX_H

#include "qurt_mutex.h"

#ifdef __cplusplus
extern "C" {
#endif

void qurt_rmutex_init(qurt_mutex_t *lock);
void qurt_rmutex_destroy(qurt_mutex_t *lock);
void qurt_rmutex_lock(qurt_mutex_t *lock);
void qurt_rmutex_unlock(qurt_mutex_t *lock);

/* 0, or not 0: another thread holds it. */
int qurt_rmutex_try_lock(qurt_mutex_t *lock);

/* QURT_EOK or QURT_ETIMEDOUT; `duration` in us. */
int qurt_rmutex_lock_timed(qurt_mutex_t *lock, unsigned long long int duration);

#ifdef __cplusplus
}
#endif

#endif
