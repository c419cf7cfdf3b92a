/* From the keys of a model file to its architecture, geometry and rotary embedding. */
#include "model_keys.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/arch/arch.h"
#include "key.h"

static int read_arch(struct hx_model *m, const struct hx_arch *const *archs, struct hx_error *err)
{
    char all[128] = "";
    struct hx_str name;
    int rc = hx_gguf_str(m->file, "general.architecture", &name, err);

    if (rc)
        return rc;
    for (size_t i = 0; archs[i]; i++) {
        if (hx_str_is(name, archs[i]->name)) {
            m->arch = archs[i];
            return 0;
        }
        snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "", archs[i]->name);
    }
    return hx_error_set(err, -EINVAL, "%s: architecture '%s' is not supported; supported: %s",
                        hx_gguf_name(m->file), hx_str_shown(name).text, all);
}

/* Values of a head: given, or the heads' share of the width. */
static int read_head(struct hx_model *m, struct hx_error *err)
{
    const size_t share = m->width / m->n_head;
    size_t value_length;
    int rc;

    if ((!hx_model_has_key(m, "attention.key_length") || !hx_model_has_key(m, "attention.value_length")) &&
        (!share || m->width % m->n_head))
        return hx_error_set(err, -EINVAL, "%s: %zu heads do not share a width of %zu",
                            hx_gguf_name(m->file), m->n_head, m->width);
    rc = hx_model_u32(m, "attention.key_length", HX_MAX_HEAD, share, &m->dh, err);
    if (!rc)
        rc = hx_model_u32(m, "attention.value_length", HX_MAX_HEAD, share, &value_length, err);
    if (!rc && (m->n_head % m->n_kv || m->dh % 2 || m->dh != value_length))
        rc = hx_error_set(err, -EINVAL, "%s: %zu heads, %zu KV heads, key length %zu, value length "
                        "%zu do not fit together", hx_gguf_name(m->file), m->n_head, m->n_kv, m->dh,
                        value_length);
    return rc;
}

static int read_geometry(struct hx_model *m, struct hx_error *err)
{
    const struct {
        const char *name;
        size_t max, *out;
    } want[] = {
        {"block_count", HX_MAX_LAYERS, &m->n_layer},
        {"context_length", HX_MAX_DIM, &m->n_ctx},
        {"embedding_length", HX_MAX_DIM, &m->width},
        {"feed_forward_length", HX_MAX_DIM, &m->ffn},
        {"attention.head_count", HX_MAX_DIM, &m->n_head},
    };
    const int biased = (m->arch->needs & HX_PART_NORM_BIAS) != 0;
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof(want) / sizeof(want[0]); i++)
        rc = hx_model_need_u32(m, want[i].name, want[i].max, want[i].out, err);
    if (!rc)
        rc = hx_model_u32(m, "attention.head_count_kv", HX_MAX_DIM, m->n_head, &m->n_kv, err);
    if (!rc)
        rc = read_head(m, err);
    if (!rc)
        rc = hx_model_need_f32(m, biased ? "attention.layer_norm_epsilon"
                                         : "attention.layer_norm_rms_epsilon", &m->eps, err);
    return rc;
}

/* Parts of published models that change the result and that no architecture here computes. */
static int refuse_experts(const struct hx_model *m, struct hx_error *err)
{
    char key[HX_KEY_BYTES];
    uint32_t n = 0;
    int rc = 0;

    if (hx_model_has_key(m, "expert_count"))
        rc = hx_gguf_u32(m->file, hx_model_key(m, "expert_count", key), &n, err);
    if (!rc && n)
        rc = hx_error_set(err, -EINVAL, "%s: %s is %u; mixtures of experts are not supported",
                          hx_gguf_name(m->file), key, n);
    return rc;
}

/* --- rotary embedding */

static int scale_none(struct hx_model *m, struct hx_error *err)
{
    (void)m;
    (void)err;
    return 0;
}

/* Older files have scale_linear for scaling.factor. */
static int scale_linear(struct hx_model *m, struct hx_error *err)
{
    static const char now[] = "rope.scaling.factor", older[] = "rope.scale_linear";
    float factor = 1;
    int rc = hx_model_f32(m, hx_model_has_key(m, now) ? now : older, 1, &factor, err);

    m->rope.global.scale = 1 / factor;
    return rc;
}

/* Llama 3.1's: pairs that rotate fast keep their frequency, slow ones get 1/factor of it, and between them the share is
 * linear in the number of turns within the original context.  Source: Dubey et al. 2024 (Llama 3), their code. */
static int scale_llama3(struct hx_model *m, struct hx_error *err)
{
    const double pi = 3.14159265358979323846;
    struct hx_rope_spec *r = &m->rope.global;
    float factor, low, high;
    size_t ctx; /* of the training before it was made longer */
    int rc = hx_model_need_f32(m, "rope.scaling.factor", &factor, err);

    if (!rc)
        rc = hx_model_need_f32(m, "rope.scaling.low_freq_factor", &low, err);
    if (!rc)
        rc = hx_model_need_f32(m, "rope.scaling.high_freq_factor", &high, err);
    if (!rc)
        rc = hx_model_need_u32(m, "rope.scaling.original_context_length", HX_MAX_DIM, &ctx, err);
    if (!rc && !(low < high))
        rc = hx_error_set(err, -EINVAL, "%s: rope.scaling.low_freq_factor %g is not below "
                        "rope.scaling.high_freq_factor %g", hx_gguf_name(m->file), (double)low,
                        (double)high);
    if (rc)
        return rc;
    m->rope_factors = calloc(r->dims / 2, sizeof(*m->rope_factors));
    if (!m->rope_factors)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", hx_gguf_name(m->file));
    r->factors = m->rope_factors;
    for (size_t i = 0; i < r->dims / 2; i++) {
        const double freq = pow((double)r->base, -2.0 * (double)i / (double)r->dims);
        const double turns = (double)ctx * freq / (2 * pi);
        const double keep = fmin(fmax((turns - low) / (high - low), 0), 1);

        m->rope_factors[i] = (float)(1 / ((1 - keep) / factor + keep));
    }
    return 0;
}

static const struct {
    const char *name;
    int (*set)(struct hx_model *m, struct hx_error *err);
} scalings[] = {
    {"linear", scale_linear}, /* also without a type */
    {"none", scale_none},
    {"llama3", scale_llama3},
};

static int read_scaling(struct hx_model *m, struct hx_error *err)
{
    struct hx_str type = {scalings[0].name, 6};
    char key[HX_KEY_BYTES], legal[64] = "";
    int rc = 0;

    if (hx_model_has_key(m, "rope.scaling.type"))
        rc = hx_gguf_str(m->file, hx_model_key(m, "rope.scaling.type", key), &type, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < sizeof(scalings) / sizeof(scalings[0]); i++) {
        if (hx_str_is(type, scalings[i].name))
            return scalings[i].set(m, err);
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%s", i ? ", " : "",
                 scalings[i].name);
    }
    return hx_error_set(err, -EINVAL, "%s: %s '%s' is not supported; supported: %s",
                        hx_gguf_name(m->file), key, hx_str_shown(type).text, legal);
}

static int read_rope(struct hx_model *m, struct hx_error *err)
{
    struct hx_rope_spec *r = &m->rope.global;
    int rc;

    r->pairs = m->arch->pairs;
    r->scale = 1;
    if (r->pairs == HX_ROPE_NONE)
        return 0;
    rc = hx_model_u32(m, "rope.dimension_count", m->dh, m->dh, &r->dims, err);
    if (!rc && r->dims % 2)
        rc = hx_error_set(err, -EINVAL, "%s: rope.dimension_count is %zu; it must be even",
                          hx_gguf_name(m->file), r->dims);
    if (!rc)
        rc = hx_model_f32(m, "rope.freq_base", 10000, &r->base, err);
    return rc ? rc : read_scaling(m, err);
}

int hx_model_read_keys(struct hx_model *m, const struct hx_arch *const *archs, struct hx_error *err)
{
    int rc = read_arch(m, archs, err);

    if (!rc)
        rc = refuse_experts(m, err);
    if (!rc)
        rc = read_geometry(m, err);
    if (!rc)
        rc = read_rope(m, err);
    if (rc)
        return rc;
    m->embd_scale = 1;
    m->attn_scale = 1 / sqrtf((float)m->dh);
    return m->arch->describe ? m->arch->describe(m, err) : 0;
}
