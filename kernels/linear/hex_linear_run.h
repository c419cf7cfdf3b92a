/* The work of one call of interface hex_linear: quantised activations, then the matrices' groups in tiles, from where the
 * call wants them, on one or two HVX contexts. */
#ifndef HEX_LINEAR_RUN_H
#define HEX_LINEAR_RUN_H

#include <stddef.h>

#include "hex_linear.h"
#include "vrmpy_linear.h"

/* A matrix as the handle knows it. */
struct hx_linear_matrix {
    enum hx_weights_type type;
    size_t rows, cols;
    const uint8_t *w; /* in DDR */
};

enum { HX_LINEAR_FUSED = 16 }; /* most matrices of one call */

/* VTCM that calls keep from one to the next, because a request costs tens of microseconds; zero: none yet. */
struct hx_linear_vtcm {
    uint8_t *at;
    size_t bytes;
};

struct hx_linear_stays; /* hex_linear_stay.h */

/* What a call with a basis in place of weights makes (subspace_gate.h): products with directions, and what lies within them. */
struct hx_linear_gate {
    int pairs;           /* of a vector */
    size_t k;            /* directions */
    int is_spread;       /* 1: x is there already, and the call's own is not looked at */
    float *x;            /* [n][64 pairs]: spread */
    float *within[2];    /* [n][64 pairs] each: of directions with even and with odd numbers; all 0 before */
    float *norm2, *top;  /* [n]: |x|^2, the largest |x| */
    float eps;           /* who runs the call decides by it */
    float *z;            /* [n][z_stride], z_stride >= k; all 0 before */
    size_t z_stride;
};

struct hx_linear_call {
    const hex_linear_how *how;
    const struct hx_linear_matrix *m[HX_LINEAR_FUSED]; /* of a gate: the basis alone */
    struct hx_linear_gate *gate;       /* NULL: products with matrices, which need what follows */
    float *y[HX_LINEAR_FUSED];         /* [n][y_stride] each */
    size_t y_stride[HX_LINEAR_FUSED];  /* floats */
    size_t n_m;                        /* >= 1; all of one type and number of columns */
    const float *x;                    /* [n][cols] */
    size_t n;
    int wide;                          /* see vrmpy_linear.h */
    struct hx_linear_block *blocks;    /* [n][hx_linear_quantized(hx_weights_blocks(cols), wide)], scratch */
    uint8_t *bad;                      /* [n]: 1 for vectors that are not finite; their y means nothing */
    struct hx_linear_vtcm *vtcm;       /* grows when the call needs more */
    const struct hx_linear_matrix *all; /* [n_all]: what is loaded; m point there */
    size_t n_all;
    struct hx_linear_stays **stays;    /* NULL there: nothing was decided */
};

/* The caller holds an HVX context.  AEE codes: see hex_linear.idl. */
int hx_linear_call_run(const struct hx_linear_call *call, hex_linear_cycles *cycles);

#endif
