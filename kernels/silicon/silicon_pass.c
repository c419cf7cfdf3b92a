/* Where the weights of a forward pass lie, see silicon_pass.h. */
#include "silicon_pass.h"

#include "vrmpy_matmul.h"

enum { ALIGN = 128 };

size_t hx_pass_padded(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static struct hx_pass_matrix matrix_of(const silicon_geometry *g, enum hx_pass_matrix_index i)
{
    const int heads = g->heads * g->head_width;
    const struct hx_pass_matrix all[HX_PASS_MATRICES] = {
        [HX_PASS_Q] = {.in = g->width, .rows = heads},         [HX_PASS_K] = {.in = g->width, .rows = g->head_width},
        [HX_PASS_V] = {.in = g->width, .rows = g->head_width}, [HX_PASS_O] = {.in = heads, .rows = g->width},
        [HX_PASS_GATE] = {.in = g->width, .rows = g->ffn},     [HX_PASS_UP] = {.in = g->width, .rows = g->ffn},
        [HX_PASS_DOWN] = {.in = g->ffn, .rows = g->width},
    };

    return all[i];
}

static size_t matrix_bytes(const struct hx_pass_matrix *m)
{
    return hx_pass_padded((size_t)m->rows * hx_matmul_stride(m->in) + (size_t)m->rows * sizeof(float));
}

size_t hx_pass_matrices_bytes(const silicon_geometry *g, int n)
{
    size_t bytes = 0;

    for (int i = 0; i < n; i++) {
        const struct hx_pass_matrix m = matrix_of(g, (enum hx_pass_matrix_index)i);

        bytes += matrix_bytes(&m);
    }
    return bytes;
}

size_t hx_pass_layer_bytes(const silicon_geometry *g)
{
    const size_t norms = 4 * (size_t)g->width + 2 * (size_t)g->head_width;

    return hx_pass_matrices_bytes(g, HX_PASS_MATRICES) + hx_pass_padded(norms * sizeof(float));
}

size_t hx_pass_layer_rows(const silicon_geometry *g)
{
    size_t rows = 0;

    for (int i = 0; i < HX_PASS_MATRICES; i++)
        rows += (size_t)matrix_of(g, (enum hx_pass_matrix_index)i).rows;
    return rows;
}

struct hx_pass_layer hx_pass_find_layer(const silicon_geometry *g, const uint8_t *weights, int index, int32_t *sums)
{
    const uint8_t *at = weights + (size_t)index * hx_pass_layer_bytes(g);
    int32_t *sum = sums ? sums + (size_t)index * hx_pass_layer_rows(g) : NULL;
    struct hx_pass_layer l;

    for (int i = 0; i < HX_PASS_MATRICES; i++) {
        struct hx_pass_matrix *m = &l.m[i];

        *m = matrix_of(g, (enum hx_pass_matrix_index)i);
        m->w = (const int8_t *)at;
        m->scale = (const float *)(at + (size_t)m->rows * hx_matmul_stride(m->in));
        m->sum = sum;
        sum = sum ? sum + m->rows : NULL;
        at += matrix_bytes(m);
    }
    l.before_attention = (const float *)at;
    l.behind_attention = l.before_attention + g->width;
    l.before_ffn = l.behind_attention + g->width;
    l.behind_ffn = l.before_ffn + g->width;
    l.query = l.behind_ffn + g->width;
    l.key = l.query + g->head_width;
    return l;
}
