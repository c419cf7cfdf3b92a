/* A model: geometry, weights and tokenizer out of one GGUF file.  Architecture: qwen3 (RMS norms on q and k, NEOX
 * rotary embedding, grouped KV heads, SwiGLU, output tied to the embedding when the file has no output.weight).
 * Immutable after open. */
#ifndef HX_MODEL_H
#define HX_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "gguf.h"
#include "linear.h"
#include "tokenizer.h"
#include "why.h"

struct hx_layer {
    const float *attn_norm;      /* [width] */
    const float *q_norm, *k_norm; /* [dh] */
    const float *ffn_norm;       /* [width] */
    struct hx_linear q;          /* [n_head * dh][width] */
    struct hx_linear k, v;       /* [n_kv * dh][width] */
    struct hx_linear o;          /* [width][n_head * dh] */
    struct hx_linear gate, up;   /* [ffn][width] */
    struct hx_linear down;       /* [width][ffn] */
};

struct hx_model {
    struct hx_gguf *file;
    struct hx_tokenizer *tok;
    size_t n_layer, width, n_head, n_kv, dh, ffn, vocab;
    size_t n_ctx;          /* context length of the training, from the file */
    float eps;             /* of the RMS norms */
    float rope_base;
    struct hx_linear embd; /* [vocab][width] */
    struct hx_linear out;  /* [vocab][width] */
    const float *out_norm; /* [width] */
    struct hx_layer *layers;
    uint64_t fingerprint;  /* of architecture, geometry and norm weights: equal for all quantisations of a model */
};

/* 0 or negative errno with a reason: see hx_gguf_open(); -ENOENT for a missing key or tensor, -EINVAL for a wrong shape
 * or an architecture that is not supported. */
int hx_model_open(struct hx_model **out, const char *path, struct hx_why *why);

/* From a file that is open already.  The model owns g from the call on, also when it fails. */
int hx_model_from_gguf(struct hx_model **out, struct hx_gguf *g, struct hx_why *why);

/* Accepts NULL. */
void hx_model_close(struct hx_model *m);

#endif
