/* Geometry and weights of a qwen3 model, see model.h. */
#include "model.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCH "qwen3"

enum { MAX_LAYERS = 4096, MAX_DIM = 1 << 24 };

static int hyper(const struct hx_model *m, const char *name, size_t max, size_t *out,
                 struct hx_why *why)
{
    char key[96];
    uint32_t v;
    int rc;

    snprintf(key, sizeof(key), ARCH ".%s", name);
    rc = hx_gguf_u32(m->file, key, &v, why);
    if (rc)
        return rc;
    if (v == 0 || v > max)
        return hx_why_set(why, -EINVAL, "%s: %s is %u; 1 to %zu are legal", hx_gguf_name(m->file),
                          key, v, max);
    *out = v;
    return 0;
}

static int hyper_f32(const struct hx_model *m, const char *key, float *out, struct hx_why *why)
{
    int rc = hx_gguf_f32(m->file, key, out, why);

    if (!rc && !(isfinite(*out) && *out > 0))
        rc = hx_why_set(why, -EINVAL, "%s: %s is %g; it must be positive", hx_gguf_name(m->file),
                        key, (double)*out);
    return rc;
}

static int check_arch(const struct hx_model *m, struct hx_why *why)
{
    struct hx_str arch;
    int rc = hx_gguf_str(m->file, "general.architecture", &arch, why);

    if (rc)
        return rc;
    if (!hx_str_is(arch, ARCH))
        return hx_why_set(why, -EINVAL, "%s: architecture '%.*s' is not supported; supported: "
                          ARCH, hx_gguf_name(m->file), (int)(arch.n < 64 ? arch.n : 64), arch.p);
    if (hx_gguf_find(m->file, ARCH ".rope.scaling.type"))
        return hx_why_set(why, -EINVAL, "%s: " ARCH ".rope.scaling.type is set; scaled rotary "
                          "embeddings are not supported", hx_gguf_name(m->file));
    return 0;
}

static int read_geometry(struct hx_model *m, struct hx_why *why)
{
    size_t value_length;
    int rc = check_arch(m, why);
    const struct {
        const char *name;
        size_t max, *out;
    } want[] = {
        {"block_count", MAX_LAYERS, &m->n_layer},
        {"context_length", MAX_DIM, &m->n_ctx},
        {"embedding_length", MAX_DIM, &m->width},
        {"feed_forward_length", MAX_DIM, &m->ffn},
        {"attention.head_count", MAX_DIM, &m->n_head},
        {"attention.head_count_kv", MAX_DIM, &m->n_kv},
        {"attention.key_length", MAX_DIM, &m->dh},
        {"attention.value_length", MAX_DIM, &value_length},
    };

    for (size_t i = 0; !rc && i < sizeof(want) / sizeof(want[0]); i++)
        rc = hyper(m, want[i].name, want[i].max, want[i].out, why);
    if (!rc)
        rc = hyper_f32(m, ARCH ".attention.layer_norm_rms_epsilon", &m->eps, why);
    if (!rc)
        rc = hyper_f32(m, ARCH ".rope.freq_base", &m->rope_base, why);
    if (rc)
        return rc;
    if (m->n_head % m->n_kv || m->dh % 2 || m->dh != value_length)
        return hx_why_set(why, -EINVAL, "%s: %zu heads, %zu KV heads, key length %zu, value length "
                          "%zu do not fit together", hx_gguf_name(m->file), m->n_head, m->n_kv,
                          m->dh, value_length);
    return 0;
}

static int find_tensor(const struct hx_model *m, const char *name, size_t rows, size_t cols,
                       const struct hx_gguf_tensor **out, struct hx_why *why)
{
    const struct hx_gguf_tensor *t = hx_gguf_tensor(m->file, name);

    if (!t)
        return hx_why_set(why, -ENOENT, "%s: no tensor '%s'", hx_gguf_name(m->file), name);
    if (t->dims[0] != cols || t->dims[1] != rows || t->dims[2] != 1 || t->dims[3] != 1)
        return hx_why_set(why, -EINVAL, "%s: tensor '%s' is %" PRIu64 " x %" PRIu64
                          "; %zu x %zu is needed", hx_gguf_name(m->file), name, t->dims[1],
                          t->dims[0], rows, cols);
    *out = t;
    return 0;
}

static int get_linear(const struct hx_model *m, struct hx_linear *l, const char *name, size_t rows,
                      size_t cols, struct hx_why *why)
{
    const struct hx_gguf_tensor *t;
    int rc = find_tensor(m, name, rows, cols, &t, why);

    if (!rc)
        *l = (struct hx_linear){.ops = &hx_linear_ref, .w = t->data, .type = t->type,
                                .rows = rows, .cols = cols};
    return rc;
}

static int get_norm(const struct hx_model *m, const float **out, const char *name, size_t n,
                    struct hx_why *why)
{
    const struct hx_gguf_tensor *t;
    int rc = find_tensor(m, name, 1, n, &t, why);

    if (rc)
        return rc;
    if (t->type != HX_QUANT_F32)
        return hx_why_set(why, -EINVAL, "%s: norm '%s' is %s; F32 is needed",
                          hx_gguf_name(m->file), name, hx_quant_name(t->type));
    *out = t->data;
    return 0;
}

static int load_layer(const struct hx_model *m, struct hx_layer *l, size_t index,
                      struct hx_why *why)
{
    const size_t q = m->n_head * m->dh, kv = m->n_kv * m->dh; /* each factor <= 2^24 */
    const struct {
        const char *name;
        struct hx_linear *out;
        size_t rows, cols;
    } mats[] = {
        {"attn_q", &l->q, q, m->width},        {"attn_k", &l->k, kv, m->width},
        {"attn_v", &l->v, kv, m->width},       {"attn_output", &l->o, m->width, q},
        {"ffn_gate", &l->gate, m->ffn, m->width}, {"ffn_up", &l->up, m->ffn, m->width},
        {"ffn_down", &l->down, m->width, m->ffn},
    };
    const struct {
        const char *name;
        const float **out;
        size_t n;
    } norms[] = {
        {"attn_norm", &l->attn_norm, m->width},
        {"attn_q_norm", &l->q_norm, m->dh},
        {"attn_k_norm", &l->k_norm, m->dh},
        {"ffn_norm", &l->ffn_norm, m->width},
    };
    char name[64];
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof(mats) / sizeof(mats[0]); i++) {
        snprintf(name, sizeof(name), "blk.%zu.%s.weight", index, mats[i].name);
        rc = get_linear(m, mats[i].out, name, mats[i].rows, mats[i].cols, why);
    }
    for (size_t i = 0; !rc && i < sizeof(norms) / sizeof(norms[0]); i++) {
        snprintf(name, sizeof(name), "blk.%zu.%s.weight", index, norms[i].name);
        rc = get_norm(m, norms[i].out, name, norms[i].n, why);
    }
    return rc;
}

static int load_weights(struct hx_model *m, struct hx_why *why)
{
    int rc = get_linear(m, &m->embd, "token_embd.weight", m->vocab, m->width, why);

    m->out = m->embd;
    if (!rc && hx_gguf_tensor(m->file, "output.weight"))
        rc = get_linear(m, &m->out, "output.weight", m->vocab, m->width, why);
    if (!rc)
        rc = get_norm(m, &m->out_norm, "output_norm.weight", m->width, why);
    if (rc)
        return rc;
    m->layers = calloc(m->n_layer, sizeof(*m->layers));
    if (!m->layers)
        return hx_why_set(why, -ENOMEM, "%s: out of memory", hx_gguf_name(m->file));
    for (size_t i = 0; !rc && i < m->n_layer; i++)
        rc = load_layer(m, &m->layers[i], i, why);
    return rc;
}

static uint64_t fnv(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

/* FNV-1a over the architecture's name, the geometry as u64 and the norm weights: what every quantisation of one model
 * shares, since norms stay F32. */
static uint64_t fingerprint(const struct hx_model *m)
{
    const uint64_t geometry[] = {m->n_layer, m->width, m->n_head, m->n_kv,
                                 m->dh,      m->ffn,   m->vocab};
    uint64_t h = fnv(0xcbf29ce484222325u, ARCH, strlen(ARCH));

    h = fnv(h, geometry, sizeof(geometry));
    h = fnv(h, &m->eps, sizeof(m->eps));
    h = fnv(h, &m->rope_base, sizeof(m->rope_base));
    for (size_t i = 0; i < m->n_layer; i++) {
        const struct hx_layer *l = &m->layers[i];

        h = fnv(h, l->attn_norm, m->width * sizeof(float));
        h = fnv(h, l->q_norm, m->dh * sizeof(float));
        h = fnv(h, l->k_norm, m->dh * sizeof(float));
        h = fnv(h, l->ffn_norm, m->width * sizeof(float));
    }
    return fnv(h, m->out_norm, m->width * sizeof(float));
}

int hx_model_from_gguf(struct hx_model **out, struct hx_gguf *g, struct hx_why *why)
{
    struct hx_model *m = calloc(1, sizeof(*m));
    int rc;

    if (!m) {
        hx_gguf_close(g);
        return hx_why_set(why, -ENOMEM, "out of memory");
    }
    m->file = g;
    rc = read_geometry(m, why);
    if (!rc)
        rc = hx_tokenizer_open(&m->tok, g, why);
    if (!rc) {
        m->vocab = hx_tokenizer_vocab(m->tok);
        rc = load_weights(m, why);
    }
    if (rc) {
        hx_model_close(m);
        return rc;
    }
    m->fingerprint = fingerprint(m);
    *out = m;
    return 0;
}

int hx_model_open(struct hx_model **out, const char *path, struct hx_why *why)
{
    struct hx_gguf *g;
    int rc = hx_gguf_open(&g, path, why);

    return rc ? rc : hx_model_from_gguf(out, g, why);
}

void hx_model_close(struct hx_model *m)
{
    if (!m)
        return;
    hx_tokenizer_close(m->tok);
    hx_gguf_close(m->file);
    free(m->layers);
    free(m);
}
