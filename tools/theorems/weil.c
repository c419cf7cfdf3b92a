/* E9.2: the Weil pairing of the m-torsion, by Miller's algorithm, on the curve with complex multiplication by O_K over a
 * field that has all of it: Frobenius must be 1 modulo m, so p = N(1 + m (s + t w)). */
#include "checks.h"
#include "modular.h"

enum { M = 5, CASES = 100 };

/* Line through s and t (tangent when equal), or the vertical one, at q; both over one denominator's sake not 0 here. */
static uint64_t line(const struct hx_curve *e, struct hx_point s, struct hx_point t, struct hx_point q)
{
    const uint64_t p = e->p;
    uint64_t up, down;

    if (s.infinite || t.infinite || (s.x == t.x && (s.y + t.y) % p == 0))
        return s.infinite && t.infinite ? 1 : hx_mod_sub(q.x, s.infinite ? t.x : s.x, p);
    if (s.x == t.x) {
        up = (3 * hx_mod_mul(s.x, s.x, p) + e->a) % p;
        down = 2 * s.y % p;
    } else {
        up = hx_mod_sub(t.y, s.y, p);
        down = hx_mod_sub(t.x, s.x, p);
    }
    const uint64_t slope = hx_mod_mul(up, hx_mod_inverse(down, p), p);

    return hx_mod_sub(hx_mod_sub(q.y, s.y, p), hx_mod_mul(slope, hx_mod_sub(q.x, s.x, p), p), p);
}

/* f with divisor m (s) - m (O), at q - shifted: f(q) = product of lines over verticals.  0: q meets a line. */
static uint64_t miller(const struct hx_curve *e, struct hx_point s, struct hx_point q)
{
    const uint64_t p = e->p;
    struct hx_point t = s;
    uint64_t up = 1, down = 1;

    for (int bit = 31 - __builtin_clz(M) - 1; bit >= 0; bit--) {
        const struct hx_point twice = hx_point_add(e, t, t);

        up = hx_mod_mul(hx_mod_mul(up, up, p), line(e, t, t, q), p);
        down = hx_mod_mul(hx_mod_mul(down, down, p), line(e, twice, hx_point_negative(e, twice), q), p);
        t = twice;
        if (M >> bit & 1) {
            const struct hx_point sum = hx_point_add(e, t, s);

            up = hx_mod_mul(up, line(e, t, s, q), p);
            down = hx_mod_mul(down, line(e, sum, hx_point_negative(e, sum), q), p);
            t = sum;
        }
    }
    return up && down ? hx_mod_mul(up, hx_mod_inverse(down, p), p) : 0;
}

/* e(s, t) = [f_s(t + x) / f_s(x)] / [f_t(s - x) / f_t(-x)] with any x that meets no pole; 1 at infinity. */
static uint64_t pairing(const struct hx_curve *e, struct hx_point s, struct hx_point t,
                        struct hx_theorem_run *r)
{
    const uint64_t p = e->p;

    if (s.infinite || t.infinite)
        return 1;
    for (;;) {
        const struct hx_point x = hx_point_random(e, r), minus = hx_point_negative(e, x);
        const struct hx_point at[] = {hx_point_add(e, t, x), x, hx_point_add(e, s, minus), minus};
        uint64_t f[4];

        if (at[0].infinite || at[2].infinite)
            continue;
        for (int i = 0; i < 4; i++)
            f[i] = miller(e, i < 2 ? s : t, at[i]);
        if (f[0] && f[1] && f[2] && f[3])
            return hx_mod_mul(hx_mod_mul(f[0], f[3], p),
                              hx_mod_inverse(hx_mod_mul(f[1], f[2], p), p), p);
    }
}

/* The first field with all of the m-torsion, and the twist of the curve that has it. */
static struct hx_curve find_curve(uint64_t *points)
{
    for (int64_t s = 1;; s++)
        for (int64_t t = 1; t <= s; t++) {
            const int64_t a = 1 + M * s, b = M * t;
            const uint64_t p = (uint64_t)(a * a + a * b + 41 * b * b); /* N(a + b w) */
            const int64_t trace = 2 * a + b;

            if (!hx_is_prime(p))
                continue;
            *points = (uint64_t)((int64_t)p + 1 - trace);
            for (uint64_t twist = 1; twist < 20; twist++) {
                const struct hx_curve e = hx_cm_curve(p, twist);

                if (hx_curve_count(&e) == *points)
                    return e;
            }
        }
}

static struct hx_point torsion(const struct hx_curve *e, uint64_t points, struct hx_theorem_run *r)
{
    for (;;) {
        struct hx_point s = hx_point_random(e, r);
        uint64_t rest = points;

        while (rest % M == 0)
            rest /= M;
        s = hx_point_times(e, s, (int64_t)rest);
        for (struct hx_point t = s; !s.infinite; s = t) { /* down to order m */
            t = hx_point_times(e, s, M);
            if (t.infinite)
                return s;
        }
    }
}

enum hx_verdict hx_e92(struct hx_theorem_run *r)
{
    uint64_t points;
    const struct hx_curve e = find_curve(&points);
    const uint64_t p = e.p;
    int good = 0, independent = 0;

    hx_witness(r, "p = %llu, %llu points, all %d of the %d-torsion among them", (unsigned long long)p,
               (unsigned long long)points, M * M, M);
    for (int i = 0; i < CASES; i++) {
        const struct hx_point s = torsion(&e, points, r), t = torsion(&e, points, r);
        const int64_t a = (int64_t)(hx_theorem_random(r) % M), b = (int64_t)(hx_theorem_random(r) % M);
        const uint64_t st = pairing(&e, s, t, r);
        const uint64_t scaled = pairing(&e, hx_point_times(&e, s, a), hx_point_times(&e, t, b), r);

        independent += st != 1;
        good += scaled == hx_mod_pow(st, (uint64_t)(a * b), p) && hx_mod_pow(st, M, p) == 1 &&
                pairing(&e, s, s, r) == 1 && hx_mod_mul(st, pairing(&e, t, s, r), p) == 1;
    }
    hx_witness(r, "%d of %d random pairs bilinear, alternating, of order %d; %d of them not 1", good, CASES, M,
               independent);
    return good == CASES && independent > CASES / 2 ? HX_VERIFIED : HX_FAILED;
}
