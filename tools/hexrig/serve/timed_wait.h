/* Waiting on a condition for a while, measured by a clock that nobody sets: a server's patience must not depend on the time of day. */
#ifndef TIMED_WAIT_H
#define TIMED_WAIT_H

#include <pthread.h>
#include <time.h>

/* pthread_cond_init() for a condition that is waited for until hx_timed_wait_end(). */
static inline void hx_timed_wait_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

/* The moment `ms` from now, for pthread_cond_timedwait(). */
static inline struct timespec hx_timed_wait_end(unsigned ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000L;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

#endif
