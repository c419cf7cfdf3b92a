/* How modelled calls meet, see timing_queue.h: one event per call, in the order of their arrival. */
#include "timing_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hx_profile.h"
#include "share.h"

enum { CLIENTS_MAX = 64, THREADS_MAX = 16 };

struct meeting {
    struct hx_profile p;
    double marshal_us, exec_us, wake_us;
    double arrives[CLIENTS_MAX]; /* next call of each client */
    uint64_t left[CLIENTS_MAX];  /* calls of each client to come */
    double thread_free[THREADS_MAX];
    double busy_until; /* end of the last call that is under way */
    double last_exec;
};

static int earliest(const double *of, uint64_t n)
{
    int best = 0;

    for (uint64_t i = 1; i < n; i++)
        if (of[i] < of[best])
            best = (int)i;
    return best;
}

static int naps(const struct meeting *m, double now)
{
    if (now < m->busy_until)
        return 0;
    return m->last_exec < m->p.nap_us;
}

/* One call that arrives at `now`; returns when it is answered. */
static double serve(struct meeting *m, double now)
{
    int t = earliest(m->thread_free, m->p.hw_threads);
    double at = now + m->p.dispatch_us + (naps(m, now) ? m->wake_us : 0) + m->marshal_us;

    if (at < m->thread_free[t])
        at = m->thread_free[t];
    m->thread_free[t] = at + m->exec_us;
    m->last_exec = m->exec_us;
    if (m->thread_free[t] > m->busy_until)
        m->busy_until = m->thread_free[t];
    return m->thread_free[t];
}

static void run(struct meeting *m, uint64_t calls, uint64_t clients, double idle_us, struct hx_timing_calls *out)
{
    const double never = 1e300;
    double sum = 0, end = 0;
    uint64_t n = calls * clients;

    for (uint64_t i = 0; i < n; i++) {
        int c = earliest(m->arrives, clients);
        double answered = serve(m, m->arrives[c]), took = answered - m->arrives[c];

        sum += took;
        if (i == 0)
            out->first_us = took;
        end = answered > end ? answered : end;
        m->arrives[c] = --m->left[c] ? answered + idle_us : never;
    }
    out->us_per_call = sum / (double)n;
    out->total_us = end;
    out->calls_per_s = (double)n / end * 1e6;
}

int hx_timing_calls(const struct hx_timing *first, const struct hx_timing *next, const char *profile,
                    uint64_t calls, uint64_t clients, double idle_us, struct hx_timing_calls *out)
{
    struct meeting *m = calloc(1, sizeof(*m));
    char why[256], *dir = hx_share("profiles");
    int rc = m && dir ? hx_profile_load(&m->p, dir, profile, why, sizeof(why)) : -ENOMEM;

    if (!rc) {
        m->marshal_us = next->marshal_us;
        m->exec_us = next->exec_us;
        m->wake_us = first->dispatch_us - m->p.dispatch_us;
        for (uint64_t i = 0; i < clients; i++)
            m->left[i] = calls;
        run(m, calls, clients, idle_us, out);
    }
    free(dir);
    free(m);
    return rc;
}
