/* A model out of one file: keys, tokenizer, weights, and the fingerprint that calibrations are checked by. */
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/arch/arch.h"
#include "model_keys.h"
#include "model_weights.h"

static uint64_t fnv(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

/* What is not there leaves no trace. */
static uint64_t hash_norm(uint64_t h, const struct hx_norm *norm, size_t n)
{
    if (norm->w)
        h = fnv(h, norm->w, n * sizeof(float));
    return norm->b ? fnv(h, norm->b, n * sizeof(float)) : h;
}

/* How a spec differs from turning whole heads by its base alone. */
static uint64_t hash_rope(uint64_t h, const struct hx_rope_spec *r, size_t dh)
{
    const uint64_t dims = r->dims;

    if (r->pairs && r->dims != dh)
        h = fnv(h, &dims, sizeof(dims));
    if (r->pairs && r->scale != 1)
        h = fnv(h, &r->scale, sizeof(r->scale));
    return r->factors ? fnv(h, r->factors, r->dims / 2 * sizeof(float)) : h;
}

static uint64_t hash_local(uint64_t h, const struct hx_model *m)
{
    const uint64_t what[] = {m->window, m->rope.period};

    if (!m->window)
        return h;
    h = fnv(h, what, sizeof(what));
    h = fnv(h, &m->rope.local.base, sizeof(m->rope.local.base));
    return hash_rope(h, &m->rope.local, m->dh);
}

/* FNV-1a over the architecture's name, the geometry as u64, what the rotary embedding is and the norms: what every
 * quantisation of one model shares, since norms stay F32. */
static uint64_t fingerprint(const struct hx_model *m)
{
    const uint64_t geometry[] = {m->n_layer, m->width, m->n_head, m->n_kv,
                                 m->dh,      m->ffn,   m->vocab};
    uint64_t h = fnv(0xcbf29ce484222325u, m->arch->name, strlen(m->arch->name));

    h = fnv(h, geometry, sizeof(geometry));
    h = fnv(h, &m->eps, sizeof(m->eps));
    h = fnv(h, &m->rope.global.base, sizeof(m->rope.global.base));
    h = hash_rope(h, &m->rope.global, m->dh);
    h = hash_local(h, m);
    for (size_t i = 0; i < m->n_layer; i++) {
        const struct hx_layer *l = &m->layers[i];

        h = hash_norm(h, &l->attn_norm, m->width);
        h = hash_norm(h, &l->q_norm, m->dh);
        h = hash_norm(h, &l->k_norm, m->dh);
        h = hash_norm(h, &l->attn_post, m->width);
        h = hash_norm(h, &l->ffn_norm, m->width);
        h = hash_norm(h, &l->ffn_post, m->width);
    }
    return hash_norm(h, &m->out_norm, m->width);
}

int hx_model_from_gguf(struct hx_model **out, struct hx_gguf *g, const struct hx_arch *const *archs,
                       struct hx_error *err)
{
    struct hx_model *m = calloc(1, sizeof(*m));
    int rc;

    if (!m) {
        hx_gguf_close(g);
        return hx_error_set(err, -ENOMEM, "out of memory");
    }
    m->file = g;
    rc = hx_model_read_keys(m, archs, err);
    if (!rc)
        rc = hx_tokenizer_open(&m->tok, g, err);
    if (!rc) {
        m->vocab = hx_tokenizer_vocab(m->tok);
        rc = hx_model_load_weights(m, err);
    }
    if (rc) {
        hx_model_close(m);
        return rc;
    }
    m->fingerprint = fingerprint(m);
    *out = m;
    return 0;
}

int hx_model_open(struct hx_model **out, const char *path, const struct hx_arch *const *archs,
                  struct hx_error *err)
{
    struct hx_gguf *g;
    int rc = hx_gguf_open(&g, path, err);

    return rc ? rc : hx_model_from_gguf(out, g, archs, err);
}

void hx_model_close(struct hx_model *m)
{
    if (!m)
        return;
    hx_tokenizer_close(m->tok);
    hx_gguf_close(m->file);
    free(m->rope_factors);
    free(m->layers);
    free(m);
}
