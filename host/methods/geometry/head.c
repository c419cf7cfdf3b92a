/* The output matrix, see head.h. */
#include "head.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/linear.h"
#include "engine/row_ops.h"

struct hx_head {
    const struct hx_model *m;
    float *normed, *scratch, *logits; /* [width], [width], [vocab] */
};

int hx_head_open(struct hx_head **out, const struct hx_model *m, struct hx_error *err)
{
    struct hx_head *h = calloc(1, sizeof(*h));

    if (h) {
        h->m = m;
        h->normed = malloc(m->width * sizeof(*h->normed));
        h->scratch = malloc(m->width * sizeof(*h->scratch));
        h->logits = malloc(m->vocab * sizeof(*h->logits));
    }
    if (!h || !h->normed || !h->scratch || !h->logits) {
        hx_head_close(h);
        return hx_error_set(err, -ENOMEM, "out of memory");
    }
    *out = h;
    return 0;
}

void hx_head_close(struct hx_head *h)
{
    if (!h)
        return;
    free(h->normed);
    free(h->scratch);
    free(h->logits);
    free(h);
}

/* The model's last norm: RMS norm, or layer norm where there is a bias. */
static void norm(const struct hx_model *m, const float *x, float *y)
{
    const struct hx_norm *n = &m->out_norm;
    double mean = 0, square = 0;

    if (!n->b) {
        hx_row_ops_ref.rms_norm(y, x, n->w, m->width, m->eps);
        return;
    }
    for (size_t i = 0; i < m->width; i++)
        mean += (double)x[i] / (double)m->width;
    for (size_t i = 0; i < m->width; i++)
        square += ((double)x[i] - mean) * ((double)x[i] - mean) / (double)m->width;
    for (size_t i = 0; i < m->width; i++)
        y[i] = (float)((double)n->w[i] * ((double)x[i] - mean) / sqrt(square + (double)m->eps) + (double)n->b[i]);
}

const float *hx_head_logits(struct hx_head *h, const float *state, struct hx_error *err)
{
    const struct hx_model *m = h->m;
    const struct hx_linear *w = &m->out;

    norm(m, state, h->normed);
    if (hx_linear_apply(&w, &h->logits, 1, h->normed, 1, h->scratch, err))
        return NULL;
    for (size_t i = 0; m->logit_softcap > 0 && i < m->vocab; i++)
        h->logits[i] = m->logit_softcap * tanhf(h->logits[i] / m->logit_softcap);
    return h->logits;
}

void hx_head_best(const float *logits, size_t vocab, size_t n, struct hx_store_record *to)
{
    size_t there = 0;

    for (uint32_t i = 0; i < vocab; i++) {
        size_t at = there;

        if (there == n && (!n || logits[i] <= to->best[n - 1].logit))
            continue;
        there += there < n;
        for (at = there - 1; at > 0 && to->best[at - 1].logit < logits[i]; at--)
            to->best[at] = to->best[at - 1];
        to->best[at].id = i;
        to->best[at].logit = logits[i];
    }
}

uint32_t hx_head_first(const float *logits, size_t vocab)
{
    uint32_t first = 0;

    for (uint32_t i = 1; i < vocab; i++)
        first = logits[i] > logits[first] ? i : first;
    return first;
}
