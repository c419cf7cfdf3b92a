/* Bases from layer to layer, see cascade.h. */
#include "cascade.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/blas.h"
#include "base/eigen.h"

/* The last class before i with its input and width; NULL: there is none. */
static const struct hx_gsi_class *before(const struct hx_gsi_classes *c, size_t i)
{
    for (size_t b = i; b-- > 0;)
        if (c->at[b].input == c->at[i].input && c->at[b].cols == c->at[i].cols)
            return &c->at[b];
    return NULL;
}

static void take_over(struct hx_gsi_class *c, const struct hx_gsi_class *from)
{
    c->basis.k = from->basis.k < c->made ? from->basis.k : c->made;
    memcpy(c->basis.v, from->basis.v, c->basis.k * c->cols * sizeof(*c->basis.v));
}

/* z: [room] */
static void add_missed(struct hx_gsi_class *c, const float *rows, size_t n, double eps, float *z)
{
    struct hx_subspace *v = &c->basis;

    for (size_t i = 0; i < n && v->k < c->made; i++) {
        const float *x = rows + i * c->cols;
        const double x2 = hx_norm2(x, c->cols);

        hx_subspace_project(v, x, 1, 0, v->k, z);
        if (hx_subspace_rest2(v, x, x2, z) > eps * eps * x2)
            hx_subspace_add(v, x);
    }
}

int hx_gsi_cascade(struct hx_gsi_classes *c, float *const *rows, size_t n, double eps, struct hx_error *err)
{
    for (size_t i = 0; i < c->n; i++) {
        struct hx_gsi_class *of = &c->at[i];
        const struct hx_gsi_class *from = before(c, i);
        float *z = malloc((of->basis.room + 1) * sizeof(*z));
        size_t inherited;

        if (!z)
            return hx_error_set(err, -ENOMEM, "gsi: out of memory");
        if (from)
            take_over(of, from);
        inherited = of->basis.k;
        add_missed(of, rows[i], n, eps, z);
        of->own = of->basis.k - inherited;
        of->made = of->basis.k;
        free(z);
    }
    return 0;
}

/* --- coherence */

static int singular_values(const struct hx_blas *blas, const double *a, const double *b, const int k[2], int cols, double *gram,
                           double *values, struct hx_error *err)
{
    const double one = 1, zero = 0;
    double *m = malloc((size_t)k[0] * (size_t)k[1] * sizeof(*m));
    int rc = m ? 0 : hx_error_set(err, -ENOMEM, "gsi: out of memory");

    if (!rc) {
        memset(gram, 0, (size_t)k[0] * (size_t)k[0] * sizeof(*gram)); /* the triangle that is not made has to be finite */
        blas->dgemm("T", "N", &k[0], &k[1], &cols, &one, a, &cols, b, &cols, &zero, m, &k[0]);
        blas->dsyrk("U", "N", &k[0], &k[1], &one, m, &k[0], &zero, gram, &k[0]);
        rc = hx_eigen_values(gram, (size_t)k[0], values, err);
    }
    free(m);
    return rc;
}

static double *widened(const struct hx_subspace *s)
{
    double *to = malloc((s->k * s->cols + 1) * sizeof(*to));

    for (size_t i = 0; to && i < s->k * s->cols; i++)
        to[i] = s->v[i];
    return to;
}

/* The smaller one first, so that there are as many values as angles. */
int hx_gsi_coherence(const struct hx_subspace *a, const struct hx_subspace *b, struct hx_gsi_coherence *out, struct hx_error *err)
{
    const struct hx_subspace *low = a->k <= b->k ? a : b, *high = low == a ? b : a;
    const struct hx_blas *blas = hx_blas(err);
    const int k[2] = {(int)low->k, (int)high->k};
    double *x = widened(low), *y = widened(high), *gram = malloc((low->k * low->k + 1) * sizeof(*gram));
    double *values = malloc((low->k + 1) * sizeof(*values));
    int rc = blas ? 0 : -ELIBACC;

    if (!rc && !(x && y && gram && values))
        rc = hx_error_set(err, -ENOMEM, "gsi: out of memory");
    *out = (struct hx_gsi_coherence){0, 1};
    if (!rc)
        rc = singular_values(blas, x, y, k, (int)a->cols, gram, values, err);
    for (size_t i = 0; i < low->k && !rc; i++) {
        const double cosine = sqrt(values[i] > 0 ? values[i] : 0); /* rounding may make it less */

        out->mean += cosine / (double)low->k;
        out->least = cosine < out->least ? cosine : out->least;
    }
    free(values);
    free(gram);
    free(y);
    free(x);
    return rc;
}

/* Normal numbers, near enough: sums of twelve uniform ones.  SplitMix64, Source: Steele, Lea, Flood 2014. */
static void fill(float *x, size_t n, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++) {
        double sum = -6;

        for (int u = 0; u < 12; u++) {
            uint64_t z = *seed += 0x9e3779b97f4a7c15u;

            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
            z = (z ^ z >> 27) * 0x94d049bb133111ebu;
            sum += (double)(z ^ z >> 31) * 0x1p-64;
        }
        x[i] = (float)sum;
    }
}

static int open_by_chance(struct hx_subspace *s, size_t cols, size_t k, uint64_t *seed)
{
    float *x = malloc(cols * sizeof(*x));
    int rc = hx_subspace_open(s, cols, k) || !x ? -ENOMEM : 0;

    while (!rc && s->k < k) {
        fill(x, cols, seed);
        hx_subspace_add(s, x);
    }
    free(x);
    return rc;
}

int hx_gsi_coherence_of_chance(size_t cols, size_t k, struct hx_gsi_coherence *out, struct hx_error *err)
{
    struct hx_subspace a = {0}, b = {0};
    uint64_t seed = 0;
    int rc = open_by_chance(&a, cols, k, &seed) || open_by_chance(&b, cols, k, &seed) ? hx_error_set(err, -ENOMEM, "gsi: out of memory")
                                                                                     : hx_gsi_coherence(&a, &b, out, err);

    hx_subspace_free(&a);
    hx_subspace_free(&b);
    return rc;
}
