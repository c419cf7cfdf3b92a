/* The weights of a forward pass of interface silicon: where each part lies in the block that silicon.idl describes. */
#ifndef SILICON_PASS_H
#define SILICON_PASS_H

#include <stddef.h>
#include <stdint.h>

#include "silicon.h"

/* The first ones, below HX_PASS_ATTENTION, are staged together. */
enum hx_pass_matrix_index {
    HX_PASS_Q, HX_PASS_K, HX_PASS_V, HX_PASS_O, HX_PASS_GATE, HX_PASS_UP, HX_PASS_DOWN,
    HX_PASS_MATRICES,
    HX_PASS_ATTENTION = HX_PASS_GATE
};

struct hx_pass_matrix {
    int in, rows;
    const int8_t *w;
    const float *scale; /* [rows] */
    int32_t *sum;       /* [rows], or NULL */
};

struct hx_pass_layer {
    struct hx_pass_matrix m[HX_PASS_MATRICES];
    const float *before_attention, *behind_attention, *before_ffn, *behind_ffn, *query, *key; /* norms */
};

/* Rounded up to whole vectors. */
size_t hx_pass_padded(size_t bytes);

/* Of the matrices 0 .. n-1 of a layer; of a whole layer; rows of all its matrices.  The geometry's numbers are legal. */
size_t hx_pass_matrices_bytes(const silicon_geometry *g, int n);
size_t hx_pass_layer_bytes(const silicon_geometry *g);
size_t hx_pass_layer_rows(const silicon_geometry *g);

/* Layer `index` of `weights`; sums: a table of row sums of all layers, or NULL. */
struct hx_pass_layer hx_pass_find_layer(const silicon_geometry *g, const uint8_t *weights, int index, int32_t *sums);

#endif
