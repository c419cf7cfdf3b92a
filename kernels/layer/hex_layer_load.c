/* What is handed over to interface hex_layer once: checks of shapes, vectors into VTCM, weights and cache where they are. */
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "hex_layer_state.h"
#include "hexrig_purpose.h"
#include "linear/hex_linear_stay.h"
#include "skel/kernel.h"

enum { ALIGN = 128, MOST_TABLES = 1 << 20 };
static const uint32_t NONE = UINT32_MAX;

/* --- shapes */

int hx_layer_refuse(const char *what, size_t index)
{
    FARF(ERROR, "hex_layer: %s %zu: there is no such thing, or it does not fit", what, index);
    return AEE_EBADPARM;
}

static int check_shape(const hex_layer_shape *s, size_t n_m, size_t n_layers, size_t bytes)
{
    enum { MOST = 1 << 20, MOST_LAYERS = 1 << 12 };
    const uint32_t sizes[] = {s->width, s->ffn, s->heads, s->kv_heads, s->head_width, s->positions};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i] < 1 || sizes[i] > MOST)
            return hx_layer_refuse("size", i);
    if (s->layers < 1 || s->layers > MOST_LAYERS || n_layers != s->layers || n_m != n_layers * HEX_LAYER_MATRICES)
        return hx_layer_refuse("number of layers", s->layers);
    if (s->width % HX_VECTOR_WORDS || s->ffn % HX_VECTOR_WORDS || s->head_width % (2 * HX_VECTOR_WORDS))
        return hx_layer_refuse("size, not a multiple of 32 (a head: 64), width", s->width);
    if (s->heads % s->kv_heads || (uint64_t)s->heads * s->head_width > MOST)
        return hx_layer_refuse("heads", s->heads);
    if (s->activation > HEX_LAYER_GELU || s->softmax > HEX_LAYER_SOFTMAX_INT || s->tables % ALIGN || s->tables > bytes)
        return hx_layer_refuse("activation, softmax or tables", s->tables);
    return AEE_SUCCESS;
}

struct size {
    uint32_t rows, cols;
};

static struct size size_of(const hex_layer_shape *s, size_t which)
{
    const uint32_t q = s->heads * s->head_width, kv = s->kv_heads * s->head_width;
    const struct size sizes[HEX_LAYER_MATRICES] = {
        [HEX_LAYER_Q] = {q, s->width},         [HEX_LAYER_K] = {kv, s->width},    [HEX_LAYER_V] = {kv, s->width},
        [HEX_LAYER_O] = {s->width, q},         [HEX_LAYER_GATE] = {s->ffn, s->width}, [HEX_LAYER_UP] = {s->ffn, s->width},
        [HEX_LAYER_DOWN] = {s->width, s->ffn},
    };

    return sizes[which];
}

/* The matrix before it whose type it shares, as both have one input. */
static size_t partner(size_t i)
{
    const size_t which = i % HEX_LAYER_MATRICES;

    return which == HEX_LAYER_K || which == HEX_LAYER_V || which == HEX_LAYER_UP ? i - 1 : i;
}

static int check_matrix(const hex_layer_shape *s, const hex_layer_matrix *list, size_t i, size_t bytes)
{
    const hex_layer_matrix *m = &list[i];
    const struct size want = size_of(s, i % HEX_LAYER_MATRICES);
    const int fits = m->rows == want.rows && m->cols == want.cols && m->type == list[partner(i)].type && m->type != HX_WEIGHTS_BASIS &&
                     hx_weights_fit(hx_weights_bytes(m->type, m->rows, m->cols), m->offset, bytes);

    return fits ? AEE_SUCCESS : hx_layer_refuse("matrix", i);
}

/* A vector of n floats at an offset; optional ones may be NONE. */
struct piece {
    uint32_t offset;
    uint64_t floats;
    int optional;
};

enum { PIECES = 11 };

static void pieces_of(struct piece *p, const hex_layer_shape *s, const hex_layer_vectors *v)
{
    const uint32_t width = s->width, dh = s->head_width, q = s->heads * dh, kv = s->kv_heads * dh;
    const struct piece all[PIECES] = {
        {v->attn_norm, width, 0}, {v->attn_post, width, 1}, {v->ffn_norm, width, 0}, {v->ffn_post, width, 1},
        {v->q_norm, dh, 1},       {v->k_norm, dh, 1},       {v->q_bias, q, 1},       {v->k_bias, kv, 1},
        {v->v_bias, kv, 1},       {v->o_bias, width, 1},    {v->turns, (uint64_t)s->positions * dh, 1},
    };

    memcpy(p, all, sizeof(all));
}

static int check_vectors(const hex_layer_shape *s, const hex_layer_vectors *list, size_t i, size_t bytes)
{
    struct piece p[PIECES];

    pieces_of(p, s, &list[i]);
    for (size_t k = 0; k < PIECES; k++)
        if (!(p[k].optional && p[k].offset == NONE) && !hx_weights_fit((size_t)p[k].floats * sizeof(float), p[k].offset, bytes))
            return hx_layer_refuse("vectors of layer", i);
    return AEE_SUCCESS;
}

/* --- tables */

static size_t softmax_bytes(const hex_layer_shape *s)
{
    return s->softmax == HEX_LAYER_SOFTMAX_INT ? sizeof(struct hx_layer_exp) + HX_LAYER_THREADS * sizeof(struct hx_layer_gathered) : 0;
}

/* What gathers read has to be in VTCM; vectors go there, too, where there is room. */
static int place_tables(struct hx_layer_state *s, const uint8_t *base)
{
    const size_t need = softmax_bytes(&s->model.shape);
    size_t vectors = s->model.shape.tables <= MOST_TABLES ? s->model.shape.tables : 0;

    if (need + vectors == 0)
        return AEE_SUCCESS;
    s->tables = HAP_request_VTCM((unsigned)(need + vectors), 0);
    if (!s->tables && vectors) {
        FARF(HIGH, "hex_layer: vtcm: no %zu bytes for vectors, which are read where they lie", vectors);
        vectors = 0;
        s->tables = need ? HAP_request_VTCM((unsigned)need, 0) : NULL;
    }
    if (!s->tables && need) {
        FARF(ERROR, "hex_layer: vtcm: need %zu bytes for the tables of the softmax", need);
        return AEE_ENOMEMORY;
    }
    s->vectors_bytes = vectors;
    s->tables_bytes = need + vectors;
    hx_purpose_set(s->tables, s->tables_bytes, HX_PURPOSE_TABLES);
    memcpy(s->tables, base, vectors);
    if (need) {
        struct hx_layer_exp *e = (struct hx_layer_exp *)(s->tables + vectors);

        hx_layer_exp_init(e);
        s->model.exp = e;
        s->model.room = (struct hx_layer_gathered *)(e + 1);
    }
    return AEE_SUCCESS;
}

/* Where a vector is worked with. */
static const float *vector_at(const struct hx_layer_state *s, const uint8_t *base, uint32_t offset)
{
    if (offset == NONE)
        return NULL;
    return (const float *)((offset < s->vectors_bytes ? s->tables : base) + offset);
}

static void place_vectors(struct hx_layer_state *s, const uint8_t *base, const hex_layer_vectors *v, struct hx_layer_vectors *to)
{
    *to = (struct hx_layer_vectors){
        .attn_norm = vector_at(s, base, v->attn_norm),
        .attn_post = vector_at(s, base, v->attn_post),
        .ffn_norm = vector_at(s, base, v->ffn_norm),
        .ffn_post = vector_at(s, base, v->ffn_post),
        .q_norm = vector_at(s, base, v->q_norm),
        .k_norm = vector_at(s, base, v->k_norm),
        .turns = vector_at(s, base, v->turns),
        .bias = {[HEX_LAYER_Q] = vector_at(s, base, v->q_bias), [HEX_LAYER_K] = vector_at(s, base, v->k_bias),
                 [HEX_LAYER_V] = vector_at(s, base, v->v_bias), [HEX_LAYER_O] = vector_at(s, base, v->o_bias)},
        .window = v->window,
    };
}

/* A vector lies in the tables or behind them, not in both. */
static int check_tables(const hex_layer_shape *s, const hex_layer_vectors *list)
{
    struct piece p[PIECES];

    for (size_t i = 0; i < s->layers; i++) {
        pieces_of(p, s, &list[i]);
        for (size_t k = 0; k < PIECES; k++)
            if (p[k].offset < s->tables && p[k].floats * sizeof(float) > s->tables - p[k].offset)
                return hx_layer_refuse("tables end within a vector of layer", i);
    }
    return AEE_SUCCESS;
}

/* --- load */

static int check_all(const struct hx_layer_load *l)
{
    int rc = check_shape(l->shape, l->n_m, l->n_v, l->bytes);

    for (size_t i = 0; i < l->n_m && !rc; i++)
        rc = check_matrix(l->shape, l->m, i, l->bytes);
    for (size_t i = 0; i < l->n_v && !rc; i++)
        rc = check_vectors(l->shape, l->v, i, l->bytes);
    return rc ? rc : check_tables(l->shape, l->v);
}

static int fill(struct hx_layer_state *s, const struct hx_layer_load *l, const uint8_t *base)
{
    int rc;

    s->model.shape = *l->shape;
    s->model.m = calloc(l->n_m, sizeof(*s->model.m));
    s->model.vectors = calloc(l->n_v, sizeof(*s->model.vectors));
    rc = s->model.m && s->model.vectors ? place_tables(s, base) : AEE_ENOMEMORY;
    if (rc)
        return rc;
    for (size_t i = 0; i < l->n_m; i++)
        s->model.m[i] = (struct hx_linear_matrix){(enum hx_weights_type)l->m[i].type, l->m[i].rows, l->m[i].cols,
                                                  base + l->m[i].offset};
    for (size_t i = 0; i < l->n_v; i++)
        place_vectors(s, base, &l->v[i], &s->model.vectors[i]);
    return AEE_SUCCESS;
}

int hx_layer_load(struct hx_layer_state *s, const struct hx_layer_load *l)
{
    const uint8_t *base = NULL;
    int rc = check_all(l);

    if (!rc)
        rc = hx_weights_map(&s->weights, "hex_layer", l->fd, l->bytes, &base);
    if (!rc)
        rc = fill(s, l, base);
    if (rc)
        hx_layer_unload(s);
    return rc;
}

int hx_layer_take_cache(struct hx_layer_state *s, int fd, size_t bytes)
{
    const hex_layer_shape *shape = &s->model.shape;
    const uint8_t *base = NULL;
    int rc;

    if (!s->model.m)
        return AEE_EBADSTATE;
    s->model.cache = NULL;
    hx_weights_unmap(&s->cache);
    if (hx_layer_cache_bytes(shape->layers, shape->kv_heads, shape->positions, shape->head_width) > bytes)
        return hx_layer_refuse("cache of bytes", bytes);
    rc = hx_weights_map(&s->cache, "hex_layer", fd, bytes, &base);
    if (rc)
        return rc;
    hx_purpose_set(base, bytes, HX_PURPOSE_KV);
    s->model.cache = (float *)base;
    return AEE_SUCCESS;
}

void hx_layer_unload(struct hx_layer_state *s)
{
    if (s->tables) {
        hx_purpose_set(s->tables, s->tables_bytes, HX_PURPOSE_OTHER);
        HAP_release_VTCM(s->tables);
    }
    hx_linear_stays_drop(&s->model.stays);
    hx_linear_vtcm_release(&s->model.vtcm);
    hx_weights_unmap(&s->cache);
    hx_weights_unmap(&s->weights);
    free(s->model.m);
    free(s->model.vectors);
    s->model = (struct hx_layer_model){.m = NULL};
    s->tables = NULL;
    s->vectors_bytes = s->tables_bytes = 0;
}
