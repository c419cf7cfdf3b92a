/* See poly_shard.h. */
#include "poly_shard.h"

#include <math.h>
#include <string.h>

#include "methods/ntt/shard/shard.h"
#include "poly_impl.h"

static void key(const struct hx_poly *p, void *block, const int32_t *a)
{
    hx_crt_best()->transform_one(p->crt, hx_shard_prime(p->shard), block, a);
}

static void query(const struct hx_poly *p, void *block, const int32_t *a)
{
    hx_crt_query_one(p->crt, hx_shard_prime(p->shard), block, a);
}

static const char *kernel(void)
{
    return hx_crt_best()->name;
}

const struct hx_poly_ops hx_poly_sharded = {
    .coefficient_bytes = sizeof(uint32_t), .transforms = 1, .key = key, .query = query, .kernel = kernel};

void hx_poly_residues(const struct hx_poly *p, uint32_t *r, const void *q, const void *keys,
                      size_t stride, size_t n)
{
    hx_crt_best()->dots_one(p->crt, hx_shard_prime(p->shard), r, q, keys, stride / sizeof(*r), n);
}

static int64_t combine(const struct hx_poly *p, uint32_t mine, uint32_t theirs)
{
    return hx_shard_prime(p->shard) ? hx_crt_garner(theirs, mine) : hx_crt_garner(mine, theirs);
}

void hx_poly_combine(const struct hx_poly *p, float *scores, float scale, const uint32_t *mine,
                     const uint32_t *theirs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        scores[i] = hx_poly_score(combine(p, mine[i], theirs[i]), p->delta_bits, scale);
}

void hx_poly_key_residues(const struct hx_poly *p, uint32_t *residues, const void *block)
{
    memcpy(residues, block, p->block_bytes);
    hx_crt_best()->inverse_one(p->crt, hx_shard_prime(p->shard), residues);
}

void hx_poly_combine_key(const struct hx_poly *p, float *k, const uint32_t *mine,
                         const uint32_t *theirs)
{
    int32_t a[HX_POLY_N_MAX];

    for (size_t i = 0; i < p->n; i++)
        a[i] = (int32_t)combine(p, mine[i], theirs[i]);
    hx_poly_involute(a, p->n);
    for (size_t i = 0; i < p->dh; i++)
        k[i] = (float)ldexp(a[i], -(int)p->delta_bits);
}
