/* The CPU's own kernels: one table of functions per instruction set, chosen at run time.
 *
 * Quantised weights are multiplied as they lie in the file.  Activations are rounded to int8, in blocks of 32 with a scale
 * each (types with blocks of 32 weights) or of 256 (the K types); F32, F16 and BF16 weights meet f32 activations.  An
 * integer product of two blocks is exact, and blocks are added up in one fixed order with one rounding per operation, so
 * for quantised weights every table gives the same bits.  For float weights the AVX tables agree bit for bit; the portable one
 * has no fused multiply-add.  A result depends on nothing but its own row and vector: not on the batch, not on how
 * rows are handed to threads. */
#ifndef HX_CPU_ISA_H
#define HX_CPU_ISA_H

#include <stddef.h>
#include <stdint.h>

#include "engine/linear.h"

enum hx_isa { HX_ISA_PORTABLE, HX_ISA_AVX2, HX_ISA_AVX512, HX_ISA_AVX512_VNNI, HX_ISAS };

/* A batch of activations, in the forms that the matrices need.  Vector v of the batch has its block b at index
 * b * n + v, so that the vectors of a block lie together. */
struct hx_qx {
    size_t n, cols;
    const float *f32; /* [n][cols] */
    float *panels;    /* [n / tile][cols / 16, rounded up][tile][16]: tiles of vectors side by side, 0 behind the columns; NULL:
                       * not made */
    /* blocks of 32: x ~ d q */
    int8_t *q32;      /* [cols/32][n][32] */
    float *d32;       /* [cols/32][n] */
    float *ds32;      /* [cols/32][n] d times the sum of q */
    int32_t *sum32;   /* [cols/32][n] sum of q */
    /* blocks of 256 */
    int8_t *q256;     /* [cols/256][n][256] */
    float *d256;      /* [cols/256][n] */
    int16_t *sum16;   /* [cols/256][n][16] sums of 16 q */
};

/* y[v][r] = row r of W times vector v, for rows first..first+rows-1. */
struct hx_cpu_matmul {
    const uint8_t *w; /* [y_rows][cols] */
    uint32_t type;    /* enum hx_quant */
    size_t row_bytes, first, rows;
    const struct hx_qx *x; /* has the form that hx_qx_form() names */
    float *y;         /* [n][y_rows] */
    size_t y_rows;
};

/* What an attention kernel works on: one query head, rows of K and V of its KV head. */
struct hx_flash {
    const float *q;    /* [dh] */
    size_t dh;         /* a multiple of 16 is fast, others work */
    float scale, softcap;
    float *out;        /* [dh]; the sum so far, to be divided by `sum` at the end */
    float max, sum;    /* of the positions so far; -INFINITY and 0 at the start */
};

enum { HX_FLASH_BLOCK = 64 }; /* most positions of one step */

struct hx_cpu_kernels {
    const char *name;

    void (*matmul)(const struct hx_cpu_matmul *m);

    /* What vectors of a batch cost beside the first (docs/speculation.md has the command), by what hx_qx_form() says of the weights. */
    struct hx_isa_batches {
        struct hx_batch_cost f32, of32, of256;
    } batches;

    /* Vectors of a tile of float weights; above 1, pack() lays tiles first..first+n-1 out in acts->panels. */
    size_t tile;
    void (*pack)(const struct hx_qx *qx, size_t first, size_t n);

    /* Vectors first..first+n-1 of acts->f32 as int8, nearest, ties to even. */
    void (*quantize32)(const struct hx_qx *qx, size_t first, size_t n);
    void (*quantize256)(const struct hx_qx *qx, size_t first, size_t n);

    /* y[i] = w[i] * x[i] / sqrt(mean(x^2) + eps); y may be x.  Source: Zhang & Sennrich 2019. */
    void (*rmsnorm)(float *y, const float *x, const float *w, size_t n, float eps);

    /* gate[i] = silu(gate[i]) * up[i], silu(g) = g / (1 + e^-g).  Source: Shazeer 2020. */
    void (*swiglu)(float *gate, const float *up, size_t n);

    /* gate[i] = gelu(gate[i]) * up[i], the tanh form; up NULL: gelu alone.  Source: Hendrycks & Gimpel 2016. */
    void (*geglu)(float *gate, const float *up, size_t n);

    /* 1: all of x are finite */
    int (*finite)(const float *x, size_t n);

    /* First index of the largest element, n >= 1. */
    size_t (*argmax)(const float *x, size_t n);

    /* Positions of one block, n <= HX_FLASH_BLOCK: row p of K is k + p * stride.  Online softmax; source: Milakov &
     * Gimelshein 2018, Dao et al. 2022. */
    void (*flash)(struct hx_flash *f, const float *k, const float *v, size_t stride, size_t n);
};

/* NULL: this machine, or this build, does not have it. */
const struct hx_cpu_kernels *hx_isa(enum hx_isa which);

/* The best of them. */
const struct hx_cpu_kernels *hx_isa_best(void);

/* Which activations a type needs: 0 f32, 32 or 256; -1: no kernel for it. */
int hx_qx_form(uint32_t type);

#endif
