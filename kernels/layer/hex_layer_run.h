/* The work of one call of interface hex_layer: a batch of rows through one layer.  hex_layer_imp.c has handles and checks. */
#ifndef HEX_LAYER_RUN_H
#define HEX_LAYER_RUN_H

#include <stddef.h>

#include "hex_layer.h"
#include "layer_attn.h"
#include "linear/hex_linear_run.h"

enum { HX_LAYER_THREADS = 2 };

/* A layer's vectors where they lie; NULL: it has none. */
struct hx_layer_vectors {
    const float *attn_norm, *attn_post, *ffn_norm, *ffn_post;
    const float *q_norm, *k_norm, *turns;
    const float *bias[HEX_LAYER_MATRICES]; /* of q, k, v and o */
    size_t window;                         /* 0: all positions */
};

/* What is loaded. */
struct hx_layer_model {
    hex_layer_shape shape;
    struct hx_linear_matrix *m;       /* [shape.layers * HEX_LAYER_MATRICES] */
    struct hx_layer_vectors *vectors; /* [shape.layers] */
    float *cache;                     /* hx_layer.h; NULL: none yet */
    struct hx_linear_vtcm vtcm;       /* of matrices */
    struct hx_linear_stays *stays;
    const struct hx_layer_exp *exp;   /* in VTCM; NULL: softmax in floats */
    struct hx_layer_gathered *room;   /* [HX_LAYER_THREADS] likewise */
};

struct hx_layer_call {
    struct hx_layer_model *model;
    const hex_layer_how *how;
    size_t layer, first, n;
    const float *x; /* [n][width], 128-byte aligned, as y */
    float *y;
    void *scratch;  /* hx_layer_scratch_bytes(), 128-byte aligned */
};

/* 0: too many. */
size_t hx_layer_scratch_bytes(const hex_layer_shape *shape, size_t n);

/* The caller holds an HVX context.  AEE codes: see hex_layer.idl. */
int hx_layer_call_run(const struct hx_layer_call *call, hex_layer_cycles *cycles);

#endif
