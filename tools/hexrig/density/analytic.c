/* Straight lines through two counted tokens. */
#include "analytic.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/share.h"
#include "count.h"
#include "hx_overhead.h"
#include "hx_rig.h"

/* What counting takes on a machine of today, roughly: only the choice of positions depends on it. */
static const double call_us = 200, value_us = 0.15;

/* Positions up to which tokens may be counted, and how long that may take. */
enum { NEAREST = 4, FARTHEST = 128 };
static const double near_us = 4e6, far_us = 1e6;

/* The time for positions before `pos` to be filled, and two tokens behind them. */
static double host_us(const struct hx_density_question *q, const struct hx_shape *s, size_t pos)
{
    const double values = 2.0 * (double)(s->n_layer * s->n_kv * s->dh), fill = hx_plan_calls(q->plan, s, 0).invokes;

    return (double)pos * (fill * call_us + 3 * values * value_us) + 2 * hx_plan_calls(q->plan, s, pos).invokes * call_us;
}

struct hx_density_near hx_density_near(const struct hx_density_question *q, const struct hx_shape *s)
{
    size_t far = FARTHEST;

    while (far > NEAREST && host_us(q, s, far / 2) + host_us(q, s, far) > near_us)
        far /= 2;
    return (struct hx_density_near){{far / 2, far}};
}

int hx_density_is_far(const struct hx_density_question *q, const struct hx_shape *s, const struct hx_density_near *near)
{
    return q->pos > near->pos[1] && host_us(q, s, q->pos) > far_us;
}

/* --- the way on */

/* a + steps * (b - a), a figure of a counter. */
static uint64_t line(uint64_t a, uint64_t b, double steps)
{
    return (uint64_t)llround(fmax((double)a + ((double)b - (double)a) * steps, 0));
}

/* All that a token has counted is uint64_t, one behind the other. */
static struct hx_session_stats line_of(const struct hx_session_stats *a, const struct hx_session_stats *b, double steps)
{
    struct hx_session_stats out;
    uint64_t from[sizeof(out) / sizeof(uint64_t)], to[sizeof(out) / sizeof(uint64_t)];

    _Static_assert(sizeof(out) % sizeof(uint64_t) == 0, "nothing but counters");
    memcpy(from, a, sizeof(from));
    memcpy(to, b, sizeof(to));
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++)
        from[i] = line(from[i], to[i], steps);
    memcpy(&out, from, sizeof(out));
    return out;
}

/* The rig's profile, of which the rig itself tells the name alone.  -ENOENT: a file that is not here. */
static int load_profile(struct hx_profile *p, const char *path, struct hx_error *err)
{
    const char *name = path ? path : hx_rig_profile();
    char *folder = hx_share("profiles"), why[256] = "no memory";
    int rc = folder && name ? hx_profile_load(p, folder, name, why, sizeof(why)) : -ENOENT;

    free(folder);
    return rc ? hx_error_set(err, rc, "profile: %s", why) : 0;
}

/* What a call costs more because of its execution. */
static double overhead_us(const struct hx_profile *p, double exec_us)
{
    return hx_overhead_contained(p, exec_us) + hx_overhead_host_wake(p, exec_us);
}

/* Calls of which a token makes as many at every position, but which execute for longer: those that read the past. */
static double growing_calls(const struct hx_density_question *q, const struct hx_shape *s)
{
    const struct hx_method *kv = hx_plan_method(q->plan, HX_SEAM_KV);
    const double first = kv->calls ? kv->calls(q->plan, s, 0).invokes : 0, later = kv->calls ? kv->calls(q->plan, s, 1).invokes : 0;

    return later > first ? later - first : later;
}

/* Dispatch at q's position, in ns, where calls are as many as near. */
static double dispatch_of(const struct hx_density_question *q, const struct hx_shape *s, const struct hx_density_near *near,
                          const struct hx_density_answer *at, const struct hx_profile *p)
{
    const double n = growing_calls(q, s), positions = (double)(near->pos[1] - near->pos[0]);
    const double each = ((double)at[1].sum.exec_ns - (double)at[0].sum.exec_ns) / 1e3 / positions / (n > 0 ? n : 1);

    return (double)at[1].sum.dispatch_ns +
           1e3 * n * (overhead_us(p, each * (double)q->pos) - overhead_us(p, each * (double)near->pos[1]));
}

/* A session for each: what the second token would find of the first one is not there at any other position. */
static int count_near(const struct hx_density_question *q, const struct hx_density_near *near, struct hx_density_memo *m,
                      struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && !m->known && i < 2; i++)
        rc = hx_density_count(q, near->pos[i], &m->near[i], err);
    m->known = !rc;
    return rc;
}

static uint64_t parts(const struct hx_session_stats *s)
{
    return s->dispatch_ns + s->marshal_ns + s->queue_ns + s->exec_ns;
}

int hx_density_analytic(const struct hx_density_question *q, const struct hx_shape *s, const struct hx_density_near *near,
                        struct hx_density_answer *a, struct hx_error *err)
{
    const double steps = (double)(q->pos - near->pos[0]) / (double)(near->pos[1] - near->pos[0]);
    struct hx_density_memo own = {.known = 0}, *m = q->memo ? q->memo : &own;
    const struct hx_session_stats *first = &m->near[0].sum, *second = &m->near[1].sum;
    struct hx_profile p;
    int rc = count_near(q, near, m, err);

    if (rc)
        return rc;
    *a = m->near[1];
    a->how = HX_DENSITY_ANALYTIC;
    a->formula = hx_plan_calls(q->plan, s, q->pos);
    a->sum = line_of(first, second, steps);
    if (first->invokes == second->invokes && second->invokes > 0) {
        rc = load_profile(&p, q->profile, err);
        if (rc)
            return rc;
        a->sum.dispatch_ns = (uint64_t)llround(fmax(dispatch_of(q, s, near, m->near, &p), 0));
    }
    a->sum.clock_ns = parts(&a->sum) + line(first->clock_ns - parts(first), second->clock_ns - parts(second), steps);
    return 0;
}
