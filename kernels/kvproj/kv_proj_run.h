/* The work of one call of interface kv_proj: some positions of a layer.  kv_proj_imp.c has handles and checks. */
#ifndef KV_PROJ_RUN_H
#define KV_PROJ_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "kv_proj.h"
#include "proj_attn.h"

enum { HX_PROJ_THREADS = 2 };

/* What is loaded. */
struct hx_proj_model {
    kv_proj_shape shape;
    const struct hx_proj_form *form; /* NULL: nothing is loaded */
    const float *bases;              /* hx_kv_proj.h */
    uint8_t *past;                   /* likewise; NULL: no cache yet */
};

struct hx_proj_call {
    const struct hx_proj_model *model;
    unsigned threads;
    size_t layer, first, n, heads;
    float scale;
    const float *q, *k, *v; /* [n][heads or kv_heads][dh], 128-byte aligned, as y */
    float *y;
    void *scratch;          /* hx_proj_scratch_bytes(), 128-byte aligned */
};

/* Of any call on this shape. */
size_t hx_proj_scratch_bytes(const kv_proj_shape *s);

/* The caller holds an HVX context.  AEE codes: see kv_proj.idl. */
int hx_proj_call_run(const struct hx_proj_call *call, kv_proj_cycles *cycles);

#endif
