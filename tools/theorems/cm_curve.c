/* T1: the curve with j = -640320^3 has complex multiplication by O_K, K = Q(sqrt -163).  The endomorphism [w], w^2 = w - 41,
 * is found as a rational function: with x = P(z), P the Weierstrass function of the curve y^2 = x^3 + a x + b, P(w z) =
 * A(P(z)) / B(P(z)), deg A = 41 = N(w), deg B = 40.  Comparing coefficients gives more linear equations over F_p than there
 * are unknowns; that they have a solution is part of what is checked. */
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "modular.h"

enum {
    NORM = 41,
    UNKNOWNS = 2 * NORM + 1,  /* a_0..a_41, b_0..b_39, and a column for what is known */
    LOW = -NORM - 1,          /* exponents of Z = z^2 that series have */
    HIGH = 2 * NORM + 16,
    TERMS = HIGH - LOW + 1,
    EQUATIONS = 2 * NORM + 8, /* exponents -41, -40, ... */
    CURVES = 20, POINTS = 5,
    FIRST_P = 1000,
};

typedef uint64_t series[TERMS]; /* coefficient of Z^e at e - LOW */

/* P(z) and P(w z) for square = w^2 (1: P itself). */
static void weierstrass(const struct hx_curve *e, uint64_t square, series out)
{
    const uint64_t p = e->p;
    uint64_t c[HIGH + 1] = {0}, power = 1;

    c[1] = hx_mod_mul(p - e->a, hx_mod_inverse(5, p), p);
    c[2] = hx_mod_mul(p - e->b, hx_mod_inverse(7, p), p);
    for (uint64_t k = 3; k <= HIGH; k++) {
        uint64_t sum = 0;

        for (uint64_t j = 1; j + 1 < k; j++)
            sum = (sum + hx_mod_mul(c[j], c[k - 1 - j], p)) % p;
        c[k] = hx_mod_mul(3 * sum % p, hx_mod_inverse((k - 2) * (2 * k + 3) % p, p), p);
    }
    memset(out, 0, sizeof(series));
    out[-1 - LOW] = hx_mod_inverse(square, p);
    for (int k = 1; k <= HIGH; k++) {
        power = hx_mod_mul(power, square, p);
        out[k - LOW] = hx_mod_mul(c[k], power, p);
    }
}

/* Exact up to Z^(HIGH - 1 - what s has lost already). */
static void times(const series s, const series t, uint64_t p, series out)
{
    series sum = {0};

    for (int i = LOW; i <= HIGH; i++)
        for (int j = LOW; s[i - LOW] && j <= HIGH; j++)
            if (i + j >= LOW && i + j <= HIGH)
                sum[i + j - LOW] =
                    (sum[i + j - LOW] + hx_mod_mul(s[i - LOW], t[j - LOW], p)) % p;
    memcpy(out, sum, sizeof(series));
}

static void swap_rows(uint64_t *s, uint64_t *t)
{
    for (int i = 0; i < UNKNOWNS; i++) {
        uint64_t kept = s[i];

        s[i] = t[i];
        t[i] = kept;
    }
}

/* Gauss and Jordan; the last column is the right side.  1: exactly one solution. */
static int solve(uint64_t m[EQUATIONS][UNKNOWNS], uint64_t p)
{
    for (int c = 0; c + 1 < UNKNOWNS; c++) {
        int pivot = c;
        uint64_t scale;

        while (pivot < EQUATIONS && !m[pivot][c])
            pivot++;
        if (pivot == EQUATIONS)
            return 0;
        swap_rows(m[c], m[pivot]);
        scale = hx_mod_inverse(m[c][c], p);
        for (int i = c; i < UNKNOWNS; i++)
            m[c][i] = hx_mod_mul(m[c][i], scale, p);
        for (int r = 0; r < EQUATIONS; r++) {
            const uint64_t f = m[r][c];

            for (int i = c; r != c && f && i < UNKNOWNS; i++)
                m[r][i] = hx_mod_sub(m[r][i], hx_mod_mul(f, m[c][i], p), p);
        }
    }
    for (int r = UNKNOWNS - 1; r < EQUATIONS; r++)
        if (m[r][UNKNOWNS - 1])
            return 0;
    return 1;
}

/* [w] as x -> A / B, y -> y (A / B)' / w. */
struct endomorphism {
    struct hx_curve e;
    uint64_t w, a[NORM + 1], b[NORM];
};

/* sum over a_k P^k - sum over b_k P^k P(w z) = 0, with b_40 = 1 on the right side. */
static int find(struct endomorphism *f)
{
    const uint64_t p = f->e.p;
    uint64_t m[EQUATIONS][UNKNOWNS] = {{0}};
    series one = {0}, base, turned, power, product;

    weierstrass(&f->e, 1, base);
    weierstrass(&f->e, hx_mod_mul(f->w, f->w, p), turned);
    one[-LOW] = 1;
    memcpy(power, one, sizeof(power));
    for (int k = 0; k <= NORM; k++) {
        times(power, turned, p, product);
        for (int i = 0; i < EQUATIONS; i++) {
            const int at = i - NORM - LOW;

            m[i][k] = power[at];
            if (k < NORM - 1)
                m[i][NORM + 1 + k] = product[at] ? p - product[at] : 0;
            else if (k == NORM - 1)
                m[i][UNKNOWNS - 1] = product[at];
        }
        times(power, base, p, power);
    }
    if (!solve(m, p))
        return 0;
    for (int k = 0; k <= NORM; k++)
        f->a[k] = m[k][UNKNOWNS - 1];
    for (int k = 0; k < NORM - 1; k++)
        f->b[k] = m[NORM + 1 + k][UNKNOWNS - 1];
    f->b[NORM - 1] = 1;
    return 1;
}

/* A polynomial and its derivative. */
static void value(const uint64_t *c, int degree, uint64_t x, uint64_t p, uint64_t *f, uint64_t *slope)
{
    *f = *slope = 0;
    for (int k = degree; k >= 0; k--) {
        *slope = (hx_mod_mul(*slope, x, p) + *f) % p;
        *f = (hx_mod_mul(*f, x, p) + c[k]) % p;
    }
}

static struct hx_point apply(const struct endomorphism *f, struct hx_point s)
{
    const uint64_t p = f->e.p;
    uint64_t a, da, b, db, inverse, slope;

    if (s.infinite)
        return s;
    value(f->a, NORM, s.x, p, &a, &da);
    value(f->b, NORM - 1, s.x, p, &b, &db);
    if (!b)
        return (struct hx_point){0, 0, 1};
    inverse = hx_mod_inverse(b, p);
    slope = hx_mod_sub(hx_mod_mul(da, b, p), hx_mod_mul(a, db, p), p);
    slope = hx_mod_mul(slope, hx_mod_mul(inverse, inverse, p), p);
    slope = hx_mod_mul(slope, hx_mod_inverse(f->w, p), p);
    return (struct hx_point){hx_mod_mul(a, inverse, p), hx_mod_mul(s.y, slope, p), 0};
}

/* Points with [w][w]P = [w]P - [41]P, of POINTS. */
static int count_points(const struct endomorphism *f, struct hx_theorem_run *r)
{
    int good = 0;

    for (int i = 0; i < POINTS; i++) {
        const struct hx_point s = hx_point_random(&f->e, r), t = apply(f, s);
        const struct hx_point want = hx_point_add(&f->e, t, hx_point_times(&f->e, s, -NORM));

        good += hx_point_equal(apply(f, t), want);
    }
    return good;
}

enum hx_verdict hx_t1(struct hx_theorem_run *r)
{
    struct endomorphism *f = malloc(sizeof(*f));
    int good = 0;

    if (!f)
        return hx_theorem_stopped(r, "no memory");
    for (uint64_t p = FIRST_P, seen = 0; seen < CURVES; p++) {
        int64_t u, v;

        if (!hx_is_prime(p) || !hx_splits(p, &u, &v))
            continue;
        seen++;
        f->e = hx_cm_curve(p, 1);
        f->w = hx_mod_mul(1 + hx_mod_sqrt(hx_mod_of(-163, p), p), hx_mod_inverse(2, p), p);
        const int points = find(f) ? count_points(f, r) : 0;

        hx_witness(r, "p = %llu, w = %llu: %d of %d points", (unsigned long long)p,
                   (unsigned long long)f->w, points, POINTS);
        good += points == POINTS;
    }
    free(f);
    hx_witness(r, "%d of %d primes; that a layer's trajectory embeds in the curve is not checked", good,
               CURVES);
    return good == CURVES ? HX_PENDING : HX_FAILED;
}
