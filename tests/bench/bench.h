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

/* us per run of fn(arg), the smallest of five rounds of `n` runs: what the machine can do when nothing disturbs. */
static inline double bench_us(void (*fn)(void *arg), void *arg, int n)
{
    double best = 1e30;

    for (int round = 0; round < 5; round++) {
        double start = bench_now_us(), us;

        for (int i = 0; i < n; i++)
            fn(arg);
        us = (bench_now_us() - start) / n;
        best = us < best ? us : best;
    }
    return best;
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

/* One line: what took how long, and how that compares with a peer.  aim: "" = none. */
static inline void bench_row(const char *name, const char *where, double us, double peer_us, const char *peer,
                             const char *aim)
{
    printf("%-20s %-9s %9.2f us %7.2fx of %s (%.2f us)%s%s\n", name, where, us, us / peer_us, peer, peer_us,
           *aim ? ", aim " : "", aim);
}

#endif
