/* Perplexity: lays the windows out, runs them, adds up what the model thought of each next token. */
#include "ppl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "log_sum.h"

enum { ROWS = 16 }; /* predictions whose logits are made at once */

size_t hx_ppl_window(size_t n_ids, size_t ctx, size_t chunks, size_t i)
{
    return (size_t)((unsigned __int128)i * (n_ids - ctx - 1) / chunks);
}

/* What one call of hx_ppl_windows() works with. */
struct job {
    const struct hx_model *m;
    struct hx_forward *f;
    const uint32_t *ids;
    size_t n_ids;
    const struct hx_ppl_cfg *cfg;
    uint32_t *window;  /* [ctx] */
    float *logits;     /* [ROWS][vocab] */
    float *ref_logits; /* likewise; NULL: no reference */
};

struct tally {
    double nll, nll2; /* sum, and sum of squares */
    double ref_nll;
    double kl, kl2, kl_max;
    size_t same_top;
};

/* Never below 0 but by rounding. */
static double kl_of(const struct hx_log_sum *r, const float *ref, const struct hx_log_sum *a, const float *logits, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        const double log_r = (double)ref[i] - (double)r->most - r->rest;

        sum += exp(log_r) * (log_r - ((double)logits[i] - (double)a->most - a->rest));
    }
    return fmax(sum, 0);
}

static void add(const struct job *j, size_t row, uint32_t want, struct tally *t)
{
    const size_t vocab = j->m->vocab;
    const float *logits = j->logits + row * vocab;
    const struct hx_log_sum a = hx_log_sum(logits, vocab);
    const double nll = hx_log_sum_nll(&a, logits[want]);

    t->nll += nll;
    t->nll2 += nll * nll;
    if (j->ref_logits) {
        const float *ref = j->ref_logits + row * vocab;
        const struct hx_log_sum r = hx_log_sum(ref, vocab);
        const double kl = kl_of(&r, ref, &a, logits, vocab);

        t->ref_nll += hx_log_sum_nll(&r, ref[want]);
        t->kl += kl;
        t->kl2 += kl * kl;
        t->kl_max = fmax(t->kl_max, kl);
        t->same_top += a.top == r.top;
    }
}

static int get_logits(const struct job *j, size_t first, size_t n, struct hx_error *err)
{
    int rc = hx_forward_logits(j->f, first, n, j->logits, err);

    return rc || !j->ref_logits ? rc : hx_forward_logits(j->cfg->reference, first, n, j->ref_logits, err);
}

/* Predictions of the tokens first..n-1 of the last run; want: the ids that follow each of its n. */
static int score_batch(const struct job *j, const uint32_t *want, size_t first, size_t n, struct tally *t, struct hx_error *err)
{
    int rc;

    for (size_t i = first; i < n; i++) {
        const size_t row = (i - first) % ROWS;

        if (want[i] >= j->m->vocab)
            return hx_error_set(err, -EINVAL, "token %u; the vocabulary has %zu", want[i], j->m->vocab);
        if (row == 0) {
            rc = get_logits(j, i, n - i < ROWS ? n - i : ROWS, err);
            if (rc)
                return rc;
        }
        add(j, row, want[i], t);
    }
    return 0;
}

static size_t max_batch(const struct job *j)
{
    const size_t own = hx_forward_max_batch(j->f), other = j->ref_logits ? hx_forward_max_batch(j->cfg->reference) : own;

    return own < other ? own : other;
}

/* The predictions made at positions first..n-1 of ids [n + 1]. */
static int score(const struct job *j, const uint32_t *ids, size_t first, size_t n, struct tally *t, struct hx_error *err)
{
    const size_t batch = max_batch(j);
    int rc = 0;

    for (size_t pos = 0; !rc && pos < n; pos += batch) {
        size_t rows = n - pos < batch ? n - pos : batch;

        rc = hx_forward_run(j->f, ids + pos, rows, pos, err);
        if (!rc && j->ref_logits)
            rc = hx_forward_run(j->cfg->reference, ids + pos, rows, pos, err);
        if (!rc)
            rc = score_batch(j, ids + pos + 1, first > pos ? first - pos : 0, rows, t, err);
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

static int score_window(const struct job *j, size_t chunks, size_t i, struct tally *t, struct hx_error *err)
{
    const size_t ctx = j->cfg->ctx;

    if (!j->cfg->llama)
        return score(j, j->ids + hx_ppl_window(j->n_ids, ctx, chunks, i), 0, ctx, t, err);
    memcpy(j->window, j->ids + i * ctx, ctx * sizeof(*j->window));
    if (j->cfg->bos != HX_NO_TOKEN)
        j->window[0] = j->cfg->bos;
    return score(j, j->window, ctx / 2, ctx - 1, t, err);
}

/* Of a mean of n values, from their sum and the sum of their squares. */
static double standard_error(double sum, double sum2, double n)
{
    const double mean = sum / n, variance = sum2 / n - mean * mean;

    return n > 1 && variance > 0 ? sqrt(variance / (n - 1)) : 0;
}

static void summarise(const struct job *j, const struct tally *t, struct hx_ppl *out)
{
    const double n = (double)out->tokens;

    out->nll = t->nll / n;
    out->ppl = exp(out->nll);
    out->nll_stderr = standard_error(t->nll, t->nll2, n);
    out->ppl_stderr = out->ppl * out->nll_stderr;
    if (j->ref_logits)
        out->kl = (struct hx_ppl_kl){t->kl / n, standard_error(t->kl, t->kl2, n), t->kl_max, (double)t->same_top / n,
                                     exp(t->ref_nll / n)};
}

static int score_windows(const struct job *j, struct hx_ppl *out, struct hx_error *err)
{
    const struct hx_ppl_cfg *cfg = j->cfg;
    const size_t each = cfg->llama ? cfg->ctx - 1 - cfg->ctx / 2 : cfg->ctx;
    const size_t most = cfg->llama ? j->n_ids / cfg->ctx : cfg->chunks;
    struct tally t = {0};
    int rc = 0;

    *out = (struct hx_ppl){0};
    out->chunks = cfg->chunks && cfg->chunks < most ? cfg->chunks : most;
    for (size_t i = 0; !rc && i < out->chunks; i++) {
        rc = score_window(j, out->chunks, i, &t, err);
        if (!rc && cfg->progress)
            cfg->progress(cfg->arg, i + 1, out->chunks, exp(t.nll / (double)((i + 1) * each)));
    }
    out->tokens = each * out->chunks;
    summarise(j, &t, out);
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
    if (cfg->reference)
        j.ref_logits = calloc(m->vocab, ROWS * sizeof(*j.ref_logits));
    rc = j.window && j.logits && (j.ref_logits || !cfg->reference) ? score_windows(&j, out, err)
                                                                   : hx_error_set(err, -ENOMEM, "out of memory");
    free(j.window);
    free(j.logits);
    free(j.ref_logits);
    return rc;
}
