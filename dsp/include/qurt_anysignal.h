/* Any-signals (published names): qurt_signal.h, waiting for any. */
#ifndef QURT_ANYSIGNAL_H
#define QURT_ANYSIGNAL_H

#include "qurt_signal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef qurt_signal_t qurt_anysignal_t;

static inline void qurt_anysignal_init(qurt_anysignal_t *signal)
{
    qurt_signal_init(signal);
}

static inline void qurt_anysignal_destroy(qurt_anysignal_t *signal)
{
    qurt_signal_destroy(signal);
}

static inline unsigned int qurt_anysignal_wait(qurt_anysignal_t *signal, unsigned int mask)
{
    return qurt_signal_wait(signal, mask, QURT_SIGNAL_ATTR_WAIT_ANY);
}

static inline unsigned int qurt_anysignal_get(qurt_anysignal_t *signal)
{
    return qurt_signal_get(signal);
}

/* Both return what was set before. */
unsigned int qurt_anysignal_set(qurt_anysignal_t *signal, unsigned int mask);
unsigned int qurt_anysignal_clear(qurt_anysignal_t *signal, unsigned int mask);

/* As qurt_signal_wait_timed(). */
int qurt_anysignal_wait_timed(qurt_anysignal_t *signal, unsigned int mask, unsigned int *signals,
                              unsigned long long int duration);

#ifdef __cplusplus
}
#endif

#endif
