/* Ring attention in the forms that the paper's ladder starts from: products by % or by Barrett's method, queries
 * transformed for every key or once. */
#include "bench_exact_attn.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/softmax.h"
#include "mul60.h"

#define INLINE HX_MUL60_INLINE

struct ladder {
    struct hx_attn attn;
    struct hx_bench_attn_cfg cfg;
    size_t n;
    uint64_t w[HX_POLY_N_MAX]; /* psi^i at the bits of i reversed */
    uint64_t n_inv;
    uint64_t *keys; /* [position][KV head][N] */
    float *scores;  /* [position] */
};

INLINE void transform(const struct ladder *l, uint64_t *v, const float *row, size_t dh, int key,
                      int barrett)
{
    int32_t a[HX_POLY_N_MAX];

    hx_poly_encode(a, l->n, row, dh, HX_POLY_DELTA_BITS);
    if (key)
        hx_poly_involute(a, l->n);
    for (size_t i = 0; i < l->n; i++)
        v[i] = hx_ntt60_residue(a[i]);
    hx_forward60(v, l->w, l->n, barrett);
}

INLINE int64_t product(const struct ladder *l, const uint64_t *query, const uint64_t *key,
                       int barrett)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < l->n; i++)
        sum = hx_add60(sum, hx_mul60(query[i], key[i], barrett));
    return hx_ntt60_centre(hx_mul60(sum, l->n_inv, barrett));
}

INLINE void score(struct ladder *l, const struct hx_attn_in *in, size_t head, int barrett)
{
    const size_t dh = in->kv->dh, kv_head = head / (in->n_head / in->kv->n_kv);
    const size_t first = hx_attn_first(in, in->pos);
    uint64_t query[HX_POLY_N_MAX];

    for (size_t p = first; p <= in->pos; p++) {
        if (p == first || !l->cfg.hoist)
            transform(l, query, in->q + head * dh, dh, 0, barrett);
        l->scores[p - first] = hx_poly_score(
            product(l, query, l->keys + (p * in->kv->n_kv + kv_head) * l->n, barrett),
            HX_POLY_DELTA_BITS, in->scale);
    }
    for (size_t i = 0; in->softcap > 0 && i <= in->pos - first; i++)
        l->scores[i] = in->softcap * __builtin_tanhf(l->scores[i] / in->softcap);
}

INLINE void run_by(struct ladder *l, const struct hx_attn_in *in, const struct hx_kv_view *past,
                   float *out, int barrett)
{
    const size_t dh = in->kv->dh, n_kv = in->kv->n_kv;

    for (size_t p = hx_attn_first(in, in->pos); p <= in->pos; p++)
        for (size_t h = 0; h < n_kv; h++)
            transform(l, l->keys + (p * n_kv + h) * l->n,
                      (p < in->pos ? past->k + p * past->stride : in->k) + h * dh, dh, 1, barrett);
    for (size_t head = 0; head < in->n_head; head++) {
        score(l, in, head, barrett);
        hx_attn_softmax_v(in, past, 0, head, l->scores, NULL, out + head * dh);
    }
}

static int run(struct hx_attn *a, const struct hx_attn_in *in, float *out, struct hx_error *err)
{
    struct ladder *l = (struct ladder *)a;
    struct hx_kv_view past;
    int rc = in->n == 1 ? in->kv->ops->rows(in->kv, in->layer, in->pos, &past, err)
                        : hx_error_set(err, -EINVAL, "bench: %zu tokens in one run; 1 is legal",
                                     in->n);

    if (!rc && l->cfg.barrett)
        run_by(l, in, &past, out, 1);
    else if (!rc)
        run_by(l, in, &past, out, 0);
    return rc;
}

static void close_ladder(struct hx_attn *a)
{
    struct ladder *l = (struct ladder *)a;

    free(l->keys);
    free(l->scores);
    free(l);
}

int hx_bench_attn_open(struct hx_attn **out, const struct hx_bench_attn_cfg *cfg, size_t n_kv,
                       size_t dh,
                       size_t n_ctx, struct hx_error *err)
{
    static const struct hx_attn_ops ops = {"bench", run, close_ladder};
    struct ladder *l = calloc(1, sizeof(*l));

    if (!l)
        return hx_error_set(err, -ENOMEM, "bench: out of memory");
    l->attn.ops = &ops;
    l->cfg = *cfg;
    l->n = hx_poly_n(dh);
    if (!hx_ntt60_get(l->n)) {
        free(l);
        return hx_error_set(err, -ENOTSUP, "bench: heads of %zu elements; %d is the most", dh,
                            HX_POLY_N_MAX);
    }
    l->keys = calloc(n_ctx * n_kv, l->n * sizeof(*l->keys));
    l->scores = calloc(n_ctx, sizeof(*l->scores));
    if (!l->keys || !l->scores) {
        close_ladder(&l->attn);
        return hx_error_set(err, -ENOMEM, "bench: no memory for %zu positions", n_ctx);
    }
    hx_weights60(l->w, l->n);
    l->n_inv = HX_NTT60_Q - (HX_NTT60_Q - 1) / l->n; /* N divides q - 1 */
    *out = &l->attn;
    return 0;
}
