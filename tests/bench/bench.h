/* Benchmarks: time by the monotonic clock, ratios against a limit or a peer measured in the same run.  `make bench`. */
#ifndef BENCH_H
#define BENCH_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* What one thing took, by batches: us per run of each.  A batch takes about BENCH_BATCH_US, less than a slice of the scheduler, so on a
 * machine that does something else, too, many are not disturbed. */
enum { BENCH_BATCH_US = 250, BENCH_BATCHES = 8192 };

struct bench_times {
    double us[BENCH_BATCHES];
    size_t n; /* of them; what does not fit any more is not kept */
};

static inline double bench_batch_us(void (*fn)(void *arg), void *arg, int n)
{
    double start = bench_now_us();

    for (int i = 0; i < n; i++)
        fn(arg);
    return (bench_now_us() - start) / n;
}

/* Adds five times `n` runs of fn(arg), at least five batches. */
static inline void bench_more(struct bench_times *t, void (*fn)(void *arg), void *arg, int n)
{
    double one = bench_batch_us(fn, arg, n < 8 ? 1 : 8);
    int per_batch = one < BENCH_BATCH_US ? (int)(BENCH_BATCH_US / one) : 1, batches;

    per_batch = per_batch < n ? per_batch : n;
    batches = 5 * n / per_batch;
    for (int i = 0; i < batches && t->n < BENCH_BATCHES; i++)
        t->us[t->n++] = bench_batch_us(fn, arg, per_batch);
}

static inline int bench_compare_us(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* The quantile q of the batches; 0: the least, what the machine can do when nothing disturbs.  Sorts them. */
static inline double bench_quantile(struct bench_times *t, double q)
{
    if (!t->n)
        return 1e30;
    qsort(t->us, t->n, sizeof(*t->us), bench_compare_us);
    return t->us[(size_t)(q * (double)(t->n - 1))];
}

/* us per run of fn(arg), the least of the batches of five times `n` runs. */
static inline double bench_us(void (*fn)(void *arg), void *arg, int n)
{
    static struct bench_times t;

    t.n = 0;
    bench_more(&t, fn, arg, n);
    return bench_quantile(&t, 0);
}

/* Pins a process (0 = this thread) to a core; -1 = all cores. */
static inline void bench_pin(pid_t pid, int core)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (core < 0 || i == core)
            CPU_SET(i, &set);
    sched_setaffinity(pid, sizeof(set), &set);
}

/* One line: what took how long, the least and the 10 % quantile, and how the least compares with a peer's.  aim: "" = none. */
static inline void bench_row(const char *name, const char *where, struct bench_times *t, double peer_us, const char *peer,
                             const char *aim)
{
    const double us = bench_quantile(t, 0);

    printf("%-18s %-9s %8.2f us (10 %%: %8.2f) %6.2fx of %s (%.2f us)%s%s\n", name, where, us, bench_quantile(t, .1), us / peer_us, peer,
           peer_us, *aim ? ", aim " : "", aim);
}

#endif
