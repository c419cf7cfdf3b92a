/* How the scalar Q6_ intrinsics are written down: one line each, which is its definition.
 *
 *   HXS_Q6_2(R, Q6_R_add_RR, R, R, a + b)      result R, arguments R and R, value a + b
 *
 * a, b, c, d are the arguments in the order of the call.  Kinds of operands:
 *   R  32-bit register or immediate: Word32 in the signature, int64_t (sign extended) in the expression
 *   P  register pair: Word64 in the signature, uint64_t in the expression, so that sums wrap
 *   p  predicate: int in the signature (as hexagon-clang has it), its low 8 bits in the expression
 *   U, V  as R and P, but the result is unsigned;  F, G  float and double
 * The value is cut to the result's width.  Immediates are ordinary arguments; a value that the instruction cannot encode
 * does not compile for the device. */
#ifndef HEXRIG_SCALAR_H
#define HEXRIG_SCALAR_H

#include <stdint.h>
#include <string.h>

#include "hexrig_hvx_types.h"

#define HXS_T_R Word32
#define HXS_T_P Word64
#define HXS_T_U UWord32
#define HXS_T_V UWord64
#define HXS_T_p int
#define HXS_T_F float
#define HXS_T_G double
#define HXS_L_R(v) const int64_t v = v##_
#define HXS_L_P(v) const uint64_t v = (uint64_t)v##_
#define HXS_L_p(v) const unsigned int v = (unsigned int)v##_ & 0xff
#define HXS_L_F(v) const float v = v##_
#define HXS_L_G(v) const double v = v##_

#define HXS_Q6_1(D, name, A, e)                                                                    \
    static inline HXS_T_##D name(HXS_T_##A a_)                                                     \
    {                                                                                              \
        HXS_L_##A(a);                                                                              \
        return (HXS_T_##D)(e);                                                                     \
    }
#define HXS_Q6_2(D, name, A, B, e)                                                                 \
    static inline HXS_T_##D name(HXS_T_##A a_, HXS_T_##B b_)                                       \
    {                                                                                              \
        HXS_L_##A(a);                                                                              \
        HXS_L_##B(b);                                                                              \
        return (HXS_T_##D)(e);                                                                     \
    }
#define HXS_Q6_3(D, name, A, B, C, e)                                                              \
    static inline HXS_T_##D name(HXS_T_##A a_, HXS_T_##B b_, HXS_T_##C c_)                         \
    {                                                                                              \
        HXS_L_##A(a);                                                                              \
        HXS_L_##B(b);                                                                              \
        HXS_L_##C(c);                                                                              \
        return (HXS_T_##D)(e);                                                                     \
    }
#define HXS_Q6_4(D, name, A, B, C, DD, e)                                                          \
    static inline HXS_T_##D name(HXS_T_##A a_, HXS_T_##B b_, HXS_T_##C c_, HXS_T_##DD d_)          \
    {                                                                                              \
        HXS_L_##A(a);                                                                              \
        HXS_L_##B(b);                                                                              \
        HXS_L_##C(c);                                                                              \
        HXS_L_##DD(d);                                                                             \
        return (HXS_T_##D)(e);                                                                     \
    }

/* Lane i of a register or pair, as int64_t. */
#define HXS_B(v, i) ((int64_t)(int8_t)((uint64_t)(v) >> 8 * (i)))
#define HXS_UB(v, i) ((int64_t)(uint8_t)((uint64_t)(v) >> 8 * (i)))
#define HXS_H(v, i) ((int64_t)(int16_t)((uint64_t)(v) >> 16 * (i)))
#define HXS_UH(v, i) ((int64_t)(uint16_t)((uint64_t)(v) >> 16 * (i)))
#define HXS_W(v, i) ((int64_t)(int32_t)((uint64_t)(v) >> 32 * (i)))
#define HXS_UW(v, i) ((int64_t)(uint32_t)((uint64_t)(v) >> 32 * (i)))

/* A pair out of words, out of halves (high first, as the manual writes them); a register out of halves. */
#define HXS_WW(hi, lo) ((uint64_t)(uint32_t)(hi) << 32 | (uint32_t)(lo))
#define HXS_HH(hi, lo) ((uint32_t)(uint16_t)(hi) << 16 | (uint16_t)(lo))
#define HXS_HHHH(h3, h2, h1, h0) HXS_WW(HXS_HH(h3, h2), HXS_HH(h1, h0))

/* Lane by lane: x (and y) run over the lanes of kind K (B UB H UH W UW) of a (and b); the values are cut to `bits`.
 * HXS_EACH2 is for two arguments, HXS_EACH1 for one; `more` is b where the expression needs it whole. */
#define HXS_EACH(D, name, params, n, bits, ex, ey, e)                                              \
    static inline HXS_T_##D name params                                                            \
    {                                                                                              \
        uint64_t hxs_d = 0;                                                                        \
        for (int i = 0; i < (n); i++) {                                                            \
            const int64_t x = ex, y = ey;                                                          \
            (void)y;                                                                               \
            hxs_d |= ((uint64_t)(e) & (~0ull >> (64 - (bits)))) << (bits) * i;                     \
        }                                                                                          \
        return (HXS_T_##D)hxs_d;                                                                   \
    }
#define HXS_EACH_PP(name, K, bits, e)                                                              \
    HXS_EACH(P, name, (Word64 a, Word64 b), 64 / (bits), bits, HXS_##K(a, i), HXS_##K(b, i), e)
#define HXS_EACH_RR(name, K, bits, e)                                                              \
    HXS_EACH(R, name, (Word32 a, Word32 b), 32 / (bits), bits, HXS_##K(a, i), HXS_##K(b, i), e)
#define HXS_EACH_P(name, K, bits, e)                                                               \
    HXS_EACH(P, name, (Word64 a), 64 / (bits), bits, HXS_##K(a, i), 0, e)
#define HXS_EACH_PR(name, K, bits, e) /* y: the whole second argument */                           \
    HXS_EACH(P, name, (Word64 a, Word32 b), 64 / (bits), bits, HXS_##K(a, i), b, e)

/* Signed and unsigned saturation to `bits`. */
static inline int64_t hxs_sat(int64_t v, int bits)
{
    const int64_t top = (int64_t)(~0ull >> (65 - bits));

    return v > top ? top : v < -top - 1 ? -top - 1 : v;
}

static inline int64_t hxs_usat(int64_t v, int bits)
{
    const int64_t top = (int64_t)(~0ull >> (64 - bits));

    return v > top ? top : v < 0 ? 0 : v;
}

#define HXS_SAT(v) hxs_sat(v, 32)

static inline uint64_t hxs_addsat64(uint64_t a, uint64_t b)
{
    int64_t d;

    if (__builtin_add_overflow((int64_t)a, (int64_t)b, &d))
        return (int64_t)a < 0 ? 1ull << 63 : ~0ull >> 1;
    return (uint64_t)d;
}

static inline int64_t hxs_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t hxs_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t hxs_abs(int64_t a)
{
    return a < 0 ? -a : a;
}

/* The low `n` bits (0..64), zero or sign extended. */
static inline uint64_t hxs_zxt(uint64_t v, unsigned int n)
{
    return n == 0 ? 0 : v & (~0ull >> (64 - n));
}

static inline int64_t hxs_sxt(uint64_t v, unsigned int n)
{
    return n == 0 ? 0 : (int64_t)(v << (64 - n)) >> (64 - n);
}

/* Shifts by a register: its low 7 bits, signed, -64..63; a negative amount shifts the other way. */
static inline int hxs_amount(int64_t r)
{
    return (int)hxs_sxt((uint64_t)r, 7);
}

static inline uint64_t hxs_shl(uint64_t v, int n)
{
    return n > 63 ? 0 : v << n;
}

static inline uint64_t hxs_shr(uint64_t v, int n)
{
    return n > 63 ? 0 : v >> n;
}

static inline int64_t hxs_sar(int64_t v, int n)
{
    return v >> (n > 63 ? 63 : n);
}

static inline int64_t hxs_asl(int64_t v, int64_t r)
{
    const int n = hxs_amount(r);

    return n < 0 ? hxs_sar(v, -n) : (int64_t)hxs_shl((uint64_t)v, n);
}

static inline int64_t hxs_asr(int64_t v, int64_t r)
{
    const int n = hxs_amount(r);

    return n < 0 ? (int64_t)hxs_shl((uint64_t)v, -n) : hxs_sar(v, n);
}

static inline uint64_t hxs_lsl(uint64_t v, int64_t r)
{
    const int n = hxs_amount(r);

    return n < 0 ? hxs_shr(v, -n) : hxs_shl(v, n);
}

static inline uint64_t hxs_lsr(uint64_t v, int64_t r)
{
    const int n = hxs_amount(r);

    return n < 0 ? hxs_shl(v, -n) : hxs_shr(v, n);
}

/* v * 2^n saturated to 32 bits, n 0..64. */
static inline int64_t hxs_shl_sat(int64_t v, int n)
{
    if (n > 31)
        return v == 0 ? 0 : v < 0 ? INT32_MIN : INT32_MAX;
    return HXS_SAT((int64_t)((uint64_t)v << n));
}

#define HXS_BOOL(c) ((c) ? 0xff : 0)

#endif
