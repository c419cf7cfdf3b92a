/* Weight matrices as interface hex_linear takes them: int8, laid out so that an HVX vector holds the same four columns of
 * 32 rows and a dot product never leaves its lane.
 *
 * A matrix [rows][cols] is cut into groups of 32 rows and blocks of 32 columns; what is missing is filled with weight 0.
 * A block of a group is eight vectors of 128 bytes: byte 4 l + k of vector j is the weight of row 32 g + l, column
 * 32 b + 4 j + k, plus 128, as u8.  (The 128 is taken out by the sum of the activations, so no row sums are needed.)
 * Scales are vectors of 32 f32, one per row.
 *
 *   HX_WEIGHTS_Q8_0  group = blocks, each followed by its scales: GGUF's Q8_0, bit for bit (f16 widens exactly)
 *   HX_WEIGHTS_ROW8  group = blocks, then one vector of scales: one scale per row
 *
 * Of a basis the rows are directions, in f16 as they are, one behind the other, each filled with 0 to a multiple of 64:
 *
 *   HX_WEIGHTS_BASIS group = 32 rows
 *
 * Groups follow each other; a matrix begins at a multiple of 128. */
#ifndef HX_WEIGHTS_H
#define HX_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

enum hx_weights_type {
    HX_WEIGHTS_Q8_0 = 0,
    HX_WEIGHTS_ROW8 = 1,
    HX_WEIGHTS_TYPES, /* of matrices that products are made with */
    HX_WEIGHTS_BASIS = HX_WEIGHTS_TYPES
};

enum {
    HX_WEIGHTS_ROWS = 32,         /* of a group */
    HX_WEIGHTS_BLOCK = 32,        /* columns of a block */
    HX_WEIGHTS_VECTOR = 128,      /* bytes */
    HX_WEIGHTS_CODE_VECTORS = 8,  /* of a block */
    HX_WEIGHTS_HALVES = 64,       /* of a vector */
    HX_WEIGHTS_ZERO = 128,        /* the byte that means weight 0 */
    HX_WEIGHTS_SLOT = 1 << 20,    /* bytes of a DMA slot; a group must fit */
    HX_WEIGHTS_MAX_ROWS = 1 << 24
};

/* Of a matrix with so many columns or rows. */
static inline size_t hx_weights_blocks(size_t cols)
{
    return (cols + HX_WEIGHTS_BLOCK - 1) / HX_WEIGHTS_BLOCK;
}
static inline size_t hx_weights_groups(size_t rows)
{
    return (rows + HX_WEIGHTS_ROWS - 1) / HX_WEIGHTS_ROWS;
}
/* Vectors of a direction of a basis. */
static inline size_t hx_weights_direction_vectors(size_t cols)
{
    return (cols + HX_WEIGHTS_HALVES - 1) / HX_WEIGHTS_HALVES;
}
static inline size_t hx_weights_group_bytes(enum hx_weights_type type, size_t cols)
{
    if (type == HX_WEIGHTS_BASIS)
        return HX_WEIGHTS_ROWS * hx_weights_direction_vectors(cols) * HX_WEIGHTS_VECTOR;

    const size_t blocks = hx_weights_blocks(cols);
    const size_t scales = type == HX_WEIGHTS_Q8_0 ? blocks : 1;

    return (blocks * HX_WEIGHTS_CODE_VECTORS + scales) * HX_WEIGHTS_VECTOR;
}

/* Of the whole matrix; 0 when there is no such matrix: an unknown type, no or too many rows, no columns, or more columns
 * than a DMA slot takes (29120 for Q8_0, 16384 of a basis). */
static inline size_t hx_weights_bytes(uint32_t type, size_t rows, size_t cols)
{
    if (type > HX_WEIGHTS_BASIS || rows < 1 || rows > HX_WEIGHTS_MAX_ROWS || cols < 1 ||
        cols > HX_WEIGHTS_SLOT ||
        hx_weights_group_bytes((enum hx_weights_type)type, cols) > HX_WEIGHTS_SLOT)
        return 0;
    return hx_weights_groups(rows) * hx_weights_group_bytes((enum hx_weights_type)type, cols);
}

#endif
