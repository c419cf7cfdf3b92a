/* Elements of the ring, see ok.h. */
#include "ok.h"

#include <errno.h>

enum { D = 41 }; /* w^2 = w - D */

int hx_ok_add(struct hx_ok *out, struct hx_ok x, struct hx_ok y)
{
    struct hx_ok sum;

    if (__builtin_add_overflow(x.a, y.a, &sum.a) || __builtin_add_overflow(x.b, y.b, &sum.b))
        return -ERANGE;
    *out = sum;
    return 0;
}

int hx_ok_mul(struct hx_ok *out, struct hx_ok x, struct hx_ok y)
{
    int64_t ac, bd, ad, bc, bd41;
    struct hx_ok p;

    if (__builtin_mul_overflow(x.a, y.a, &ac) || __builtin_mul_overflow(x.b, y.b, &bd) ||
        __builtin_mul_overflow(x.a, y.b, &ad) || __builtin_mul_overflow(x.b, y.a, &bc) ||
        __builtin_mul_overflow(bd, D, &bd41) || __builtin_sub_overflow(ac, bd41, &p.a) ||
        __builtin_add_overflow(ad, bc, &p.b) || __builtin_add_overflow(p.b, bd, &p.b))
        return -ERANGE;
    *out = p;
    return 0;
}

int hx_ok_conj(struct hx_ok *out, struct hx_ok x)
{
    struct hx_ok c;

    if (__builtin_add_overflow(x.a, x.b, &c.a) || __builtin_sub_overflow(0, x.b, &c.b))
        return -ERANGE;
    *out = c;
    return 0;
}

int hx_ok_trace(int64_t *out, struct hx_ok x)
{
    int64_t twice, sum;

    if (__builtin_mul_overflow(x.a, 2, &twice) || __builtin_add_overflow(twice, x.b, &sum))
        return -ERANGE;
    *out = sum;
    return 0;
}

int hx_ok_norm(hx_i128 *out, struct hx_ok x)
{
    const hx_i128 a = x.a, b = x.b;
    hx_i128 bb, sum;

    /* when 41 b^2 fits, a^2 + ab does */
    if (__builtin_mul_overflow(b * b, D, &bb) || __builtin_add_overflow(a * a + a * b, bb, &sum))
        return -ERANGE;
    *out = sum;
    return 0;
}

/* One coordinate of the quotient. */
static int div_exact(int64_t *out, hx_i128 n, hx_i128 norm)
{
    const hx_i128 q = n / norm;

    if (n % norm)
        return -EDOM;
    *out = (int64_t)q;
    return q == (int64_t)q ? 0 : -ERANGE;
}

int hx_ok_div(struct hx_ok *out, struct hx_ok x, struct hx_ok y)
{
    /* x conj(y) = (a (c + d) + 41 b d) + (b c - a d) w */
    const hx_i128 a = x.a, b = x.b, c = y.a, d = y.b;
    hx_i128 norm, acd, ta, tb, bd41;
    struct hx_ok q;
    int rc;

    if (c == 0 && d == 0)
        return -EDOM;
    if (hx_ok_norm(&norm, y) || __builtin_mul_overflow(b * d, D, &bd41) ||
        __builtin_mul_overflow(a, c + d, &acd) || __builtin_add_overflow(acd, bd41, &ta) ||
        __builtin_sub_overflow(b * c, a * d, &tb))
        return -ERANGE;
    rc = div_exact(&q.a, ta, norm);
    if (!rc)
        rc = div_exact(&q.b, tb, norm);
    if (!rc)
        *out = q;
    return rc;
}

int hx_ok_pow(struct hx_ok *out, struct hx_ok x, unsigned k)
{
    struct hx_ok p = {1, 0};

    for (unsigned i = 0; i < k; i++)
        if (hx_ok_mul(&p, p, x))
            return -ERANGE;
    *out = p;
    return 0;
}
