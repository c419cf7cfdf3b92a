/* Bases of projected K and V from weights and from texts, see kv_basis.h. */
#include "kv_basis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/eigen.h"
#include "methods/spinor/calibrate.h"
#include "model/rope.h"
#include "text/text.h"

const char *const hx_kv_basis_names[] = {"weight", "calib", NULL};

enum { POSITIONS = 64 }; /* of the mean over rotations */

static int alloc(struct hx_kv_basis **out, const struct hx_model *m, int k_after_rope, enum hx_kv_basis_from from,
                 struct hx_error *err)
{
    struct hx_kv_basis *b = calloc(1, sizeof(*b));

    if (b) {
        *b = (struct hx_kv_basis){m->n_layer, m->n_kv, m->dh, from, k_after_rope, m->fingerprint, NULL};
        b->u = calloc(m->n_layer * 2 * m->n_kv, m->dh * m->dh * sizeof(*b->u));
    }
    if (!b || !b->u) {
        free(b);
        return hx_error_set(err, -ENOMEM, "kv basis: out of memory");
    }
    *out = b;
    return 0;
}

void hx_kv_basis_free(struct hx_kv_basis *b)
{
    if (!b)
        return;
    free(b->u);
    free(b);
}

int hx_kv_basis_units(struct hx_kv_basis **out, const struct hx_model *m, int k_after_rope, struct hx_error *err)
{
    struct hx_kv_basis *b;
    int rc = alloc(&b, m, k_after_rope, HX_KV_BASIS_WEIGHT, err);

    if (rc)
        return rc;
    for (size_t head = 0; head < m->n_layer * 2 * m->n_kv; head++)
        for (size_t i = 0; i < m->dh; i++)
            b->u[(head * m->dh + i) * m->dh + i] = 1;
    *out = b;
    return 0;
}

/* Eigenvectors of g [dh][dh], which is used up, as a basis. */
static int decompose(double *g, double *values, size_t dh, float *to, struct hx_error *err)
{
    int rc = hx_eigen_symmetric(g, dh, values, err);

    for (size_t i = 0; !rc && i < dh * dh; i++)
        to[i] = (float)g[i];
    return rc;
}

/* --- weights */

struct work {
    const struct hx_model *m;
    struct hx_ropes ropes; /* of the model's own context */
    float *rows;           /* [dh][width] of a head; or [dh][dh] that is turned */
    double *g, *mean;      /* [dh][dh] */
    double *values;        /* [dh] */
};

/* g = W W^T; scale [dh]: of its rows, or NULL. */
static void gram(struct work *w, const struct hx_linear *l, size_t head, const float *scale)
{
    const size_t dh = w->m->dh, width = l->cols;

    for (size_t i = 0; i < dh; i++) {
        hx_linear_row(l, head * dh + i, w->rows + i * width);
        for (size_t j = 0; j <= i; j++) {
            const float *a = w->rows + i * width, *b = w->rows + j * width;
            double sum = 0;

            for (size_t k = 0; k < width; k++)
                sum += (double)a[k] * (double)b[k];
            if (scale)
                sum *= (double)scale[i] * (double)scale[j];
            w->g[i * dh + j] = w->g[j * dh + i] = sum;
        }
    }
}

/* x = R x^T, which twice is R x R^T of a symmetric x. */
static void turn_columns(float *x, float *spare, size_t dh, const struct hx_rope *rope, size_t pos)
{
    for (size_t i = 0; i < dh; i++)
        for (size_t j = 0; j < dh; j++)
            spare[i * dh + j] = x[j * dh + i];
    for (size_t i = 0; i < dh; i++)
        hx_rope_apply(rope, spare + i * dh, pos);
    memcpy(x, spare, dh * dh * sizeof(*x));
}

/* g becomes its mean over rotations. */
static void turn(struct work *w, size_t layer)
{
    const struct hx_rope *rope = hx_ropes_of(&w->ropes, layer);
    const size_t dh = w->m->dh, n_ctx = w->m->n_ctx, n = n_ctx < POSITIONS ? n_ctx : POSITIONS;
    float *x = w->rows, *spare = x + dh * dh;

    memset(w->mean, 0, dh * dh * sizeof(*w->mean));
    for (size_t p = 0; p < n; p++) {
        for (size_t i = 0; i < dh * dh; i++)
            x[i] = (float)w->g[i];
        turn_columns(x, spare, dh, rope, p * n_ctx / n);
        turn_columns(x, spare, dh, rope, p * n_ctx / n);
        for (size_t i = 0; i < dh; i++)
            for (size_t j = 0; j < dh; j++)
                w->mean[i * dh + j] += ((double)x[i * dh + j] + (double)x[j * dh + i]) / 2;
    }
    memcpy(w->g, w->mean, dh * dh * sizeof(*w->g));
}

static int weights_of_layer(struct hx_kv_basis *b, struct work *w, size_t layer, struct hx_error *err)
{
    const struct hx_layer *l = &w->m->layers[layer];
    int rc = 0;

    for (size_t head = 0; !rc && head < b->n_kv; head++) {
        gram(w, &l->k, head, l->k_norm.w);
        if (b->k_after_rope)
            turn(w, layer);
        rc = decompose(w->g, w->values, b->dh, hx_kv_basis_at(b, layer, 0, head), err);
        gram(w, &l->v, head, NULL);
        if (!rc)
            rc = decompose(w->g, w->values, b->dh, hx_kv_basis_at(b, layer, 1, head), err);
    }
    return rc;
}

int hx_kv_basis_of_weights(struct hx_kv_basis **out, const struct hx_model *m, int k_after_rope, struct hx_error *err)
{
    const size_t square = m->dh * m->dh, rows = m->dh * m->width > 2 * square ? m->dh * m->width : 2 * square;
    struct work w = {.m = m, .rows = malloc(rows * sizeof(float)), .g = malloc((2 * square + m->dh) * sizeof(double))};
    struct hx_kv_basis *b = NULL;
    int rc = alloc(&b, m, k_after_rope, HX_KV_BASIS_WEIGHT, err);

    w.mean = w.g + square;
    w.values = w.mean + square;
    if (!rc && (!w.rows || !w.g || hx_ropes_init(&w.ropes, &m->rope, m->n_ctx)))
        rc = hx_error_set(err, -ENOMEM, "kv basis: out of memory");
    for (size_t layer = 0; !rc && layer < m->n_layer; layer++)
        rc = weights_of_layer(b, &w, layer, err);
    hx_ropes_free(&w.ropes);
    free(w.rows);
    free(w.g);
    if (rc)
        hx_kv_basis_free(b);
    else
        *out = b;
    return rc;
}

/* --- a text */

struct moments {
    size_t dh;
    double *of; /* [n_layer * 2 * n_kv][dh][dh], lower triangles */
};

static void add(void *arg, size_t slot, const float *x)
{
    struct moments *s = arg;
    double *m = s->of + slot * s->dh * s->dh;

    for (size_t i = 0; i < s->dh; i++)
        for (size_t j = 0; j <= i; j++)
            m[i * s->dh + j] += (double)x[i] * (double)x[j];
}

static int decompose_all(struct hx_kv_basis *b, struct moments *s, struct hx_error *err)
{
    const size_t dh = b->dh;
    double *values = malloc(dh * sizeof(*values));
    int rc = values ? 0 : hx_error_set(err, -ENOMEM, "kv basis: out of memory");

    for (size_t slot = 0; !rc && slot < b->n_layer * 2 * b->n_kv; slot++) {
        double *m = s->of + slot * dh * dh;

        for (size_t i = 0; i < dh; i++)
            for (size_t j = 0; j < i; j++)
                m[j * dh + i] = m[i * dh + j];
        rc = decompose(m, values, dh, b->u + slot * dh * dh, err);
    }
    free(values);
    return rc;
}

int hx_kv_basis_of_text(struct hx_kv_basis **out, const struct hx_model *m, int k_after_rope, const char *path, struct hx_error *err)
{
    struct moments s = {m->dh, calloc(m->n_layer * 2 * m->n_kv, m->dh * m->dh * sizeof(double))};
    struct hx_kv_basis *b = NULL;
    uint32_t *ids = NULL;
    size_t n, vectors;
    int rc = alloc(&b, m, k_after_rope, HX_KV_BASIS_CALIB, err);

    if (!rc && !s.of)
        rc = hx_error_set(err, -ENOMEM, "kv basis: out of memory");
    if (!rc)
        rc = hx_text_encode(m->tok, path, &ids, &n, err);
    if (!rc)
        rc = hx_cal_visit(m, k_after_rope, ids, n, add, &s, &vectors, err); /* its slots are ours: K heads, then V heads, of each layer */
    if (!rc)
        rc = decompose_all(b, &s, err);
    free(ids);
    free(s.of);
    if (rc)
        hx_kv_basis_free(b);
    else
        *out = b;
    return rc;
}
