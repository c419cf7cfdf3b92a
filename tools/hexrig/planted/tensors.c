/* Tensors of a planted model: those of architecture llama, with an output matrix of its own. */
#include "tensors.h"

#include <stdio.h>

#include "quant/quant.h"

enum dim { ONE, WIDTH, Q, KV, FFN, VOCAB };

struct shape {
    const char *name;
    enum hx_planted_kind kind;
    enum dim cols, rows;
};

static const struct shape before = {"token_embd", HX_PLANTED_EMBEDDING, WIDTH, VOCAB};
static const struct shape of_layer[] = {
    {"attn_norm", HX_PLANTED_NORM, WIDTH, ONE}, {"attn_q", HX_PLANTED_WQ, WIDTH, Q},    {"attn_k", HX_PLANTED_WK, WIDTH, KV},
    {"attn_v", HX_PLANTED_WV, WIDTH, KV},       {"attn_output", HX_PLANTED_WO, Q, WIDTH}, {"ffn_norm", HX_PLANTED_NORM, WIDTH, ONE},
    {"ffn_gate", HX_PLANTED_GATE, WIDTH, FFN},  {"ffn_up", HX_PLANTED_UP, WIDTH, FFN},  {"ffn_down", HX_PLANTED_DOWN, FFN, WIDTH},
};
static const struct shape behind[] = {
    {"output_norm", HX_PLANTED_NORM, WIDTH, ONE},
    {"output", HX_PLANTED_OUTPUT, WIDTH, VOCAB},
};
enum { PER_LAYER = sizeof(of_layer) / sizeof(of_layer[0]), BEHIND = sizeof(behind) / sizeof(behind[0]) };

static size_t size_of(const struct hx_geometry *g, enum dim d)
{
    const size_t sizes[] = {
        [ONE] = 1, [WIDTH] = g->width, [Q] = g->n_head * g->dh, [KV] = g->n_kv * g->dh, [FFN] = g->ffn, [VOCAB] = g->vocab,
    };

    return sizes[d];
}

/* Norms are F32, whatever the matrices are. */
static uint32_t type_of(const struct shape *s, uint32_t type)
{
    return s->kind == HX_PLANTED_NORM ? HX_QUANT_F32 : type;
}

static double bytes_of(const struct hx_geometry *g, const struct shape *s, uint32_t type)
{
    const struct hx_quant_info *info = hx_quant_info(type_of(s, type));

    return (double)size_of(g, s->cols) * (double)size_of(g, s->rows) * info->bytes / info->weights;
}

size_t hx_planted_tensors(const struct hx_geometry *g)
{
    return 1 + g->n_layer * PER_LAYER + BEHIND;
}

double hx_planted_bytes(const struct hx_geometry *g, uint32_t type)
{
    double layer = 0, all = bytes_of(g, &before, type);

    for (size_t i = 0; i < PER_LAYER; i++)
        layer += bytes_of(g, &of_layer[i], type);
    for (size_t i = 0; i < BEHIND; i++)
        all += bytes_of(g, &behind[i], type);
    return all + layer * (double)g->n_layer;
}

struct hx_planted_tensor hx_planted_tensor(const struct hx_geometry *g, uint32_t type, size_t i)
{
    const size_t in_layers = g->n_layer * PER_LAYER, layer = i && i <= in_layers ? (i - 1) / PER_LAYER : SIZE_MAX;
    const struct shape *s = !i ? &before : layer != SIZE_MAX ? &of_layer[(i - 1) % PER_LAYER] : &behind[i - 1 - in_layers];
    struct hx_planted_tensor t = {.kind = s->kind, .layer = layer, .cols = size_of(g, s->cols), .rows = size_of(g, s->rows),
                                  .type = type_of(s, type)};

    if (layer == SIZE_MAX)
        snprintf(t.name, sizeof(t.name), "%s.weight", s->name);
    else
        snprintf(t.name, sizeof(t.name), "blk.%zu.%s.weight", layer, s->name);
    return t;
}
