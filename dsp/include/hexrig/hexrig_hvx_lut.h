/* HVX intrinsics that look bytes up in a table.
 *
 * Bytes of `index` choose entries of `table`: the low bits of r say which block of 32 bytes (16 halves) is looked up, and r bit 1 which
 * byte (half) of each pair is the entry.  Indices outside of the block give 0; with :nomatch only their low bits count.
 *
 * One meaning in three ways: a permutation of 128 bytes where the machine has it, shuffles of 16 bytes, portable C.  Each makes the
 * block ready once (hx_lutN_block) and looks up a register of indices at a time (hx_lutN_at). */
#ifndef HEXRIG_HVX_LUT_H
#define HEXRIG_HVX_LUT_H

#include "hexrig_hvx_pack.h"

#define HX_LUT32_BLOCK(r) (((r) & 7) << 5)
#define HX_LUT16_BLOCK(r) (((r) & 15) << 4)

#if HX_NATIVE_BYTES == 64 && defined(__AVX512VBMI__)

/* Byte lanes: the table's byte at[i] & 127, 0 where `in` is clear. */
HX_FN hx_nw hx_byte_of(union hx_v t, hx_nub at, __mmask64 in)
{
    return (hx_nw)_mm512_maskz_permutex2var_epi8(in, (__m512i)t.n[0], (__m512i)at, (__m512i)t.n[1]);
}

/* The lanes whose bits `mask` say `block`; with :nomatch all. */
HX_FN __mmask64 hx_in_block(hx_nub k, int mask, int block, int nomatch)
{
    if (nomatch)
        return ~(__mmask64)0;
    return _mm512_cmpeq_epi8_mask((__m512i)(k & (uint8_t)mask), _mm512_set1_epi8((char)block));
}

HX_FN union hx_v hx_lut32_block(union hx_v table, Word32 r)
{
    (void)r;
    return table;
}

HX_FN union hx_v hx_lut16_block(union hx_v table, Word32 r)
{
    (void)r;
    return table;
}

/* Entry k is byte 2k + odd of the table's half. */
HX_FN hx_nw hx_lut32_at(union hx_v t, hx_nub k, Word32 r, int nomatch)
{
    const int block = HX_LUT32_BLOCK(r), first = (block & 32) << 1 | (r >> 1 & 1);

    return hx_byte_of(t, ((k + k) & 0x3e) | (uint8_t)first, hx_in_block(k, 0xe0, block, nomatch));
}

/* Entry k is bytes 4k + 2 odd and the next. */
HX_FN void hx_lut16_at(union hx_v t, hx_nub k, Word32 r, int nomatch, hx_nuh *low, hx_nuh *high)
{
    const int block = HX_LUT16_BLOCK(r), first = (block & 16) << 2 | (r & 2);
    const hx_nub at = ((hx_nub)((hx_nuh)k << 2) & 0x3c) | (uint8_t)first;
    const __mmask64 in = hx_in_block(k, 0xf0, block, nomatch);

    *low = (hx_nuh)hx_byte_of(t, at, in);
    *high = (hx_nuh)hx_byte_of(t, at | 1, in);
}

#elif HX_NATIVE_BYTES == 32

/* The registers of the table's lower or upper half. */
HX_FN void hx_table_half(union hx_v table, int is_upper, hx_nw *x, hx_nw *y)
{
    const hx_nw upper = hx_nsplat(-is_upper);

    *x = hx_nsel(upper, table.n[2], table.n[0]);
    *y = hx_nsel(upper, table.n[3], table.n[1]);
}

/* Low halves of the lanes of x, then of y, whose high halves are 0. */
HX_FN hx_nw hx_join_b(hx_nuh x, hx_nuh y)
{
    return (hx_nw)_mm256_permute4x64_epi64(_mm256_packus_epi16((__m256i)x, (__m256i)y), 0xd8);
}

HX_FN hx_nw hx_join_h(hx_nuw x, hx_nuw y)
{
    return (hx_nw)_mm256_permute4x64_epi64(_mm256_packus_epi32((__m256i)x, (__m256i)y), 0xd8);
}

/* 16 bytes of the block twice in each of the first two registers: what lies in the halves of t. */
HX_FN union hx_v hx_twice(hx_nw t)
{
    union hx_v d;

    d.n[0] = (hx_nw)_mm256_permute4x64_epi64((__m256i)t, 0x44);
    d.n[1] = (hx_nw)_mm256_permute4x64_epi64((__m256i)t, 0xee);
    return d;
}

/* t[k], or 0 where k > 15: then the saturating sum has bit 7, for which a shuffle gives 0. */
HX_FN hx_nw hx_byte_of(hx_nw t, hx_nub k)
{
    return (hx_nw)_mm256_shuffle_epi8((__m256i)t, _mm256_adds_epu8((__m256i)k, _mm256_set1_epi8(0x70)));
}

/* Entries 0..15 and 16..31. */
HX_FN union hx_v hx_lut32_block(union hx_v table, Word32 r)
{
    const int odd = 8 * (r >> 1 & 1);
    hx_nw x, y;

    hx_table_half(table, HX_LUT32_BLOCK(r) >> 5 & 1, &x, &y);
    return hx_twice(hx_join_b((hx_nuh)x >> odd & 0xff, (hx_nuh)y >> odd & 0xff));
}

/* Low and high bytes of entries 0..15. */
HX_FN union hx_v hx_lut16_block(union hx_v table, Word32 r)
{
    const int odd = 16 * (r >> 1 & 1);
    hx_nw x, y;
    hx_nuh entries;

    hx_table_half(table, HX_LUT16_BLOCK(r) >> 4 & 1, &x, &y);
    entries = (hx_nuh)hx_join_h((hx_nuw)x >> odd & 0xffff, (hx_nuw)y >> odd & 0xffff);
    return hx_twice(hx_join_b(entries & 0xff, entries >> 8));
}

HX_FN hx_nw hx_lut32_at(union hx_v t, hx_nub k, Word32 r, int nomatch)
{
    k = nomatch ? k & 31 : k ^ (uint8_t)HX_LUT32_BLOCK(r);
    return hx_byte_of(t.n[0], k) | hx_byte_of(t.n[1], k ^ 16);
}

HX_FN void hx_lut16_at(union hx_v t, hx_nub k, Word32 r, int nomatch, hx_nuh *low, hx_nuh *high)
{
    k = nomatch ? k & 15 : k ^ (uint8_t)HX_LUT16_BLOCK(r);
    *low = (hx_nuh)hx_byte_of(t.n[0], k);
    *high = (hx_nuh)hx_byte_of(t.n[1], k);
}

#else

/* t[k & 31] (or & 15) for every byte k of x; t: 32 bytes. */
HX_FN hx_nw hx_lookup32(const uint8_t *t, hx_nub k)
{
    hx_nub d;

#if defined(__GNUC__) && !defined(__clang__)
    hx_nub low, high;

    for (int i = 0; i < HX_NATIVE_BYTES; i += 16) {
        memcpy((char *)&low + i, t, 16);
        memcpy((char *)&high + i, t + 16, 16);
    }
    /* within 16 bytes, which is what every machine shuffles fast */
    k &= 31;
    {
        const hx_nub at = (k & 15) | (hx_iota(0) & 0xf0);

        d = HX_PICK(ub, k < 16, __builtin_shuffle(low, at), __builtin_shuffle(high, at));
    }
#else
    for (int i = 0; i < HX_NATIVE_BYTES; i++)
        d[i] = t[k[i] & 31];
#endif
    return (hx_nw)d;
}

HX_FN union hx_v hx_lut32_block(union hx_v table, Word32 r)
{
    (void)r;
    table.v = hx_deal_b(table.v);
    return table;
}

/* Low bytes from byte 0, high bytes from byte 32. */
HX_FN union hx_v hx_lut16_block(union hx_v table, Word32 r)
{
    const int first = HX_LUT16_BLOCK(r) % 32 + (r >> 1 & 1) * 32;
    union hx_v d = {.v = {0}};

    table.v = hx_deal_h(table.v);
    for (int i = 0; i < 16; i++) {
        d.ub[i] = (uint8_t)table.uh[first + i];
        d.ub[32 + i] = (uint8_t)(table.uh[first + i] >> 8);
    }
    return d;
}

HX_FN hx_nw hx_lut32_at(union hx_v t, hx_nub k, Word32 r, int nomatch)
{
    const int block = HX_LUT32_BLOCK(r);
    const hx_nw in = (hx_nw)((k & 0xe0) == (uint8_t)block);

    return hx_lookup32(t.ub + (r >> 1 & 1) * 64 + block % 64, k) & (in | -nomatch);
}

HX_FN void hx_lut16_at(union hx_v t, hx_nub k, Word32 r, int nomatch, hx_nuh *low, hx_nuh *high)
{
    const hx_nw in = (hx_nw)((k & 0xf0) == (uint8_t)HX_LUT16_BLOCK(r)) | -nomatch;

    *low = (hx_nuh)(hx_lookup32(t.ub, k & 15) & in);
    *high = (hx_nuh)(hx_lookup32(t.ub + 32, k & 15) & in);
}

#endif

HX_MID_FN HVX_Vector hx_lut32(HVX_Vector index, HVX_Vector table, Word32 r, int nomatch)
{
    union hx_v x, t, d;

    x.v = index;
    t.v = table;
    t = hx_lut32_block(t, r);
    HX_EACH(i)
    d.n[i] = hx_lut32_at(t, (hx_nub)x.n[i], r, nomatch);
    return d.v;
}

/* Even bytes of the indices make the low vector. */
HX_MID_FN HVX_VectorPair hx_lut16(HVX_Vector index, HVX_Vector table, Word32 r, int nomatch)
{
    union hx_v x, t;
    union hx_w d;

    x.v = index;
    t.v = table;
    t = hx_lut16_block(t, r);
    HX_EACH(i) {
        hx_nuh low, high;

        hx_lut16_at(t, (hx_nub)x.n[i], r, nomatch, &low, &high);
        d.n[i] = (hx_nw)((low & 0xff) | (high << 8));
        d.n[HX_NATIVES + i] = (hx_nw)((low >> 8) | (high & 0xff00));
    }
    return d.w;
}

HX_FN HVX_Vector hx_or_v(HVX_Vector x, HVX_Vector y)
{
    union hx_v a, b;

    a.v = x;
    b.v = y;
    HX_EACH(i)
    a.n[i] |= b.n[i];
    return a.v;
}

HX_FN HVX_VectorPair hx_or_w(HVX_VectorPair x, HVX_VectorPair y)
{
    union hx_w a, b;

    a.w = x;
    b.w = y;
    HX_EACH2(i)
    a.n[i] |= b.n[i];
    return a.w;
}

#define HX_ARGS HVX_Vector Vu, HVX_Vector Vv, Word32 Rt
#define HX_LUT32(name, cls, r, nomatch) \
    HX_OP0(name, cls, (HX_ARGS), HVX_Vector, hx_lut32(Vu, Vv, r, nomatch))
#define HX_LUT32_OR(name, r) \
    HX_OP0(name, VP_VS, (HVX_Vector Vx, HX_ARGS), HVX_Vector, hx_or_v(Vx, hx_lut32(Vu, Vv, r, 0)))
#define HX_LUT16(name, r, nomatch) \
    HX_OP0(name, VP_VS, (HX_ARGS), HVX_VectorPair, hx_lut16(Vu, Vv, r, nomatch))
#define HX_LUT16_OR(name, r) \
    HX_OP0(name, VP_VS, (HVX_VectorPair Vxx, HX_ARGS), HVX_VectorPair, \
           hx_or_w(Vxx, hx_lut16(Vu, Vv, r, 0)))
HX_LUT32(Q6_Vb_vlut32_VbVbR, VP, Rt, 0)
HX_LUT32(Q6_Vb_vlut32_VbVbI, VP, Rt & 7, 0)
HX_LUT32(Q6_Vb_vlut32_VbVbR_nomatch, VP, Rt, 1)
HX_LUT32_OR(Q6_Vb_vlut32or_VbVbVbR, Rt)
HX_LUT32_OR(Q6_Vb_vlut32or_VbVbVbI, Rt & 7)
HX_LUT16(Q6_Wh_vlut16_VbVhR, Rt, 0)
HX_LUT16(Q6_Wh_vlut16_VbVhI, Rt & 7, 0)
HX_LUT16(Q6_Wh_vlut16_VbVhR_nomatch, Rt, 1)
HX_LUT16_OR(Q6_Wh_vlut16or_WhVbVhR, Rt)
HX_LUT16_OR(Q6_Wh_vlut16or_WhVbVhI, Rt & 7)
#undef HX_LUT32
#undef HX_LUT32_OR
#undef HX_LUT16
#undef HX_LUT16_OR
#undef HX_ARGS

#undef HX_LUT32_BLOCK
#undef HX_LUT16_BLOCK

#endif
