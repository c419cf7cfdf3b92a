/* The matrices of a model by name, see matrix.h. */
#include "matrix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const hx_matrix_names[] = {"wq", "wk", "wv", "wo", "gate", "up", "down", "out", NULL};

static const struct {
    const char *word;
    uint32_t set;
} words[] = {
    {"wq", 1 << HX_WQ},         {"attn_q", 1 << HX_WQ},
    {"wk", 1 << HX_WK},         {"attn_k", 1 << HX_WK},
    {"wv", 1 << HX_WV},         {"attn_v", 1 << HX_WV},
    {"wo", 1 << HX_WO},         {"attn_output", 1 << HX_WO},
    {"gate", 1 << HX_GATE},     {"ffn_gate", 1 << HX_GATE},
    {"up", 1 << HX_UP},         {"ffn_up", 1 << HX_UP},
    {"down", 1 << HX_DOWN},     {"ffn_down", 1 << HX_DOWN},
    {"out", 1 << HX_OUT},       {"output", 1 << HX_OUT},
    {"attn", 1 << HX_WQ | 1 << HX_WK | 1 << HX_WV | 1 << HX_WO},
    {"ffn", 1 << HX_GATE | 1 << HX_UP | 1 << HX_DOWN},
    {"all", HX_ALL_MATRICES},
};

uint32_t hx_matrix_set(const char *word, size_t n)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].word) == n && memcmp(words[i].word, word, n) == 0)
            return words[i].set;
    return 0;
}

struct hx_linear *hx_layer_matrix(struct hx_layer *l, enum hx_matrix which)
{
    struct hx_linear *const all[HX_PER_LAYER] = {&l->q,    &l->k,  &l->v,   &l->o,
                                                 &l->gate, &l->up, &l->down};

    return all[which];
}

int hx_matrices_copy(struct hx_matrices *to, const struct hx_model *m)
{
    *to = (struct hx_matrices){.layers = malloc(m->n_layer * sizeof(*to->layers)),
                               .n_layer = m->n_layer, .out = m->out};
    if (!to->layers)
        return -ENOMEM;
    memcpy(to->layers, m->layers, m->n_layer * sizeof(*to->layers));
    return 0;
}

void hx_matrices_free(struct hx_matrices *m)
{
    free(m->layers);
    m->layers = NULL;
}

struct hx_linear *hx_matrices_at(struct hx_matrices *m, size_t layer, enum hx_matrix which)
{
    return which == HX_OUT ? &m->out : hx_layer_matrix(&m->layers[layer], which);
}

size_t hx_model_most_cols(const struct hx_model *m)
{
    size_t most = 1;

    for (size_t i = 0; i < m->n_layer; i++)
        for (int k = 0; k < HX_PER_LAYER; k++) {
            const size_t cols = hx_layer_matrix(&m->layers[i], (enum hx_matrix)k)->cols;

            most = cols > most ? cols : most;
        }
    return most;
}
