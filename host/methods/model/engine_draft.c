/* A drafter that is an engine, see engine_draft.h. */
#include "engine_draft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

struct engine_draft {
    struct hx_draft draft; /* first */
    struct hx_draft_ops ops;
    const struct hx_engines *engines;
    struct hx_engine *e;
    uint32_t *ids;         /* [n_run] that its cache holds */
    size_t n_run;
    float *logits;         /* [vocab] */
    int certain;
    struct hx_engine_draft_follower follower;
    uint32_t guesses[HX_DRAFT_MAX]; /* [n_guesses] the last ones, for the follower */
    size_t n_guesses;
};

/* --- guesses */

/* Runs ids [n] from position pos on, and has the logits behind them. */
static int run(struct engine_draft *d, const uint32_t *ids, size_t n, size_t pos, struct hx_error *err)
{
    const size_t most = hx_forward_max_batch(d->e->forward);
    size_t now = 0;

    for (size_t i = 0; i < n; i += now) {
        int rc;

        now = n - i < most ? n - i : most;
        d->n_run = pos + i; /* what lies behind is not the text's any more */
        rc = hx_forward_run(d->e->forward, ids + i, now, pos + i, err);
        if (rc)
            return rc;
        memcpy(d->ids + pos + i, ids + i, now * sizeof(*ids));
        d->n_run += now;
    }
    return hx_forward_logits(d->e->forward, now - 1, 1, d->logits, err);
}

/* How many tokens of the text the cache holds; the last one is run again in any case, for its logits. */
static size_t held(const struct engine_draft *d, const uint32_t *ids, size_t n)
{
    size_t same = 0;

    while (same + 1 < n && same < d->n_run && d->ids[same] == ids[same])
        same++;
    return same;
}

static int propose(struct hx_draft *draft, const uint32_t *ids, size_t n, const struct hx_draft_room *room,
                   struct hx_draft_tree *out, struct hx_error *err)
{
    struct engine_draft *d = (struct engine_draft *)draft;
    const size_t from = held(d, ids, n);
    struct hx_draft_room all = *room;
    int rc = d->follower.begin ? d->follower.begin(d->follower.arg, err) : 0;

    if (!rc)
        rc = run(d, ids + from, n - from, from, err);

    if (d->certain)
        all.thresh = 0;
    while (!rc && hx_draft_add_chosen(out, &all, d->logits))
        rc = run(d, &out->id[out->n - 1], 1, n + out->n - 1, err);
    if (d->certain)
        memset(out->p, 0, sizeof(out->p));
    memcpy(d->guesses, out->id, out->n * sizeof(*out->id));
    d->n_guesses = out->n;
    return rc;
}

/* The first wrong one stood where the model's own token stands now. */
static int accept(struct hx_draft *draft, const uint32_t *ids, size_t n, size_t n_new, struct hx_error *err)
{
    struct engine_draft *d = (struct engine_draft *)draft;

    if (!d->follower.wrong || n_new > d->n_guesses || d->guesses[n_new - 1] == ids[n - 1])
        return 0;
    return d->follower.wrong(d->follower.arg, n - 2, err);
}

/* --- open and close */

static void close_engine_draft(struct hx_draft *draft)
{
    struct engine_draft *d = (struct engine_draft *)draft;

    d->engines->close(d->e);
    if (d->follower.close)
        d->follower.close(d->follower.arg);
    free(d->ids);
    free(d->logits);
    free(d);
}

static int same_piece(const struct hx_tokenizer *a, const struct hx_tokenizer *b, uint32_t id)
{
    const struct hx_str x = hx_tokenizer_piece(a, id), y = hx_tokenizer_piece(b, id);

    return x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
}

static int check_model(const char *name, const struct hx_model *theirs, const struct hx_model *ours, size_t n_ctx,
                       struct hx_error *err)
{
    const char *file = hx_gguf_name(theirs->file);

    if (theirs->vocab != ours->vocab)
        return hx_error_set(err, -EINVAL, "draft %s: %s has a vocabulary of %zu tokens, the model one of %zu", name, file,
                            theirs->vocab, ours->vocab);
    for (uint32_t id = 0; id < ours->vocab; id++)
        if (!same_piece(theirs->tok, ours->tok, id))
            return hx_error_set(err, -EINVAL, "draft %s: %s has another vocabulary than the model: token %u differs", name, file,
                                id);
    if (theirs->n_ctx < n_ctx)
        return hx_error_set(err, -EINVAL, "draft %s: %s has a context of %zu, and the text has %zu positions", name, file,
                            theirs->n_ctx, n_ctx);
    return 0;
}

static int open_engine(struct engine_draft *d, const struct hx_engine_draft_cfg *cfg, const struct hx_open *o,
                       struct hx_error *err)
{
    const struct hx_engine_cfg engine = {.settings = cfg->settings, .model = cfg->model ? cfg->model : o->model_path,
                                         .share = o->share, .threads = hx_pool_threads(o->pool), .n_ctx = o->n_ctx,
                                         .tap = d->follower.guessing};

    return cfg->settings ? o->engines->open(&d->e, &engine, err) : o->engines->twin(&d->e, o, err);
}

int hx_engine_draft_open(struct hx_draft **out, const struct hx_engine_draft_cfg *cfg, const struct hx_open *o,
                         struct hx_error *err)
{
    struct engine_draft *d = calloc(1, sizeof(*d));
    int rc;

    if (!d) {
        if (cfg->follower)
            cfg->follower->close(cfg->follower->arg);
        return hx_error_set(err, -ENOMEM, "draft %s: out of memory", cfg->name);
    }
    d->ops = (struct hx_draft_ops){.name = cfg->name, .chooses = 1, .propose = propose, .accept = accept,
                                   .close = close_engine_draft};
    d->draft.ops = &d->ops;
    if (cfg->follower)
        d->follower = *cfg->follower;
    d->draft.tap = d->follower.verifying;
    d->engines = o->engines;
    d->certain = cfg->certain;
    rc = open_engine(d, cfg, o, err);
    if (!rc)
        rc = check_model(cfg->name, d->e->model, o->model, o->n_ctx, err);
    if (!rc) {
        d->ids = calloc(o->n_ctx, sizeof(*d->ids));
        d->logits = calloc(o->model->vocab, sizeof(*d->logits));
        if (!d->ids || !d->logits)
            rc = hx_error_set(err, -ENOMEM, "draft %s: out of memory", cfg->name);
    }
    if (rc)
        close_engine_draft(&d->draft);
    else
        *out = &d->draft;
    return rc;
}

const struct hx_engine *hx_engine_draft_engine(const struct hx_draft *d)
{
    return ((const struct engine_draft *)d)->e;
}

void *hx_engine_draft_follower(const struct hx_draft *d)
{
    return ((const struct engine_draft *)d)->follower.arg;
}
