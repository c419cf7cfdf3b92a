/* Lane types and the function shapes shared by the hexrig_hvx_*.h headers.  Not for kernels: those
 * use the Q6_ names.
 *
 * A 128-byte vector is worked on as HX_NATIVES registers of the machine's own width: the compiler
 * keeps those in registers from one intrinsic to the next, while 128-byte temporaries would go
 * through memory. hx_nX is one register seen as lanes of X: b ub h uh w uw d ud sf (8, 16, 32, 64
 * bits; u = unsigned; sf = float). A cast between them keeps the bits.  Comparisons give lanes of 0
 * or -1. */
#ifndef HEXRIG_HVX_LANES_H
#define HEXRIG_HVX_LANES_H

#include <string.h>

#include "hexrig_hvx_types.h"
#include "hexrig_hvx_count.h"

#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#define HX_NATIVE_BYTES 64
#elif defined(__AVX2__)
#define HX_NATIVE_BYTES 32
#else
#define HX_NATIVE_BYTES 16
#endif
#define HX_NATIVES (128 / HX_NATIVE_BYTES)
#if HX_NATIVE_BYTES > 16
#include <immintrin.h> /* the dot products: no vector operator says "multiply and add pairs" */
#endif

#define HX_LANES(x, type) typedef type hx_n##x __attribute__((vector_size(HX_NATIVE_BYTES)))
HX_LANES(b, int8_t);
HX_LANES(ub, uint8_t);
HX_LANES(h, int16_t);
HX_LANES(uh, uint16_t);
HX_LANES(w, int32_t);
HX_LANES(uw, uint32_t);
HX_LANES(d, int64_t);
HX_LANES(ud, uint64_t);
HX_LANES(sf, float);
#undef HX_LANES

/* One vector, as registers or as an array of any lane type. */
union hx_v {
    HVX_Vector v;
    hx_nw n[HX_NATIVES];
    int8_t b[128];
    uint8_t ub[128];
    int16_t h[64];
    uint16_t uh[64];
    int32_t w[32];
    uint32_t uw[32];
    int64_t d[16];
    uint64_t ud[16];
};

/* A pair; the low vector comes first. */
union hx_w {
    HVX_VectorPair w;
    HVX_Vector v[2];
    hx_nw n[2 * HX_NATIVES];
    union hx_v u[2];
};

#define HX_FN static inline __attribute__((always_inline, unused))
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__) && __GNUC__ >= 12
/* A skel built with the trace flags tells of each of its basic blocks, which the loops in here are not. */
#define HX_BIG_FN static __attribute__((unused, noinline, no_sanitize_coverage))
#else
#define HX_BIG_FN static inline __attribute__((unused)) /* the compiler may leave it out of line \
                                                         */
#endif
/* What registers of 32 bytes and more do in a few instructions, and smaller ones in loops. */
#if HX_NATIVE_BYTES == 16 || (defined(__SANITIZE_ADDRESS__) && !defined(__clang__))
#define HX_MID_FN HX_BIG_FN
#else
#define HX_MID_FN HX_FN
#endif
#define HX_UNROLL _Pragma("GCC unroll 16")
#define HX_EACH(i) HX_UNROLL for (int i = 0; i < HX_NATIVES; i++)
#define HX_EACH2(i) HX_UNROLL for (int i = 0; i < 2 * HX_NATIVES; i++)

HX_FN HVX_Vector hx_lo(HVX_VectorPair p)
{
    union hx_w u;
    union hx_v d;

    u.w = p;
    HX_EACH(i)
    d.n[i] = u.n[i];
    return d.v;
}

HX_FN HVX_Vector hx_hi(HVX_VectorPair p)
{
    union hx_w u;
    union hx_v d;

    u.w = p;
    HX_EACH(i)
    d.n[i] = u.n[HX_NATIVES + i];
    return d.v;
}

HX_FN HVX_VectorPair hx_pair(HVX_Vector hi, HVX_Vector lo)
{
    union hx_v h, l;
    union hx_w d;

    h.v = hi;
    l.v = lo;
    HX_EACH(i) {
        d.n[i] = l.n[i];
        d.n[HX_NATIVES + i] = h.n[i];
    }
    return d.w;
}

HX_FN hx_nw hx_nsplat(int32_t x)
{
    return (hx_nw){0} + x;
}

/* Bit by bit m ? a : b. */
HX_FN hx_nw hx_nsel(hx_nw m, hx_nw a, hx_nw b)
{
    return (m & a) | (~m & b);
}

HX_FN hx_nw hx_nmin(hx_nw a, hx_nw b)
{
    return hx_nsel(a < b, a, b);
}

/* The same for lanes T; `m` may be any vector of masks. */
#define HX_PICK(T, m, a, b) ((hx_n##T)hx_nsel((hx_nw)(m), (hx_nw)(a), (hx_nw)(b)))

/* --- Shapes.  Each defines an intrinsic `name` of slot class `cls` whose every lane becomes
 * `expr`.  Operands are seen as registers of lane types ta, tb, tc and named a, b, c in the order
 * of the intrinsic's arguments; R is the scalar. */
#define HX_LOAD(x, V) \
    union hx_v x##_; \
    x##_.v = V
#define HX_LANE(x, t) const hx_n##t x = (hx_n##t)x##_.n[i]

#define HX_OP0(name, cls, params, ret, expr) \
    HX_FN ret name params \
    { \
        HX_HVX_COUNT(cls); \
        return (expr); \
    }
#define HX_OP1_(name, cls, ta, expr, ...) \
    HX_FN HVX_Vector name(__VA_ARGS__) \
    { \
        union hx_v d; \
        HX_LOAD(a, A); \
        HX_HVX_COUNT(cls); \
        HX_EACH(i) { \
            HX_LANE(a, ta); \
            d.n[i] = (hx_nw)(expr); \
        } \
        return d.v; \
    }
#define HX_OP1(name, cls, ta, expr) HX_OP1_(name, cls, ta, expr, HVX_Vector A)
#define HX_OP1R(name, cls, ta, expr) HX_OP1_(name, cls, ta, expr, HVX_Vector A, Word32 R)

#define HX_OP2_(name, cls, ta, tb, expr, ...) \
    HX_FN HVX_Vector name(__VA_ARGS__) \
    { \
        union hx_v d; \
        HX_LOAD(a, A); \
        HX_LOAD(b, B); \
        HX_HVX_COUNT(cls); \
        HX_EACH(i) { \
            HX_LANE(a, ta); \
            HX_LANE(b, tb); \
            d.n[i] = (hx_nw)(expr); \
        } \
        return d.v; \
    }
#define HX_OP2(name, cls, ta, tb, expr) HX_OP2_(name, cls, ta, tb, expr, HVX_Vector A, HVX_Vector B)
#define HX_OP2R(name, cls, ta, tb, expr) \
    HX_OP2_(name, cls, ta, tb, expr, HVX_Vector A, HVX_Vector B, Word32 R)

#define HX_OP3(name, cls, ta, tb, tc, expr) \
    HX_FN HVX_Vector name(HVX_Vector A, HVX_Vector B, HVX_Vector C) \
    { \
        union hx_v d; \
        HX_LOAD(a, A); \
        HX_LOAD(b, B); \
        HX_LOAD(c, C); \
        HX_HVX_COUNT(cls); \
        HX_EACH(i) { \
            HX_LANE(a, ta); \
            HX_LANE(b, tb); \
            HX_LANE(c, tc); \
            d.n[i] = (hx_nw)(expr); \
        } \
        return d.v; \
    }

/* Pair by pair: both vectors alike. */
#define HX_OPW2(name, cls, t, expr) \
    HX_FN HVX_VectorPair name(HVX_VectorPair A, HVX_VectorPair B) \
    { \
        union hx_w a_, b_, d; \
        a_.w = A; \
        b_.w = B; \
        HX_HVX_COUNT(cls); \
        HX_EACH2(i) { \
            HX_LANE(a, t); \
            HX_LANE(b, t); \
            d.n[i] = (hx_nw)(expr); \
        } \
        return d.w; \
    }

/* Shapes where lanes differ in width from operand to result.  k1, k2 ... are the kinds of the
 * arguments: V vector, W pair, R scalar.  They are seen as plain words a, b, c, d (pairs: a0 low,
 * a1 high; scalars: splatted) and picked apart by the functions below; the last arguments say what
 * a result register becomes (pairs: low, high). */
#define HX_T_V HVX_Vector
#define HX_T_W HVX_VectorPair
#define HX_T_R Word32
#define HX_D_V union hx_v z
#define HX_D_W union hx_w z
#define HX_U_V z.v
#define HX_U_W z.w
#define HX_L_V(x, X) HX_LOAD(x, X)
#define HX_L_W(x, X) \
    union hx_w x##_; \
    x##_.w = X
#define HX_L_R(x, X) const hx_nw x = hx_nsplat(X)
#define HX_N_V(x) const hx_nw x = x##_.n[i]
#define HX_N_W(x) const hx_nw x##0 = x##_.n[i], x##1 = x##_.n[HX_NATIVES + i]
#define HX_N_R(x) (void)x
#define HX_S_V(e) z.n[i] = (hx_nw)(e)
#define HX_S_W(low, high) \
    z.n[i] = (hx_nw)(low); \
    z.n[HX_NATIVES + i] = (hx_nw)(high)

#define HX_DEF1(name, cls, ret, k1, ...) \
    HX_FN HX_T_##ret name(HX_T_##k1 A) \
    { \
        HX_D_##ret; \
        HX_L_##k1(a, A); \
        HX_HVX_COUNT(cls); \
        HX_EACH(i) { \
            HX_N_##k1(a); \
            HX_S_##ret(__VA_ARGS__); \
        } \
        return HX_U_##ret; \
    }
#define HX_DEF2(name, cls, ret, k1, k2, ...) \
    HX_FN HX_T_##ret name(HX_T_##k1 A, HX_T_##k2 B) \
    { \
        HX_D_##ret; \
        HX_L_##k1(a, A); \
        HX_L_##k2(b, B); \
        HX_HVX_COUNT(cls); \
        HX_EACH(i) { \
            HX_N_##k1(a); \
            HX_N_##k2(b); \
            HX_S_##ret(__VA_ARGS__); \
        } \
        return HX_U_##ret; \
    }
#define HX_DEF3(name, cls, ret, k1, k2, k3, ...) \
    HX_FN HX_T_##ret name(HX_T_##k1 A, HX_T_##k2 B, HX_T_##k3 C) \
    { \
        HX_D_##ret; \
        HX_L_##k1(a, A); \
        HX_L_##k2(b, B); \
        HX_L_##k3(c, C); \
        HX_HVX_COUNT(cls); \
        HX_EACH(i) { \
            HX_N_##k1(a); \
            HX_N_##k2(b); \
            HX_N_##k3(c); \
            HX_S_##ret(__VA_ARGS__); \
        } \
        return HX_U_##ret; \
    }

/* Even (e) and odd (o) lanes of type b, ub, h, uh widened to the double width; the value of lane i
 * sits where the pair of lanes 2i, 2i + 1 was.  Results are unsigned so that sums and products
 * wrap. */
HX_FN hx_nuh hx_eb(hx_nw x)
{
    return (hx_nuh)((hx_nh)((hx_nuh)x << 8) >> 8);
}
HX_FN hx_nuh hx_ob(hx_nw x)
{
    return (hx_nuh)((hx_nh)x >> 8);
}
HX_FN hx_nuh hx_eub(hx_nw x)
{
    return (hx_nuh)x & 0xff;
}
HX_FN hx_nuh hx_oub(hx_nw x)
{
    return (hx_nuh)x >> 8;
}
HX_FN hx_nuw hx_eh(hx_nw x)
{
    return (hx_nuw)((hx_nw)((hx_nuw)x << 16) >> 16);
}
HX_FN hx_nuw hx_oh(hx_nw x)
{
    return (hx_nuw)(x >> 16);
}
HX_FN hx_nuw hx_euh(hx_nw x)
{
    return (hx_nuw)x & 0xffff;
}
HX_FN hx_nuw hx_ouh(hx_nw x)
{
    return (hx_nuw)x >> 16;
}
/* 64-bit lanes are signed: nothing here comes near their ends. */
HX_FN hx_nd hx_ew(hx_nw x)
{
    return (hx_nd)((hx_nud)x << 32) >> 32;
}
HX_FN hx_nd hx_ow(hx_nw x)
{
    return (hx_nd)x >> 32;
}
HX_FN hx_nd hx_euw(hx_nw x)
{
    return (hx_nd)((hx_nud)x & 0xffffffffu);
}
HX_FN hx_nd hx_ouw(hx_nw x)
{
    return (hx_nd)((hx_nud)x >> 32);
}

/* The signed products of 64 bits of the even words and of the odd words: one instruction from 32 bytes on. */
HX_FN hx_nud hx_product_ew(hx_nw x, hx_nw y)
{
#if HX_NATIVE_BYTES == 64
    return (hx_nud)_mm512_maskz_mul_epi32(0xff, (__m512i)x, (__m512i)y);
#elif HX_NATIVE_BYTES == 32
    return (hx_nud)_mm256_mul_epi32((__m256i)x, (__m256i)y);
#else
    return (hx_nud)(hx_ew(x) * hx_ew(y));
#endif
}
HX_FN hx_nud hx_product_ow(hx_nw x, hx_nw y)
{
    return hx_product_ew((hx_nw)((hx_nud)x >> 32), (hx_nw)((hx_nud)y >> 32));
}

/* Even words of one register, odd words of the other. */
HX_FN hx_nuw hx_words_of(hx_nud even, hx_nud odd)
{
#if HX_NATIVE_BYTES == 64
    return (hx_nuw)_mm512_mask_mov_epi32((__m512i)even, 0xaaaa, (__m512i)odd);
#elif HX_NATIVE_BYTES == 32
    return (hx_nuw)_mm256_blend_epi32((__m256i)even, (__m256i)odd, 0xaa);
#else
    return (hx_nuw)((even & 0xffffffffu) | (odd & ~(uint64_t)0xffffffffu));
#endif
}

/* Halves shifted by halves, each count below 16.  AVX2 has words by words only: even and odd halves one after the other. */
#if HX_NATIVE_BYTES == 32
HX_FN hx_nuh hx_halves_of(hx_nuw even, hx_nuw odd)
{
    return (hx_nuh)_mm256_blend_epi16((__m256i)even, (__m256i)odd, 0xaa);
}
HX_FN hx_nuh hx_shl_h(hx_nuh a, hx_nuh k)
{
    return hx_halves_of((hx_nuw)a << hx_euh((hx_nw)k), ((hx_nuw)a & 0xffff0000u) << hx_ouh((hx_nw)k));
}
HX_FN hx_nuh hx_shr_uh(hx_nuh a, hx_nuh k)
{
    return hx_halves_of(hx_euh((hx_nw)a) >> hx_euh((hx_nw)k), (hx_nuw)a >> hx_ouh((hx_nw)k));
}
HX_FN hx_nh hx_shr_h(hx_nh a, hx_nuh k)
{
    const hx_nw even = (hx_nw)hx_eh((hx_nw)a) >> (hx_nw)hx_euh((hx_nw)k);

    return (hx_nh)hx_halves_of((hx_nuw)even, (hx_nuw)((hx_nw)a >> (hx_nw)hx_ouh((hx_nw)k)));
}
#else
HX_FN hx_nuh hx_shl_h(hx_nuh a, hx_nuh k)
{
    return a << k;
}
HX_FN hx_nuh hx_shr_uh(hx_nuh a, hx_nuh k)
{
    return a >> k;
}
HX_FN hx_nh hx_shr_h(hx_nh a, hx_nuh k)
{
    return a >> (hx_nh)k;
}
#endif
HX_FN hx_nuw hx_shl_w(hx_nuw a, hx_nuw k)
{
    return a << k;
}
HX_FN hx_nuw hx_shr_uw(hx_nuw a, hx_nuw k)
{
    return a >> k;
}
HX_FN hx_nw hx_shr_w(hx_nw a, hx_nuw k)
{
    return a >> (hx_nw)k;
}

/* Sum of the two products of each pair of signed halves. */
HX_FN hx_nuw hx_madd_h(hx_nuh x, hx_nuh y)
{
#if HX_NATIVE_BYTES == 64
    return (hx_nuw)_mm512_madd_epi16((__m512i)x, (__m512i)y);
#elif HX_NATIVE_BYTES == 32
    return (hx_nuw)_mm256_madd_epi16((__m256i)x, (__m256i)y);
#else
    return hx_eh((hx_nw)x) * hx_eh((hx_nw)y) + hx_oh((hx_nw)x) * hx_oh((hx_nw)y);
#endif
}

/* The inverse: low halves of two registers of wide lanes, woven together. */
HX_FN hx_nw hx_weave_b(hx_nuh even, hx_nuh odd)
{
    return (hx_nw)((even & 0xff) | (odd << 8));
}
HX_FN hx_nw hx_weave_h(hx_nuw even, hx_nuw odd)
{
    return (hx_nw)((even & 0xffff) | (odd << 16));
}
HX_FN hx_nw hx_weave_w(hx_nd even, hx_nd odd)
{
    return (hx_nw)(((hx_nud)even & 0xffffffffu) | ((hx_nud)odd << 32));
}

/* Saturation of wide lanes: "sat_X_Y" clamps lanes of type Y to the range of X. */
#define HX_CLAMP(name, in, low, high) \
    HX_FN hx_nu##in name(hx_n##in x) \
    { \
        x = HX_PICK(in, x > (high), (hx_n##in){0} + (high), x); \
        return (hx_nu##in)HX_PICK(in, x < (low), (hx_n##in){0} + (low), x); \
    }
HX_CLAMP(hx_sat_b_h, h, -128, 127)
HX_CLAMP(hx_sat_ub_h, h, 0, 255)
HX_CLAMP(hx_sat_h_w, w, -32768, 32767)
HX_CLAMP(hx_sat_uh_w, w, 0, 65535)
HX_FN hx_nuh hx_sat_ub_uh(hx_nuh x)
{
    return HX_PICK(uh, x > 255, (hx_nuh){0} + 255, x);
}
HX_FN hx_nuw hx_sat_uh_uw(hx_nuw x)
{
    return HX_PICK(uw, x > 65535, (hx_nuw){0} + 65535, x);
}
HX_FN hx_nd hx_sat_w_d(hx_nd x)
{
    x = HX_PICK(d, x > INT32_MAX, (hx_nd){0} + INT32_MAX, x);
    return HX_PICK(d, x < INT32_MIN, (hx_nd){0} + INT32_MIN, x);
}
#undef HX_CLAMP

#endif
