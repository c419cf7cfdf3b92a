/* Signals (published names): 32 or 64 bits that threads set, clear and wait for.
 *
 * Each bit keeps the time at which it was set; who waits for any goes on to the earliest, for all to the latest.  A
 * wait does not clear.  One thread at a time may wait for an object. */
#ifndef QURT_SIGNAL_H
#define QURT_SIGNAL_H

#include "qurt_error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QURT_SIGNAL_ATTR_WAIT_ANY 0x00000000
#define QURT_SIGNAL_ATTR_WAIT_ALL 0x00000001

/* Limits of timed waits, us. */
#ifndef QURT_TIMER_MIN_DURATION
#define QURT_TIMER_MIN_DURATION 100ull
#define QURT_TIMER_MAX_DURATION (1042499ull * 3600ull * 1000000ull)
#endif

typedef struct {
    unsigned long long signals;
    unsigned long long at[32]; /* pcycle at which each was set */
} qurt_signal_t;

typedef struct {
    unsigned long long signals;
    unsigned long long at[64];
} qurt_signal_64_t;

void qurt_signal_init(qurt_signal_t *signal); /* none set */
void qurt_signal_destroy(qurt_signal_t *signal); /* nobody waits, or the log says so */

/* Returns all that is set. */
unsigned int qurt_signal_wait(qurt_signal_t *signal, unsigned int mask, unsigned int attribute);
static inline unsigned int qurt_signal_wait_any(qurt_signal_t *signal, unsigned int mask)
{
    return qurt_signal_wait(signal, mask, QURT_SIGNAL_ATTR_WAIT_ANY);
}
static inline unsigned int qurt_signal_wait_all(qurt_signal_t *signal, unsigned int mask)
{
    return qurt_signal_wait(signal, mask, QURT_SIGNAL_ATTR_WAIT_ALL);
}

/* QURT_EOK, QURT_ETIMEDOUT, or QURT_EINVALID: duration (us) out of range.  *signals: all that is set. */
int qurt_signal_wait_timed(qurt_signal_t *signal, unsigned int mask, unsigned int attribute,
                           unsigned int *signals, unsigned long long int duration);

void qurt_signal_set(qurt_signal_t *signal, unsigned int mask);
unsigned int qurt_signal_get(qurt_signal_t *signal);
void qurt_signal_clear(qurt_signal_t *signal, unsigned int mask);

void qurt_signal_64_init(qurt_signal_64_t *signal);
void qurt_signal_64_destroy(qurt_signal_64_t *signal);
unsigned long long qurt_signal_64_wait(qurt_signal_64_t *signal, unsigned long long mask,
                                       unsigned int attribute);
void qurt_signal_64_set(qurt_signal_64_t *signal, unsigned long long mask);
unsigned long long qurt_signal_64_get(qurt_signal_64_t *signal);
void qurt_signal_64_clear(qurt_signal_64_t *signal, unsigned long long mask);

#ifdef __cplusplus
}
#endif

#endif
