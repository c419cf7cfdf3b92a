/* Embeddings: hidden states, summed batch by batch. */
#include "embedding.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int hx_embedding_open(struct hx_embedding *e, size_t n, size_t width)
{
    *e = (struct hx_embedding){.n = n, .width = width};
    e->inputs = calloc(n, sizeof(*e->inputs));
    e->out = calloc(n, width * sizeof(*e->out));
    e->sum = calloc(width, sizeof(*e->sum));
    return e->inputs && e->out && e->sum ? 0 : -ENOMEM;
}

void hx_embedding_close(struct hx_embedding *e)
{
    for (size_t i = 0; e->inputs && i < e->n; i++)
        free(e->inputs[i].ids);
    free(e->inputs);
    free(e->out);
    free(e->sum);
    memset(e, 0, sizeof(*e));
}

void hx_embedding_restart(struct hx_embedding *e)
{
    e->at = e->pos = 0;
    memset(e->sum, 0, e->width * sizeof(*e->sum));
}

size_t hx_embedding_tokens(const struct hx_embedding *e)
{
    size_t n = 0;

    for (size_t i = 0; i < e->n; i++)
        n += e->inputs[i].n;
    return n;
}

static void add(struct hx_embedding *e, const float *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < e->width; k++)
            e->sum[k] += (double)rows[i * e->width + k];
}

/* The sum's direction, which is the mean's; a sum of zeros stays one. */
static void finish_input(struct hx_embedding *e)
{
    float *out = e->out + e->at * e->width;
    double square = 0;

    for (size_t k = 0; k < e->width; k++)
        square += e->sum[k] * e->sum[k];
    for (size_t k = 0; k < e->width; k++)
        out[k] = square > 0 ? (float)(e->sum[k] / sqrt(square)) : 0;
    memset(e->sum, 0, e->width * sizeof(*e->sum));
    e->at++;
    e->pos = 0;
}

int hx_embedding_step(struct hx_embedding *e, struct hx_engine *engine, struct hx_error *err)
{
    const size_t most = hx_forward_max_batch(engine->forward);
    size_t n;
    int rc;

    if (e->at == e->n)
        return 0;
    n = e->inputs[e->at].n - e->pos;
    n = n < most ? n : most;
    rc = hx_forward_run(engine->forward, e->inputs[e->at].ids + e->pos, n, e->pos, err);
    if (rc)
        return rc;
    add(e, hx_forward_hidden(engine->forward), n);
    e->pos += n;
    if (e->pos == e->inputs[e->at].n)
        finish_input(e);
    return e->at < e->n;
}
