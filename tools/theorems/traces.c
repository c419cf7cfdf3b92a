/* T3, T3b, T5, T5b: numbers of points of the curve with complex multiplication by O_K, modulo primes of good reduction.
 * Its integral model y^2 + y = x^3 - 2174420 x + 1234136692 has conductor 163^2; completing the square, a point for each root
 * of (2y + 1)^2 = 4 x^3 - 8697680 x + 4936546769. */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "hx_block.h"
#include "modular.h"

enum { CM = 163, CAPACITY_P = 1000, TRACE_P = 5000, MAX_SPLIT = 512 };

/* a_p = p + 1 - number of points; p odd. */
static int64_t trace(uint64_t p)
{
    const uint64_t b = hx_mod_of(-8697680, p), c = hx_mod_of(4936546769, p);
    int64_t sum = 0;

    for (uint64_t x = 0; x < p; x++) {
        const uint64_t x3 = hx_mod_mul(hx_mod_mul(x, x, p), x, p);

        sum += hx_legendre((4 * x3 + hx_mod_mul(b, x, p) + c) % p, p);
    }
    return -sum;
}

static double capacity(uint64_t p)
{
    return log2((double)p + 1 + 2 * sqrt((double)p));
}

enum hx_verdict hx_t3(struct hx_theorem_run *r)
{
    int n = 0, good = 0;
    double fullest = 0;

    for (uint64_t p = 3; p < CAPACITY_P; p++) {
        int64_t u, v;

        if (!hx_is_prime(p) || !hx_splits(p, &u, &v))
            continue;
        const double bits = log2((double)((int64_t)p + 1 - trace(p)));

        n++;
        good += bits <= capacity(p);
        fullest = fmax(fullest, bits / capacity(p));
    }
    hx_witness(r, "%d of %d split primes below %d: log2 #E(F_p) within the bound, at most %.4f of it", good,
               n, CAPACITY_P, fullest);
    return n > 0 && good == n ? HX_VERIFIED : HX_FAILED;
}

/* The reading: one split prime for each of the block's lanes, the smallest first.  The claim is of the 63-byte block; the other
 * shapes are printed beside it, and that of dh 64 does not fit. */
enum hx_verdict hx_t3b(struct hx_theorem_run *r)
{
    int holds = 0;

    for (size_t i = 0; i < HX_BLOCK_SHAPES; i++) {
        const struct hx_block_shape *s = &hx_block_shapes[i];
        const int lanes = HX_BLOCK_SKEL + s->n_res, bits = 8 * s->payload;
        double bound = 0;
        uint64_t p = 3;
        int64_t u, v;

        for (int n = 0; n < lanes; p++)
            if (hx_is_prime(p) && hx_splits(p, &u, &v)) {
                bound += capacity(p);
                n++;
            }
        hx_witness(r, "dh %d: %d bits, %d lanes, bound %.1f bits (primes up to %llu): %s", s->dh, bits,
                   lanes, bound, (unsigned long long)p - 1, bits <= bound ? "fits" : "does not fit");
        if (s->dh == HX_BLOCK_DH)
            holds = bits <= bound;
    }
    return holds ? HX_VERIFIED : HX_FAILED;
}

enum hx_verdict hx_t5(struct hx_theorem_run *r)
{
    int n = 0, zero = 0, wrong = 0;

    for (uint64_t p = 3; p < TRACE_P; p++) {
        int64_t u = 0, v;

        if (!hx_is_prime(p) || p == CM)
            continue;
        const int splits = hx_splits(p, &u, &v);
        const int64_t a = trace(p);

        n++;
        zero += a == 0;
        wrong += splits ? llabs(a) != u : a != 0; /* pi = (u + v sqrt -163) / 2, pi + conj(pi) = u */
    }
    hx_witness(r, "%d primes from 3 to %d but 163: a_p = 0 for %d of them (%.3f), %d differ from the theory",
               n, TRACE_P, zero, (double)zero / n, wrong);
    return wrong == 0 ? HX_VERIFIED : HX_FAILED;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* theta = acos(a_p / (2 sqrt p)) of split p is uniform on [0, pi] (Hecke); Kolmogorov and Smirnov's test at 1 %. */
enum hx_verdict hx_t5b(struct hx_theorem_run *r)
{
    double angle[MAX_SPLIT], distance = 0;
    int bin[8] = {0};
    size_t n = 0;

    for (uint64_t p = 3; p < TRACE_P && n < MAX_SPLIT; p++) {
        int64_t u, v;

        if (hx_is_prime(p) && hx_splits(p, &u, &v))
            angle[n++] = acos((double)trace(p) / (2 * sqrt((double)p))) / M_PI;
    }
    qsort(angle, n, sizeof(*angle), by_value);
    for (size_t i = 0; i < n; i++) {
        distance = fmax(distance, fmax((double)(i + 1) / (double)n - angle[i],
                                       angle[i] - (double)i / (double)n));
        bin[(int)(angle[i] * 8) & 7]++;
    }
    const double limit = 1.628 / sqrt((double)n);

    hx_witness(r, "%zu split primes, theta / pi in eighths: %d %d %d %d %d %d %d %d", n, bin[0], bin[1],
               bin[2], bin[3], bin[4], bin[5], bin[6], bin[7]);
    hx_witness(r, "largest distance from uniform %.4f; %.4f is the limit at 1 %%", distance, limit);
    return distance < limit ? HX_VERIFIED : HX_FAILED;
}
