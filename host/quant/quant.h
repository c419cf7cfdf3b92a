/* Number formats of weights, as ggml defines them: how many weights a block has, how its bytes lie, what they mean.
 *
 * A row of n weights is n / weights blocks one after the other; a block never crosses a row.  All is little-endian.
 * d and m below are fp16.  A file may place a block at any even address, so the structs are packed.
 * Source: the GGUF specification and the block definitions of the ggml project.
 * All functions are pure: any thread, no allocation. */
#ifndef HX_QUANT_H
#define HX_QUANT_H

#include <stddef.h>
#include <stdint.h>

enum hx_quant { /* ggml's numbers */
    HX_QUANT_F32 = 0,
    HX_QUANT_F16 = 1,
    HX_QUANT_Q4_0 = 2,
    HX_QUANT_Q4_1 = 3,
    HX_QUANT_Q5_0 = 6,
    HX_QUANT_Q5_1 = 7,
    HX_QUANT_Q8_0 = 8,
    HX_QUANT_Q2_K = 10,
    HX_QUANT_Q3_K = 11,
    HX_QUANT_Q4_K = 12,
    HX_QUANT_Q5_K = 13,
    HX_QUANT_Q6_K = 14,
    HX_QUANT_IQ4_NL = 20,
    HX_QUANT_BF16 = 30,
};

enum {
    HX_QUANT_NAMES = 40, /* numbers below this one may have a name */
    HX_Q8_0_WEIGHTS = 32,
    HX_Q8_0_BYTES = 34,
    HX_QK_WEIGHTS = 256, /* of all Q?_K types */
};

/* --- blocks of 32 weights.  Byte j of qs has weight j in its low and weight j + 16 in its high nibble; bit j of qh is
 * the fifth bit of weight j. */
#define HX_PACKED __attribute__((packed))

struct hx_q4_0 { /* w = d (q - 8) */
    uint16_t d;
    uint8_t qs[16];
} HX_PACKED;

struct hx_q4_1 { /* w = d q + m */
    uint16_t d, m;
    uint8_t qs[16];
} HX_PACKED;

struct hx_q5_0 { /* w = d (q - 16) */
    uint16_t d;
    uint8_t qh[4];
    uint8_t qs[16];
} HX_PACKED;

struct hx_q5_1 { /* w = d q + m */
    uint16_t d, m;
    uint8_t qh[4];
    uint8_t qs[16];
} HX_PACKED;

struct hx_q8_0 { /* w = d q */
    uint16_t d;
    int8_t qs[32];
} HX_PACKED;

struct hx_iq4_nl { /* w = d hx_iq4_nl_values[q] */
    uint16_t d;
    uint8_t qs[16];
} HX_PACKED;

/* --- blocks of 256 weights in groups of 16 or 32, each with a scale of its own (and a minimum, where there is one) */

/* w = d s q - dmin m; byte g of scales: s in the low, m in the high nibble, for group g of 16.  Half h (128 weights) has
 * qs[32 h..]: weight 32 j + l of it is bits 2 j of byte l. */
struct hx_q2_k {
    uint8_t scales[16];
    uint8_t qs[64];
    uint16_t d, dmin;
} HX_PACKED;

/* w = d (s - 32) (q - 4), groups of 16.  Two low bits as in Q2_K; the third is bit 4 h + j of hmask[l].  The sixteen 6-bit
 * scales: low nibbles in bytes 0..7 (s[g] low, s[g + 8] high), bits 2 (g / 4) of bytes 8..11 (byte 8 + g % 4) on top. */
struct hx_q3_k {
    uint8_t hmask[32];
    uint8_t qs[64];
    uint8_t scales[12];
    uint16_t d;
} HX_PACKED;

/* w = d s q - dmin m, groups of 32.  Quarter c (64 weights) has qs[32 c..]: low nibbles are its first group, high nibbles
 * its second.  s[g], m[g]: 6 bits each, see hx_quant_scale_min(). */
struct hx_q4_k {
    uint16_t d, dmin;
    uint8_t scales[12];
    uint8_t qs[128];
} HX_PACKED;

/* As Q4_K; the fifth bit of weight l of group g is bit g of qh[l]. */
struct hx_q5_k {
    uint16_t d, dmin;
    uint8_t scales[12];
    uint8_t qh[32];
    uint8_t qs[128];
} HX_PACKED;

/* w = d s (q - 32), groups of 16.  Half h: weight l of its quarter j has its low nibble in ql[64 h + 32 (j % 2) + l] (low
 * for j < 2, else high), bits 4 and 5 in bits 2 j of qh[32 h + l]. */
struct hx_q6_k {
    uint8_t ql[128];
    uint8_t qh[64];
    int8_t scales[16];
    uint16_t d;
} HX_PACKED;

_Static_assert(sizeof(struct hx_q4_0) == 18 && sizeof(struct hx_q4_1) == 20 &&
               sizeof(struct hx_q5_0) == 22 && sizeof(struct hx_q5_1) == 24 &&
               sizeof(struct hx_q8_0) == HX_Q8_0_BYTES && sizeof(struct hx_iq4_nl) == 18 &&
               sizeof(struct hx_q2_k) == 84 && sizeof(struct hx_q3_k) == 110 &&
               sizeof(struct hx_q4_k) == 144 && sizeof(struct hx_q5_k) == 176 &&
               sizeof(struct hx_q6_k) == 210, "the blocks are those of the file");

/* [16] */
extern const int8_t hx_iq4_nl_values[16];

/* Scale and minimum of group g (0..7) of a Q4_K or Q5_K block, 0..63 each. */
static inline void hx_quant_scale_min(const uint8_t scales[12], unsigned g, uint8_t *scale,
                                      uint8_t *min)
{
    if (g < 4) {
        *scale = scales[g] & 63;
        *min = scales[g + 4] & 63;
    } else {
        *scale = (uint8_t)((scales[g + 4] & 15) | (scales[g - 4] >> 6) << 4);
        *min = (uint8_t)((scales[g + 4] >> 4) | (scales[g] >> 6) << 4);
    }
}

struct hx_quant_info {
    const char *name;
    uint32_t weights; /* of a block */
    uint32_t bytes;   /* of a block */

    /* out[i] = weight i of a row, exactly the f32 that ggml's own conversion gives (one rounding per operation of the
     * formulas above, no fused multiply-add).  n: a multiple of `weights`.  No overlap, no alignment needed. */
    void (*widen)(float *out, const void *blocks, size_t n);

    /* The row that ggml's reference quantiser gives; NULL: hexrig does not write this type.  n as above.  x that are no
     * numbers or infinite give some valid block. */
    void (*narrow)(void *blocks, const float *x, size_t n);
};

/* NULL: a type that this engine does not read. */
const struct hx_quant_info *hx_quant_info(uint32_t type);

/* Bytes of a row of n weights; n is a multiple of the type's weights, the type has an hx_quant_info(). */
size_t hx_quant_row_bytes(uint32_t type, size_t n);

/* "F32", ..., also of types that ggml defines and this engine does not read; "?" for other numbers. */
const char *hx_quant_name(uint32_t type);

#endif
