/* Threads that stay: they sleep on a futex between packets, and spin with pause for each piece of work within one. */
#ifndef HXT_READER_SPIN_TEAM_H
#define HXT_READER_SPIN_TEAM_H

#include <stdatomic.h>
#include <stdint.h>

#include "job.h"
#include "qurt.h"

struct spin_team {
    atomic_uint sequence;  /* raised for each piece of work, and to wake the team */
    atomic_uint piece;     /* of work, so far */
    atomic_bool awake, ended;
    atomic_uint left;      /* that have not done their part of it */
    void (*work)(unsigned who, void *arg);
    void *arg;
    unsigned n;            /* with the one that leads */
    qurt_thread_t id[READER_THREADS];
    void *stack[READER_THREADS];
    struct spin_member {
        struct spin_team *team;
        unsigned who;
    } member[READER_THREADS];
};

/* Of n threads, 1 to READER_THREADS, the calling one among them as number 0.  AEE_SUCCESS, or what keeps it from starting. */
int spin_team_start(struct spin_team *t, unsigned n);
void spin_team_stop(struct spin_team *t);

void spin_team_wake(struct spin_team *t);
void spin_team_rest(struct spin_team *t);

/* work(who, arg) on all of them; returns when all have done it. */
void spin_team_run(struct spin_team *t, void (*work)(unsigned who, void *arg), void *arg);

#endif
