/* Preloaded into a rig: every thread of the DSP begins later than its creator goes on, unless that waits for it.  The time is spun
 * away, since the sandbox allows no sleep, and nothing is allocated, since what depends on the heap is what tests look for. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { THREADS = 256, LATE_MS = 20 };

typedef void *body(void *arg);
typedef int create_function(pthread_t *, const pthread_attr_t *, body *, void *);

static struct late {
    body *run;
    void *arg;
} all[THREADS];
static _Atomic int n;
static create_function *create;

__attribute__((constructor)) static void begin(void)
{
    void *p = dlsym(RTLD_NEXT, "pthread_create");

    memcpy(&create, &p, sizeof(create));
}

static long now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000L + t.tv_nsec / 1000000;
}

static void *run_late(void *late)
{
    const struct late *l = late;
    const long end = now_ms() + LATE_MS;

    while (now_ms() < end)
        ;
    return l->run(l->arg);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *t, const pthread_attr_t *attr, body *run, void *arg)
{
    const int i = strcmp(program_invocation_short_name, "hexrig-dsp") == 0 ? atomic_fetch_add(&n, 1) : THREADS;

    if (i >= THREADS)
        return create(t, attr, run, arg);
    all[i] = (struct late){run, arg};
    return create(t, attr, run_late, &all[i]);
}
