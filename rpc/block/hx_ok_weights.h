/* How the matrices of interface ok_linear lie in memory.
 *
 * Rows come in groups of 32, one per 32-bit lane of an HVX vector.  A group holds its columns one after the other; a column
 * is one vector per plane.  Missing rows of the last group are zeros.  Everything starts at a multiple of 128 bytes. */
#ifndef HX_OK_WEIGHTS_H
#define HX_OK_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

enum { HX_OKW_ROWS = 32, HX_OKW_VECTOR = 128, HX_OKW_PLANES = 4 /* at most */ };

static inline size_t hx_okw_groups(size_t rows)
{
    return (rows + HX_OKW_ROWS - 1) / HX_OKW_ROWS;
}

/* Bytes of a matrix; 0: there is no such matrix, or it is larger than a buffer can be. */
static inline size_t hx_okw_bytes(size_t rows, size_t cols, size_t planes)
{
    size_t bytes;

    if (planes < 1 || planes > HX_OKW_PLANES || rows < 1 || cols < 1 || rows > INT32_MAX ||
        __builtin_mul_overflow(hx_okw_groups(rows) * planes * HX_OKW_VECTOR, cols, &bytes) ||
        bytes > INT32_MAX)
        return 0;
    return bytes;
}

#endif
