/* Perplexity: lays the windows out, runs them, adds up what the model thought of each next token. */
#include "ppl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 16 }; /* predictions whose logits are made at once */

size_t hx_ppl_window(size_t n_ids, size_t ctx, size_t chunks, size_t i)
{
    return (size_t)((unsigned __int128)i * (n_ids - ctx - 1) / chunks);
}

/* -log softmax(logits)[want], summed in f64. */
static double nll_of(const float *logits, size_t n, uint32_t want)
{
    double sum = 0;
    float max = logits[0];

    for (size_t i = 1; i < n; i++)
        max = logits[i] > max ? logits[i] : max;
    for (size_t i = 0; i < n; i++)
        sum += exp((double)logits[i] - (double)max);
    return log(sum) + (double)max - (double)logits[want];
}

/* Predictions of the tokens first..n-1 of the last run; want: the ids that follow each of its n. */
static int score_batch(const struct hx_model *m, struct hx_forward *f, const uint32_t *want,
                       size_t first, size_t n, float *logits, double *nll_sum, struct hx_error *err)
{
    int rc;

    for (size_t i = first; i < n; i++) {
        const size_t row = (i - first) % ROWS;

        if (want[i] >= m->vocab)
            return hx_error_set(err, -EINVAL, "token %u; the vocabulary has %zu", want[i], m->vocab);
        if (row == 0) {
            rc = hx_forward_logits(f, i, n - i < ROWS ? n - i : ROWS, logits, err);
            if (rc)
                return rc;
        }
        *nll_sum += nll_of(logits + row * m->vocab, m->vocab, want[i]);
    }
    return 0;
}

/* The predictions made at positions first..n-1 of ids [n + 1]. */
static int score(const struct hx_model *m, struct hx_forward *f, const uint32_t *ids, size_t first,
                 size_t n, float *logits, double *nll_sum, struct hx_error *err)
{
    const size_t batch = hx_forward_max_batch(f);
    int rc = 0;

    for (size_t pos = 0; !rc && pos < n; pos += batch) {
        size_t rows = n - pos < batch ? n - pos : batch;

        rc = hx_forward_run(f, ids + pos, rows, pos, err);
        if (!rc)
            rc = score_batch(m, f, ids + pos + 1, first > pos ? first - pos : 0, rows, logits,
                             nll_sum, err);
    }
    return rc;
}

static int check_spread(size_t n_ids, size_t ctx, size_t chunks, struct hx_error *err)
{
    size_t span;

    if (ctx < 1 || chunks < 1 || n_ids < ctx + 1)
        return hx_error_set(err, -EINVAL, "the text has %zu tokens; a window needs %zu", n_ids,
                            ctx + 1);
    span = n_ids - ctx - 1; /* more windows than that would start at the same places */
    if (chunks > 1 && chunks > span)
        return hx_error_set(err, -EINVAL, "%zu windows of %zu tokens in a text of %zu tokens: at "
                          "most %zu start at different places", chunks, ctx + 1, n_ids,
                          span ? span : 1);
    return 0;
}

/* llama-perplexity wants two windows, too. */
static int check_llama(size_t n_ids, size_t ctx, struct hx_error *err)
{
    if (ctx < 4)
        return hx_error_set(err, -EINVAL, "a window of %zu tokens scores none; 4 are the least", ctx);
    if (n_ids / 2 < ctx)
        return hx_error_set(err, -EINVAL, "the text has %zu tokens; two windows need %zu", n_ids,
                            2 * ctx);
    return 0;
}

/* What one call of hx_ppl_windows() works with. */
struct job {
    const struct hx_model *m;
    struct hx_forward *f;
    const uint32_t *ids;
    size_t n_ids;
    const struct hx_ppl_cfg *cfg;
    uint32_t *window; /* [ctx] */
    float *logits;    /* [ROWS][vocab] */
};

static int score_window(const struct job *j, size_t chunks, size_t i, double *sum,
                        struct hx_error *err)
{
    const size_t ctx = j->cfg->ctx;

    if (!j->cfg->llama)
        return score(j->m, j->f, j->ids + hx_ppl_window(j->n_ids, ctx, chunks, i), 0, ctx,
                     j->logits, sum, err);
    memcpy(j->window, j->ids + i * ctx, ctx * sizeof(*j->window));
    if (j->cfg->bos != HX_NO_TOKEN)
        j->window[0] = j->cfg->bos;
    return score(j->m, j->f, j->window, ctx / 2, ctx - 1, j->logits, sum, err);
}

static int score_windows(const struct job *j, struct hx_ppl *out, struct hx_error *err)
{
    const struct hx_ppl_cfg *cfg = j->cfg;
    const size_t each = cfg->llama ? cfg->ctx - 1 - cfg->ctx / 2 : cfg->ctx;
    const size_t most = cfg->llama ? j->n_ids / cfg->ctx : cfg->chunks;
    double sum = 0;
    int rc = 0;

    out->chunks = cfg->chunks && cfg->chunks < most ? cfg->chunks : most;
    for (size_t i = 0; !rc && i < out->chunks; i++) {
        rc = score_window(j, out->chunks, i, &sum, err);
        if (!rc && cfg->progress)
            cfg->progress(cfg->arg, i + 1, out->chunks, exp(sum / (double)((i + 1) * each)));
    }
    out->tokens = each * out->chunks;
    out->nll = sum / (double)out->tokens;
    out->ppl = exp(out->nll);
    if (!rc && !isfinite(out->ppl))
        return hx_error_set(err, -ERANGE, "the mean nll is %g nats: its perplexity is too large for "
                          "a number", out->nll);
    return rc;
}

int hx_ppl_windows(const struct hx_model *m, struct hx_forward *f, const uint32_t *ids, size_t n_ids,
                   const struct hx_ppl_cfg *cfg, struct hx_ppl *out, struct hx_error *err)
{
    struct job j = {.m = m, .f = f, .ids = ids, .n_ids = n_ids, .cfg = cfg};
    int rc = cfg->llama ? check_llama(n_ids, cfg->ctx, err)
                        : check_spread(n_ids, cfg->ctx, cfg->chunks, err);

    if (rc)
        return rc;
    j.window = calloc(cfg->ctx, sizeof(*j.window));
    j.logits = calloc(m->vocab, ROWS * sizeof(*j.logits));
    rc = j.window && j.logits ? score_windows(&j, out, err)
                              : hx_error_set(err, -ENOMEM, "out of memory");
    free(j.window);
    free(j.logits);
    return rc;
}
