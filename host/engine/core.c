/* A model, threads, and matrices that the plan's linear methods apply; see core.h. */
#include "core.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "linear.h"

static size_t cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) ? 1 : (size_t)CPU_COUNT(&set);
}

struct hx_open hx_core_for(const struct hx_core *c, const struct hx_plan *plan, size_t n_ctx)
{
    return (struct hx_open){.plan = plan, .model = c->model, .model_path = c->path, .share = c->share, .pool = c->pool,
                            .n_ctx = n_ctx, .paging = &c->paging, .watch = c->watch};
}

/* --- matrices, method by method */

/* A matrix and who applies it. */
struct place {
    struct hx_plan_linear by;
    struct hx_linear *w;
    size_t layer;
    enum hx_matrix which;
    int open; /* its method has been opened */
};

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static size_t list_places(struct hx_core *c, const struct hx_plan *plan, struct place *all)
{
    const size_t n_layer = c->matrices.n_layer;
    size_t n = 0;

    for (size_t i = 0; i < n_layer * HX_PER_LAYER + 1; i++) {
        const size_t layer = i / HX_PER_LAYER;
        const enum hx_matrix which = layer < n_layer ? (enum hx_matrix)(i % HX_PER_LAYER) : HX_OUT;
        struct hx_linear *w = hx_matrices_at(&c->matrices, layer, which);

        const int in_layer = which != HX_OUT;

        if (w->rows && !(in_layer && hx_plan_whole_layers(plan))) /* not every architecture has a gate */
            all[n++] = (struct place){hx_plan_linear(plan, layer, which), w, which == HX_OUT ? 0 : layer, which, 0};
    }
    return n;
}

/* All places of the first one's method and argument, in one set. */
static int open_set(struct hx_core *c, const struct hx_plan *plan, struct place *places, size_t n,
                    struct hx_linear_set *set, struct hx_error *err)
{
    const struct hx_plan_linear by = places[0].by;
    const struct hx_open o = hx_core_for(c, plan, 0);
    struct hx_core_linear *to = &c->linear[c->n_linear];
    int rc;

    if (c->n_linear == HX_CORE_METHODS)
        return hx_error_set(err, -EINVAL, "more than %d linear methods", HX_CORE_METHODS);
    set->n = 0;
    set->arg = by.arg;
    for (size_t i = 0; i < n; i++)
        if (places[i].by.method == by.method && same_text(places[i].by.arg, by.arg)) {
            const struct place *p = &places[i];

            set->at[set->n].w = p->w;
            set->at[set->n].layer = p->layer;
            set->at[set->n].which = p->which;
            set->at[set->n++].on_dsp = p->by.on_dsp;
            places[i].open = 1;
        }
    *to = (struct hx_core_linear){by.method, by.arg ? strdup(by.arg) : NULL, NULL};
    if (by.arg && !to->arg)
        return hx_error_set(err, -ENOMEM, "out of memory");
    c->n_linear++;
    rc = by.method->open.linear(&to->open, &o, set, err);
    return rc;
}

static int open_linear(struct hx_core *c, const struct hx_plan *plan, struct hx_error *err)
{
    const size_t most = c->matrices.n_layer * HX_PER_LAYER + 1;
    struct place *places = calloc(most, sizeof(*places));
    struct hx_linear_set set = {.at = calloc(most, sizeof(*set.at))};
    const size_t n = places && set.at ? list_places(c, plan, places) : 0;
    int rc = places && set.at ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    for (size_t i = 0; i < n && !rc; i++)
        if (!places[i].open)
            rc = open_set(c, plan, places + i, n - i, &set, err);
    free(set.at);
    free(places);
    return rc;
}

/* --- open and close */

static int pages(const struct hx_plan *plan)
{
    return hx_plan_given(plan, "page-weights");
}

static int open_model(struct hx_core *c, const struct hx_core_cfg *cfg, const struct hx_plan *plan, struct hx_error *err)
{
    int rc = 0;

    if (!cfg->model) {
        rc = hx_model_open(&c->own_model, cfg->path, hx_archs, err);
        if (rc)
            return rc;
        if (!pages(plan))
            hx_gguf_will_need(c->own_model->file);
    }
    c->paging = cfg->paging;
    c->watch = cfg->watch;
    c->model = cfg->model ? cfg->model : c->own_model;
    c->path = cfg->path ? strdup(cfg->path) : NULL;
    c->share = cfg->share ? strdup(cfg->share) : NULL;
    if ((cfg->path && !c->path) || (cfg->share && !c->share) || hx_matrices_copy(&c->matrices, c->model))
        return hx_error_set(err, -ENOMEM, "out of memory");
    return hx_pool_open(&c->pool, cfg->threads ? cfg->threads : cpus(), err);
}

/* How matrices are applied, as text. */
static const char *map_of(const struct hx_plan *plan)
{
    const char *text = hx_plan_text(plan, "linear");

    return text ? text : hx_plan_method(plan, HX_SEAM_LINEAR)->name;
}

static int keep_map(struct hx_core *c, const struct hx_plan *plan, struct hx_error *err)
{
    c->map = strdup(map_of(plan));
    c->offload = hx_plan_offload(plan) & HX_OFFLOAD_LINEAR;
    c->whole_layers = hx_plan_whole_layers(plan);
    return c->map ? 0 : hx_error_set(err, -ENOMEM, "out of memory");
}

int hx_core_check(const struct hx_core *c, const struct hx_plan *plan, struct hx_error *err)
{
    if (!c->pager != !pages(plan))
        return hx_error_set(err, -EINVAL, "%s: the engine that this one shares matrices with has it %s",
                            hx_plan_spell(plan, "page-weights"), c->pager ? "on" : "off");
    if (strcmp(c->map, map_of(plan)) == 0 && c->offload == (hx_plan_offload(plan) & HX_OFFLOAD_LINEAR) &&
        (!c->whole_layers || hx_plan_whole_layers(plan)))
        return 0;
    return hx_error_set(err, -EINVAL, "linear %s: the engine that this one shares matrices with has linear %s, or other "
                        "matrices on the DSP", map_of(plan), c->map);
}

int hx_core_open(struct hx_core **out, const struct hx_core_cfg *cfg, const struct hx_plan *plan,
                 struct hx_error *err)
{
    const struct hx_method *base = hx_plan_method(plan, HX_SEAM_LINEAR);
    struct hx_core *c = calloc(1, sizeof(*c));
    int rc = c ? open_model(c, cfg, plan, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc)
        rc = hx_plan_check_layers(plan, c->model->n_layer, err);
    if (!rc)
        rc = open_linear(c, plan, err);
    if (!rc && pages(plan))
        rc = hx_pager_open(&c->pager, c->model, &c->matrices, hx_plan_number(plan, "page-kib") << 10, &c->paging, err);
    if (!rc)
        rc = keep_map(c, plan, err);
    if (rc) {
        hx_core_close(c);
        return rc;
    }
    c->kernels = base->kernels ? base->kernels() : NULL;
    *out = c;
    return 0;
}

void hx_core_close(struct hx_core *c)
{
    if (!c)
        return;
    hx_pager_close(c->pager);
    while (c->n_linear) {
        struct hx_core_linear *l = &c->linear[--c->n_linear];

        hx_linear_close(l->open);
        free(l->arg);
    }
    hx_matrices_free(&c->matrices);
    hx_pool_close(c->pool);
    hx_model_close(c->own_model);
    free(c->map);
    free(c->path);
    free(c->share);
    free(c);
}
