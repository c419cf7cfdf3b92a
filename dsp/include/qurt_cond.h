/* Condition variables (published names), for qurt_mutex_* only. */
#ifndef QURT_COND_H
#define QURT_COND_H

#include "qurt_mutex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero is a condition that nobody waits for. */
typedef struct {
    unsigned long long raw; /* its address is what counts */
} qurt_cond_t;

void qurt_cond_init(qurt_cond_t *cond);
void qurt_cond_destroy(qurt_cond_t *cond);

/* The caller holds `mutex`, gives it up while it waits and has it again afterwards.  Wakes for signals only. */
void qurt_cond_wait(qurt_cond_t *cond, qurt_mutex_t *mutex);

/* Wakes the most urgent waiter, or all. */
void qurt_cond_signal(qurt_cond_t *cond);
void qurt_cond_broadcast(qurt_cond_t *cond);

#ifdef __cplusplus
}
#endif

#endif
