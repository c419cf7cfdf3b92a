/* A model: geometry, weights and tokenizer out of one GGUF file.  What architectures there are, and which keys and tensors
 * each needs: docs/architectures.md, engine/arch/.  Immutable after open. */
#ifndef HX_MODEL_H
#define HX_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "gguf/gguf.h"
#include "engine/linear.h"
#include "rope.h"
#include "text/tokenizer.h"
#include "base/error.h"

struct hx_arch; /* engine/arch/arch.h */

/* RMS norm, or layer norm when there is a bias; w NULL: there is no such norm. */
struct hx_norm {
    const float *w, *b; /* [n] f32, borrowed from the file */
};

/* A matrix that the architecture does not have has 0 rows.  Biases are the matrices'. */
struct hx_layer {
    struct hx_norm attn_norm, attn_post; /* [width] before and after the attention */
    struct hx_norm q_norm, k_norm;       /* [dh] of each head, before RoPE */
    struct hx_norm ffn_norm, ffn_post;   /* [width] before and after the feed-forward */
    struct hx_linear q;                  /* [n_head * dh][width] */
    struct hx_linear k, v;               /* [n_kv * dh][width] */
    struct hx_linear o;                  /* [width][n_head * dh] */
    struct hx_linear gate, up;           /* [ffn][width] */
    struct hx_linear down;               /* [width][ffn] */
};

struct hx_model {
    struct hx_gguf *file;
    struct hx_tokenizer *tok;
    const struct hx_arch *arch;
    size_t n_layer, width, n_head, n_kv, dh, ffn, vocab;
    size_t n_ctx;          /* context length of the training, from the file */
    float eps;             /* of the norms */
    float embd_scale;      /* of the embedding's rows */
    float attn_scale;      /* of q.k */
    float attn_softcap;    /* of the scaled q.k; 0: none */
    float logit_softcap;   /* of the logits; 0: none */
    size_t window;         /* positions that a local layer sees, its own included; 0: no layer is local */
    struct hx_rope_plan rope; /* also says which layers are local */
    float *rope_factors;   /* computed from keys, NULL otherwise; rope borrows them */
    struct hx_linear embd; /* [vocab][width] */
    struct hx_linear positions; /* [n_ctx + what the architecture skips][width]; 0 rows: no learned positions */
    struct hx_linear out;  /* [vocab][width] */
    struct hx_norm out_norm; /* [width] */
    struct hx_layer *layers;
    uint64_t fingerprint;  /* of architecture, geometry and norms: equal for all quantisations of a model */
};

/* archs: the architectures that the caller can run, NULL-terminated (hx_archs of engine/arch/arch.h: all); kept by the
 * model.  0 or negative errno with a reason: see hx_gguf_open(); -ENOENT for a missing key or tensor, -EINVAL for a wrong shape
 * or type, a value out of range, an architecture, a rotary scaling or a tensor that is not supported. */
int hx_model_open(struct hx_model **out, const char *path, const struct hx_arch *const *archs,
                  struct hx_error *err);

/* From a file that is open already.  The model owns g from the call on, also when it fails. */
int hx_model_from_gguf(struct hx_model **out, struct hx_gguf *g, const struct hx_arch *const *archs,
                       struct hx_error *err);

/* Accepts NULL. */
void hx_model_close(struct hx_model *m);

/* Positions that `layer` sees, as struct hx_attn_in has it; 0: all. */
static inline size_t hx_model_window(const struct hx_model *m, size_t layer)
{
    return hx_rope_is_local(m->rope.period, layer) ? m->window : 0;
}

#endif
