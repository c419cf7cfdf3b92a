/* Residues, primes, and points of elliptic curves over a prime field. */
#include "modular.h"

uint64_t hx_mod_pow(uint64_t a, uint64_t e, uint64_t p)
{
    uint64_t r = 1 % p;

    for (; e; e >>= 1) {
        if (e & 1)
            r = hx_mod_mul(r, a, p);
        a = hx_mod_mul(a, a, p);
    }
    return r;
}

uint64_t hx_mod_inverse(uint64_t a, uint64_t p)
{
    return hx_mod_pow(a, p - 2, p);
}

uint64_t hx_mod_of(int64_t a, uint64_t p)
{
    const int64_t r = a % (int64_t)p;

    return (uint64_t)(r < 0 ? r + (int64_t)p : r);
}

int hx_legendre(uint64_t a, uint64_t p)
{
    return a == 0 ? 0 : hx_mod_pow(a, (p - 1) / 2, p) == 1 ? 1 : -1;
}

/* Tonelli and Shanks. */
uint64_t hx_mod_sqrt(uint64_t a, uint64_t p)
{
    uint64_t q = p - 1, z = 2, root, t, c;
    unsigned s = 0;

    if (a == 0)
        return 0;
    if (hx_legendre(a, p) != 1)
        return p;
    for (; q % 2 == 0; q /= 2)
        s++;
    while (hx_legendre(z, p) != -1)
        z++;
    c = hx_mod_pow(z, q, p);
    t = hx_mod_pow(a, q, p);
    root = hx_mod_pow(a, (q + 1) / 2, p);
    while (t != 1) {
        unsigned i = 0;
        uint64_t b = t;

        for (; b != 1; i++)
            b = hx_mod_mul(b, b, p);
        b = c;
        for (unsigned j = 0; j + i + 1 < s; j++)
            b = hx_mod_mul(b, b, p);
        s = i;
        c = hx_mod_mul(b, b, p);
        t = hx_mod_mul(t, c, p);
        root = hx_mod_mul(root, b, p);
    }
    return root;
}

int hx_is_prime(uint64_t n)
{
    if (n < 2)
        return 0;
    for (uint64_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return 0;
    return 1;
}

int hx_splits(uint64_t p, int64_t *u, int64_t *v)
{
    for (int64_t y = 1; 163 * (uint64_t)(y * y) < 4 * p; y++) {
        const int64_t rest = (int64_t)(4 * p) - 163 * y * y;
        int64_t x = 0;

        for (int64_t step = (int64_t)1 << 20; step; step >>= 1)
            if ((x + step) * (x + step) <= rest)
                x += step;
        if (x * x == rest) {
            *u = x;
            *v = y;
            return 1;
        }
    }
    return 0;
}

static const struct hx_point infinite = {0, 0, 1};

int hx_point_equal(struct hx_point s, struct hx_point t)
{
    return s.infinite || t.infinite ? s.infinite == t.infinite : s.x == t.x && s.y == t.y;
}

struct hx_point hx_point_negative(const struct hx_curve *e, struct hx_point s)
{
    s.y = s.y ? e->p - s.y : 0;
    return s;
}

struct hx_point hx_point_add(const struct hx_curve *e, struct hx_point s, struct hx_point t)
{
    const uint64_t p = e->p;
    uint64_t up, down, slope, x;

    if (s.infinite)
        return t;
    if (t.infinite)
        return s;
    if (s.x == t.x && (s.y + t.y) % p == 0)
        return infinite;
    if (s.x == t.x) {
        up = (3 * hx_mod_mul(s.x, s.x, p) + e->a) % p;
        down = 2 * s.y % p;
    } else {
        up = hx_mod_sub(t.y, s.y, p);
        down = hx_mod_sub(t.x, s.x, p);
    }
    slope = hx_mod_mul(up, hx_mod_inverse(down, p), p);
    x = hx_mod_sub(hx_mod_mul(slope, slope, p), (s.x + t.x) % p, p);
    return (struct hx_point){x, hx_mod_sub(hx_mod_mul(slope, hx_mod_sub(s.x, x, p), p), s.y, p), 0};
}

struct hx_point hx_point_times(const struct hx_curve *e, struct hx_point s, int64_t n)
{
    struct hx_point sum = infinite;

    if (n < 0)
        s = hx_point_negative(e, s);
    for (uint64_t k = (uint64_t)(n < 0 ? -n : n); k; k >>= 1) {
        if (k & 1)
            sum = hx_point_add(e, sum, s);
        s = hx_point_add(e, s, s);
    }
    return sum;
}

static uint64_t right_side(const struct hx_curve *e, uint64_t x)
{
    const uint64_t p = e->p, x3 = hx_mod_mul(hx_mod_mul(x, x, p), x, p);

    return (x3 + hx_mod_mul(e->a, x, p) + e->b) % p;
}

struct hx_point hx_point_random(const struct hx_curve *e, struct hx_theorem_run *r)
{
    for (;;) {
        const uint64_t x = hx_theorem_random(r) % e->p;
        const uint64_t y = hx_mod_sqrt(right_side(e, x), e->p);

        if (y < e->p)
            return (struct hx_point){x, hx_theorem_random(r) & 1 && y ? e->p - y : y, 0};
    }
}

struct hx_curve hx_cm_curve(uint64_t p, uint64_t twist)
{
    const uint64_t c = hx_mod_of(-640320, p), j = hx_mod_mul(hx_mod_mul(c, c, p), c, p);
    const uint64_t k = hx_mod_mul(j, hx_mod_inverse(hx_mod_sub(1728 % p, j, p), p), p);
    const uint64_t t2 = hx_mod_mul(twist, twist, p);

    return (struct hx_curve){p, hx_mod_mul(3 * k % p, t2, p),
                             hx_mod_mul(2 * k % p, hx_mod_mul(t2, twist, p), p)};
}

uint64_t hx_curve_count(const struct hx_curve *e)
{
    uint64_t n = 1;

    for (uint64_t x = 0; x < e->p; x++)
        n += (uint64_t)(1 + hx_legendre(right_side(e, x), e->p));
    return n;
}
