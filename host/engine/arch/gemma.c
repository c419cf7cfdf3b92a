/* Gemma 2 and 3: norms before and after each sub-layer, local and global layers, a scaled embedding; Gemma 2 caps scores
 * and logits, Gemma 3 has norms of q and k and another rotary base in local layers.  The file's norm weights are 1 + w
 * already.  Sources: Gemma Team 2024 (Gemma 2), 2025 (Gemma 3). */
#include <math.h>

#include "arch.h"
#include "model/key.h"
#include "engine/pass.h"

static void layer(struct hx_pass *p, const struct hx_layer *l)
{
    hx_pass_norm(p, p->h, p->x, &l->attn_norm);
    hx_pass_qkv(p, l);
    hx_pass_head_norms(p, l); /* of gemma3 */
    hx_pass_rotate(p);
    hx_pass_attend(p, l);
    hx_pass_norm(p, p->y, p->y, &l->attn_post);
    hx_pass_add(p, HX_TAP_AFTER_ATTN);

    hx_pass_norm(p, p->h, p->x, &l->ffn_norm);
    hx_pass_ffn_gated(p, l, p->m->arch->gate);
    hx_pass_norm(p, p->y, p->y, &l->ffn_post);
    hx_pass_add(p, HX_TAP_AFTER_FFN);
}

enum { WINDOW_GEMMA2 = 4096, PERIOD_GEMMA2 = 2, PERIOD_GEMMA3 = 6 };

/* Files do not hold the scale of the scores.  It is 1 / sqrt(dh), but in the 27B models, which are told by their number of
 * layers, 1 / sqrt(width / n_head). */
static void set_scales(struct hx_model *m, size_t layers_of_27b)
{
    const size_t per = m->n_layer == layers_of_27b ? m->width / m->n_head : m->dh;

    m->embd_scale = sqrtf((float)m->width);
    m->attn_scale = 1 / sqrtf((float)per);
}

/* Window, which layers are local, and how those turn: by `base` unless a key says otherwise. */
static int read_local(struct hx_model *m, uint32_t window, uint32_t period, float base, float scale,
                      struct hx_error *err)
{
    int rc = hx_model_u32(m, "attention.sliding_window", HX_MAX_DIM, window, &m->window, err);

    if (!rc && m->window)
        rc = hx_model_u32(m, "attention.sliding_window_pattern", HX_MAX_LAYERS, period,
                          &m->rope.period, err);
    if (!rc)
        rc = hx_model_f32(m, "rope.freq_base_swa", base, &base, err);
    m->rope.local = m->rope.global;
    m->rope.local.base = base;
    m->rope.local.scale = scale;
    return rc;
}

static int describe_gemma2(struct hx_model *m, struct hx_error *err)
{
    const struct hx_rope_spec *r = &m->rope.global;
    int rc = read_local(m, WINDOW_GEMMA2, PERIOD_GEMMA2, r->base, r->scale, err);

    set_scales(m, 46);
    if (!rc)
        rc = hx_model_f32(m, "attn_logit_softcapping", 50, &m->attn_softcap, err);
    if (!rc)
        rc = hx_model_f32(m, "final_logit_softcapping", 30, &m->logit_softcap, err);
    return rc;
}

static int describe_gemma3(struct hx_model *m, struct hx_error *err)
{
    int rc = read_local(m, 0, PERIOD_GEMMA3, 10000, 1, err);

    set_scales(m, 62);
    if (!rc)
        rc = hx_model_f32(m, "final_logit_softcapping", 0, &m->logit_softcap, err);
    return rc;
}

enum { COMMON = HX_PART_QKV | HX_PART_POST_NORMS | HX_PART_FFN_NORM | HX_PART_GATE };

const struct hx_arch hx_arch_gemma2 = {
    .name = "gemma2",
    .needs = COMMON,
    .pairs = HX_ROPE_HALVES,
    .whole = 1,
    .gate = HX_GELU,
    .describe = describe_gemma2,
    .embed = hx_pass_embed,
    .layer = layer,
};

const struct hx_arch hx_arch_gemma3 = {
    .name = "gemma3",
    .needs = COMMON | HX_PART_HEAD_NORMS,
    .pairs = HX_ROPE_HALVES,
    .whole = 1,
    .gate = HX_GELU,
    .describe = describe_gemma3,
    .embed = hx_pass_embed,
    .layer = layer,
};
