/* Architectures: what a file of one holds, and how one layer of it computes.  Each is a row of hx_archs and a file here. */
#ifndef HX_ARCH_H
#define HX_ARCH_H

#include <stddef.h>
#include <stdint.h>

#include "engine/row_ops.h"
#include "gguf/gguf.h"
#include "model/model.h"

struct hx_pass; /* pass.h */

/* What the architectures differ in having.  All have token_embd, attn_norm, attn_output, ffn_up, ffn_down, output_norm;
 * without output.weight the output is the embedding. */
enum hx_arch_part {
    HX_PART_NORM_BIAS = 1 << 0,  /* layer norms, each with a bias; otherwise RMS norms */
    HX_PART_QKV = 1 << 1,        /* attn_q, attn_k, attn_v */
    HX_PART_QKV_FUSED = 1 << 2,  /* attn_qkv: rows of q, then k, then v */
    HX_PART_QKV_BIAS = 1 << 3,   /* of those */
    HX_PART_HEAD_NORMS = 1 << 4, /* attn_q_norm, attn_k_norm */
    HX_PART_O_BIAS = 1 << 5,     /* attn_output.bias */
    HX_PART_POST_NORMS = 1 << 6, /* post_attention_norm, post_ffw_norm */
    HX_PART_FFN_NORM = 1 << 7,   /* ffn_norm */
    HX_PART_GATE = 1 << 8,       /* ffn_gate */
    HX_PART_FFN_BIAS = 1 << 9,   /* ffn_up.bias, ffn_down.bias */
    HX_PART_OUT = 1 << 10,       /* output.weight */
    HX_PART_OUT_BIAS = 1 << 11,  /* output.bias */
    HX_PART_POSITIONS = 1 << 12, /* position_embd */
    HX_PART_FACTORS = 1 << 13,   /* rope_freqs */
};

struct hx_arch {
    const char *name;         /* general.architecture, and the prefix of its keys */
    uint32_t needs, may;      /* enum hx_arch_part: what a file must have, and what it may have */
    enum hx_rope_pairs pairs;
    size_t first_position;    /* row of position_embd for position 0 */

    int whole;                /* 1: a layer is norms, attention, norms and a gated feed-forward, one behind the other, so that it can be
                               * done as a whole (struct hx_kv_ops, layer) */
    enum hx_activation gate;  /* of a gated feed-forward */

    /* Reads the keys that only this architecture has; the common ones are in m.  NULL: there are none. */
    int (*describe)(struct hx_model *m, struct hx_error *err);

    /* p->x: from p's tokens, and through layer p->layer.  Errors stay in p. */
    void (*embed)(struct hx_pass *p);
    void (*layer)(struct hx_pass *p, const struct hx_layer *l);
};

/* All, NULL-terminated; what hx_model_open() looks a file's architecture up in. */
extern const struct hx_arch *const hx_archs[];

extern const struct hx_arch hx_arch_llama, hx_arch_qwen2, hx_arch_qwen3, hx_arch_gemma2,
    hx_arch_gemma3, hx_arch_gpt2, hx_arch_opt, hx_arch_gptj;

#endif
