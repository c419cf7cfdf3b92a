/* Primes of the ring, the shim and its headroom, see ok.h. */
#include "ok.h"

#include <errno.h>
#include <math.h>

enum { DISCRIMINANT = 163, HEADROOM_BITS = 62 };

/* --- primes */

static int is_prime(uint32_t p)
{
    for (uint32_t d = 2; d * d <= p; d++)
        if (p % d == 0)
            return 0;
    return p >= 2;
}

/* s >= 0 with s^2 = n, or -1. */
static int64_t square_root(int64_t n)
{
    for (int64_t s = 0; s * s <= n; s++)
        if (s * s == n)
            return s;
    return -1;
}

/* The class number is 1: a prime number that is not prime in the ring is the norm of an element. */
int hx_ok_prime(struct hx_ok_prime *out, uint32_t p, struct hx_error *err)
{
    const int64_t p4 = 4 * (int64_t)p;

    if (p > HX_OK_MAX_P || !is_prime(p))
        return hx_error_set(err, -EINVAL, "p = %u; prime numbers from 2 to %d are legal", p,
                            HX_OK_MAX_P);
    *out = (struct hx_ok_prime){p, HX_OK_INERT, {p, 0}};
    for (int64_t b = 1; DISCRIMINANT * b * b <= p4; b++) {
        const int64_t s = square_root(p4 - DISCRIMINANT * b * b);

        if (s < 0)
            continue;
        out->kind = p == DISCRIMINANT ? HX_OK_RAMIFIED : HX_OK_SPLIT;
        out->pi = (struct hx_ok){(s - b) / 2, b}; /* s and b have one parity: s^2 + 163 b^2 = 4p */
        break;
    }
    return 0;
}

/* --- the shim */

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static uint64_t larger(uint64_t x, uint64_t y)
{
    return x > y ? x : y;
}

/* The largest number that y * conj(pi) forms. */
static uint64_t terms(struct hx_ok y, struct hx_ok pi)
{
    const struct hx_ok c = {pi.a + pi.b, -pi.b};
    const int64_t ac = y.a * c.a, bd = y.b * c.b, ad = y.a * c.b, bc = y.b * c.a;
    const int64_t all[] = {y.a, y.b, ac, 41 * bd, ac - 41 * bd, ad, bc, ad + bc, ad + bc + bd};
    uint64_t top = 0;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        top = larger(top, magnitude(all[i]));
    return top;
}

/* An inert p divides coordinate by coordinate and forms nothing larger. */
static int measure(struct hx_ok_shim *s)
{
    enum { LARGEST = 1 << 30 }; /* so that terms() cannot overflow; more leaves no headroom anyway */

    s->grow = 1;
    for (unsigned i = 1; i <= s->k; i++) {
        if (hx_ok_mul(&s->power, s->power, s->prime.pi) || magnitude(s->power.a) > LARGEST ||
            magnitude(s->power.b) > LARGEST)
            return -EINVAL;
        s->grow = larger(s->grow, s->prime.kind == HX_OK_INERT ? magnitude(s->power.a)
                                                               : terms(s->power, s->prime.pi));
    }
    return 0;
}

int hx_ok_shim_init(struct hx_ok_shim *s, uint32_t p, unsigned k, struct hx_error *err)
{
    int rc;

    *s = (struct hx_ok_shim){.k = k, .power = {1, 0}, .grow = 1};
    if (p == 0 && k == 0)
        return 0;
    rc = hx_ok_prime(&s->prime, p, err);
    if (rc)
        return rc;
    if (k < 1 || k > HX_OK_MAX_K)
        return hx_error_set(err, -EINVAL, "shim: k = %u; 1 to %d are legal", k, HX_OK_MAX_K);
    rc = measure(s);
    return rc ? hx_error_set(err, rc, "shim: the coordinates of pi_%u^%u exceed 2^30; take a smaller k", p,
                           k)
              : 0;
}

/* *v /= p */
static int divide(int64_t *v, int64_t p, struct hx_ok_count *count)
{
    const int64_t q = *v / p;

    count->divisions++;
    if (q * p != *v) {
        count->remainders++;
        return -EDOM;
    }
    *v = q;
    return 0;
}

static int divide_both(struct hx_ok *y, int64_t p, struct hx_ok_count *count)
{
    struct hx_ok q = *y;
    const int rc_a = divide(&q.a, p, count), rc_b = divide(&q.b, p, count);

    if (rc_a || rc_b)
        return -EDOM;
    *y = q;
    return 0;
}

int hx_ok_unshim(const struct hx_ok_shim *s, struct hx_ok *y, struct hx_ok_count *count)
{
    struct hx_ok conj;

    hx_ok_conj(&conj, s->prime.pi);
    for (unsigned i = 0; i < s->k; i++) {
        struct hx_ok t = *y;

        if (s->prime.kind != HX_OK_INERT && hx_ok_mul(&t, t, conj))
            return -ERANGE;
        if (divide_both(&t, s->prime.p, count))
            return -EDOM;
        *y = t;
    }
    return 0;
}

int hx_ok_unshim_real(const struct hx_ok_shim *s, struct hx_ok y, int64_t *out,
                      struct hx_ok_count *count)
{
    int rc = hx_ok_unshim(s, &y, count);

    if (rc)
        return rc;
    count->divisions += s->k > 0;
    count->remainders += y.b != 0;
    *out = y.a;
    return y.b ? -EDOM : 0;
}

/* --- headroom */

static unsigned ceil_log2(size_t n)
{
    unsigned bits = 0;

    while (bits < 63 && ((size_t)1 << bits) < n)
        bits++;
    return bits;
}

int hx_ok_x_bits(const struct hx_ok_shim *s, unsigned q_max, size_t in)
{
    const int fixed = (int)q_max + (int)ceil_log2(in);
    int bits = HEADROOM_BITS - fixed;

    /* grow * 2^(fixed + bits) <= 2^62 */
    while (bits >= 0 && s->grow > (uint64_t)1 << (HEADROOM_BITS - fixed - bits))
        bits--;
    return bits < 0 ? -1 : bits;
}

int hx_ok_headroom(const struct hx_ok_shim *s, unsigned q_max, unsigned x_bits, size_t in,
                   struct hx_error *err)
{
    const int most = hx_ok_x_bits(s, q_max, in);

    if ((int)x_bits <= most)
        return 0;
    return hx_error_set(err, -ERANGE, "headroom: q_max %u + %.2f bits of the shim + x_bits %u + %u bits for %zu "
                      "columns exceed %d; x_bits up to %d would do", q_max, log2((double)s->grow),
                      x_bits, ceil_log2(in), in, HEADROOM_BITS, most);
}
