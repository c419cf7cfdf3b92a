/* GPT-2, and OPT, which differs in its activation and in where positions begin.
 * Sources: Radford et al. 2019 (GPT-2), Zhang et al. 2022 (OPT). */
#include "arch.h"
#include "engine/pass.h"

static void embed(struct hx_pass *p)
{
    hx_pass_embed(p);
    hx_pass_positions(p);
}

static void layer(struct hx_pass *p, const struct hx_layer *l, enum hx_activation act)
{
    hx_pass_norm(p, p->h, p->x, &l->attn_norm);
    hx_pass_qkv(p, l);
    hx_pass_attend(p, l);
    hx_pass_add(p, HX_TAP_AFTER_ATTN);

    hx_pass_norm(p, p->h, p->x, &l->ffn_norm);
    hx_pass_ffn(p, l, act);
    hx_pass_add(p, HX_TAP_AFTER_FFN);
}

static void layer_gpt2(struct hx_pass *p, const struct hx_layer *l)
{
    layer(p, l, HX_GELU);
}

static void layer_opt(struct hx_pass *p, const struct hx_layer *l)
{
    layer(p, l, HX_RELU);
}

enum {
    COMMON = HX_PART_NORM_BIAS | HX_PART_QKV_BIAS | HX_PART_O_BIAS | HX_PART_FFN_NORM |
             HX_PART_FFN_BIAS | HX_PART_POSITIONS
};

const struct hx_arch hx_arch_gpt2 = {
    .name = "gpt2",
    .needs = COMMON | HX_PART_QKV_FUSED,
    .pairs = HX_ROPE_NONE,
    .embed = embed,
    .layer = layer_gpt2,
};

const struct hx_arch hx_arch_opt = {
    .name = "opt",
    .needs = COMMON | HX_PART_QKV,
    .pairs = HX_ROPE_NONE,
    .first_position = 2, /* rows 0 and 1 are of padding */
    .embed = embed,
    .layer = layer_opt,
};
