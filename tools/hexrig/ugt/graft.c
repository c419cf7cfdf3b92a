/* Feed-forwards from elsewhere, see graft.h. */
#include "graft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/arch/arch.h"
#include "quant/quant.h"

static int check(const struct hx_model *m, const struct hx_model *from, size_t layer, struct hx_error *err)
{
    const uint32_t bad = HX_PART_NORM_BIAS | HX_PART_POST_NORMS;

    if (layer >= m->n_layer || layer >= from->n_layer)
        return hx_error_set(err, -EINVAL, "layer %zu; the models have %zu and %zu, from 0", layer, m->n_layer, from->n_layer);
    if (m->arch != from->arch || m->width != from->width || m->ffn != from->ffn || m->arch->needs & bad)
        return hx_error_set(err, -EINVAL, "%s of width %zu and %zu, %s of width %zu and %zu: their feed-forwards cannot be exchanged",
                            m->arch->name, m->width, m->ffn, from->arch->name, from->width, from->ffn);
    return 0;
}

/* to [rows][d] = W diag(gain) map^T. */
static void read_through(float *to, const struct hx_linear *w, const float *gain, const double *map, float *row)
{
    for (size_t r = 0; r < w->rows; r++) {
        hx_linear_row(w, r, row);
        for (size_t k = 0; k < w->cols; k++)
            row[k] *= gain ? gain[k] : 1;
        for (size_t i = 0; i < w->cols; i++) {
            double sum = map ? 0 : (double)row[i];

            for (size_t k = 0; k < w->cols && map; k++)
                sum += (double)row[k] * map[i * w->cols + k];
            to[r * w->cols + i] = (float)sum;
        }
    }
}

/* to [d][cols] = map W. */
static void write_through(float *to, const struct hx_linear *w, const double *map, float *row, double *sums)
{
    memset(sums, 0, w->rows * w->cols * sizeof(*sums));
    for (size_t k = 0; k < w->rows; k++) {
        hx_linear_row(w, k, row);
        for (size_t i = 0; i < w->rows; i++) {
            const double by = map ? map[i * w->rows + k] : i == k;

            for (size_t c = 0; c < w->cols && by != 0; c++)
                sums[i * w->cols + c] += by * (double)row[c];
        }
    }
    for (size_t i = 0; i < w->rows * w->cols; i++)
        to[i] = (float)sums[i];
}

static void put(struct hx_linear *to, const struct hx_linear *like, const float *data)
{
    *to = (struct hx_linear){.ops = &hx_linear_ref, .w = data, .type = HX_QUANT_F32, .rows = like->rows, .cols = like->cols,
                             .bias = like->bias};
}

static int fill(struct hx_graft *g, const struct hx_model *from, size_t layer, const double *map)
{
    const struct hx_layer *f = &from->layers[layer];
    struct hx_layer *to = &g->matrices.layers[layer];
    const size_t d = from->width, n = from->ffn * d, gate = f->gate.rows ? n : 0;
    float *row = malloc((from->ffn > d ? from->ffn : d) * sizeof(*row));
    double *sums = malloc(n * sizeof(*sums));
    const int rc = row && sums ? 0 : -ENOMEM;

    if (!rc) {
        if (gate)
            read_through(g->data, &f->gate, f->ffn_norm.w, map, row);
        read_through(g->data + gate, &f->up, f->ffn_norm.w, map, row);
        write_through(g->data + gate + n, &f->down, map, row, sums);
        if (gate)
            put(&to->gate, &f->gate, g->data);
        put(&to->up, &f->up, g->data + gate);
        put(&to->down, &f->down, g->data + gate + n);
        to->ffn_norm.w = g->ones;
    }
    free(row);
    free(sums);
    return rc;
}

int hx_graft_make(struct hx_graft *g, const struct hx_model *m, const struct hx_model *from, size_t layer, const double *map,
                  struct hx_error *err)
{
    int rc;

    *g = (struct hx_graft){0};
    rc = check(m, from, layer, err);
    if (rc)
        return rc;
    g->data = malloc(3 * m->ffn * m->width * sizeof(*g->data));
    g->ones = malloc(m->width * sizeof(*g->ones));
    rc = g->data && g->ones ? hx_matrices_copy(&g->matrices, m) : -ENOMEM;
    for (size_t i = 0; i < m->width && !rc; i++)
        g->ones[i] = 1;
    if (!rc)
        rc = fill(g, from, layer, map);
    return rc ? hx_error_set(err, rc, "out of memory for a feed-forward of %zu x %zu", m->ffn, m->width) : 0;
}

void hx_graft_free(struct hx_graft *g)
{
    hx_matrices_free(&g->matrices);
    free(g->data);
    free(g->ones);
    *g = (struct hx_graft){0};
}
