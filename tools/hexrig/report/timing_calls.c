/* Callers side by side: threads with virtual clocks of their own on one handle.  One call is made at a time, that of the caller
 * which is furthest behind, so that whoever comes first on the virtual clock also comes first here. */
#include "timing_calls.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "AEEStdErr.h"
#include "hx_rig.h"

struct caller {
    struct run *run;
    pthread_t thread;
    sem_t go, done;
    uint64_t made;
    double first_us;         /* its first call */
    double now_us, queue_us; /* since the start of all */
};

struct run {
    const struct hx_timing_ask *ask;
    remote_handle64 handle;
    struct caller caller[HX_TIMING_CALLERS];
    struct hx_session_stats before; /* the next call */
    struct hx_timing last;
    int stop, rc; /* written by whose turn it is */
};

/* --- a caller ---------------------------------------------------------------------------------------------------- */

static int one_call(struct caller *c)
{
    struct run *r = c->run;
    struct hx_session_stats after;
    silicon_cycles cycles;
    int rc = hx_timing_run(r->handle, r->ask, &cycles);

    if (!rc)
        rc = hx_rig_session_stats(&after);
    if (rc)
        return rc;
    hx_timing_charged(&r->before, &after, &r->last);
    r->before = after;
    if (c->made++)
        c->now_us += (double)r->ask->idle_us;
    else
        c->first_us = r->last.wall_us;
    c->now_us += r->last.wall_us;
    c->queue_us += r->last.queue_us;
    return 0;
}

static void *call_in_turn(void *arg)
{
    struct caller *c = arg;
    struct run *r = c->run;

    sem_wait(&c->go);
    r->rc = hx_rig_own_clock();
    sem_post(&c->done);
    for (sem_wait(&c->go); !r->stop; sem_wait(&c->go)) {
        r->rc = one_call(c);
        sem_post(&c->done);
    }
    return NULL;
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

static int turn(struct caller *c)
{
    sem_post(&c->go);
    sem_wait(&c->done);
    return c->run->rc;
}

/* The caller that is furthest behind and has calls left; NULL: none has. */
static struct caller *next_caller(struct run *r, unsigned callers, uint64_t calls)
{
    struct caller *next = NULL;

    for (unsigned i = 0; i < callers; i++)
        if (r->caller[i].made < calls && (!next || r->caller[i].now_us < next->now_us))
            next = &r->caller[i];
    return next;
}

/* The first call of each begins after a long pause, which is over when the others begin. */
static int make_calls(struct run *r, unsigned callers, uint64_t calls)
{
    struct caller *c;
    int rc = 0;

    for (unsigned i = 0; i < callers && !rc; i++)
        rc = turn(&r->caller[i]); /* its clock */
    if (!rc)
        rc = hx_timing_pause(HX_TIMING_LONG_PAUSE_US);
    if (!rc)
        rc = hx_rig_session_stats(&r->before);
    for (unsigned i = 0; i < callers && !rc; i++)
        rc = turn(&r->caller[i]);
    if (!rc)
        rc = hx_timing_pause(r->ask->idle_us);
    while (!rc && (c = next_caller(r, callers, calls)))
        rc = turn(c);
    return rc;
}

static unsigned start_callers(struct run *r, unsigned callers)
{
    for (unsigned i = 0; i < callers; i++) {
        struct caller *c = &r->caller[i];

        c->run = r;
        sem_init(&c->go, 0, 0);
        sem_init(&c->done, 0, 0);
        if (pthread_create(&c->thread, NULL, call_in_turn, c))
            return i;
    }
    return callers;
}

static void end_callers(struct run *r, unsigned started)
{
    r->stop = 1;
    for (unsigned i = 0; i < started; i++) {
        sem_post(&r->caller[i].go);
        sem_post(&r->caller[i].go); /* it may have had no clock yet */
        pthread_join(r->caller[i].thread, NULL);
    }
}

/* The calls that were not made take as long as those of their caller did, but for its first one. */
static void take_walls(const struct run *r, unsigned callers, uint64_t left, struct hx_timing_calls *out)
{
    for (unsigned i = 0; i < callers; i++) {
        const struct caller *c = &r->caller[i];
        const double others = c->made > 1 ? (c->now_us - c->first_us) / (double)(c->made - 1) : 0;

        out->wall_us[i] = c->now_us + (double)left * others;
        out->queue_us[i] = c->queue_us;
        if (out->wall_us[i] > out->total_wall_us)
            out->total_wall_us = out->wall_us[i];
    }
}

int hx_timing_calls(const struct hx_timing_ask *ask, uint64_t calls, unsigned callers, struct hx_timing_calls *out)
{
    const uint64_t most = HX_TIMING_CALLS_MAX / callers, ran = calls < most ? calls : most;
    struct run r = {.ask = ask};
    unsigned started;
    int rc = hx_timing_open(ask, &r.handle);

    memset(out, 0, sizeof(*out));
    if (rc)
        return rc;
    started = start_callers(&r, callers);
    rc = started == callers ? make_calls(&r, callers, ran) : AEE_ENOMEMORY;
    end_callers(&r, started);
    silicon_close(r.handle);
    if (hx_timing_pause(0) && !rc)
        rc = AEE_EFAILED;
    out->ran = ran;
    out->last = r.last;
    out->first_us = r.caller[0].first_us;
    if (!rc)
        take_walls(&r, callers, calls - ran, out);
    return rc;
}
