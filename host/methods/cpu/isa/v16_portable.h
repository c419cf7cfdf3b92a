/* Sixteen floats in plain C: what every machine has.  No fused multiply-add. */
#ifndef HX_V16_PORTABLE_H
#define HX_V16_PORTABLE_H

#include <math.h>
#include <string.h>

#include "hx_f16.h"

#define V16_TILE_VECS 1

typedef float v16 __attribute__((vector_size(64)));
typedef int32_t v16_i32 __attribute__((vector_size(64)));

#define V16_INLINE static inline __attribute__((always_inline))

V16_INLINE v16 v16_set1(float x) { return (v16){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }
V16_INLINE v16 v16_add(v16 a, v16 b) { return a + b; }
V16_INLINE v16 v16_sub(v16 a, v16 b) { return a - b; }
V16_INLINE v16 v16_mul(v16 a, v16 b) { return a * b; }
V16_INLINE v16 v16_div(v16 a, v16 b) { return a / b; }
V16_INLINE v16 v16_fma(v16 a, v16 b, v16 c) { return a * b + c; }

V16_INLINE v16 v16_load(const float *p)
{
    v16 a;

    memcpy(&a, p, sizeof(a));
    return a;
}

V16_INLINE void v16_store(float *p, v16 a) { memcpy(p, &a, sizeof(a)); }

/* picks a where mask is all ones */
V16_INLINE v16 v16_pick(v16_i32 mask, v16 a, v16 b)
{
    return (v16)(((v16_i32)a & mask) | ((v16_i32)b & ~mask));
}

/* b where one of them is no number, as x86's do */
V16_INLINE v16 v16_max(v16 a, v16 b) { return v16_pick(a > b, a, b); }
V16_INLINE v16 v16_min(v16 a, v16 b) { return v16_pick(a < b, a, b); }
V16_INLINE v16 v16_abs(v16 a) { return (v16)((v16_i32)a & 0x7fffffff); }

/* the nearest integer, ties to even, of |a| < 2^22 */
V16_INLINE v16 v16_round(v16 a)
{
    const v16 magic = v16_set1(0x1.8p23f);

    return a + magic - magic;
}

/* 2^n of whole -126..127 */
V16_INLINE v16 v16_exp2i(v16 n)
{
    return (v16)((__builtin_convertvector(n, v16_i32) + 127) << 23);
}

V16_INLINE v16 v16_load_f16(const uint8_t *p)
{
    float f[16];

    for (size_t i = 0; i < 16; i++) {
        uint16_t h;

        memcpy(&h, p + 2 * i, sizeof(h));
        f[i] = hx_f32_from_f16(h);
    }
    return v16_load(f);
}

V16_INLINE v16 v16_load_bf16(const uint8_t *p)
{
    uint16_t h[16];
    v16_i32 wide = {0};

    memcpy(h, p, sizeof(h));
    for (size_t i = 0; i < 16; i++)
        wide[i] = (int32_t)((uint32_t)h[i] << 16);
    return (v16)wide;
}

/* 32-byte halves, then 16-byte quarters, then (0 + 2) + (1 + 3): the same in every table */
V16_INLINE float v16_sum(v16 a)
{
    float h[8], q[4];

    for (size_t i = 0; i < 8; i++)
        h[i] = a[i] + a[i + 8];
    for (size_t i = 0; i < 4; i++)
        q[i] = h[i] + h[i + 4];
    return (q[0] + q[2]) + (q[1] + q[3]);
}

/* lane i = v16_sum(a[i]) */
V16_INLINE v16 v16_sums(const v16 a[16])
{
    float s[16];

    for (int i = 0; i < 16; i++)
        s[i] = v16_sum(a[i]);
    return v16_load(s);
}

/* |x| where it is larger than a >= 0; a number that is none counts as larger than all */
V16_INLINE v16 v16_grow(v16 a, v16 x)
{
    x = v16_abs(x);
    return v16_pick((v16_i32)a > (v16_i32)x, a, x);
}

/* 16 bytes: whole numbers -128..127 */
V16_INLINE void v16_store_i8(int8_t *p, v16 a)
{
    for (size_t i = 0; i < 16; i++)
        p[i] = (int8_t)a[i];
}

#endif
