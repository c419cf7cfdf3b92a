/* Transforms modulo one 60-bit prime in plain C: what the others are compared with, and where they have nothing faster. */
#include "ntt60.h"

typedef unsigned __int128 u128;

static const uint64_t q = HX_NTT60_Q;

uint64_t hx_ntt60_mul(uint64_t a, uint64_t b)
{
    const u128 ab = (u128)a * b;
    const uint64_t t = (uint64_t)(((u128)(uint64_t)(ab >> 59) * HX_NTT60_MU) >> 61);
    uint64_t r = (uint64_t)ab - t * q;

    while (r >= q)
        r -= q;
    return r;
}

/* --- values stay in 0..4q-1 between stages (Harvey) */

static int always(void)
{
    return 1;
}

static void forward(const struct hx_ntt60 *t, uint64_t *v)
{
    for (size_t m = 1, d = t->n / 2; d; m *= 2, d /= 2)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 2 * i * d; j < (2 * i + 1) * d; j++) {
                const uint64_t x = hx_ntt60_less(v[j], 2 * q);
                const uint64_t y = hx_ntt60_shoup(v[j + d], t->w[m + i], t->ws[m + i]);

                v[j] = x + y;
                v[j + d] = x - y + 2 * q;
            }
    for (size_t j = 0; j < t->n; j++)
        v[j] = hx_ntt60_less(hx_ntt60_less(v[j], 2 * q), q);
}

static void inverse(const struct hx_ntt60 *t, uint64_t *v)
{
    for (size_t m = t->n / 2, d = 1; m; m /= 2, d *= 2)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 2 * i * d; j < (2 * i + 1) * d; j++) {
                const uint64_t x = v[j], y = v[j + d];

                v[j] = hx_ntt60_less(x + y, 2 * q);
                v[j + d] = hx_ntt60_shoup(x - y + 2 * q, t->iw[m + i], t->iws[m + i]);
            }
    for (size_t j = 0; j < t->n; j++)
        v[j] = hx_ntt60_less(hx_ntt60_shoup(v[j], t->n_inv, t->n_inv_s), q);
}

static void pointwise(const struct hx_ntt60 *t, uint64_t *c, const uint64_t *a, const uint64_t *b)
{
    for (size_t i = 0; i < t->n; i++)
        c[i] = hx_ntt60_mul(a[i], b[i]);
}

/* Products below 2^120: 128 bits hold 256 of them. */
static uint64_t dot(const struct hx_ntt60 *t, const uint64_t *a, const uint64_t *b)
{
    uint64_t r = 0;

    for (size_t i = 0; i < t->n; i += HX_POLY_N_MIN) {
        u128 sum = r;

        for (size_t j = i; j < i + HX_POLY_N_MIN; j++)
            sum += (u128)a[j] * b[j];
        r = (uint64_t)(sum % q);
    }
    return r;
}

const struct hx_ntt60_ops hx_ntt60_ref = {"ref", always, forward, inverse, pointwise, dot};
