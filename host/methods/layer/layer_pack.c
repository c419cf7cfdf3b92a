/* Layers in the DSP's layout, see layer_pack.h.
 *
 * The DSP turns the pairs (i, i + half).  Where a model's pairs are neighbours, rows of q and k change places instead, the same in
 * both, which no product of a query and a key can tell. */
#include "layer_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/arch/arch.h"
#include "gguf/gguf.h"
#include "methods/dsp/linear_pack.h"
#include "model/matrix.h"

enum { ALIGN = 128, LANES = 32 };
static const uint32_t NONE = UINT32_MAX;

/* --- what the DSP can do */

int hx_layer_pack_check(const struct hx_model *m, struct hx_error *err)
{
    const struct hx_rope_spec *r = &m->rope.global;
    const int turns = r->pairs != HX_ROPE_NONE;
    const struct {
        int bad;
        const char *what;
    } not_there[] = {
        {!m->arch->whole, "layers that are not made of RMS norms, attention and a gated feed-forward"},
        {m->attn_softcap > 0, "soft-caps"},
        {m->width % LANES || m->ffn % LANES, "a width that is no multiple of 32"},
        {m->dh % (2 * LANES) != 0, "heads whose width is no multiple of 64"},
        {turns && r->dims != m->dh, "heads that are turned in part"},
    };

    for (size_t i = 0; i < sizeof(not_there) / sizeof(not_there[0]); i++)
        if (not_there[i].bad)
            return hx_error_set(err, -ENOTSUP, "layers on the DSP: %s has %s", m->file ? hx_gguf_name(m->file) : "the geometry",
                                not_there[i].what);
    return 0;
}

/* --- where things lie */

static uint32_t take(struct hx_layer_pack *p, size_t floats)
{
    const size_t at = p->bytes;

    p->bytes += (floats * sizeof(float) + ALIGN - 1) / ALIGN * ALIGN;
    return (uint32_t)at;
}

static uint32_t take_if(struct hx_layer_pack *p, const float *w, size_t floats)
{
    return w ? take(p, floats) : NONE;
}

static void measure_vectors(struct hx_layer_pack *p, const struct hx_model *m, size_t layer)
{
    const struct hx_layer *l = &m->layers[layer];

    p->vectors[layer] = (hex_layer_vectors){
        .attn_norm = take(p, m->width),
        .attn_post = take_if(p, l->attn_post.w, m->width),
        .ffn_norm = take(p, m->width),
        .ffn_post = take_if(p, l->ffn_post.w, m->width),
        .q_norm = take_if(p, l->q_norm.w, m->dh),
        .k_norm = take_if(p, l->k_norm.w, m->dh),
        .q_bias = take_if(p, l->q.bias, l->q.rows),
        .k_bias = take_if(p, l->k.bias, l->k.rows),
        .v_bias = take_if(p, l->v.bias, l->v.rows),
        .o_bias = take_if(p, l->o.bias, l->o.rows),
        .turns = NONE,
        .window = (uint32_t)hx_model_window(m, layer),
    };
}

/* One table for layers that turn alike. */
static void measure_turns(struct hx_layer_pack *p, const struct hx_model *m, size_t n_ctx)
{
    uint32_t table[2] = {NONE, NONE};

    for (size_t i = 0; m->rope.global.pairs != HX_ROPE_NONE && i < m->n_layer; i++) {
        uint32_t *at = &table[hx_rope_is_local(m->rope.period, i)];

        if (*at == NONE)
            *at = take(p, n_ctx * m->dh);
        p->vectors[i].turns = *at;
    }
}

static const struct hx_linear *matrix(const struct hx_model *m, size_t index)
{
    const struct hx_layer *l = &m->layers[index / HEX_LAYER_MATRICES];
    const struct hx_linear *const all[HEX_LAYER_MATRICES] = {
        [HEX_LAYER_Q] = &l->q,       [HEX_LAYER_K] = &l->k,   [HEX_LAYER_V] = &l->v,       [HEX_LAYER_O] = &l->o,
        [HEX_LAYER_GATE] = &l->gate, [HEX_LAYER_UP] = &l->up, [HEX_LAYER_DOWN] = &l->down,
    };

    return all[index % HEX_LAYER_MATRICES];
}

/* The first of those with the same input, which share a call and so a type. */
static size_t leader(size_t index)
{
    const size_t which = index % HEX_LAYER_MATRICES;

    return which == HEX_LAYER_K || which == HEX_LAYER_V ? index - which : which == HEX_LAYER_UP ? index - 1 : index;
}

/* 1: the matrix has the weights of the layer before, as in a geometry. */
static int is_shared(const struct hx_model *m, size_t index)
{
    return index >= HEX_LAYER_MATRICES && matrix(m, index)->w == matrix(m, index - HEX_LAYER_MATRICES)->w;
}

static int measure_matrices(struct hx_layer_pack *p, const struct hx_model *m, struct hx_error *err)
{
    for (size_t i = 0; i < p->n_matrices; i++) {
        const struct hx_linear *w = matrix(m, i);
        const size_t bytes = is_shared(m, i) ? 0 : hx_linear_pack_bytes(w);

        if ((!bytes && !is_shared(m, i)) || p->bytes + bytes > INT32_MAX)
            return hx_error_set(err, -EINVAL, "layers on the DSP: a matrix of %zu x %zu, or all of them, are too large for one buffer",
                                w->rows, w->cols);
        if (hx_linear_pack_type(w) != hx_linear_pack_type(matrix(m, leader(i))))
            return hx_error_set(err, -ENOTSUP, "layers on the DSP: matrices of layer %zu that share their input are of two types",
                                i / HEX_LAYER_MATRICES);
        p->matrices[i] = (hex_layer_matrix){hx_linear_pack_type(w), (uint32_t)w->rows, (uint32_t)w->cols,
                                             is_shared(m, i) ? p->matrices[i - HEX_LAYER_MATRICES].offset : (uint32_t)p->bytes};
        p->bytes += bytes;
    }
    return 0;
}

int hx_layer_pack_measure(struct hx_layer_pack *p, const struct hx_model *m, size_t n_ctx, int softmax_int, struct hx_error *err)
{
    int rc = hx_layer_pack_check(m, err);

    if (rc)
        return rc;
    p->n_matrices = m->n_layer * HEX_LAYER_MATRICES;
    p->matrices = calloc(p->n_matrices, sizeof(*p->matrices));
    p->vectors = calloc(m->n_layer, sizeof(*p->vectors));
    if (!p->matrices || !p->vectors)
        return hx_error_set(err, -ENOMEM, "layers on the DSP: out of memory");
    for (size_t i = 0; i < m->n_layer; i++)
        measure_vectors(p, m, i);
    measure_turns(p, m, n_ctx);
    p->shape = (hex_layer_shape){
        .layers = (uint32_t)m->n_layer, .width = (uint32_t)m->width, .ffn = (uint32_t)m->ffn, .heads = (uint32_t)m->n_head,
        .kv_heads = (uint32_t)m->n_kv, .head_width = (uint32_t)m->dh, .positions = (uint32_t)n_ctx,
        .activation = m->arch->gate == HX_GELU ? HEX_LAYER_GELU : HEX_LAYER_SILU,
        .softmax = softmax_int ? HEX_LAYER_SOFTMAX_INT : HEX_LAYER_SOFTMAX_F32,
        .tables = (uint32_t)p->bytes, .eps = m->eps, .scale = m->attn_scale,
    };
    return measure_matrices(p, m, err);
}

void hx_layer_pack_free(struct hx_layer_pack *p)
{
    free(p->matrices);
    free(p->vectors);
    *p = (struct hx_layer_pack){.matrices = NULL};
}

/* --- pairs */

/* Of the elements of a head: which one of the model's becomes the i-th. */
static size_t from(const struct hx_model *m, size_t i)
{
    const size_t half = m->dh / 2;

    if (m->rope.global.pairs != HX_ROPE_NEIGHBOURS)
        return i;
    return i < half ? 2 * i : 2 * (i - half) + 1;
}

static void put_by_heads(const struct hx_model *m, float *to, const float *w, size_t n)
{
    for (size_t i = 0; w && i < n; i++)
        to[i] = w[i / m->dh * m->dh + from(m, i % m->dh)];
}

/* The matrix with its rows in the DSP's order; *copy is to be freed. */
static struct hx_linear in_order(const struct hx_model *m, size_t index, void **copy)
{
    const size_t which = index % HEX_LAYER_MATRICES;
    struct hx_linear w = *matrix(m, index);
    const size_t row = hx_quant_row_bytes(w.type, w.cols);

    if ((which != HEX_LAYER_Q && which != HEX_LAYER_K) || m->rope.global.pairs != HX_ROPE_NEIGHBOURS)
        return w;
    *copy = malloc(w.rows * row);
    for (size_t r = 0; *copy && r < w.rows; r++)
        memcpy((uint8_t *)*copy + r * row, (const uint8_t *)w.w + (r / m->dh * m->dh + from(m, r % m->dh)) * row, row);
    w.w = *copy;
    return w;
}

/* --- filling */

static void put(uint8_t *out, uint32_t offset, const float *w, size_t n)
{
    if (w && offset != NONE)
        memcpy(out + offset, w, n * sizeof(*w));
}

static float *at(uint8_t *out, uint32_t offset)
{
    return (float *)(out + offset);
}

static void fill_vectors(const struct hx_layer_pack *p, const struct hx_model *m, size_t layer, uint8_t *out)
{
    const hex_layer_vectors *v = &p->vectors[layer];
    const struct hx_layer *l = &m->layers[layer];

    put(out, v->attn_norm, l->attn_norm.w, m->width);
    put(out, v->attn_post, l->attn_post.w, m->width);
    put(out, v->ffn_norm, l->ffn_norm.w, m->width);
    put(out, v->ffn_post, l->ffn_post.w, m->width);
    put(out, v->v_bias, l->v.bias, l->v.rows);
    put(out, v->o_bias, l->o.bias, l->o.rows);
    put_by_heads(m, at(out, v->q_norm), l->q_norm.w, m->dh);
    put_by_heads(m, at(out, v->k_norm), l->k_norm.w, m->dh);
    put_by_heads(m, at(out, v->q_bias), l->q.bias, l->q.rows);
    put_by_heads(m, at(out, v->k_bias), l->k.bias, l->k.rows);
}

static int fill_turns(const struct hx_layer_pack *p, const struct hx_model *m, uint8_t *out, struct hx_error *err)
{
    const size_t half = m->dh / 2;
    struct hx_ropes ropes = {.period = 0};
    int rc = hx_ropes_init(&ropes, &m->rope, p->shape.positions);

    for (size_t i = 0; !rc && i < m->n_layer; i++) {
        const struct hx_rope *r = hx_ropes_of(&ropes, i);
        float *to = at(out, p->vectors[i].turns);

        for (size_t pos = 0; p->vectors[i].turns != NONE && pos < p->shape.positions; pos++, to += m->dh) {
            memcpy(to, r->cosines + pos * half, half * sizeof(*to));
            memcpy(to + half, r->sines + pos * half, half * sizeof(*to));
        }
    }
    hx_ropes_free(&ropes);
    return rc ? hx_error_set(err, rc, "layers on the DSP: no memory for %u positions", p->shape.positions) : 0;
}

static int fill_matrix(const struct hx_layer_pack *p, const struct hx_model *m, size_t index, uint8_t *out, float *row,
                       struct hx_error *err)
{
    struct hx_error detail = {""};
    void *copy = NULL;
    const struct hx_linear w = in_order(m, index, &copy);
    int rc = w.w ? hx_linear_pack(&w, out + p->matrices[index].offset, row, &detail) : -ENOMEM;

    free(copy);
    return rc ? hx_error_set(err, rc, "layers on the DSP: matrix %zu of layer %zu: %s", index % HEX_LAYER_MATRICES,
                             index / HEX_LAYER_MATRICES, rc == -ENOMEM ? "out of memory" : detail.text)
              : 0;
}

int hx_layer_pack_fill(const struct hx_layer_pack *p, const struct hx_model *m, uint8_t *out, struct hx_error *err)
{
    float *row = calloc(hx_model_most_cols(m), sizeof(*row));
    int rc = row ? fill_turns(p, m, out, err) : hx_error_set(err, -ENOMEM, "layers on the DSP: out of memory");

    for (size_t i = 0; !rc && i < m->n_layer; i++)
        fill_vectors(p, m, i, out);
    for (size_t i = 0; !rc && i < p->n_matrices; i++)
        rc = is_shared(m, i) ? 0 : fill_matrix(p, m, i, out, row, err);
    free(row);
    return rc;
}
