/* What a guard saw of a request, and how near a memory's questions are, for a header of its reply. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd_serve.h"
#include "methods/guard/guard_tap.h"

void hx_serve_guard_begin(struct hx_serve_guard *g, const struct hx_engine *e)
{
    struct hx_tap *t = hx_guard_tap_find(e->taps);

    *g = (struct hx_serve_guard){.on = t != NULL};
    if (!t)
        return;
    hx_guard_tap_most(t);
    g->seen = hx_guard_tap_seen(t);
}

void hx_serve_guard_end(struct hx_serve_guard *g, const struct hx_engine *e)
{
    struct hx_tap *t = g->on ? hx_guard_tap_find(e->taps) : NULL;
    struct hx_guard_seen now;

    if (!t)
        return;
    now = hx_guard_tap_seen(t);
    g->seen.tokens = now.tokens - g->seen.tokens;
    g->seen.told = now.told - g->seen.told;
    g->seen.projected = now.projected - g->seen.projected;
    g->seen.not_finite = now.not_finite - g->seen.not_finite;
    g->seen.teh_sum = now.teh_sum - g->seen.teh_sum;
    g->seen.teh_most = hx_guard_tap_most(t);
}

int hx_serve_look_up(struct hx_serve_request *r, const struct hx_serve_model *m, const uint32_t *ids, size_t n, struct hx_serve_error *e)
{
    double *z = m->memory ? malloc(m->memory->k * sizeof(*z)) : NULL;
    struct hx_error err = {"out of memory"};
    int rc = 0;

    if (!m->memory)
        return 0;
    if (!z || hx_cog_place_tokens(m->memory, &m->e->model->embd, ids, n, z, &err))
        rc = hx_serve_fail(e, 500, NULL, NULL, "%s", err.text);
    else
        r->known = hx_cog_match(m->memory, z);
    free(z);
    return rc;
}

static struct hx_guard_seen sum_of(const struct hx_serve_choices *all)
{
    struct hx_guard_seen sum = {0};

    for (size_t i = 0; i < all->n; i++) {
        const struct hx_guard_seen *s = &all->job[i]->guard.seen;

        sum.tokens += s->tokens;
        sum.not_finite += s->not_finite;
        sum.told += s->told;
        sum.projected += s->projected;
        sum.teh_sum += s->teh_sum;
        sum.teh_most = fmax(sum.teh_most, s->teh_most);
    }
    return sum;
}

/* Without a guard, and while a job is not done, there is nothing to say of TEH. */
int hx_serve_guard_text(const struct hx_serve_model *m, const struct hx_serve_choices *all, int done, char *to, size_t room)
{
    const int guarded = all->n && done && all->job[0]->guard.on;
    const struct hx_guard_seen s = guarded ? sum_of(all) : (struct hx_guard_seen){0};
    const size_t finite = s.tokens - s.not_finite;
    int n = 0;

    if (guarded)
        n = snprintf(to, room, "teh=%.2f mean=%.2f states=%zu told=%zu projected=%zu", 100 * s.teh_most,
                     finite ? 100 * s.teh_sum / (double)finite : 0, s.tokens, s.told, s.projected);
    if (all->n && m->memory)
        n += snprintf(to + n, room - (size_t)n, "%scog=%s sim=%.4f", n ? " " : "", hx_cog_tier_names[all->job[0]->req.known.tier],
                      all->job[0]->req.known.similarity);
    return n > 0;
}
