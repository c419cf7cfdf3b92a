/* All-signals (published names): 32 bits, and one thread that waits until all of some are set.  The wait takes those bits away. */
#ifndef QURT_ALLSIGNAL_H
#define QURT_ALLSIGNAL_H

#include "qurt_mutex.h"
#include "qurt_sem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Private. */
typedef struct {
    qurt_mutex_t lock;    /* protects what follows */
    unsigned int signals; /* set, and not taken yet */
    unsigned int wanted;  /* by the thread that waits; 0: nobody */
    qurt_sem_t complete;  /* the waiting thread has got its bits */
} qurt_allsignal_t;

void qurt_allsignal_init(qurt_allsignal_t *signal); /* none set */
void qurt_allsignal_destroy(qurt_allsignal_t *signal); /* nobody waits, or the log says so */

/* Bits that are set now. */
unsigned int qurt_allsignal_get(qurt_allsignal_t *signal);

/* Waits for all bits of `mask`.  One thread at a time: a second one ends the PD with the reason, as it would never wake. */
void qurt_allsignal_wait(qurt_allsignal_t *signal, unsigned int mask);

void qurt_allsignal_set(qurt_allsignal_t *signal, unsigned int mask);

#ifdef __cplusplus
}
#endif

#endif
