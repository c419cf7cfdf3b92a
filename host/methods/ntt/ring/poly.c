/* Three ways to an exact inner product, see poly.h. */
#include "poly_impl.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* --- schoolbook */

static void key_school(const struct hx_poly *p, void *block, const int32_t *a)
{
    memcpy(block, a, p->block_bytes);
}

static int64_t score_school(const struct hx_poly *p, const void *query, const void *key)
{
    int64_t c[HX_POLY_N_MAX];

    hx_poly_mul_ref(c, query, key, p->n);
    return c[0];
}

static void decode_school(const struct hx_poly *p, int32_t *a, const void *block)
{
    memcpy(a, block, p->block_bytes);
    hx_poly_involute(a, p->n);
}

static const char *kernel_school(void)
{
    return "ref";
}

/* --- 60 bits */

static void key_60(const struct hx_poly *p, void *block, const int32_t *a)
{
    hx_ntt60_transform(p->t60, block, a);
}

static void query_60(const struct hx_poly *p, void *block, const int32_t *a)
{
    hx_ntt60_query(p->t60, block, a);
}

static int64_t score_60(const struct hx_poly *p, const void *query, const void *key)
{
    return hx_ntt60_score(p->t60, query, key);
}

static void decode_60(const struct hx_poly *p, int32_t *a, const void *block)
{
    uint64_t v[HX_POLY_N_MAX];

    memcpy(v, block, p->block_bytes);
    hx_ntt60_best()->inverse(p->t60, v);
    for (size_t i = 0; i < p->n; i++)
        a[i] = (int32_t)hx_ntt60_centre(v[i]);
    hx_poly_involute(a, p->n);
}

static const char *kernel_60(void)
{
    return hx_ntt60_best()->name;
}

/* --- two primes */

static void key_crt(const struct hx_poly *p, void *block, const int32_t *a)
{
    hx_crt_transform(p->crt, block, a);
}

static void query_crt(const struct hx_poly *p, void *block, const int32_t *a)
{
    hx_crt_query(p->crt, block, a);
}

static int64_t score_crt(const struct hx_poly *p, const void *query, const void *key)
{
    int64_t c;

    hx_crt_scores(p->crt, &c, query, key, 0, 1);
    return c;
}

static void decode_crt(const struct hx_poly *p, int32_t *a, const void *block)
{
    hx_crt_decode(p->crt, a, block);
}

static const char *kernel_crt(void)
{
    return hx_crt_best()->name;
}

const char *const hx_poly_modes[] = {"crt", "60-bit", "schoolbook", NULL};
static const struct hx_poly_ops ops[HX_POLY_MODES] = {
    [HX_POLY_CRT] = {8, 1, key_crt, query_crt, score_crt, decode_crt, kernel_crt},
    [HX_POLY_60] = {8, 1, key_60, query_60, score_60, decode_60, kernel_60},
    [HX_POLY_SCHOOL] = {4, 0, key_school, key_school, score_school, decode_school, kernel_school},
};

/* --- what they share */

int hx_poly_open(struct hx_poly *p, const struct hx_poly_cfg *cfg, size_t dh, struct hx_error *err)
{
    const unsigned bits = cfg->delta_bits ? cfg->delta_bits : HX_POLY_DELTA_BITS;
    const size_t n = hx_poly_n(dh);

    if (!n)
        return hx_error_set(err, -ENOTSUP, "ring attention: heads of %zu elements; %d is the most",
                            dh, HX_POLY_N_MAX);
    if (bits < HX_POLY_DELTA_MIN || bits > HX_POLY_DELTA_MAX)
        return hx_error_set(err, -EINVAL, "ring attention: Delta 2^%u; 2^%d to 2^%d are legal", bits,
                          HX_POLY_DELTA_MIN, HX_POLY_DELTA_MAX);
    if (cfg->shard && cfg->mode != HX_POLY_CRT)
        return hx_error_set(err, -EINVAL, "ring attention: %s products have no two primes to share out",
                          hx_poly_modes[cfg->mode]);
    *p = (struct hx_poly){.ops = cfg->shard ? &hx_poly_sharded : &ops[cfg->mode],
                          .t60 = hx_ntt60_get(n), .crt = hx_crt_get(n), .n = n, .dh = dh,
                          .delta_bits = bits, .shard = cfg->shard};
    p->block_bytes = p->ops->coefficient_bytes * n;
    return 0;
}

static double encode(const struct hx_poly *p, int32_t *a, const float *v)
{
    return hx_poly_encode(a, p->n, v, p->dh, p->delta_bits) ? INFINITY : hx_poly_length(a, p->n);
}

static void count(const struct hx_poly *p, _Atomic uint64_t *made)
{
    if (p->ops->transforms)
        atomic_fetch_add_explicit(made, 1, memory_order_relaxed);
}

double hx_poly_key(const struct hx_poly *p, void *block, const float *k)
{
    int32_t a[HX_POLY_N_MAX];
    const double length = encode(p, a, k);

    hx_poly_involute(a, p->n);
    p->ops->key(p, block, a);
    if (p->counts)
        count(p, &p->counts->keys);
    return length;
}

double hx_poly_query(const struct hx_poly *p, void *block, const float *q)
{
    int32_t a[HX_POLY_N_MAX];
    const double length = encode(p, a, q);

    p->ops->query(p, block, a);
    if (p->counts)
        count(p, &p->counts->queries);
    return length;
}

void hx_poly_scores(const struct hx_poly *p, int64_t *c, const void *query, const void *keys,
                    size_t stride, size_t n)
{
    if (p->ops == &ops[HX_POLY_CRT]) { /* many dots in one go */
        hx_crt_scores(p->crt, c, query, keys, stride / sizeof(uint32_t), n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        c[i] = p->ops->score(p, query, (const char *)keys + i * stride);
}

void hx_poly_scaled(const struct hx_poly *p, float *scores, float scale, const void *query,
                    const void *keys, size_t stride, size_t n)
{
    int64_t c[64];
    const size_t chunk = sizeof(c) / sizeof(*c);

    for (size_t i = 0; i < n; i += chunk) {
        const size_t some = n - i < chunk ? n - i : chunk;

        hx_poly_scores(p, c, query, (const char *)keys + i * stride, stride, some);
        for (size_t j = 0; j < some; j++)
            scores[i + j] = hx_poly_score(c[j], p->delta_bits, scale);
    }
}

void hx_poly_decode_key(const struct hx_poly *p, float *k, const void *block)
{
    int32_t a[HX_POLY_N_MAX];

    p->ops->decode(p, a, block);
    for (size_t i = 0; i < p->dh; i++)
        k[i] = (float)ldexp(a[i], -(int)p->delta_bits);
}

const char *hx_poly_kernel(const struct hx_poly *p)
{
    return p->ops->kernel();
}

int hx_poly_out_of_range(const struct hx_poly *p, double key, double query, size_t layer,
                         size_t pos, struct hx_error *err)
{
    if (isinf(key) || isinf(query))
        return hx_error_set(err, -ERANGE, "ring attention: layer %zu, position %zu: a value of %s exceeds "
                          "2^31 / Delta = %g", layer, pos, isinf(key) ? "K" : "Q",
                          ldexp(1, 31 - (int)p->delta_bits));
    return hx_error_set(err, -ERANGE, "ring attention: layer %zu, position %zu: |Delta q| |Delta k| is "
                      "%.3g at Delta 2^%u; the moduli hold %.3g", layer, pos, key * query,
                      p->delta_bits, (double)HX_POLY_LIMIT);
}
