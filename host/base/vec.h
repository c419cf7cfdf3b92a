/* Dot products whose summation order never changes: not with the batch, not with the machine's vector width.
 * Two running sums of 16 lanes, then the lanes are folded in halves; GCC lowers that to what the CPU has. */
#ifndef HX_VEC_H
#define HX_VEC_H

#include <stddef.h>
#include <string.h>

typedef float hx_v16 __attribute__((vector_size(64)));
typedef float hx_v8 __attribute__((vector_size(32)));
typedef float hx_v4 __attribute__((vector_size(16)));

static inline hx_v16 hx_v16_load(const float *p)
{
    hx_v16 v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline float hx_v16_sum(hx_v16 v)
{
    hx_v8 half[2];
    hx_v4 quarter[2];

    memcpy(half, &v, sizeof(v));
    half[0] += half[1];
    memcpy(quarter, &half[0], sizeof(half[0]));
    quarter[0] += quarter[1];
    return (quarter[0][0] + quarter[0][2]) + (quarter[0][1] + quarter[0][3]);
}

/* out[t] = sum of w[i] * x[t * stride + i] for t < n_x, a constant: each t is summed in the same order whatever n_x
 * is.  w: [n], any alignment, any n. */
static inline __attribute__((always_inline)) void hx_dots(float *out, const float *w,
                                                          const float *x, size_t stride, size_t n,
                                                          size_t n_x)
{
    hx_v16 even[4] = {{0}}, odd[4] = {{0}};
    size_t i = 0;

    for (; i + 32 <= n; i += 32) {
        hx_v16 w0 = hx_v16_load(w + i), w1 = hx_v16_load(w + i + 16);

        for (size_t t = 0; t < n_x; t++) {
            even[t] += w0 * hx_v16_load(x + t * stride + i);
            odd[t] += w1 * hx_v16_load(x + t * stride + i + 16);
        }
    }
    for (size_t t = 0; t < n_x; t++) {
        float tail = 0;

        for (size_t j = i; j < n; j++)
            tail += w[j] * x[t * stride + j];
        out[t] = hx_v16_sum(even[t] + odd[t]) + tail;
    }
}

/* sum of a[i] * b[i] */
static inline float hx_dot(const float *a, const float *b, size_t n)
{
    float sum;

    hx_dots(&sum, a, b, 0, n, 1);
    return sum;
}

/* Four dot products with one load of w: out[t] == hx_dot(w, x + t * stride, n), bit for bit. */
static inline void hx_dot4(float out[4], const float *w, const float *x, size_t stride, size_t n)
{
    hx_dots(out, w, x, stride, n, 4);
}

#endif
