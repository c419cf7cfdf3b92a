/* The 63-byte spinor block for head dimension 128, and the tables that a (layer, KV head, K or V) needs to read one.
 *
 * Format: 63 payload bytes in a 64-byte slot, two slots per HVX vector:
 *   0..27   skeleton: 14 fp16, little-endian, ascending coefficient index
 *   28..50  magnitudes of the 60 residual lanes: lane i = bits 3i..3i+2, LSB first
 *   51..58  phases: bit i is 1 when lane i is negative; 0 when its magnitude is 0
 *   59..62  amax: f32 little-endian, the largest |residual|
 *   63      CRC-8 (polynomial 0x07, init 0, no reflection) of bytes 0..62
 * Padding bits are 0.
 *
 * Basis `vht2`: the 128 values padded to 154 with their mean, transformed by VHT2 (hx_vht2.h).  Residual lanes are the
 * 60 indices i (ascending) with i+1 not squarefree; the skeleton is 14 of the 94 others, chosen by calibration.
 * pred = W[60x14] * skeleton (after fp16 rounding); residual = coefficient - pred;
 * magnitude = 7|r|/amax rounded half away from zero; decoded residual = +-magnitude * amax / 7.
 * Coefficients that are neither skeleton nor residual lane decode as 0.
 * Source: SEEDS-MATH 2.1 and DESIGN.md 10; docs/block.md is the full description. */
#ifndef HX_BLOCK_H
#define HX_BLOCK_H

#include <stddef.h>
#include <stdint.h>

enum {
    HX_BLOCK_DH = 128,
    HX_BLOCK_PAD = 154,     /* padded vector, 2 * 7 * 11 */
    HX_BLOCK_SKEL = 14,     /* skeleton lanes */
    HX_BLOCK_RES = 60,      /* residual lanes */
    HX_BLOCK_PAYLOAD = 63,  /* bytes that carry information */
    HX_BLOCK_SLOT = 64,     /* bytes stored */
    HX_BLOCK_OFF_MAG = 28,
    HX_BLOCK_OFF_PHASE = 51,
    HX_BLOCK_OFF_AMAX = 59,
    HX_BLOCK_OFF_CRC = 63,
};

struct hx_block {
    uint16_t skeleton[HX_BLOCK_SKEL]; /* fp16 */
    uint8_t magnitude[23];
    uint8_t phase[8];
    uint8_t amax[4]; /* f32, unaligned */
    uint8_t crc;
};

enum hx_block_basis { HX_BASIS_VHT2 = 0 };

/* Calibrated tables of one slot = one (layer, KV head, K or V).  The slots of a layer lie together, K heads first:
 * slot = layer * 2 * n_kv_heads + is_v * n_kv_heads + head. */
struct hx_block_table {
    uint8_t skeleton[HX_BLOCK_SKEL];            /* coefficient indices, ascending, i+1 squarefree, < HX_BLOCK_PAD */
    uint8_t reserved[2];                        /* 0 */
    uint16_t w[HX_BLOCK_RES][HX_BLOCK_SKEL];    /* fp16 predictor, row = residual lane */
};

/* CRC-8 of n bytes (borrowed), polynomial 0x07, init 0, no reflection; crc of "123456789" is 0xF4. */
uint8_t hx_crc8(const void *bytes, size_t n);

/* CRC-32 as in zlib and PNG (reflected 0xEDB88320), start with 0; chains over pieces. */
uint32_t hx_crc32(uint32_t crc, const void *bytes, size_t n);

_Static_assert(sizeof(struct hx_block) == HX_BLOCK_SLOT, "slot");
_Static_assert(offsetof(struct hx_block, magnitude) == HX_BLOCK_OFF_MAG, "magnitudes");
_Static_assert(offsetof(struct hx_block, phase) == HX_BLOCK_OFF_PHASE, "phases");
_Static_assert(offsetof(struct hx_block, amax) == HX_BLOCK_OFF_AMAX, "amax");
_Static_assert(offsetof(struct hx_block, crc) == HX_BLOCK_OFF_CRC, "crc");
_Static_assert(sizeof(struct hx_block_table) == 1696, "table");

#endif
