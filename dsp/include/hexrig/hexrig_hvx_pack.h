/* HVX intrinsics that move lanes of fixed patterns: pack and unpack, deal and shuffle of one
 * vector, even and odd lanes. */
#ifndef HEXRIG_HVX_PACK_H
#define HEXRIG_HVX_PACK_H

#include "hexrig_hvx_alu.h"
#include "hexrig_hvx_lanes.h"

/* Lists for __builtin_shufflevector over two registers: f(i) for every byte (half) lane i of the
 * result. */
#define HX_I8(f, n) \
    f((n)), f((n) + 1), f((n) + 2), f((n) + 3), f((n) + 4), f((n) + 5), f((n) + 6), f((n) + 7)
#if HX_NATIVE_BYTES == 64
#define HX_H_INDEX(f) HX_I8(f, 0), HX_I8(f, 8), HX_I8(f, 16), HX_I8(f, 24)
#define HX_B_INDEX(f) HX_H_INDEX(f), HX_I8(f, 32), HX_I8(f, 40), HX_I8(f, 48), HX_I8(f, 56)
#elif HX_NATIVE_BYTES == 32
#define HX_H_INDEX(f) HX_I8(f, 0), HX_I8(f, 8)
#define HX_B_INDEX(f) HX_H_INDEX(f), HX_I8(f, 16), HX_I8(f, 24)
#else
#define HX_H_INDEX(f) HX_I8(f, 0)
#define HX_B_INDEX(f) HX_H_INDEX(f), HX_I8(f, 8)
#endif
#define HX_IDX_EVEN(i) (2 * (i))
#define HX_IDX_ODD(i) (2 * (i) + 1)
#define HX_IDX_TURN_B0(i) ((i) % 2 * HX_NATIVE_BYTES + (i) / 2)
#define HX_IDX_TURN_B1(i) ((i) % 2 * HX_NATIVE_BYTES + HX_NATIVE_BYTES / 2 + (i) / 2)
#define HX_IDX_TURN_H0(i) ((i) % 2 * (HX_NATIVE_BYTES / 2) + (i) / 2)
#define HX_IDX_TURN_H1(i) ((i) % 2 * (HX_NATIVE_BYTES / 2) + HX_NATIVE_BYTES / 4 + (i) / 2)
#define HX_SHUFFLE(T, x, y, ...) \
    ((hx_nw)__builtin_shufflevector((hx_n##T)(x), (hx_n##T)(y), __VA_ARGS__))

HX_FN hx_nw hx_evens_b(hx_nw x, hx_nw y)
{
    return HX_SHUFFLE(b, x, y, HX_B_INDEX(HX_IDX_EVEN));
}
HX_FN hx_nw hx_odds_b(hx_nw x, hx_nw y)
{
    return HX_SHUFFLE(b, x, y, HX_B_INDEX(HX_IDX_ODD));
}
HX_FN hx_nw hx_evens_h(hx_nw x, hx_nw y)
{
    return HX_SHUFFLE(h, x, y, HX_H_INDEX(HX_IDX_EVEN));
}
HX_FN hx_nw hx_odds_h(hx_nw x, hx_nw y)
{
    return HX_SHUFFLE(h, x, y, HX_H_INDEX(HX_IDX_ODD));
}

/* Lanes of x and y by turns, from the lower (0) or upper (1) half of both. */
HX_FN hx_nw hx_turns_b(hx_nw x, hx_nw y, int upper)
{
    if (upper)
        return HX_SHUFFLE(b, x, y, HX_B_INDEX(HX_IDX_TURN_B1));
    return HX_SHUFFLE(b, x, y, HX_B_INDEX(HX_IDX_TURN_B0));
}

HX_FN hx_nw hx_turns_h(hx_nw x, hx_nw y, int upper)
{
    if (upper)
        return HX_SHUFFLE(h, x, y, HX_H_INDEX(HX_IDX_TURN_H1));
    return HX_SHUFFLE(h, x, y, HX_H_INDEX(HX_IDX_TURN_H0));
}

/* --- pack: the lower half of the result from Vv, the upper from Vu; fn makes one register of two
 */
#define HX_PACK(name, fn) \
    HX_FN HVX_Vector name(HVX_Vector Vu, HVX_Vector Vv) \
    { \
        union hx_v u, v, d; \
        HX_HVX_COUNT(VP); \
        u.v = Vu; \
        v.v = Vv; \
        HX_UNROLL for (int i = 0; i < HX_NATIVES; i += 2) { \
            d.n[i / 2] = fn(v.n[i], v.n[i + 1]); \
            d.n[HX_NATIVES / 2 + i / 2] = fn(u.n[i], u.n[i + 1]); \
        } \
        return d.v; \
    }
#if HX_NATIVE_BYTES == 64
#define HX_PACK_BY(op, x, y) hx_in_order((hx_nud)_mm512_##op((__m512i)(x), (__m512i)(y)))
#elif HX_NATIVE_BYTES == 32
#define HX_PACK_BY(op, x, y) hx_in_order((hx_nud)_mm256_##op((__m256i)(x), (__m256i)(y)))
#endif
#ifdef HX_PACK_BY
/* The machine packs within 16 bytes: first those of x, which make the even 64 bits. */
HX_FN hx_nw hx_in_order(hx_nud x)
{
#if HX_NATIVE_BYTES == 64
    return (hx_nw)__builtin_shufflevector(x, x, 0, 2, 4, 6, 1, 3, 5, 7);
#else
    return (hx_nw)__builtin_shufflevector(x, x, 0, 2, 1, 3);
#endif
}
#define HX_PACK_B(x, y) HX_PACK_BY(packs_epi16, x, y)
#define HX_PACK_UB(x, y) HX_PACK_BY(packus_epi16, x, y)
#define HX_PACK_H(x, y) HX_PACK_BY(packs_epi32, x, y)
#define HX_PACK_UH(x, y) HX_PACK_BY(packus_epi32, x, y)
#else
#define HX_PACK_B(x, y) hx_evens_b((hx_nw)hx_sat_b_h((hx_nh)(x)), (hx_nw)hx_sat_b_h((hx_nh)(y)))
#define HX_PACK_UB(x, y) hx_evens_b((hx_nw)hx_sat_ub_h((hx_nh)(x)), (hx_nw)hx_sat_ub_h((hx_nh)(y)))
#define HX_PACK_H(x, y) hx_evens_h((hx_nw)hx_sat_h_w(x), (hx_nw)hx_sat_h_w(y))
#define HX_PACK_UH(x, y) hx_evens_h((hx_nw)hx_sat_uh_w(x), (hx_nw)hx_sat_uh_w(y))
#endif
HX_PACK(Q6_Vb_vpacke_VhVh, hx_evens_b)
HX_PACK(Q6_Vb_vpacko_VhVh, hx_odds_b)
HX_PACK(Q6_Vh_vpacke_VwVw, hx_evens_h)
HX_PACK(Q6_Vh_vpacko_VwVw, hx_odds_h)
HX_PACK(Q6_Vb_vpack_VhVh_sat, HX_PACK_B)
HX_PACK(Q6_Vub_vpack_VhVh_sat, HX_PACK_UB)
HX_PACK(Q6_Vh_vpack_VwVw_sat, HX_PACK_H)
HX_PACK(Q6_Vuh_vpack_VwVw_sat, HX_PACK_UH)
#undef HX_PACK_B
#undef HX_PACK_UB
#undef HX_PACK_H
#undef HX_PACK_UH
#undef HX_PACK_BY
#undef HX_PACK

/* --- deal: even lanes below, odd lanes above; shuff is the inverse */
#define HX_DEAL(T) \
    HX_FN HVX_Vector hx_deal_##T(HVX_Vector Vu) \
    { \
        union hx_v u, d; \
        u.v = Vu; \
        HX_UNROLL for (int i = 0; i < HX_NATIVES; i += 2) { \
            d.n[i / 2] = hx_evens_##T(u.n[i], u.n[i + 1]); \
            d.n[HX_NATIVES / 2 + i / 2] = hx_odds_##T(u.n[i], u.n[i + 1]); \
        } \
        return d.v; \
    } \
    HX_OP0(Q6_V##T##_vdeal_V##T, VP, (HVX_Vector Vu), HVX_Vector, hx_deal_##T(Vu)) \
    HX_FN HVX_Vector Q6_V##T##_vshuff_V##T(HVX_Vector Vu) \
    { \
        union hx_v u, d; \
        HX_HVX_COUNT(VP); \
        u.v = Vu; \
        HX_EACH(i) \
        d.n[i] = hx_turns_##T(u.n[i / 2], u.n[HX_NATIVES / 2 + i / 2], i & 1); \
        return d.v; \
    }
HX_DEAL(b)
HX_DEAL(h)
#undef HX_DEAL

/* Quarters of the result: bytes 0 mod 4 of Vv, bytes 2 mod 4 of Vv, the same of Vu. */
#define HX_IDX_QUARTERS(i) ((i) < HX_NATIVE_BYTES / 2 ? 4 * (i) : 4 * (i)-2 * HX_NATIVE_BYTES + 2)
HX_FN void hx_quarters_b(hx_nw *to, const hx_nw *from)
{
#if HX_NATIVE_BYTES == 64
    to[0] = HX_SHUFFLE(b, from[0], from[1], HX_B_INDEX(HX_IDX_QUARTERS));
#else
    HX_UNROLL for (int i = 0; i < HX_NATIVES / 4; i++) {
        const hx_nw x = hx_evens_b(from[4 * i], from[4 * i + 1]), y = hx_evens_b(from[4 * i + 2], from[4 * i + 3]);

        to[i] = hx_evens_b(x, y);
        to[HX_NATIVES / 4 + i] = hx_odds_b(x, y);
    }
#endif
}
HX_FN HVX_Vector Q6_Vb_vdeale_VbVb(HVX_Vector Vu, HVX_Vector Vv)
{
    union hx_v u, v, d;

    HX_HVX_COUNT(VP);
    u.v = Vu;
    v.v = Vv;
    hx_quarters_b(d.n, v.n);
    hx_quarters_b(d.n + HX_NATIVES / 2, u.n);
    return d.v;
}
#undef HX_IDX_QUARTERS

/* --- even (odd) lanes of both by turns, Vv first */
#define HX_SHUFFEO(T, L, bits, low) \
    HX_FN hx_nw hx_shuffe_##T(hx_nw a, hx_nw b) \
    { \
        return (hx_nw)(((hx_n##L)b & (low)) | ((hx_n##L)a << bits)); \
    } \
    HX_FN hx_nw hx_shuffo_##T(hx_nw a, hx_nw b) \
    { \
        return (hx_nw)(((hx_n##L)b >> bits) | ((hx_n##L)a & (low << bits))); \
    } \
    HX_OP2(Q6_V##T##_vshuffe_V##T##V##T, VA, w, w, hx_shuffe_##T(a, b)) \
    HX_OP2(Q6_V##T##_vshuffo_V##T##V##T, VA, w, w, hx_shuffo_##T(a, b)) \
    HX_DEF2(Q6_W##T##_vshuffoe_V##T##V##T, VA_DV, W, V, V, hx_shuffe_##T(a, b), hx_shuffo_##T(a, b))
HX_SHUFFEO(b, uh, 8, 0xffu)
HX_SHUFFEO(h, uw, 16, 0xffffu)
#undef HX_SHUFFEO

/* --- to wider lanes: sxt and zxt take even and odd lanes apart, unpack keeps the order */
HX_DEF1(Q6_Wh_vsxt_Vb, VA_DV, W, V, hx_eb(a), hx_ob(a))
HX_DEF1(Q6_Ww_vsxt_Vh, VA_DV, W, V, hx_eh(a), hx_oh(a))
HX_DEF1(Q6_Wuh_vzxt_Vub, VA_DV, W, V, hx_eub(a), hx_oub(a))
HX_DEF1(Q6_Wuw_vzxt_Vuh, VA_DV, W, V, hx_euh(a), hx_ouh(a))
#define HX_UNPACK(name, T, extend) \
    HX_FN HVX_VectorPair name(HVX_Vector Vu) \
    { \
        union hx_v u; \
        union hx_w d; \
        HX_HVX_COUNT(VP_VS); \
        u.v = Vu; \
        HX_EACH2(i) \
        d.n[i] = (hx_nw)extend(hx_turns_##T(u.n[i / 2], u.n[i / 2], i & 1)); \
        return d.w; \
    }
HX_UNPACK(Q6_Wh_vunpack_Vb, b, hx_eb)
HX_UNPACK(Q6_Wuh_vunpack_Vub, b, hx_eub)
HX_UNPACK(Q6_Ww_vunpack_Vh, h, hx_eh)
HX_UNPACK(Q6_Wuw_vunpack_Vuh, h, hx_euh)
#undef HX_UNPACK

/* The lane goes into the upper half of the wide one, which is ORed to Vxx. */
#define HX_UNPACKO(name, T) \
    HX_FN HVX_VectorPair name(HVX_VectorPair Vxx, HVX_Vector Vu) \
    { \
        union hx_v u; \
        union hx_w d; \
        HX_HVX_COUNT(VP_VS); \
        u.v = Vu; \
        d.w = Vxx; \
        HX_EACH2(i) \
        d.n[i] |= hx_turns_##T((hx_nw){0}, u.n[i / 2], i & 1); \
        return d.w; \
    }
HX_UNPACKO(Q6_Wh_vunpackoor_WhVb, b)
HX_UNPACKO(Q6_Ww_vunpackoor_WwVh, h)
#undef HX_UNPACKO

/* --- one word of a vector, by byte offset: a load in truth */
HX_FN Word32 Q6_R_vextract_VR(HVX_Vector Vu, Word32 Rs)
{
    union hx_v u;

    HX_HVX_COUNT(LD);
    u.v = Vu;
    return u.w[(Rs & 127) >> 2];
}

#endif
