/* Perplexity, see ppl.h. */
#include "ppl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

/* Predictions of the n tokens of the last run; want: the ids that follow each. */
static int score_batch(const struct hx_model *m, struct hx_forward *f, const uint32_t *want,
                       size_t n, float *logits, double *nll_sum, struct hx_why *why)
{
    int rc;

    for (size_t i = 0; i < n; i++) {
        if (want[i] >= m->vocab)
            return hx_why_set(why, -EINVAL, "token %u; the vocabulary has %zu", want[i], m->vocab);
        if (i % HX_PPL_ROWS == 0) {
            rc = hx_forward_logits(f, i, n - i < HX_PPL_ROWS ? n - i : HX_PPL_ROWS, logits, why);
            if (rc)
                return rc;
        }
        *nll_sum += nll_of(logits + i % HX_PPL_ROWS * m->vocab, m->vocab, want[i]);
    }
    return 0;
}

int hx_ppl_score(const struct hx_model *m, struct hx_forward *f, const uint32_t *ids, size_t ctx,
                 float *logits, double *nll_sum, struct hx_why *why)
{
    const size_t batch = hx_forward_max_batch(f);
    int rc = 0;

    for (size_t pos = 0; !rc && pos < ctx; pos += batch) {
        size_t n = ctx - pos < batch ? ctx - pos : batch;

        rc = hx_forward_run(f, ids + pos, n, pos, why);
        if (!rc)
            rc = score_batch(m, f, ids + pos + 1, n, logits, nll_sum, why);
    }
    return rc;
}

static int check_windows(size_t n_ids, size_t ctx, size_t chunks, struct hx_why *why)
{
    size_t span;

    if (ctx < 1 || chunks < 1 || n_ids < ctx + 1)
        return hx_why_set(why, -EINVAL, "the text has %zu tokens; a window needs %zu", n_ids,
                          ctx + 1);
    span = n_ids - ctx - 1; /* more windows than that would start at the same places */
    if (chunks > 1 && chunks > span)
        return hx_why_set(why, -EINVAL, "%zu windows of %zu tokens in a text of %zu tokens: at "
                          "most %zu start at different places", chunks, ctx + 1, n_ids,
                          span ? span : 1);
    return 0;
}

int hx_ppl_run(const struct hx_model *m, struct hx_forward *f, const uint32_t *ids, size_t n_ids,
               size_t ctx, size_t chunks, struct hx_ppl *out, struct hx_why *why)
{
    double sum = 0;
    float *logits;
    int rc = check_windows(n_ids, ctx, chunks, why);

    if (rc)
        return rc;
    logits = calloc(m->vocab, HX_PPL_ROWS * sizeof(*logits));
    if (!logits)
        return hx_why_set(why, -ENOMEM, "out of memory");
    for (size_t i = 0; !rc && i < chunks; i++)
        rc = hx_ppl_score(m, f, ids + hx_ppl_window(n_ids, ctx, chunks, i), ctx, logits, &sum, why);
    free(logits);
    if (rc)
        return rc;
    out->tokens = ctx * chunks;
    out->nll = sum / (double)out->tokens;
    out->ppl = exp(out->nll);
    if (!isfinite(out->ppl))
        return hx_why_set(why, -ERANGE, "the mean nll is %g nats: its perplexity is too large for "
                          "a number", out->nll);
    return 0;
}
