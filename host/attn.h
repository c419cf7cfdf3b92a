/* Seam `attn`: one token's attention over the past and itself.  A method is one table; attn_ref.c is the reference. */
#ifndef HX_ATTN_H
#define HX_ATTN_H

#include <stddef.h>

#include "kv.h"

struct hx_attn_in {
    const float *q;          /* [n_head][dh], after RoPE */
    const float *k, *v;      /* the token's own K and V, f32: [n_kv][dh] */
    struct hx_kv_view past;  /* at least n_past positions */
    size_t n_past;
    size_t n_head, n_kv, dh; /* n_kv divides n_head: heads share KV heads in equal groups */
};

struct hx_attn_ops {
    const char *name;

    /* out: [n_head][dh], scratch: [n_past + 1] f32.  softmax(q.k / sqrt(dh)) over 0..n_past, times V. */
    void (*run)(const struct hx_attn_in *in, float *out, float *scratch);
};

extern const struct hx_attn_ops hx_attn_ref;

#endif
