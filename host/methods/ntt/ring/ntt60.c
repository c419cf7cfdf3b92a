/* Transforms modulo one 60-bit prime: tables of weights, and which variant runs here. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "ntt.h"
#include "ntt60.h"

typedef unsigned __int128 u128;

static const uint64_t q = HX_NTT60_Q;

static struct hx_ntt60 tables[4]; /* N = 64 << i */
static const struct hx_ntt60_ops *best;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* --- arithmetic */

uint64_t hx_ntt60_residue(int64_t a)
{
    const int64_t r = a % (int64_t)q;

    return (uint64_t)(r < 0 ? r + (int64_t)q : r);
}

int64_t hx_ntt60_centre(uint64_t r)
{
    return r > q / 2 ? (int64_t)(r - q) : (int64_t)r;
}

static uint64_t power(uint64_t base, uint64_t e)
{
    uint64_t r = 1;

    for (; e; e >>= 1) {
        if (e & 1)
            r = hx_ntt60_mul(r, base);
        base = hx_ntt60_mul(base, base);
    }
    return r;
}

/* --- tables */

static uint64_t shoup_of(uint64_t w)
{
    return (uint64_t)(((u128)w << 64) / q);
}

static size_t reversed(size_t i, size_t n)
{
    size_t r = 0;

    for (size_t bit = 1; bit < n; bit <<= 1, i >>= 1)
        r = r << 1 | (i & 1);
    return r;
}

static void spread(uint64_t *out, const uint64_t *w, const uint64_t *ws, size_t n, size_t lanes)
{
    for (size_t pair = 0; pair < n / (2 * lanes); pair++)
        for (size_t d = lanes / 2; d; d /= 2, out += 2 * lanes)
            for (size_t i = 0; i < lanes; i++) {
                const size_t from = n / (2 * d) + pair * (lanes / d) + i / d;

                out[i] = w[from];
                out[lanes + i] = ws[from];
            }
}

static void make(struct hx_ntt60 *t, size_t n)
{
    t->n = n;
    t->q = q;
    t->psi = power(1753, (q - 1) / (2 * n));
    assert(power(t->psi, n) == q - 1);
    const uint64_t inverse = power(t->psi, 2 * n - 1);
    uint64_t p = 1, ip = 1;

    for (size_t i = 0; i < n; i++) {
        const size_t at = reversed(i, n);

        t->w[at] = p;
        t->ws[at] = shoup_of(p);
        t->iw[at] = ip;
        t->iws[at] = shoup_of(ip);
        p = hx_ntt60_mul(p, t->psi);
        ip = hx_ntt60_mul(ip, inverse);
    }
    t->n_inv = power(n, q - 2);
    t->n_inv_s = shoup_of(t->n_inv);
    spread(t->lanes8.forward, t->w, t->ws, n, 8);
    spread(t->lanes8.inverse, t->iw, t->iws, n, 8);
}

static void make_all(void)
{
    for (size_t i = 0; i < 4; i++)
        make(&tables[i], (size_t)HX_POLY_N_MIN << i);
    best = hx_ntt60_variants[0];
    for (size_t i = 0; hx_ntt60_variants[i]; i++)
        if (hx_ntt60_variants[i]->supported())
            best = hx_ntt60_variants[i];
}

const struct hx_ntt60 *hx_ntt60_get(size_t n)
{
    pthread_once(&once, make_all);
    for (size_t i = 0; i < 4; i++)
        if (tables[i].n == n)
            return &tables[i];
    return NULL;
}

const struct hx_ntt60_ops *hx_ntt60_best(void)
{
    pthread_once(&once, make_all);
    return best;
}

uint64_t hx_ntt60_psi(const struct hx_ntt60 *t)
{
    return t->psi;
}

const struct hx_ntt60_ops *const hx_ntt60_variants[] = {
    &hx_ntt60_ref,
#ifdef __x86_64__
    &hx_ntt60_avx512,
#endif
    NULL,
};

/* --- integers in, integers out */

void hx_ntt60_transform(const struct hx_ntt60 *t, uint64_t *out, const int32_t *a)
{
    for (size_t i = 0; i < t->n; i++)
        out[i] = (uint64_t)a[i] + (a[i] < 0 ? q : 0);
    hx_ntt60_best()->forward(t, out);
}

void hx_ntt60_query(const struct hx_ntt60 *t, uint64_t *out, const int32_t *query)
{
    hx_ntt60_transform(t, out, query);
    for (size_t i = 0; i < t->n; i++)
        out[i] = hx_ntt60_less(hx_ntt60_shoup(out[i], t->n_inv, t->n_inv_s), q);
}

int64_t hx_ntt60_score(const struct hx_ntt60 *t, const uint64_t *query, const uint64_t *key)
{
    return hx_ntt60_centre(hx_ntt60_best()->dot(t, query, key));
}
