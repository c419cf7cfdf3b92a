/* The spinor block: one K or V vector of 64, 128, 256 or 512 floats in 46, 63, 96 or 183 bytes, and the calibrated tables
 * that a (layer, KV head, K or V) needs to read one.  docs/block.md is the full description; hx_block_codec.h encodes and
 * decodes.
 *
 * A block lies in a slot of 64, 64, 128 or 192 bytes.  Its parts, in this order, all little-endian:
 *   skeleton    n_skel fp16, 14 unless configured otherwise
 *   magnitudes  n_res lanes of 3 bits: lane i = bits 3i..3i+2 of the plane, LSB first; padding bits 0
 *   phases      n_res lanes of 1 bit: bit i; padding bits 0
 *   amax        f32, >= 0
 *   fill        0, up to the last byte of the slot
 *   CRC-8       of all bytes of the slot before it: polynomial 0x07, init 0, no reflection
 * The first four are the payload. */
#ifndef HX_BLOCK_H
#define HX_BLOCK_H

#include <stddef.h>
#include <stdint.h>

enum {
    HX_BLOCK_SKEL = 14, /* skeleton lanes of the published shapes */
    HX_BLOCK_SHAPES = 4, /* that are published, one per head dimension */
    HX_BLOCK_MAX_SKEL = 32,
    /* the largest shape's numbers, for buffers */
    HX_BLOCK_MAX_DH = 512,
    HX_BLOCK_MAX_PAD = 770,
    HX_BLOCK_MAX_RES = 300,
    HX_BLOCK_MAX_SLOT = 192,
};

/* Everything that follows from the head dimension and from how many lanes there are. */
struct hx_block_shape {
    uint16_t dh;        /* floats of a vector */
    uint16_t pad;       /* length that VHT2 transforms; smallest squarefree product of {2,3,5,7,11} >= dh */
    uint16_t n_res;     /* residual lanes: the first indices i < pad with i+1 not squarefree, all of them as published */
    uint16_t off_mag;   /* byte offsets in the slot; the skeleton is at 0 */
    uint16_t off_phase;
    uint16_t off_amax;
    uint16_t payload;   /* bytes that carry information */
    uint16_t slot;      /* bytes stored; the CRC is the last of them */
    uint16_t n_skel;    /* skeleton lanes */
};

extern const struct hx_block_shape hx_block_shapes[HX_BLOCK_SHAPES]; /* dh ascending */

/* The published shape of head dimension dh, or NULL when blocks have none. */
const struct hx_block_shape *hx_block_shape(size_t dh);

/* The same with other numbers of lanes, 0: as published.  NULL: no head dimension of blocks, n_skel above HX_BLOCK_MAX_SKEL, n_res
 * above the published number, or a slot that would be longer than HX_BLOCK_MAX_SLOT.  The result stays; a process may make
 * HX_BLOCK_CONFIGURED different ones, after which it gets NULL. */
enum { HX_BLOCK_CONFIGURED = 64 };
const struct hx_block_shape *hx_block_shape_of(size_t dh, size_t n_skel, size_t n_res);

/* 1: one of hx_block_shapes. */
int hx_block_is_published(const struct hx_block_shape *s);

/* Which coefficients of a vector a block holds. */
enum hx_block_basis {
    HX_BASIS_VHT2 = 0,  /* of VHT2; what is neither skeleton nor residual lane decodes as 0 */
    HX_BASIS_VHT2W = 1, /* the same, but the others decode as a prediction from the skeleton */
    HX_BASIS_KLT = 2,   /* of the vector minus its mean along calibrated principal directions */
    HX_BASES
};

/* How the residual of a lane becomes 3 + 1 bits. */
enum hx_block_code {
    HX_CODE_SIGN = 0,  /* magnitude 0..7 in units of amax / 7, and a sign */
    HX_CODE_SHEET = 1, /* the prediction or its negative, and one of 8 deviations from it */
    HX_CODES
};

extern const char *const hx_block_basis_names[HX_BASES + 1]; /* "vht2", "vht2w", "klt", NULL */
extern const char *const hx_block_code_names[HX_CODES + 1];  /* "sign", "sheet", NULL */

/* Tables of one slot = one (layer, KV head, K or V).  The slots of a layer lie together, K heads first:
 * slot = layer * 2 * n_kv_heads + is_v * n_kv_heads + head.  All numbers are u16 or fp16, little-endian:
 *   vht2, vht2w  u16 skeleton[n_skel]: coefficient indices, ascending, i+1 squarefree, < pad
 *                u16 reserved[2]: 0
 *                fp16 w[rows][n_skel]: predictor; rows are hx_block_predicted()
 *   klt          fp16 mean[dh]
 *                fp16 scale[n_res]: what residual lanes are divided by, >= 2^-14
 *                fp16 basis[n_skel + n_res][dh]: the skeleton's directions, then those of the residual lanes
 * Bytes of one table; 0 for an unknown basis. */
size_t hx_block_table_bytes(const struct hx_block_shape *s, uint32_t basis);

/* The residual lanes' coefficient indices, ascending: the first i < pad with i+1 not squarefree.  rows: [n_res]. */
void hx_block_residual_rows(const struct hx_block_shape *s, uint16_t *rows);

/* The coefficients that the predictor of a VHT2 basis predicts, in the order of its rows: the residual lanes and, for
 * vht2w, the squarefree indices that are not in the skeleton, ascending.  rows: room for pad.  Returns their number. */
size_t hx_block_predicted(const struct hx_block_shape *s, uint32_t basis,
                          const uint16_t *skeleton, uint16_t *rows);

/* --- blocks.  `block` is a slot, any alignment. */

/* What is wrong with a block. */
enum hx_block_fault {
    HX_BLOCK_GOOD = 0,
    HX_BLOCK_BAD_CRC,
    HX_BLOCK_BAD_FILL,     /* a byte between payload and CRC is not 0 */
    HX_BLOCK_BAD_SKELETON, /* infinity or NaN */
    HX_BLOCK_BAD_AMAX,     /* infinity, NaN, or the sign bit is set */
    HX_BLOCK_FAULTS
};

extern const char *const hx_block_fault_names[HX_BLOCK_FAULTS]; /* "good", "crc", "fill", "skeleton", "amax" */

/* The first fault in the order above.  An intact CRC with another fault: no encoder wrote it. */
enum hx_block_fault hx_block_fault(const struct hx_block_shape *s, const void *block);

/* The same without CRC and fill, for payloads that were stored alone. */
enum hx_block_fault hx_block_payload_fault(const struct hx_block_shape *s, const void *payload);

/* Magnitude (0..7) and phase (0, 1) of lane i. */
unsigned hx_block_magnitude(const struct hx_block_shape *s, const void *block, size_t i);
unsigned hx_block_phase(const struct hx_block_shape *s, const void *block, size_t i);

/* Sets the planes from magnitude[n_res] and phase[n_res]. */
void hx_block_set_planes(const struct hx_block_shape *s, void *block, const uint8_t *magnitude,
                         const uint8_t *phase);

float hx_block_amax(const struct hx_block_shape *s, const void *block);
uint16_t hx_block_skeleton(const void *block, size_t j); /* fp16 */

/* Sets fill and CRC: the last step of every encoder. */
void hx_block_seal(const struct hx_block_shape *s, void *block);

/* CRC-8 of n bytes (borrowed), polynomial 0x07, init 0, no reflection; crc of "123456789" is 0xF4. */
uint8_t hx_crc8(const void *bytes, size_t n);

/* CRC-32 as in zlib and PNG (reflected 0xEDB88320), start with 0; chains over pieces. */
uint32_t hx_crc32(uint32_t crc, const void *bytes, size_t n);

/* --- head dimension 128 as C structs, for kernels that are made for it */

enum {
    HX_BLOCK_DH = 128,
    HX_BLOCK_PAD = 154,
    HX_BLOCK_RES = 60,
    HX_BLOCK_PAYLOAD = 63,
    HX_BLOCK_SLOT = 64,
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

/* Basis vht2. */
struct hx_block_table {
    uint16_t skeleton[HX_BLOCK_SKEL];
    uint16_t reserved[2];
    uint16_t w[HX_BLOCK_RES][HX_BLOCK_SKEL];
};

_Static_assert(sizeof(struct hx_block) == HX_BLOCK_SLOT, "slot");
_Static_assert(offsetof(struct hx_block, magnitude) == HX_BLOCK_OFF_MAG, "magnitudes");
_Static_assert(offsetof(struct hx_block, phase) == HX_BLOCK_OFF_PHASE, "phases");
_Static_assert(offsetof(struct hx_block, amax) == HX_BLOCK_OFF_AMAX, "amax");
_Static_assert(offsetof(struct hx_block, crc) == HX_BLOCK_OFF_CRC, "crc");
_Static_assert(sizeof(struct hx_block_table) == 1712, "table");

#endif
