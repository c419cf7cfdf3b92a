/* Transforms modulo two 30-bit primes: tables, the reference, Garner.  See ntt.h.  No 128-bit type in here. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "crt.h"

static struct hx_crt tables[HX_CRT_SIZES];
static const struct hx_crt_ops *best;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* --- arithmetic */

/* v - q where v >= q; residues are random, so that a branch would be mispredicted half of the time. */
static inline uint32_t less(uint32_t v, uint32_t q)
{
    const uint32_t r = v - q;

    return r < v ? r : v;
}

/* a b mod q by Barrett: ((ab >> 29) mu) >> 31 with mu = floor(2^60 / q) is at most 2 too small.  a, b < q. */
static inline uint32_t mul_mu(uint32_t a, uint32_t b, uint32_t q, uint32_t mu)
{
    const uint64_t x = (uint64_t)a * b;

    return less(less((uint32_t)(x - ((x >> 29) * mu >> 31) * q), q), q);
}

/* The same where time does not matter. */
static uint32_t mul(uint32_t a, uint32_t b, uint32_t q)
{
    return mul_mu(a, b, q, (uint32_t)((1ull << 60) / q));
}

static inline uint32_t add(uint32_t a, uint32_t b, uint32_t q)
{
    return less(a + b, q);
}

static inline uint32_t sub(uint32_t a, uint32_t b, uint32_t q)
{
    return less(a - b + q, q);
}

static uint32_t power(uint32_t base, uint32_t e, uint32_t q)
{
    uint32_t r = 1;

    for (; e; e >>= 1) {
        if (e & 1)
            r = mul(r, base, q);
        base = mul(base, base, q);
    }
    return r;
}

/* --- tables */

static uint32_t shoup(uint32_t w, uint32_t q)
{
    return (uint32_t)(((uint64_t)w << 32) / q);
}

static size_t reversed(size_t i, size_t n)
{
    size_t r = 0;

    for (size_t bit = 1; bit < n; bit <<= 1, i >>= 1)
        r = r << 1 | (i & 1);
    return r;
}

static uint32_t find_psi(size_t n, uint32_t q)
{
    for (uint32_t base = 2;; base++) {
        const uint32_t psi = power(base, (q - 1) / (2 * (uint32_t)n), q);

        if (power(psi, (uint32_t)n, q) == q - 1)
            return psi;
    }
}

static void spread(uint32_t *out, const uint32_t *w, const uint32_t *ws, size_t n, size_t lanes)
{
    for (size_t pair = 0; pair < n / (2 * lanes); pair++)
        for (size_t d = lanes / 2; d; d /= 2, out += 2 * lanes)
            for (size_t i = 0; i < lanes; i++) {
                const size_t from = n / (2 * d) + pair * (lanes / d) + i / d;

                out[i] = w[from];
                out[lanes + i] = ws[from];
            }
}

static void make_prime(struct hx_crt_prime *p, size_t n, uint32_t q)
{
    uint32_t power_of = 1, inverse_of = 1;

    p->q = q;
    p->mu = (uint32_t)((1ull << 60) / q);
    p->psi = find_psi(n, q);
    const uint32_t inverse = power(p->psi, 2 * (uint32_t)n - 1, q);
    for (size_t i = 0; i < n; i++) {
        const size_t at = reversed(i, n);

        p->w[at] = power_of;
        p->ws[at] = shoup(power_of, q);
        p->iw[at] = inverse_of;
        p->iws[at] = shoup(inverse_of, q);
        power_of = mul(power_of, p->psi, q);
        inverse_of = mul(inverse_of, inverse, q);
    }
    p->n_inv = power((uint32_t)n, q - 2, q);
    p->n_inv_s = shoup(p->n_inv, q);
    spread(p->lanes8.forward, p->w, p->ws, n, 8);
    spread(p->lanes8.inverse, p->iw, p->iws, n, 8);
    spread(p->lanes16.forward, p->w, p->ws, n, 16);
    spread(p->lanes16.inverse, p->iw, p->iws, n, 16);
}

static void make_all(void)
{
    for (size_t i = 0; i < HX_CRT_SIZES; i++) {
        tables[i].n = (size_t)HX_POLY_N_MIN << i;
        make_prime(&tables[i].p[0], tables[i].n, HX_CRT_Q1);
        make_prime(&tables[i].p[1], tables[i].n, HX_CRT_Q2);
    }
    best = hx_crt_variants[0];
    for (size_t i = 0; hx_crt_variants[i]; i++)
        if (hx_crt_variants[i]->supported())
            best = hx_crt_variants[i];
}

const struct hx_crt *hx_crt_get(size_t n)
{
    pthread_once(&once, make_all);
    for (size_t i = 0; i < HX_CRT_SIZES; i++)
        if (tables[i].n == n)
            return &tables[i];
    return NULL;
}

const struct hx_crt_ops *hx_crt_best(void)
{
    pthread_once(&once, make_all);
    return best;
}

uint32_t hx_crt_psi(const struct hx_crt *t, int prime)
{
    return t->p[prime].psi;
}

size_t hx_crt_bytes(size_t n)
{
    return HX_CRT_PRIMES * n * sizeof(uint32_t);
}

/* --- the reference: values stay in 0..q-1, one Barrett product per butterfly */

static int always(void)
{
    return 1;
}

static void forward_prime(const struct hx_crt_prime *p, size_t n, uint32_t *v)
{
    const uint32_t q = p->q, mu = p->mu;

    for (size_t m = 1, d = n / 2; d; m *= 2, d /= 2)
        for (size_t i = 0; i < m; i++) {
            const uint32_t w = p->w[m + i];

            for (size_t j = 2 * i * d; j < (2 * i + 1) * d; j++) {
                const uint32_t x = v[j], y = mul_mu(v[j + d], w, q, mu);

                v[j] = add(x, y, q);
                v[j + d] = sub(x, y, q);
            }
        }
}

static void inverse_prime(const struct hx_crt_prime *p, size_t n, uint32_t *v)
{
    const uint32_t q = p->q, mu = p->mu;

    for (size_t m = n / 2, d = 1; m; m /= 2, d *= 2)
        for (size_t i = 0; i < m; i++) {
            const uint32_t w = p->iw[m + i];

            for (size_t j = 2 * i * d; j < (2 * i + 1) * d; j++) {
                const uint32_t x = v[j], y = v[j + d];

                v[j] = add(x, y, q);
                v[j + d] = mul_mu(sub(x, y, q), w, q, mu);
            }
        }
    for (size_t j = 0; j < n; j++)
        v[j] = mul_mu(v[j], p->n_inv, q, mu);
}

static void forward(const struct hx_crt *t, uint32_t *block)
{
    for (size_t i = 0; i < HX_CRT_PRIMES; i++)
        forward_prime(&t->p[i], t->n, block + i * t->n);
}

static void inverse(const struct hx_crt *t, uint32_t *block)
{
    for (size_t i = 0; i < HX_CRT_PRIMES; i++)
        inverse_prime(&t->p[i], t->n, block + i * t->n);
}

static void lift(const struct hx_crt_prime *p, size_t n, uint32_t *v, const int32_t *a)
{
    for (size_t j = 0; j < n; j++) {
        const int64_t r = a[j] % (int64_t)p->q;

        v[j] = (uint32_t)(r < 0 ? r + p->q : r);
    }
}

static void transform(const struct hx_crt *t, uint32_t *block, const int32_t *a)
{
    for (size_t i = 0; i < HX_CRT_PRIMES; i++)
        lift(&t->p[i], t->n, block + i * t->n, a);
    forward(t, block);
}

static void pointwise(const struct hx_crt *t, uint32_t *c, const uint32_t *a, const uint32_t *b)
{
    for (size_t i = 0; i < HX_CRT_PRIMES; i++)
        for (size_t j = i * t->n; j < (i + 1) * t->n; j++)
            c[j] = mul_mu(a[j], b[j], t->p[i].q, t->p[i].mu);
}

static uint32_t dot(const uint32_t *a, const uint32_t *b, size_t n, uint32_t q)
{
    uint64_t r = 0;

    for (size_t i = 0; i < n;) {
        /* a sum of up to 15 products may have 64 bits: mul()'s Barrett would be wrong for it */
        const size_t end = i + HX_CRT_LAZY < n ? i + HX_CRT_LAZY : n;

        for (; i < end; i++)
            r += (uint64_t)a[i] * b[i];
        r %= q;
    }
    return (uint32_t)r;
}

static void dots(const struct hx_crt *t, uint32_t *sums, const uint32_t *a, const uint32_t *b,
                 size_t stride, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < HX_CRT_PRIMES; i++)
            sums[k * HX_CRT_PRIMES + i] = dot(a + i * t->n, b + k * stride + i * t->n, t->n,
                                              t->p[i].q);
}

static void transform_one(const struct hx_crt *t, int prime, uint32_t *half, const int32_t *a)
{
    lift(&t->p[prime], t->n, half, a);
    forward_prime(&t->p[prime], t->n, half);
}

static void inverse_one(const struct hx_crt *t, int prime, uint32_t *half)
{
    inverse_prime(&t->p[prime], t->n, half);
}

static void dots_one(const struct hx_crt *t, int prime, uint32_t *sums, const uint32_t *a,
                     const uint32_t *b, size_t stride, size_t n)
{
    for (size_t k = 0; k < n; k++)
        sums[k] = dot(a, b + k * stride, t->n, t->p[prime].q);
}

const struct hx_crt_ops hx_crt_ref = {"ref", always, transform, forward, inverse, pointwise, dots,
                                      transform_one, inverse_one, dots_one};

const struct hx_crt_ops *const hx_crt_variants[] = {
    &hx_crt_ref,
#ifdef __x86_64__
    &hx_crt_avx2,
    &hx_crt_avx512,
#endif
    NULL,
};

/* --- integers in, integers out */

void hx_crt_transform(const struct hx_crt *t, uint32_t *block, const int32_t *a)
{
    hx_crt_best()->transform(t, block, a);
}

void hx_crt_query(const struct hx_crt *t, uint32_t *block, const int32_t *q)
{
    hx_crt_best()->transform(t, block, q);
    for (size_t i = 0; i < HX_CRT_PRIMES; i++)
        for (size_t j = i * t->n; j < (i + 1) * t->n; j++)
            block[j] = mul_mu(block[j], t->p[i].n_inv, t->p[i].q, t->p[i].mu);
}

void hx_crt_query_one(const struct hx_crt *t, int prime, uint32_t *half, const int32_t *q)
{
    const struct hx_crt_prime *p = &t->p[prime];

    hx_crt_best()->transform_one(t, prime, half, q);
    for (size_t j = 0; j < t->n; j++)
        half[j] = mul_mu(half[j], p->n_inv, p->q, p->mu);
}

int64_t hx_crt_garner(uint32_t x1, uint32_t x2)
{
    /* q1 > q2, so x1 may be q2 or more */
    const uint32_t t = mul_mu(sub(x2, x1 % HX_CRT_Q2, HX_CRT_Q2), HX_CRT_Q1_INV, HX_CRT_Q2,
                              (uint32_t)((1ull << 60) / HX_CRT_Q2));
    const int64_t v = x1 + (int64_t)HX_CRT_Q1 * t;

    return v > HX_CRT_M / 2 ? v - HX_CRT_M : v;
}

void hx_crt_scores(const struct hx_crt *t, int64_t *c, const uint32_t *query, const uint32_t *keys,
                   size_t stride, size_t n)
{
    enum { CHUNK = 64 };
    uint32_t sums[CHUNK][HX_CRT_PRIMES];

    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t some = n - i < CHUNK ? n - i : CHUNK;

        hx_crt_best()->dots(t, sums[0], query, keys + i * stride, stride, some);
        for (size_t j = 0; j < some; j++)
            c[i + j] = hx_crt_garner(sums[j][0], sums[j][1]);
    }
}

void hx_crt_decode(const struct hx_crt *t, int32_t *a, const uint32_t *block)
{
    _Alignas(64) uint32_t residues[HX_CRT_PRIMES * HX_POLY_N_MAX];

    memcpy(residues, block, hx_crt_bytes(t->n));
    hx_crt_best()->inverse(t, residues);
    for (size_t i = 0; i < t->n; i++)
        a[i] = (int32_t)hx_crt_garner(residues[i], residues[t->n + i]);
    hx_poly_involute(a, t->n);
}
