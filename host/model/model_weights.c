/* Finds the tensors of a model by name and checks their shapes against its geometry and its architecture's parts. */
#include "model_weights.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/arch/arch.h"

/* Sizes by name, so that tables can say shapes. */
enum dim { ONE, WIDTH, Q, KV, QKV, DH, FFN, VOCAB, POSITIONS };

static size_t size_of(const struct hx_model *m, enum dim d)
{
    const size_t q = m->n_head * m->dh, kv = m->n_kv * m->dh; /* each factor <= 2^24 */
    const size_t sizes[] = {
        [ONE] = 1,        [WIDTH] = m->width, [Q] = q,
        [KV] = kv,        [QKV] = q + 2 * kv, [DH] = m->dh,
        [FFN] = m->ffn,   [VOCAB] = m->vocab, [POSITIONS] = m->n_ctx + m->arch->first_position,
    };

    return sizes[d];
}

/* ld: the loader at work. */
struct loader {
    struct hx_model *m;
    struct hx_gguf_facts file;
    uint8_t *used; /* [file.n_tensors] 1: the model has it */
};

static int find_tensor(const struct loader *ld, const char *name, size_t rows, size_t cols,
                       const struct hx_gguf_tensor **out, struct hx_error *err)
{
    const struct hx_gguf_tensor *t = hx_gguf_tensor(ld->m->file, name);

    if (!t)
        return hx_error_set(err, -ENOENT, "%s: no tensor '%s'", hx_gguf_name(ld->m->file), name);
    if (t->dims[0] != cols || t->dims[1] != rows || t->dims[2] != 1 || t->dims[3] != 1)
        return hx_error_set(err, -EINVAL, "%s: tensor '%s' is %" PRIu64 " x %" PRIu64
                          "; %zu x %zu is needed", hx_gguf_name(ld->m->file), name, t->dims[1],
                          t->dims[0], rows, cols);
    ld->used[t - ld->file.tensors] = 1;
    *out = t;
    return 0;
}

/* A vector of n f32: `what` it is, for the message. */
static int get_vector(const struct loader *ld, const float **out, const char *what,
                      const char *name, size_t n, struct hx_error *err)
{
    const struct hx_gguf_tensor *t;
    int rc = find_tensor(ld, name, 1, n, &t, err);

    if (rc)
        return rc;
    if (t->type != HX_QUANT_F32)
        return hx_error_set(err, -EINVAL, "%s: %s '%s' is %s; F32 is needed",
                            hx_gguf_name(ld->m->file), what, name, hx_quant_name(t->type));
    *out = t->data;
    return 0;
}

/* Part 0 is of every architecture. */
static int has_part(const struct hx_model *m, uint32_t part)
{
    return !part || (m->arch->needs & part);
}

/* Whether the tensor `name` with the optional or needed `part` is to be read. */
static int wanted(const struct hx_model *m, uint32_t part, const char *name)
{
    return (m->arch->needs & part) || ((m->arch->may & part) && hx_gguf_tensor(m->file, name));
}

/* base.weight, and base.bias where the architecture has it. */
static int get_linear(const struct loader *ld, struct hx_linear *l, const char *base, enum dim rows,
                      enum dim cols, uint32_t bias, struct hx_error *err)
{
    const size_t n_rows = size_of(ld->m, rows), n_cols = size_of(ld->m, cols);
    const struct hx_gguf_tensor *t;
    char name[96];
    int rc;

    snprintf(name, sizeof(name), "%s.weight", base);
    rc = find_tensor(ld, name, n_rows, n_cols, &t, err);
    if (rc)
        return rc;
    *l = (struct hx_linear){.ops = &hx_linear_ref, .w = t->data, .type = t->type,
                            .rows = n_rows, .cols = n_cols};
    snprintf(name, sizeof(name), "%s.bias", base);
    return wanted(ld->m, bias, name) ? get_vector(ld, &l->bias, "bias", name, n_rows, err) : 0;
}

static int get_norm(const struct loader *ld, struct hx_norm *norm, const char *base, enum dim n,
                    struct hx_error *err)
{
    const size_t values = size_of(ld->m, n);
    char name[96];
    int rc;

    snprintf(name, sizeof(name), "%s.weight", base);
    rc = get_vector(ld, &norm->w, "norm", name, values, err);
    snprintf(name, sizeof(name), "%s.bias", base);
    if (!rc && has_part(ld->m, HX_PART_NORM_BIAS))
        rc = get_vector(ld, &norm->b, "norm", name, values, err);
    return rc;
}

#define AT(member) offsetof(struct hx_layer, member)

/* part 0: every architecture has it. */
static const struct {
    const char *name;
    size_t at;
    enum dim rows, cols;
    uint32_t part, bias;
} matrices[] = {
    {"attn_q", AT(q), Q, WIDTH, HX_PART_QKV, HX_PART_QKV_BIAS},
    {"attn_k", AT(k), KV, WIDTH, HX_PART_QKV, HX_PART_QKV_BIAS},
    {"attn_v", AT(v), KV, WIDTH, HX_PART_QKV, HX_PART_QKV_BIAS},
    {"attn_output", AT(o), WIDTH, Q, 0, HX_PART_O_BIAS},
    {"ffn_gate", AT(gate), FFN, WIDTH, HX_PART_GATE, 0},
    {"ffn_up", AT(up), FFN, WIDTH, 0, HX_PART_FFN_BIAS},
    {"ffn_down", AT(down), WIDTH, FFN, 0, HX_PART_FFN_BIAS},
};

static const struct {
    const char *name;
    size_t at;
    enum dim n;
    uint32_t part;
} norms[] = {
    {"attn_norm", AT(attn_norm), WIDTH, 0},
    {"attn_q_norm", AT(q_norm), DH, HX_PART_HEAD_NORMS},
    {"attn_k_norm", AT(k_norm), DH, HX_PART_HEAD_NORMS},
    {"post_attention_norm", AT(attn_post), WIDTH, HX_PART_POST_NORMS},
    {"ffn_norm", AT(ffn_norm), WIDTH, HX_PART_FFN_NORM},
    {"post_ffw_norm", AT(ffn_post), WIDTH, HX_PART_POST_NORMS},
};

/* `rows` rows of l from *first on, which goes on behind them. */
static struct hx_linear slice(const struct hx_linear *l, size_t *first, size_t rows)
{
    struct hx_linear part = *l;

    part.w = (const uint8_t *)l->w + *first * hx_quant_row_bytes(l->type, l->cols);
    part.bias = l->bias ? l->bias + *first : NULL;
    part.rows = rows;
    *first += rows;
    return part;
}

static int load_fused(const struct loader *ld, struct hx_layer *l, size_t index, struct hx_error *err)
{
    const struct hx_model *m = ld->m;
    struct hx_linear qkv;
    size_t first = 0;
    char base[64];
    int rc;

    snprintf(base, sizeof(base), "blk.%zu.attn_qkv", index);
    rc = get_linear(ld, &qkv, base, QKV, WIDTH, HX_PART_QKV_BIAS, err);
    if (rc)
        return rc;
    l->q = slice(&qkv, &first, size_of(m, Q));
    l->k = slice(&qkv, &first, size_of(m, KV));
    l->v = slice(&qkv, &first, size_of(m, KV));
    return 0;
}

static int load_layer(const struct loader *ld, struct hx_layer *l, size_t index, struct hx_error *err)
{
    uint8_t *to = (uint8_t *)l;
    char base[64];
    int rc = 0;

    if (has_part(ld->m, HX_PART_QKV_FUSED))
        rc = load_fused(ld, l, index, err);
    for (size_t i = 0; !rc && i < sizeof(matrices) / sizeof(matrices[0]); i++) {
        snprintf(base, sizeof(base), "blk.%zu.%s", index, matrices[i].name);
        if (has_part(ld->m, matrices[i].part))
            rc = get_linear(ld, (struct hx_linear *)(to + matrices[i].at), base, matrices[i].rows,
                            matrices[i].cols, matrices[i].bias, err);
    }
    for (size_t i = 0; !rc && i < sizeof(norms) / sizeof(norms[0]); i++) {
        snprintf(base, sizeof(base), "blk.%zu.%s", index, norms[i].name);
        if (has_part(ld->m, norms[i].part))
            rc = get_norm(ld, (struct hx_norm *)(to + norms[i].at), base, norms[i].n, err);
    }
    return rc;
}

/* Divisors of the rotary frequencies: how Llama 3.1's scaling is written to files. */
static int load_factors(const struct loader *ld, struct hx_error *err)
{
    static const char name[] = "rope_freqs.weight";
    struct hx_model *m = ld->m;
    const size_t n = m->rope.global.dims / 2;
    const float *f = NULL;
    int rc = 0;

    if (wanted(m, HX_PART_FACTORS, name))
        rc = get_vector(ld, &f, "rotary factors", name, n, err);
    if (rc || !f)
        return rc;
    if (m->rope_factors)
        return hx_error_set(err, -EINVAL, "%s: rope.scaling.type llama3 and tensor '%s' exclude each "
                          "other", hx_gguf_name(m->file), name);
    for (size_t i = 0; i < n; i++)
        if (!(f[i] > 0))
            return hx_error_set(err, -EINVAL, "%s: tensor '%s' holds %g; factors are positive",
                                hx_gguf_name(m->file), name, (double)f[i]);
    m->rope.global.factors = f;
    return 0;
}

/* What is not in a layer. */
static int load_ends(const struct loader *ld, struct hx_error *err)
{
    struct hx_model *m = ld->m;
    int rc = get_linear(ld, &m->embd, "token_embd", VOCAB, WIDTH, 0, err);

    m->out = m->embd;
    if (!rc && ((m->arch->needs & HX_PART_OUT) || hx_gguf_tensor(m->file, "output.weight")))
        rc = get_linear(ld, &m->out, "output", VOCAB, WIDTH, HX_PART_OUT_BIAS, err);
    if (!rc && has_part(m, HX_PART_POSITIONS))
        rc = get_linear(ld, &m->positions, "position_embd", POSITIONS, WIDTH, 0, err);
    if (!rc)
        rc = get_norm(ld, &m->out_norm, "output_norm", WIDTH, err);
    return rc ? rc : load_factors(ld, err);
}

/* A tensor that nothing here computes with would be missing in the result. */
static int refuse_others(const struct loader *ld, struct hx_error *err)
{
    for (size_t i = 0; i < ld->file.n_tensors; i++)
        if (!ld->used[i])
            return hx_error_set(err, -EINVAL, "%s: tensor '%s' has no place in architecture %s",
                                hx_gguf_name(ld->m->file),
                                hx_str_shown(ld->file.tensors[i].name).text, ld->m->arch->name);
    return 0;
}

static int load(const struct loader *ld, struct hx_error *err)
{
    struct hx_model *m = ld->m;
    int rc = load_ends(ld, err);

    for (size_t i = 0; !rc && i < m->n_layer; i++)
        rc = load_layer(ld, &m->layers[i], i, err);
    return rc ? rc : refuse_others(ld, err);
}

int hx_model_load_weights(struct hx_model *m, struct hx_error *err)
{
    struct loader ld = {.m = m, .file = hx_gguf_facts(m->file)};
    int rc;

    ld.used = calloc(ld.file.n_tensors + 1, 1);
    m->layers = calloc(m->n_layer, sizeof(*m->layers));
    if (ld.used && m->layers)
        rc = load(&ld, err);
    else
        rc = hx_error_set(err, -ENOMEM, "%s: out of memory", hx_gguf_name(m->file));
    free(ld.used);
    return rc;
}
