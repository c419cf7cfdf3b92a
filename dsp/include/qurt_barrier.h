/* Barriers (published names).  All threads leave at the time at which the last one (in virtual time) came. */
#ifndef QURT_BARRIER_H
#define QURT_BARRIER_H

#include "qurt_error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QURT_BARRIER_SERIAL_THREAD 1
#define QURT_BARRIER_OTHER 0

typedef struct {
    unsigned int threads_total; /* >= 1 */
    unsigned int count;         /* threads that have come */
    unsigned long long latest;  /* pcycle of the latest of them */
} qurt_barrier_t;

int qurt_barrier_init(qurt_barrier_t *barrier, unsigned int threads_total); /* 0, or QURT_EINVALID: no threads */
int qurt_barrier_destroy(qurt_barrier_t *barrier); /* 0; nobody waits, or the log says so */

/* QURT_BARRIER_SERIAL_THREAD to the thread that really came last, QURT_BARRIER_OTHER to the others. */
int qurt_barrier_wait(qurt_barrier_t *barrier);

#ifdef __cplusplus
}
#endif

#endif
