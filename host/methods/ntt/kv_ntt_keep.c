/* A path of a tree in the cache `ntt`: blocks, lengths and V move to where the path's tokens stand.  Keys on the DSP it moves itself, by
 * one call for all layers; only a key that crosses from here to there, once in a text, is transformed back and again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kv_ntt_impl.h"

/* Tokens i of the path, by where their keys are and go to. */
struct path {
    const size_t *index;
    size_t pos, n;
    size_t on_dsp;  /* those before this one are there already */
    size_t to_dsp;  /* those before this one belong there */
};

static struct path classify(const struct hx_kv_ntt *c, size_t pos, const size_t *index, size_t n)
{
    struct path p = {index, pos, n, 0, 0};

    while (p.on_dsp < n && pos + index[p.on_dsp] < c->dsp_positions)
        p.on_dsp++;
    while (p.to_dsp < n && pos + p.to_dsp < c->dsp_positions)
        p.to_dsp++;
    return p;
}

/* The first token of the path that does not stay where it is. */
static size_t first_moved(const struct path *p)
{
    size_t i = 0;

    while (i < p->n && p->index[i] == i)
        i++;
    return i;
}

static int keep_on_dsp(const struct hx_kv_ntt *c, const struct path *p, struct hx_error *err)
{
    const size_t first = first_moved(p);
    uint32_t *from;
    int rc;

    if (first >= p->on_dsp)
        return 0;
    from = malloc((p->on_dsp - first) * sizeof(*from));
    if (!from)
        return hx_error_set(err, -ENOMEM, "kv ntt: out of memory");
    for (size_t i = first; i < p->on_dsp; i++)
        from[i - first] = (uint32_t)(p->index[i] - first);
    rc = hx_ntt_dsp_keep(c->dsp, p->pos + first, from, p->on_dsp - first, err);
    free(from);
    return rc;
}

/* What rows() returns encodes to the same blocks. */
static int cross(struct hx_kv_ntt *c, const struct path *p, size_t layer, struct hx_error *err)
{
    const size_t row = c->kv.n_kv * c->kv.dh, n = p->to_dsp - p->on_dsp;
    struct hx_kv_view view;
    float *k;
    int rc;

    if (!n)
        return 0;
    rc = c->kv.ops->rows(&c->kv, layer, p->pos + p->index[p->to_dsp - 1] + 1, &view, err);
    if (rc)
        return rc;
    k = malloc(n * row * sizeof(*k));
    if (!k)
        return hx_error_set(err, -ENOMEM, "kv ntt: out of memory");
    for (size_t i = 0; i < n; i++)
        memcpy(k + i * row, view.k + (p->pos + p->index[p->on_dsp + i]) * view.stride, row * sizeof(*k));
    rc = hx_kv_ntt_put_keys(c, layer, p->pos + p->on_dsp, n, k, err);
    free(k);
    return rc;
}

/* Ascending: nothing is overwritten before it was moved. */
static void keep_here(struct hx_kv_ntt *c, const struct path *p, size_t layer)
{
    const size_t heads = c->kv.n_kv, row = heads * c->kv.dh;

    for (size_t i = first_moved(p); i < p->n; i++) {
        const size_t to = p->pos + i, from = p->pos + p->index[i];

        memcpy(&c->lengths[hx_kv_ntt_index(c, layer, to, 0)], &c->lengths[hx_kv_ntt_index(c, layer, from, 0)],
               heads * sizeof(*c->lengths));
        memcpy(hx_kv_ntt_values(c, layer, to), hx_kv_ntt_values(c, layer, from), row * sizeof(*c->v));
        if (i >= p->to_dsp)
            memcpy(hx_kv_ntt_block(c, layer, to, 0), hx_kv_ntt_block(c, layer, from, 0), heads * c->ring.block_bytes);
    }
}

int hx_kv_ntt_keep(struct hx_kv *kv, size_t pos, const size_t *index, size_t n, struct hx_error *err)
{
    struct hx_kv_ntt *c = (struct hx_kv_ntt *)kv;
    const struct path p = classify(c, pos, index, n);
    int rc = keep_on_dsp(c, &p, err);

    for (size_t layer = 0; !rc && layer < kv->n_layer; layer++) {
        rc = cross(c, &p, layer, err);
        if (!rc)
            keep_here(c, &p, layer);
    }
    return rc;
}
