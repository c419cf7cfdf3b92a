/* Puts a plan's methods together around one forward pass, see engine.h. */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>

enum { DEFAULT_BATCH = 512 };

static int make_plan(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    int rc;

    e->plan = cfg->plan;
    if (e->plan)
        return 0;
    rc = hx_plan_open(&e->own_plan, "", 0, err);
    if (!rc)
        rc = hx_plan_set_list(e->own_plan, cfg->settings, err);
    if (!rc)
        rc = hx_plan_resolve(e->own_plan, err);
    e->plan = e->own_plan;
    return rc;
}

static int take_core(struct hx_engine *e, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    const struct hx_core_cfg own = {.path = cfg->model, .share = cfg->share, .threads = cfg->threads, .paging = cfg->paging,
                                    .watch = cfg->watch};
    int rc = 0;

    e->core = cfg->share_with ? cfg->share_with->core : cfg->core;
    if (!e->core) {
        rc = hx_core_open(&e->own_core, &own, e->plan, err);
        e->core = e->own_core;
    }
    if (!rc)
        rc = hx_core_check(e->core, e->plan, err);
    if (!rc)
        e->model = e->core->model;
    return rc;
}

static size_t context(const struct hx_engine_cfg *cfg, const struct hx_model *m)
{
    if (cfg->n_ctx)
        return cfg->n_ctx;
    return cfg->n_ctx_most && cfg->n_ctx_most < m->n_ctx ? cfg->n_ctx_most : m->n_ctx;
}

static int open_twin(struct hx_engine **out, const struct hx_open *o, struct hx_error *err)
{
    struct hx_engine_cfg cfg = {.core = o->core, .n_ctx = o->n_ctx};
    struct hx_plan *plan;
    int rc = hx_plan_twin(&plan, o->plan, err);

    if (rc)
        return rc;
    cfg.plan = plan;
    rc = hx_engine_open(out, &cfg, err);
    if (rc)
        hx_plan_close(plan);
    else
        (*out)->own_plan = plan;
    return rc;
}

static const struct hx_engines engines = {hx_engine_open, hx_engine_close, open_twin};

static int open_draft(struct hx_engine *e, struct hx_open o, struct hx_error *err)
{
    o.core = e->core;
    o.engines = &engines;
    return hx_plan_method(e->plan, HX_SEAM_DRAFT)->open.draft(&e->draft, &o, err);
}

static int open_taps(struct hx_engine *e, struct hx_open o, struct hx_error *err)
{
    const struct hx_method *m;
    int rc = 0;

    o.core = e->core;
    for (size_t i = 0; !rc && (m = hx_plan_tap(e->plan, i)); i++)
        rc = m->open.tap(&e->taps[i], &o, err);
    return rc;
}

static int open_methods(struct hx_engine *e, size_t n_ctx, struct hx_error *err)
{
    const struct hx_open o = hx_core_for(e->core, e->plan, n_ctx);
    int rc = hx_plan_method(e->plan, HX_SEAM_KV)->open.kv(&e->kv, &o, err);

    if (!rc)
        rc = hx_plan_method(e->plan, HX_SEAM_ATTN)->open.attn(&e->attn, &o, err);
    if (!rc && hx_plan_softmax_int(e->plan))
        rc = hx_attn_softmax_int(e->attn, err);
    if (!rc)
        rc = open_draft(e, o, err);
    return rc ? rc : open_taps(e, o, err);
}

static void list_taps(struct hx_engine *e, struct hx_tap *more)
{
    size_t n = 0;

    for (; e->taps[n]; n++)
        e->seen_by[n] = e->taps[n];
    if (e->draft->tap)
        e->seen_by[n++] = e->draft->tap;
    e->seen_by[n] = more;
}

static int use_parts(struct hx_engine *e, struct hx_error *err)
{
    const struct hx_forward_parts parts = {
        .matrices = &e->core->matrices, .kernels = e->core->kernels,
        .pool = e->core->kernels ? e->core->pool : NULL, .taps = e->seen_by,
        .trees = e->kv->ops->keep && e->draft->ops->propose,
    };

    return hx_forward_use(e->forward, &parts, err);
}

static int open_forward(struct hx_engine *e, size_t max_batch, struct hx_error *err)
{
    const size_t batch = max_batch ? max_batch : DEFAULT_BATCH;
    int rc = hx_forward_open(&e->forward, e->model, e->kv, e->attn,
                             batch < e->kv->max_batch ? batch : e->kv->max_batch, err);

    if (!rc && hx_plan_guesses(e->plan) && hx_forward_max_guessed(e->forward) < 2)
        rc = hx_error_set(err, -EINVAL, "draft %s: the model verifies guesses in batches, and here %s", e->draft->ops->name,
                          batch > 1 ? "the cache takes one token at a time" : "a batch is one token");
    return rc ? rc : use_parts(e, err);
}

int hx_engine_open(struct hx_engine **out, const struct hx_engine_cfg *cfg, struct hx_error *err)
{
    struct hx_engine *e = calloc(1, sizeof(*e));
    int rc = e ? make_plan(e, cfg, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc)
        rc = take_core(e, cfg, err);
    if (!rc)
        rc = open_methods(e, context(cfg, e->model), err);
    if (!rc) {
        list_taps(e, cfg->tap);
        rc = open_forward(e, cfg->max_batch, err);
    }
    if (!rc && hx_plan_given(e->plan, "release-file")) /* behind all that may run the model while it opens */
        rc = hx_core_release(e->core, e->plan, err);
    if (rc) {
        hx_engine_close(e);
        return rc;
    }
    e->argmax = (hx_plan_offload(e->plan) & HX_OFFLOAD_ARGMAX) != 0;
    *out = e;
    return 0;
}

int hx_engine_add_tap(struct hx_engine *e, struct hx_tap *tap, struct hx_error *err)
{
    size_t n = 0;

    while (e->seen_by[n])
        n++;
    if (n == HX_ENGINE_TAPS)
        return hx_error_set(err, -ENOSPC, "%zu taps see the engine's states; %d at most", n, HX_ENGINE_TAPS);
    e->seen_by[n] = tap;
    e->seen_by[n + 1] = NULL;
    return use_parts(e, err);
}

int hx_engine_finish(struct hx_engine *e, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; e->taps[i]; i++) {
        const int failed = hx_tap_close(e->taps[i], rc ? NULL : err);

        rc = rc ? rc : failed;
        e->taps[i] = NULL;
    }
    e->seen_by[0] = NULL;
    if (!rc && e->draft->ops->finish)
        rc = e->draft->ops->finish(e->draft, err);
    return rc;
}

void hx_engine_close(struct hx_engine *e)
{
    if (!e)
        return;
    hx_forward_close(e->forward);
    for (size_t i = 0; e->taps[i]; i++)
        hx_tap_abandon(e->taps[i]);
    hx_draft_close(e->draft);
    hx_attn_close(e->attn);
    hx_kv_close(e->kv);
    hx_core_close(e->own_core);
    hx_plan_close(e->own_plan);
    free(e);
}

int hx_engine_run(struct hx_engine *e, const uint32_t *tokens, size_t n, size_t pos,
                  struct hx_error *err)
{
    const size_t batch = hx_forward_max_batch(e->forward);

    for (size_t i = 0; i < n; i += batch) {
        size_t now = n - i < batch ? n - i : batch;
        int rc = hx_forward_run(e->forward, tokens + i, now, pos + i, err);

        if (rc)
            return rc;
        e->last = now - 1;
    }
    return 0;
}

struct hx_batch_cost hx_engine_batch_cost(const struct hx_engine *e)
{
    return hx_plan_rig(e->plan) ? (struct hx_batch_cost){0, 0} : hx_forward_batch_cost(e->forward);
}

int hx_engine_logits(struct hx_engine *e, float *out, struct hx_error *err)
{
    return hx_forward_logits(e->forward, e->last, 1, out, err);
}

/* --- reports */

static int add_report(const struct hx_engine *e, const struct hx_method *m, const void *self, json_t *to)
{
    json_t *j = m->report ? m->report(self, e->kv, e->plan) : NULL;

    if (!m->report)
        return 0;
    return j ? json_object_set_new(to, m->reports, j) : -1;
}

static int add_softmax(const struct hx_engine *e, json_t *to)
{
    const struct hx_softmax_seen *seen = &e->attn->seen;
    json_t *j = json_pack("{s:s, s:I}", "method", "int", "rows", (json_int_t)seen->rows);
    int rc = 0;

    if (j && seen->measured) {
        rc |= json_object_set_new(j, "kl_mean", json_real(seen->kl_sum / (double)seen->measured));
        rc |= json_object_set_new(j, "kl_max", json_real(seen->kl_max));
    }
    return rc | json_object_set_new(to, "softmax", j);
}

int hx_engine_report(const struct hx_engine *e, json_t *to)
{
    int rc = hx_plan_report(e->plan, e->model->n_layer, to);

    rc |= add_report(e, hx_plan_method(e->plan, HX_SEAM_KV), e->kv, to);
    rc |= add_report(e, hx_plan_method(e->plan, HX_SEAM_ATTN), e->attn, to);
    for (size_t i = 0; i < e->core->n_linear; i++)
        rc |= add_report(e, e->core->linear[i].method, e->core->linear[i].open, to);
    rc |= add_report(e, hx_plan_method(e->plan, HX_SEAM_DRAFT), e->draft, to);
    for (size_t i = 0; e->taps[i]; i++)
        rc |= add_report(e, hx_plan_tap(e->plan, i), e->taps[i], to);
    if (hx_plan_softmax_int(e->plan))
        rc |= add_softmax(e, to);
    if (e->core->released.before)
        rc |= json_object_set_new(to, "release_file", hx_core_release_report(e->core));
    if (e->core->pager)
        rc |= json_object_set_new(to, "paging", hx_pager_report(e->core->pager));
    return rc ? -ENOMEM : 0;
}
