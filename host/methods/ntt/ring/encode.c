/* Vectors as integer polynomials, see ntt.h. */
#include <math.h>
#include <string.h>

#include "ntt.h"

size_t hx_poly_n(size_t dh)
{
    for (size_t n = HX_POLY_N_MIN; n <= HX_POLY_N_MAX; n *= 2)
        if (n >= dh)
            return n;
    return 0;
}

/* GCC lowers these to what the CPU has. */
enum { LANES = 8 };
typedef double v8d __attribute__((vector_size(64)));
typedef float v8f __attribute__((vector_size(32)));
typedef int64_t v8l __attribute__((vector_size(64)));
typedef int32_t v8i __attribute__((vector_size(32)));

/* Rounds half away from zero: a double holds |x| + 0.5 exactly for every x = Delta v below the clamp, or rounds it to
 * something with the same integer part. */
static int32_t round_half_away(double x, size_t *clamped)
{
    if (fabs(x) < INT32_MAX)
        return (int32_t)(x + copysign(0.5, x));
    (*clamped)++;
    return isnan(x) ? 0 : x < 0 ? -INT32_MAX : INT32_MAX;
}

/* The same for LANES values; 0: one of them must be clamped, nothing was done. */
static int round_lanes(int32_t *out, const float *v, double delta)
{
    v8f in;
    v8l bits, outside, half;
    v8d x, add;
    v8i rounded;
    int64_t any = 0;

    memcpy(&in, v, sizeof(in));
    x = __builtin_convertvector(in, v8d) * delta;
    memcpy(&bits, &x, sizeof(bits));
    outside = ~((x < (double)INT32_MAX) & (x > -(double)INT32_MAX)); /* so is what is no number */
    for (int i = 0; i < LANES; i++)
        any |= outside[i];
    if (any)
        return 0;
    half = (bits & INT64_MIN) | 0x3fe0000000000000; /* 0.5 with the sign of x */
    memcpy(&add, &half, sizeof(add));
    rounded = __builtin_convertvector(x + add, v8i);
    memcpy(out, &rounded, sizeof(rounded));
    return 1;
}

size_t hx_poly_encode(int32_t *out, size_t n, const float *v, size_t dh, unsigned delta_bits)
{
    const double delta = (double)(1u << delta_bits);
    size_t clamped = 0, i = 0;

    while (i < dh) {
        if (dh - i >= LANES && round_lanes(out + i, v + i, delta)) {
            i += LANES;
            continue;
        }
        for (size_t end = dh - i < LANES ? dh : i + LANES; i < end; i++)
            out[i] = round_half_away(delta * v[i], &clamped);
    }
    memset(out + dh, 0, (n - dh) * sizeof(*out));
    return clamped;
}

void hx_poly_involute(int32_t *k, size_t n)
{
    for (size_t j = 1; j < n - j; j++) {
        const int32_t low = k[j];

        k[j] = -k[n - j];
        k[n - j] = -low;
    }
    k[n / 2] = -k[n / 2];
}

double hx_poly_length(const int32_t *a, size_t n)
{
    v8d sum = {0};

    for (size_t i = 0; i < n; i += LANES) {
        v8i in;
        v8d x;

        memcpy(&in, a + i, sizeof(in));
        x = __builtin_convertvector(in, v8d);
        sum += x * x;
    }
    for (int i = 1; i < LANES; i++)
        sum[0] += sum[i];
    /* at most 512 roundings of 2^-53 each */
    return sqrt(sum[0]) * (1 + 0x1p-40);
}

void hx_poly_mul_ref(int64_t *c, const int32_t *a, const int32_t *b, size_t n)
{
    uint64_t sum[HX_POLY_N_MAX] = {0};

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const uint64_t p = (uint64_t)((int64_t)a[i] * b[j]);

            if (i + j < n)
                sum[i + j] += p;
            else
                sum[i + j - n] -= p; /* x^n = -1 */
        }
    memcpy(c, sum, n * sizeof(*c));
}

int64_t hx_poly_dot_ref(const int32_t *a, const int32_t *b, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)((int64_t)a[i] * b[i]);
    return (int64_t)sum;
}

float hx_poly_score(int64_t c, unsigned delta_bits, float scale)
{
    return (float)(ldexp((double)c, -2 * (int)delta_bits) * scale);
}
