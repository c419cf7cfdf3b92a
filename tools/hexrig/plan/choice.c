/* Makes the choices of a plan: every combination is tried, and those that resolve are there. */
#include "choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "density/geometry_run.h"

/* NULL: whatever the plan has. */
static const char *const placements[] = {"ddr", "dma", "vtcm", "resident", NULL};

/* What choices are made of. */
struct ask {
    const struct hx_plan *base;
    const struct hx_geometry *g;
    size_t pos;
    int has_density;  /* the cache has --density */
};

static int is_layer(const char *density)
{
    return strcmp(density, hx_sweep_whole_layers) == 0;
}

/* The plan of a choice; -EINVAL: the methods do not allow it. */
static int make_plan(const struct ask *a, struct hx_choice *c, struct hx_error *err)
{
    struct hx_plan *p = NULL;
    int rc = hx_plan_copy(&p, a->base, err);

    if (!rc)
        hx_plan_without_weights(p);
    if (!rc && c->attn)
        rc = hx_plan_set(p, "offload", "attn", err);
    if (!rc && c->packets)
        rc = hx_plan_set(p, "packets", NULL, err);
    if (!rc && c->placement)
        rc = hx_plan_set(p, "placement", c->placement, err);
    if (!rc)
        rc = hx_sweep_plan(p, a->has_density || is_layer(c->density) ? c->density : NULL, &c->plan, err);
    hx_plan_close(p);
    if (!rc)
        rc = hx_geometry_check(a->g, c->plan, 0, err);
    return rc;
}

static void name_options(const struct ask *a, struct hx_choice *c)
{
    const int dense = a->has_density || is_layer(c->density);

    snprintf(c->options, sizeof(c->options), "%s%s%s%s%s%s", dense ? " --density " : "", dense ? c->density : "",
             c->attn ? " --offload attn" : "", c->packets ? " --packets" : "", c->placement ? " --placement " : "",
             c->placement ? c->placement : "");
    memmove(c->options, c->options + (*c->options == ' '), strlen(c->options) + (*c->options != ' '));
}

/* Makes nothing else than the choice without packets: there are no calls in whose place they could be. */
static int is_idle(const struct ask *a, const struct hx_choice *c)
{
    struct hx_choice without = *c;
    struct hx_error err = {""};
    int idle;

    if (!c->packets)
        return 0;
    without.packets = 0;
    without.plan = NULL;
    idle = make_plan(a, &without, &err) == 0 && hx_choice_calls(&without, a->g, a->pos).invokes <= 0;
    hx_plan_close(without.plan);
    return idle;
}

static int add(struct hx_choices *all, const struct hx_choice *c, struct hx_error *err)
{
    if (all->n == all->room) {
        const size_t room = all->room ? 2 * all->room : 32;
        struct hx_choice *at = reallocarray(all->at, room, sizeof(*at));

        if (!at)
            return hx_error_set(err, -ENOMEM, "out of memory");
        all->at = at;
        all->room = room;
    }
    all->at[all->n++] = *c;
    return 0;
}

/* Adds it, if it is legal and not another one once more. */
static int consider(const struct ask *a, struct hx_choices *all, struct hx_choice c, struct hx_error *err)
{
    int rc = make_plan(a, &c, err);

    if (!rc && !is_idle(a, &c)) {
        name_options(a, &c);
        rc = add(all, &c, err);
        if (!rc)
            return 0;
    }
    hx_plan_close(c.plan);
    return rc == -EINVAL ? 0 : rc;
}

/* Those of a density. */
static int combine(const struct ask *a, struct hx_choices *all, const char *density, const struct hx_plan *plan, struct hx_error *err)
{
    const int attn = !hx_plan_given(a->base, "kv") && !hx_plan_given(a->base, "attn") && !is_layer(density) &&
                     !(hx_plan_offload(a->base) & HX_OFFLOAD_ATTN);
    const int packets = !hx_plan_given(a->base, "packets");
    const int placed = !hx_plan_given(a->base, "placement") && hx_plan_uses_option(plan, "placement");
    int rc = 0;

    for (int i = 0; !rc && i < (1 + attn) * (1 + packets); i++) {
        const struct hx_choice c = {.density = density, .attn = i / (1 + packets), .packets = i % (1 + packets)};
        size_t p = placed ? 0 : sizeof(placements) / sizeof(placements[0]) - 1;

        do {
            struct hx_choice with = c;

            with.placement = placements[p];
            rc = consider(a, all, with, err);
        } while (!rc && placements[p] && placements[++p]);
    }
    return rc;
}

/* Whole layers, unless a density was asked for. */
static int combine_layers(const struct ask *a, struct hx_choices *all, const struct hx_sweep *s, struct hx_error *err)
{
    struct hx_plan *plan = NULL;
    int rc = 0;

    if (s->n_density || hx_plan_given(a->base, "kv") || !hx_geometry_has_matrices(a->g, s->cases[0].plan[0]))
        return 0;
    if (hx_sweep_plan(a->base, hx_sweep_whole_layers, &plan, err) == 0)
        rc = combine(a, all, hx_sweep_whole_layers, plan, err);
    hx_plan_close(plan);
    return rc;
}

int hx_choices_find(struct hx_choices *all, const struct hx_sweep *s, const struct hx_plan *base, struct hx_error *err)
{
    const struct hx_sweep_case *c = &s->cases[0];
    const struct ask a = {base, &c->shape, s->pos[0], hx_plan_uses_option(c->plan[0], "density")};
    int rc = 0;

    *all = (struct hx_choices){.n = 0};
    for (size_t i = 0; !rc && i < c->n_density; i++)
        rc = combine(&a, all, c->density[i], c->plan[i], err);
    return rc ? rc : combine_layers(&a, all, s, err);
}

void hx_choices_free(struct hx_choices *all)
{
    for (size_t i = 0; i < all->n; i++)
        hx_plan_close(all->at[i].plan);
    free(all->at);
    *all = (struct hx_choices){.n = 0};
}

/* --- what follows from shapes alone */

struct hx_shape hx_choice_shape(const struct hx_geometry *g)
{
    return (struct hx_shape){.n_layer = g->n_layer, .n_kv = g->n_kv, .dh = g->dh, .width = g->width, .ffn = g->ffn, .vocab = g->vocab};
}

struct hx_calls hx_choice_calls(const struct hx_choice *c, const struct hx_geometry *g, size_t pos)
{
    const struct hx_shape s = hx_choice_shape(g);

    return hx_plan_calls(c->plan, &s, pos);
}

double hx_choice_matrix_bytes(const struct hx_choice *c, const struct hx_geometry *g)
{
    return hx_geometry_matrix_bytes(g, c->plan);
}
