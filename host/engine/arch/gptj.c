/* GPT-J: attention and feed-forward read one norm and are added together; a part of each head is turned.
 * Source: Wang & Komatsuzaki 2021 (GPT-J-6B). */
#include "arch.h"
#include "engine/pass.h"

static void layer(struct hx_pass *p, const struct hx_layer *l)
{
    hx_pass_norm(p, p->h, p->x, &l->attn_norm);
    hx_pass_qkv(p, l);
    hx_pass_rotate(p);
    hx_pass_attend(p, l);
    hx_pass_add(p, HX_TAP_AFTER_ATTN);
    hx_pass_ffn(p, l, HX_GELU); /* of the same p->h */
    hx_pass_add(p, HX_TAP_AFTER_FFN);
}

const struct hx_arch hx_arch_gptj = {
    .name = "gptj",
    .needs = HX_PART_NORM_BIAS | HX_PART_QKV | HX_PART_FFN_BIAS | HX_PART_OUT | HX_PART_OUT_BIAS,
    .pairs = HX_ROPE_NEIGHBOURS,
    .embed = hx_pass_embed,
    .layer = layer,
};
