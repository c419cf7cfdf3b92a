/* Preloaded into programs: moves the clocks that they read, while they run, by what a file says.
 *
 * CLOCK_REALTIME moves as when somebody sets the time: the kernel's own waits for a time of day do not know of it, so a wait that was
 * computed from it is as wrong as it would be.  CLOCK_MONOTONIC moves as after a pause of the whole machine: waits for a moment of it
 * are moved back by as much before the kernel sees them. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define EXPORT __attribute__((visibility("default")))

static struct hxt_clock still, *state = &still;
static int (*real_gettime)(clockid_t, struct timespec *);
static int (*real_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*real_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);

/* Everything is found and mapped at the start: the DSP's sandbox allows little later. */
__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv(HXT_CLOCK_STATE);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    real_timedwait = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    real_clockwait =
        (int (*)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *))dlsym(RTLD_NEXT, "pthread_cond_clockwait");
    if (fd >= 0)
        close(fd);
    if (p != MAP_FAILED)
        state = p;
}

static int64_t ahead(clockid_t clock)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        return state->realtime_s;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
        return state->monotonic_s;
    default:
        return 0;
    }
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *t)
{
    int rc = real_gettime ? real_gettime(clock, t) : (int)syscall(SYS_clock_gettime, clock, t);

    if (rc == 0) {
        t->tv_sec += ahead(clock);
        state->reads++;
    }
    return rc;
}

EXPORT int gettimeofday(struct timeval *t, void *zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *t = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

EXPORT time_t time(time_t *out)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

/* The kernel's moment.  0 means "never" to a timer, so it is not made of a moment that is over. */
static struct timespec kernels(struct timespec t)
{
    if (t.tv_sec || t.tv_nsec) {
        t.tv_sec -= state->monotonic_s;
        if (t.tv_sec < 0)
            t = (struct timespec){0, 1};
    }
    return t;
}

EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
    struct itimerspec t = *new;

    if (flags & TFD_TIMER_ABSTIME)
        t.it_value = kernels(t.it_value);
    return (int)syscall(SYS_timerfd_settime, fd, flags, &t, old);
}

/* Which clock a condition goes by only libc knows; the machine has not been up for as long as since 1970. */
static int is_monotonic(const struct timespec *until)
{
    struct timespec day;

    real_gettime(CLOCK_REALTIME, &day);
    return until->tv_sec < day.tv_sec / 2;
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until)
{
    const struct timespec t = is_monotonic(until) ? kernels(*until) : *until;

    return real_timedwait(cond, lock, &t);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *lock, clockid_t clock, const struct timespec *until)
{
    const struct timespec t = clock == CLOCK_MONOTONIC ? kernels(*until) : *until;

    return real_clockwait(cond, lock, clock, &t);
}
