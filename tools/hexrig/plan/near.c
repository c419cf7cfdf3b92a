/* A line through two near positions. */
#include "near.h"

#include <string.h>

#include "density/analytic.h"
#include "density/geometry_run.h"

static const struct hx_density_near near = {{4, 8}};

/* Positions from which on counting takes much longer than it does near. */
enum { FAR = 64 };

/* Of the line: tests/tools/test_plan_target.c holds it against what is counted. */
static const double certain = 0.8;

static int executes_the_same(const struct hx_choice *a, const struct hx_choice *b)
{
    return strcmp(a->density, b->density) == 0 && a->attn == b->attn;
}

/* As if calls and packets cost nothing. */
static enum hx_bound bound_of(const struct hx_session_stats *sum, const struct hx_ceilings *ceilings)
{
    struct hx_session_stats exec = *sum;

    exec.invokes = exec.packets = 0;
    exec.dispatch_ns = exec.marshal_ns = exec.queue_ns = 0;
    return hx_verdict(&exec, ceilings, 1e6).bound;
}

int hx_near_look(struct hx_near *n, const struct hx_choice *c, const struct hx_sweep *s, const struct hx_ceilings *ceilings,
                 struct hx_error *err)
{
    const struct hx_geometry *g = &s->cases[0].shape;
    const struct hx_shape shape = hx_choice_shape(g);
    const struct hx_density_question q = {.plan = c->plan, .geometry = g, .pos = s->pos[0], .profile = s->o.profile};
    struct hx_density_answer a;
    int rc;

    if (q.pos < FAR || hx_geometry_has_matrices(g, c->plan))
        return 0;
    if (n->of && executes_the_same(n->of, c))
        return 1;
    rc = hx_density_analytic(&q, &shape, &near, &a, err);
    if (rc)
        return rc;
    *n = (struct hx_near){.of = c, .least_us = certain * (double)a.sum.exec_ns / 1e3, .bound = bound_of(&a.sum, ceilings)};
    return 1;
}
