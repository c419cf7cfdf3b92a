/* HVX intrinsics of the permute network: align, rotate, shuffle, deal, delta networks. */
#ifndef HEXRIG_HVX_PERM_H
#define HEXRIG_HVX_PERM_H

#include "hexrig_hvx_alu.h"
#include "hexrig_hvx_lanes.h"

/* 128 bytes out of a pair, from byte `at` (0..128). */
HX_FN HVX_Vector hx_window(HVX_Vector hi, HVX_Vector lo, unsigned int at)
{
    union hx_w u;
    union hx_v d;

    u.v[0] = lo;
    u.v[1] = hi;
#if HX_NATIVE_BYTES == 64 && defined(__AVX512VBMI__)
    /* three registers in a row hold it: one of 64 + 64 bytes out of the first two, one out of the last two; no branch, `at` is data */
    const __m512i from = (__m512i)(hx_iota(0) + (uint8_t)(at & 63));
    const __mmask8 second = (__mmask8)-(int)(at >> 6 & 1), third = (__mmask8)-(int)(at >> 7);
    const __m512i a = _mm512_mask_mov_epi64(_mm512_mask_mov_epi64((__m512i)u.n[0], second, (__m512i)u.n[1]), third, (__m512i)u.n[2]);
    const __m512i b = _mm512_mask_mov_epi64(_mm512_mask_mov_epi64((__m512i)u.n[1], second, (__m512i)u.n[2]), third, (__m512i)u.n[3]);
    const __m512i c = _mm512_mask_mov_epi64((__m512i)u.n[2], second, (__m512i)u.n[3]);

    d.n[0] = (hx_nw)_mm512_permutex2var_epi8(a, from, b);
    d.n[1] = (hx_nw)_mm512_permutex2var_epi8(b, from, c);
#else
    HX_EACH(i)
    memcpy(&d.n[i], u.u[0].b + at + i * HX_NATIVE_BYTES, HX_NATIVE_BYTES);
#endif
    return d.v;
}

/* Index lists for __builtin_shufflevector over the 64-bit lanes of one register: f(i, k) for every
 * lane i. */
#if HX_NATIVE_BYTES == 64
#define HX_D_LANES 8
#define HX_D_INDEX(f, k) f(0, k), f(1, k), f(2, k), f(3, k), f(4, k), f(5, k), f(6, k), f(7, k)
#elif HX_NATIVE_BYTES == 32
#define HX_D_LANES 4
#define HX_D_INDEX(f, k) f(0, k), f(1, k), f(2, k), f(3, k)
#else
#define HX_D_LANES 2
#define HX_D_INDEX(f, k) f(0, k), f(1, k)
#endif
#define HX_D_LOW(i, k) ((i) & (k) ? HX_D_LANES + (i) - (k) : (i))
#define HX_D_HIGH(i, k) ((i) & (k) ? HX_D_LANES + (i) : (i) + (k))
#define HX_D_XOR(i, k) ((i) ^ (k))

#define HX_D_NEXT(i, k) ((i) + (k))

/* The same from byte n, and from byte 128 - n, for n below 8: each 64 bits meet their neighbour. */
HX_FN HVX_Vector hx_window_after(HVX_Vector hi, HVX_Vector lo, int n)
{
    union hx_w u;
    union hx_v d;

    u.v[0] = lo;
    u.v[1] = hi;
    HX_EACH(i) {
        const hx_nud x = (hx_nud)u.n[i], y = (hx_nud)u.n[i + 1];
        const hx_nud next = __builtin_shufflevector(x, y, HX_D_INDEX(HX_D_NEXT, 1));

        d.n[i] = (hx_nw)((x >> 8 * n) | ((next << (56 - 8 * n)) << 8));
    }
    return d.v;
}

HX_FN HVX_Vector hx_window_before(HVX_Vector hi, HVX_Vector lo, int n)
{
    union hx_w u;
    union hx_v d;

    u.v[0] = lo;
    u.v[1] = hi;
    HX_EACH(i) {
        const hx_nud x = (hx_nud)u.n[HX_NATIVES + i - 1], y = (hx_nud)u.n[HX_NATIVES + i];
        const hx_nud last = __builtin_shufflevector(x, y, HX_D_INDEX(HX_D_NEXT, HX_D_LANES - 1));

        d.n[i] = (hx_nw)((y << 8 * n) | ((last >> (56 - 8 * n)) >> 8));
    }
    return d.v;
}

#define HX_VVR (HVX_Vector Vu, HVX_Vector Vv, Word32 Rt)
HX_OP0(Q6_V_valign_VVR, VP, HX_VVR, HVX_Vector, hx_window(Vu, Vv, Rt & 127))
HX_OP0(Q6_V_vlalign_VVR, VP, HX_VVR, HVX_Vector, hx_window(Vu, Vv, 128 - (Rt & 127)))
HX_OP0(Q6_V_valign_VVI, VP, HX_VVR, HVX_Vector, hx_window_after(Vu, Vv, Rt & 7))
HX_OP0(Q6_V_vlalign_VVI, VP, HX_VVR, HVX_Vector, hx_window_before(Vu, Vv, Rt & 7))
HX_OP0(Q6_V_vror_VR, VP, (HVX_Vector Vu, Word32 Rt), HVX_Vector,
       hx_window(Vu, Vu, Rt & 127)) /* towards byte 0 */
#undef HX_VVR

/* One step of vshuff and vdeal within a register: where bit n of the byte index is clear, h[i] and
 * l[i + n] change places. */
HX_FN void hx_exchange_in(hx_nw *h, hx_nw *l, int n)
{
    const hx_nud x = (hx_nud)*h, y = (hx_nud)*l;
    const uint64_t of_each = n == 1   ? 0x00ff00ff00ff00ffu
                             : n == 2 ? 0x0000ffff0000ffffu
                                      : 0xffffffffu;
    const hx_nud low = (hx_nud){0} + of_each;

    if (n < 8) {
        *l = (hx_nw)((y & low) | ((x & low) << (8 * n)));
        *h = (hx_nw)((x & ~low) | ((y & ~low) >> (8 * n)));
    } else if (n == 8) {
        *l = (hx_nw)__builtin_shufflevector(y, x, HX_D_INDEX(HX_D_LOW, 1));
        *h = (hx_nw)__builtin_shufflevector(y, x, HX_D_INDEX(HX_D_HIGH, 1));
    }
#if HX_NATIVE_BYTES >= 32
    else if (n == 16) {
        *l = (hx_nw)__builtin_shufflevector(y, x, HX_D_INDEX(HX_D_LOW, 2));
        *h = (hx_nw)__builtin_shufflevector(y, x, HX_D_INDEX(HX_D_HIGH, 2));
    }
#endif
#if HX_NATIVE_BYTES >= 64
    else {
        *l = (hx_nw)__builtin_shufflevector(y, x, HX_D_INDEX(HX_D_LOW, 4));
        *h = (hx_nw)__builtin_shufflevector(y, x, HX_D_INDEX(HX_D_HIGH, 4));
    }
#endif
}

/* The step over whole vectors; h and l hold HX_NATIVES registers each. */
HX_FN void hx_exchange(hx_nw *h, hx_nw *l, int n)
{
    const int step = n / HX_NATIVE_BYTES;

    HX_EACH(i) {
        if (!step) {
            hx_exchange_in(&h[i], &l[i], n);
        } else if (!(i & step)) {
            const hx_nw t = h[i];

            h[i] = l[(i + step) % HX_NATIVES];
            l[(i + step) % HX_NATIVES] = t;
        }
    }
}

/* Exchanges for every bit of Rt, ascending (vshuff: interleave) or descending (vdeal: its inverse).
 */
HX_FN HVX_VectorPair hx_shuff(HVX_Vector hi, HVX_Vector lo, Word32 r)
{
    union hx_w d;

    d.w = hx_pair(hi, lo);
    HX_UNROLL for (int k = 0; k < 7; k++) {
        if (r & 1 << k)
            hx_exchange(d.n + HX_NATIVES, d.n, 1 << k);
    }
    return d.w;
}

HX_FN HVX_VectorPair hx_deal(HVX_Vector hi, HVX_Vector lo, Word32 r)
{
    union hx_w d;

    d.w = hx_pair(hi, lo);
    HX_UNROLL for (int k = 6; k >= 0; k--) {
        if (r & 1 << k)
            hx_exchange(d.n + HX_NATIVES, d.n, 1 << k);
    }
    return d.w;
}

HX_OP0(Q6_W_vshuff_VVR, VP_VS, (HVX_Vector Vu, HVX_Vector Vv, Word32 Rt), HVX_VectorPair,
       hx_shuff(Vu, Vv, Rt))
HX_OP0(Q6_W_vdeal_VVR, VP_VS, (HVX_Vector Vu, HVX_Vector Vv, Word32 Rt), HVX_VectorPair,
       hx_deal(Vu, Vv, Rt))

/* Byte j of the result is byte j ^ n of v; n below the register width. */
HX_FN hx_nw hx_swap_in(hx_nw v, int n)
{
    const hx_nud x = (hx_nud)v;

    switch (n) {
    case 1:
        return (hx_nw)(((hx_nuh)v << 8) | ((hx_nuh)v >> 8));
    case 2:
        return (hx_nw)(((hx_nuw)v << 16) | ((hx_nuw)v >> 16));
    case 4:
        return (hx_nw)((x << 32) | (x >> 32));
    case 8:
        return (hx_nw)__builtin_shufflevector(x, x, HX_D_INDEX(HX_D_XOR, 1));
#if HX_NATIVE_BYTES >= 32
    case 16:
        return (hx_nw)__builtin_shufflevector(x, x, HX_D_INDEX(HX_D_XOR, 2));
#endif
#if HX_NATIVE_BYTES >= 64
    case 32:
        return (hx_nw)__builtin_shufflevector(x, x, HX_D_INDEX(HX_D_XOR, 4));
#endif
    default:
        return v;
    }
}

/* A stage of the delta networks: byte i comes from i ^ n where control byte i has bit n. */
HX_FN HVX_Vector hx_delta_stage(HVX_Vector data, HVX_Vector control, int n)
{
    const int step = n / HX_NATIVE_BYTES;
    union hx_v v, c, d;

    v.v = data;
    c.v = control;
    HX_EACH(i) {
        const hx_nw other = step ? v.n[(i ^ step) % HX_NATIVES] : hx_swap_in(v.n[i], n);

        d.n[i] = hx_nsel((hx_nw)(((hx_nub)c.n[i] & (uint8_t)n) != 0), other, v.n[i]);
    }
    return d.v;
}

HX_FN HVX_Vector Q6_V_vdelta_VV(HVX_Vector Vu, HVX_Vector Vv)
{
    HX_HVX_COUNT(VP);
    HX_UNROLL for (int k = 6; k >= 0; k--)
        Vu = hx_delta_stage(Vu, Vv, 1 << k);
    return Vu;
}

HX_FN HVX_Vector Q6_V_vrdelta_VV(HVX_Vector Vu, HVX_Vector Vv)
{
    HX_HVX_COUNT(VP);
    HX_UNROLL for (int k = 0; k < 7; k++)
        Vu = hx_delta_stage(Vu, Vv, 1 << k);
    return Vu;
}

#endif
