/* Bit counting, fields, bit reordering, bytes of pairs.  Notation: hexrig_scalar.h. */
#ifndef HEXRIG_SCALAR_BITS_H
#define HEXRIG_SCALAR_BITS_H

#include "hexrig_scalar.h"

static inline int hxs_clz(uint64_t v, int width)
{
    return v ? __builtin_clzll(v) - (64 - width) : width;
}

static inline int hxs_ctz(uint64_t v, int width)
{
    return v ? __builtin_ctzll(v) : width;
}

static inline int hxs_clb(uint64_t v, int width) /* leading bits that equal the top one */
{
    const uint64_t inverse = hxs_zxt(~v, (unsigned int)width);
    const int zeros = hxs_clz(v, width), ones = hxs_clz(inverse, width);

    return zeros > ones ? zeros : ones;
}

static inline uint64_t hxs_brev(uint64_t v, int width)
{
    uint64_t d = 0;

    for (int i = 0; i < width; i++)
        d |= (v >> i & 1) << (width - 1 - i);
    return d;
}

HXS_Q6_1(R, Q6_R_cl0_R, R, hxs_clz((uint32_t)a, 32))
HXS_Q6_1(R, Q6_R_cl1_R, R, hxs_clz((uint32_t)~a, 32))
HXS_Q6_1(R, Q6_R_clb_R, R, hxs_clb((uint32_t)a, 32))
HXS_Q6_1(R, Q6_R_normamt_R, R, a ? hxs_clb((uint32_t)a, 32) - 1 : 0)
HXS_Q6_2(R, Q6_R_add_clb_RI, R, R, hxs_clb((uint32_t)a, 32) + b)
HXS_Q6_1(R, Q6_R_ct0_R, R, hxs_ctz((uint32_t)a, 32))
HXS_Q6_1(R, Q6_R_ct1_R, R, hxs_ctz((uint32_t)~a, 32))
HXS_Q6_1(R, Q6_R_brev_R, R, hxs_brev((uint32_t)a, 32))
HXS_Q6_1(R, Q6_R_cl0_P, P, hxs_clz(a, 64))
HXS_Q6_1(R, Q6_R_cl1_P, P, hxs_clz(~a, 64))
HXS_Q6_1(R, Q6_R_clb_P, P, hxs_clb(a, 64))
HXS_Q6_1(R, Q6_R_normamt_P, P, a ? hxs_clb(a, 64) - 1 : 0)
HXS_Q6_2(R, Q6_R_add_clb_PI, P, R, hxs_clb(a, 64) + b)
HXS_Q6_1(R, Q6_R_ct0_P, P, hxs_ctz(a, 64))
HXS_Q6_1(R, Q6_R_ct1_P, P, hxs_ctz(~a, 64))
HXS_Q6_1(P, Q6_P_brev_P, P, hxs_brev(a, 64))
HXS_Q6_1(R, Q6_R_popcount_P, P, __builtin_popcountll(a))
HXS_Q6_2(R, Q6_R_parity_RR, R, R, __builtin_parity((uint32_t)(a & b)))
HXS_Q6_2(R, Q6_R_parity_PP, P, P, __builtin_parityll(a & b))
HXS_Q6_2(P, Q6_P_lfs_PP, P, P, a >> 1 | (uint64_t)__builtin_parityll(a & b) << 63)

/* Single bits.  By register the number is a shift amount: outside 0..31 there is no such bit. */
HXS_Q6_2(R, Q6_R_setbit_RI, R, R, a | 1ll << (b & 31))
HXS_Q6_2(R, Q6_R_clrbit_RI, R, R, a & ~(1ll << (b & 31)))
HXS_Q6_2(R, Q6_R_togglebit_RI, R, R, a ^ 1ll << (b & 31))
HXS_Q6_2(R, Q6_R_setbit_RR, R, R, (uint64_t)a | hxs_lsl(1, b))
HXS_Q6_2(R, Q6_R_clrbit_RR, R, R, (uint64_t)a & ~hxs_lsl(1, b))
HXS_Q6_2(R, Q6_R_togglebit_RR, R, R, (uint64_t)a ^ hxs_lsl(1, b))

/* Fields: width, then offset; as a pair, width in bits 32..37 and offset, which may be negative, in bits 0..6. */
#define HXS_WIDTH(p) ((unsigned int)((p) >> 32) & 63)
HXS_Q6_3(R, Q6_R_extractu_RII, R, R, R, hxs_zxt((uint32_t)a >> (c & 31), b & 31))
HXS_Q6_3(R, Q6_R_extract_RII, R, R, R, hxs_sxt((uint32_t)a >> (c & 31), b & 31))
HXS_Q6_3(P, Q6_P_extractu_PII, P, R, R, hxs_zxt(a >> (c & 63), b & 63))
HXS_Q6_3(P, Q6_P_extract_PII, P, R, R, hxs_sxt(a >> (c & 63), b & 63))
HXS_Q6_2(R, Q6_R_extractu_RP, R, P, hxs_zxt(hxs_lsr((uint32_t)a, (int64_t)b), HXS_WIDTH(b)))
HXS_Q6_2(R, Q6_R_extract_RP, R, P, hxs_sxt(hxs_lsr((uint32_t)a, (int64_t)b), HXS_WIDTH(b)))
HXS_Q6_2(P, Q6_P_extractu_PP, P, P, hxs_zxt(hxs_lsr(a, (int64_t)b), HXS_WIDTH(b)))
HXS_Q6_2(P, Q6_P_extract_PP, P, P, hxs_sxt(hxs_lsr(a, (int64_t)b), HXS_WIDTH(b)))

/* x with `width` bits from `offset` on replaced by the low bits of s. */
static inline uint64_t hxs_insert(uint64_t x, uint64_t s, unsigned int width, int offset)
{
    const uint64_t mask = hxs_zxt(~0ull, width);

    return offset < 0 ? 0 : (x & ~(mask << offset)) | (s & mask) << offset;
}

HXS_Q6_4(R, Q6_R_insert_RII, R, R, R, R, hxs_insert((uint64_t)a, (uint64_t)b, c & 31, d & 31))
HXS_Q6_4(P, Q6_P_insert_PII, P, P, R, R, hxs_insert(a, b, c & 63, d & 63))
HXS_Q6_3(R, Q6_R_insert_RP, R, R, P,
        hxs_insert((uint64_t)a, (uint64_t)b, HXS_WIDTH(c), hxs_amount((int64_t)c)))
HXS_Q6_3(P, Q6_P_insert_PP, P, P, P, hxs_insert(a, b, HXS_WIDTH(c), hxs_amount((int64_t)c)))
#define HXS_TABLEIDX(name, scale)                                                                  \
    HXS_Q6_4(R, name, R, R, R, R,                                                                  \
            hxs_insert((uint64_t)a, (uint32_t)b >> (d & 31), (unsigned int)c & 15, scale))
HXS_TABLEIDX(Q6_R_tableidxb_RII, 0)
HXS_TABLEIDX(Q6_R_tableidxh_RII, 1)
HXS_TABLEIDX(Q6_R_tableidxw_RII, 2)
HXS_TABLEIDX(Q6_R_tableidxd_RII, 3)
HXS_Q6_2(R, Q6_R_mask_II, R, R, hxs_zxt(~0ull, a & 31) << (b & 31))
HXS_Q6_2(P, Q6_P_bitsplit_RR, R, R, HXS_WW((uint32_t)a >> (b & 31), hxs_zxt((uint64_t)a, b & 31)))
HXS_Q6_2(P, Q6_P_bitsplit_RI, R, R, HXS_WW((uint32_t)a >> (b & 31), hxs_zxt((uint64_t)a, b & 31)))

/* Even bits to the low word, odd bits to the high word, and back. */
static inline uint64_t hxs_deinterleave(uint64_t v)
{
    uint64_t d = 0;

    for (int i = 0; i < 64; i++)
        d |= (v >> i & 1) << (i / 2 + i % 2 * 32);
    return d;
}

static inline uint64_t hxs_interleave(uint64_t v)
{
    uint64_t d = 0;

    for (int i = 0; i < 64; i++)
        d |= (v >> (i / 2 + i % 2 * 32) & 1) << i;
    return d;
}

HXS_Q6_1(P, Q6_P_deinterleave_P, P, hxs_deinterleave(a))
HXS_Q6_1(P, Q6_P_interleave_P, P, hxs_interleave(a))

/* Bytes and halves of two pairs. */
HXS_EACH(P, Q6_P_shuffeb_PP, (Word64 a, Word64 b), 8, 8, HXS_UB(a, i & 6), HXS_UB(b, i & 6),
        i & 1 ? x : y)
HXS_EACH(P, Q6_P_shuffob_PP, (Word64 a, Word64 b), 8, 8, HXS_UB(a, i | 1), HXS_UB(b, i | 1),
        i & 1 ? x : y)
HXS_EACH(P, Q6_P_shuffeh_PP, (Word64 a, Word64 b), 4, 16, HXS_UH(a, i & 2), HXS_UH(b, i & 2),
        i & 1 ? x : y)
HXS_EACH(P, Q6_P_shuffoh_PP, (Word64 a, Word64 b), 4, 16, HXS_UH(a, i | 1), HXS_UH(b, i | 1),
        i & 1 ? x : y)
HXS_EACH(P, Q6_P_vtrunehb_PP, (Word64 a, Word64 b), 8, 8, HXS_UB(a, i * 2 & 7), HXS_UB(b,
        i * 2 & 7),
        i & 4 ? x : y)
HXS_EACH(P, Q6_P_vtrunohb_PP, (Word64 a, Word64 b), 8, 8, HXS_UB(a, (i * 2 & 7) + 1),
        HXS_UB(b, (i * 2 & 7) + 1), i & 4 ? x : y)
HXS_EACH(P, Q6_P_vtrunewh_PP, (Word64 a, Word64 b), 4, 16, HXS_UH(a, i * 2 & 3),
        HXS_UH(b, i * 2 & 3), i & 2 ? x : y)
HXS_EACH(P, Q6_P_vtrunowh_PP, (Word64 a, Word64 b), 4, 16, HXS_UH(a, (i * 2 & 3) + 1),
        HXS_UH(b, (i * 2 & 3) + 1), i & 2 ? x : y)
HXS_EACH(R, Q6_R_vtrunehb_P, (Word64 a), 4, 8, HXS_UB(a, 2 * i), 0, x)
HXS_EACH(R, Q6_R_vtrunohb_P, (Word64 a), 4, 8, HXS_UB(a, 2 * i + 1), 0, x)
HXS_EACH(P, Q6_P_vsxtbh_R, (Word32 a), 4, 16, HXS_B(a, i), 0, x)
HXS_EACH(P, Q6_P_vzxtbh_R, (Word32 a), 4, 16, HXS_UB(a, i), 0, x)
HXS_EACH(P, Q6_P_vsxthw_R, (Word32 a), 2, 32, HXS_H(a, i), 0, x)
HXS_EACH(P, Q6_P_vzxthw_R, (Word32 a), 2, 32, HXS_UH(a, i), 0, x)
HXS_Q6_1(R, Q6_R_vsplatb_R, R, HXS_UB(a, 0) * 0x01010101)
HXS_Q6_1(P, Q6_P_vsplatb_R, R, (uint64_t)HXS_UB(a, 0) * 0x0101010101010101u)
HXS_Q6_1(P, Q6_P_vsplath_R, R, (uint64_t)HXS_UH(a, 0) * 0x0001000100010001u)

/* valignb: b moved down n bytes, a coming in on top; vspliceb: the low n bytes of a, then b. */
static inline uint64_t hxs_alignb(uint64_t high, uint64_t low, int n)
{
    return hxs_shr(low, 8 * n) | hxs_shl(high, 64 - 8 * n);
}

HXS_Q6_3(P, Q6_P_valignb_PPI, P, P, R, hxs_alignb(a, b, c & 7))
HXS_Q6_3(P, Q6_P_valignb_PPp, P, P, p, hxs_alignb(a, b, c & 7))
HXS_Q6_3(P, Q6_P_vspliceb_PPI, P, P, R, b << 8 * (c & 7) | hxs_zxt(a, 8 * (c & 7)))
HXS_Q6_3(P, Q6_P_vspliceb_PPp, P, P, p, b << 8 * (c & 7) | hxs_zxt(a, 8 * (c & 7)))

#endif
