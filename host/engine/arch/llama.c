/* Llama 1 to 3, SmolLM2, Mistral; Qwen2 (biases of q, k and v); Qwen3 (norms of q and k).
 * Sources: Touvron et al. 2023 (LLaMA), Jiang et al. 2023 (Mistral 7B), Yang et al. 2024, 2025 (Qwen2, Qwen3). */
#include "arch.h"
#include "engine/pass.h"

static void layer(struct hx_pass *p, const struct hx_layer *l)
{
    hx_pass_norm(p, p->h, p->x, &l->attn_norm);
    hx_pass_qkv(p, l);
    hx_pass_head_norms(p, l); /* of qwen3 */
    hx_pass_rotate(p);
    hx_pass_attend(p, l);
    hx_pass_add(p, HX_TAP_AFTER_ATTN);

    hx_pass_norm(p, p->h, p->x, &l->ffn_norm);
    hx_pass_ffn_gated(p, l, p->m->arch->gate);
    hx_pass_add(p, HX_TAP_AFTER_FFN);
}

enum { COMMON = HX_PART_QKV | HX_PART_FFN_NORM | HX_PART_GATE };

/* The file has the rows of q and k in the order that makes pairs neighbours. */
const struct hx_arch hx_arch_llama = {
    .name = "llama",
    .needs = COMMON,
    .may = HX_PART_QKV_BIAS | HX_PART_O_BIAS | HX_PART_FACTORS,
    .pairs = HX_ROPE_NEIGHBOURS,
    .whole = 1,
    .gate = HX_SILU,
    .embed = hx_pass_embed,
    .layer = layer,
};

const struct hx_arch hx_arch_qwen2 = {
    .name = "qwen2",
    .needs = COMMON | HX_PART_QKV_BIAS,
    .pairs = HX_ROPE_HALVES,
    .whole = 1,
    .gate = HX_SILU,
    .embed = hx_pass_embed,
    .layer = layer,
};

const struct hx_arch hx_arch_qwen3 = {
    .name = "qwen3",
    .needs = COMMON | HX_PART_HEAD_NORMS,
    .pairs = HX_ROPE_HALVES,
    .whole = 1,
    .gate = HX_SILU,
    .embed = hx_pass_embed,
    .layer = layer,
};
