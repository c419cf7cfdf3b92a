/* Timers (published names), on the virtual clock.
 *
 * A sleep moves the thread's clock on and really only yields.  A timer sets its signal with the time at which it expires in
 * virtual time; it really goes off after that long as well, so that a wait for "the event or the timer" has a chance to
 * see the event first. */
#ifndef QURT_TIMER_H
#define QURT_TIMER_H

#include "qurt_anysignal.h"
#include "qurt_error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned int qurt_timer_t;
typedef unsigned long long qurt_timer_duration_t; /* us */
typedef unsigned long long qurt_timer_time_t;     /* us since the DSP began */

typedef enum { QURT_TIMER_ONESHOT = 0, QURT_TIMER_PERIODIC } qurt_timer_type_t;

typedef struct {
    qurt_timer_duration_t duration; /* QURT_TIMER_MIN_DURATION..QURT_TIMER_MAX_DURATION */
    qurt_timer_type_t type;
} qurt_timer_attr_t;

/* A one-shot timer of 1 s. */
void qurt_timer_attr_init(qurt_timer_attr_t *attr);
void qurt_timer_attr_set_duration(qurt_timer_attr_t *attr, qurt_timer_duration_t duration);
void qurt_timer_attr_set_type(qurt_timer_attr_t *attr, qurt_timer_type_t type);

/* Starts a timer that sets `mask` in *signal (which stays the caller's until qurt_timer_delete()).  QURT_EOK,
 * QURT_EINVALID: duration out of range; QURT_EMEM: 32 timers exist already. */
int qurt_timer_create(qurt_timer_t *timer, const qurt_timer_attr_t *attr,
                      const qurt_anysignal_t *signal, unsigned int mask);

/* Both return QURT_EOK, or QURT_EINVALID: there is no such timer. */
int qurt_timer_stop(qurt_timer_t timer);
int qurt_timer_delete(qurt_timer_t timer);

/* The timer expires `duration` from now.  QURT_EOK or QURT_EINVALID. */
int qurt_timer_restart(qurt_timer_t timer, qurt_timer_duration_t duration);

/* QURT_EOK. */
int qurt_timer_sleep(qurt_timer_duration_t duration);

/* 19.2 MHz ticks of the calling thread's virtual time. */
unsigned long long qurt_timer_get_ticks(void);
unsigned long long qurt_sysclock_get_hw_ticks(void); /* the same */

/* Ticks as whole microseconds, and back. */
unsigned long long qurt_timer_timetick_to_us(unsigned long long ticks);
unsigned long long qurt_timer_timetick_from_us(unsigned long long us);

#ifdef __cplusplus
}
#endif

#endif
