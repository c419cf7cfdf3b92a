/* What the integer kernels need to know of a type: constants that fold once the type is one.  See quant.h. */
#ifndef HX_CPU_FORM_H
#define HX_CPU_FORM_H

#include <stddef.h>
#include <stdint.h>

#include "quant/quant.h"

#define FORM_INLINE static inline __attribute__((always_inline))

/* A kernel's code of a weight is 0..255: what is to be taken off it. */
FORM_INLINE int32_t form_offset(uint32_t type)
{
    switch (type) {
    case HX_QUANT_Q8_0:
    case HX_QUANT_IQ4_NL:
        return 128;
    case HX_QUANT_Q5_0:
        return 16;
    case HX_QUANT_Q4_0:
        return 8;
    case HX_QUANT_Q6_K:
        return 32;
    case HX_QUANT_Q3_K:
        return 4;
    default:
        return 0;
    }
}

/* 1: codes above 127 occur */
FORM_INLINE int form_wide(uint32_t type)
{
    return form_offset(type) == 128;
}

/* 1: the type has minima */
FORM_INLINE int form_min(uint32_t type)
{
    return type == HX_QUANT_Q4_1 || type == HX_QUANT_Q5_1 || type == HX_QUANT_Q2_K ||
           type == HX_QUANT_Q4_K || type == HX_QUANT_Q5_K;
}

/* 1: scales of a K type are for groups of 32, else of 16 */
FORM_INLINE int form_group32(uint32_t type)
{
    return type == HX_QUANT_Q4_K || type == HX_QUANT_Q5_K;
}

/* bytes of a block */
FORM_INLINE size_t form_bytes(uint32_t type)
{
    switch (type) {
    case HX_QUANT_Q8_0:
        return sizeof(struct hx_q8_0);
    case HX_QUANT_Q4_0:
        return sizeof(struct hx_q4_0);
    case HX_QUANT_Q4_1:
        return sizeof(struct hx_q4_1);
    case HX_QUANT_Q5_0:
        return sizeof(struct hx_q5_0);
    case HX_QUANT_Q5_1:
        return sizeof(struct hx_q5_1);
    case HX_QUANT_IQ4_NL:
        return sizeof(struct hx_iq4_nl);
    case HX_QUANT_Q2_K:
        return sizeof(struct hx_q2_k);
    case HX_QUANT_Q3_K:
        return sizeof(struct hx_q3_k);
    case HX_QUANT_Q4_K:
        return sizeof(struct hx_q4_k);
    case HX_QUANT_Q5_K:
        return sizeof(struct hx_q5_k);
    default:
        return sizeof(struct hx_q6_k);
    }
}

/* Where fp16 d and the minimum lie in a block. */
FORM_INLINE size_t form_d_at(uint32_t type)
{
    switch (type) {
    case HX_QUANT_Q2_K:
        return offsetof(struct hx_q2_k, d);
    case HX_QUANT_Q3_K:
        return offsetof(struct hx_q3_k, d);
    case HX_QUANT_Q6_K:
        return offsetof(struct hx_q6_k, d);
    default:
        return 0;
    }
}

FORM_INLINE size_t form_min_at(uint32_t type)
{
    return form_d_at(type) + 2;
}

FORM_INLINE uint16_t form_u16(const uint8_t *p)
{
    uint16_t h;

    __builtin_memcpy(&h, p, sizeof(h));
    return h;
}

FORM_INLINE uint32_t form_u32(const uint8_t *p)
{
    uint32_t u;

    __builtin_memcpy(&u, p, sizeof(u));
    return u;
}

/* How far ahead of a row's byte to fetch memory: rows lie one behind the other and are read four at a time, so the way leads
 * over a multiple of four rows, 48 KiB or more: well within the second cache.  (Past the matrix there is the next one, and
 * past the file nothing happens.) */
FORM_INLINE size_t form_ahead(size_t row_bytes)
{
    const size_t four = 4 * row_bytes;

    return (49152 + four - 1) / four * four;
}

/* The sixteen scales (and minima) of a K block as bytes, one per group of 16; signed where the type's are.  A type with an
 * offset has its scales as minima, so that offset * sum of minima * sums is what is to be taken off. */
struct form_scales {
    uint64_t s[2], m[2]; /* byte g % 8 of word g / 8 */
};

/* byte i of u twice */
FORM_INLINE uint64_t form_twice(uint32_t u)
{
    uint64_t w = u;

    w = (w | w << 16) & 0x0000ffff0000ffffu;
    w = (w | w << 8) & 0x00ff00ff00ff00ffu;
    return w | w << 8;
}

FORM_INLINE struct form_scales form_scales_packed6(const uint8_t *p)
{
    const uint32_t a = form_u32(p), b = form_u32(p + 4), c = form_u32(p + 8);

    return (struct form_scales){
        {form_twice(a & 0x3f3f3f3f), form_twice((c & 0x0f0f0f0f) | (a >> 2 & 0x30303030))},
        {form_twice(b & 0x3f3f3f3f), form_twice((c >> 4 & 0x0f0f0f0f) | (b >> 2 & 0x30303030))}};
}

FORM_INLINE struct form_scales form_scales_q3(const uint8_t *p)
{
    const uint64_t low = form_u32(p) | (uint64_t)form_u32(p + 4) << 32, top = form_u32(p + 8);
    /* groups 0..3, 4..7 and 8..11, 12..15 take bits 0, 2, 4 and 6 of the four top bytes */
    uint64_t s0 = (low & 0x0f0f0f0f0f0f0f0fu) |
                  ((top & 0x03030303) | (top >> 2 & 0x03030303) << 32) << 4;
    uint64_t s1 = (low >> 4 & 0x0f0f0f0f0f0f0f0fu) |
                  ((top >> 4 & 0x03030303) | (top >> 6 & 0x03030303) << 32) << 4;

    /* each byte - 32: 0..63 becomes -32..31 without a borrow */
    s0 = ((s0 | 0x8080808080808080u) - 0x2020202020202020u) ^ 0x8080808080808080u;
    s1 = ((s1 | 0x8080808080808080u) - 0x2020202020202020u) ^ 0x8080808080808080u;
    return (struct form_scales){{s0, s1}, {s0, s1}};
}

FORM_INLINE struct form_scales form_scales(uint32_t type, const uint8_t *block)
{
    const uint64_t nibbles = 0x0f0f0f0f0f0f0f0fu;
    uint64_t w[2];

    switch (type) {
    case HX_QUANT_Q2_K:
        __builtin_memcpy(w, block, sizeof(w));
        return (struct form_scales){{w[0] & nibbles, w[1] & nibbles},
                                    {w[0] >> 4 & nibbles, w[1] >> 4 & nibbles}};
    case HX_QUANT_Q3_K:
        return form_scales_q3(block + offsetof(struct hx_q3_k, scales));
    case HX_QUANT_Q6_K:
        __builtin_memcpy(w, block + offsetof(struct hx_q6_k, scales), sizeof(w));
        return (struct form_scales){{w[0], w[1]}, {w[0], w[1]}};
    default: /* Q4_K and Q5_K have them at the same place */
        return form_scales_packed6(block + offsetof(struct hx_q4_k, scales));
    }
}

#endif
