/* The work of one call of interface ok_linear: tiles of weights stream through VTCM, on each context by itself. */
#ifndef OK_LINEAR_RUN_H
#define OK_LINEAR_RUN_H

#include "ok_linear.h"
#include "ok_sums.h"

/* A matrix as the handle knows it. */
struct hx_okl_matrix {
    size_t rows, cols, planes;
    const uint8_t *w; /* in DDR */
};

enum { HX_OKL_FUSED = 16, HX_OKL_THREADS = 2 };

struct hx_okl_call {
    const struct hx_okl_matrix *m[HX_OKL_FUSED];
    int64_t *y[HX_OKL_FUSED]; /* [n][planes][rows] each */
    size_t n_m;               /* >= 1; all of one number of columns */
    const int32_t *x;         /* [n][cols] */
    size_t n;
    int threads;
    uint8_t *vtcm;            /* hx_okl_vtcm_bytes() */
};

size_t hx_okl_vtcm_bytes(void);

/* The caller holds an HVX context.  AEE codes: see ok_linear.idl. */
int hx_okl_run(const struct hx_okl_call *call, ok_linear_cycles *cycles);

#endif
