/* Statements about a sample of activations, see axioms.h. */
#include "axioms.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/geometry/dimension.h"

const char *const hx_axiom_names[] = {"metric", "symmetry", "geodesic", "boundary", NULL};

const struct hx_axiom_rule hx_axiom_rules[HX_AXIOM_TYPES] = {
    [HX_AXIOM_METRIC] = {"a principal axis holds more of the variance than an axis of noise would on average", 1, 1},
    [HX_AXIOM_SYMMETRY] = {"two heads of a layer are alike", .5, 1},
    [HX_AXIOM_GEODESIC] = {"the scalar curvature at a point of the cloud is negative", 0, -1},
    [HX_AXIOM_BOUNDARY] = {"states behind a layer point as they do behind the next, mean cosine", .5, 1},
};

static int out_of_memory(struct hx_error *err)
{
    return hx_error_set(err, -ENOMEM, "out of memory");
}

static const float *layer_of(const struct hx_activations *a, const float *x, size_t layer, size_t cols)
{
    return x + layer * a->tokens * cols;
}

/* --- heads */

/* Products of rows, without those of a row with itself, of x [n][d]. */
static void gram(double *to, const double *x, size_t n, size_t d)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;

            for (size_t k = 0; k < d && i != j; k++)
                sum += x[i * d + k] * x[j * d + k];
            to[i * n + j] = sum;
        }
}

/* The unbiased estimate of HSIC, but for a factor that CKA does not have. */
static double dependence(const double *a, const double *b, size_t n)
{
    const double m = (double)n;
    double trace = 0, all_a = 0, all_b = 0, rows = 0;

    for (size_t i = 0; i < n; i++) {
        double row_a = 0, row_b = 0;

        for (size_t j = 0; j < n; j++) {
            trace += a[i * n + j] * b[i * n + j];
            row_a += a[i * n + j];
            row_b += b[i * n + j];
        }
        all_a += row_a;
        all_b += row_b;
        rows += row_a * row_b;
    }
    return trace + all_a * all_b / ((m - 1) * (m - 2)) - 2 / (m - 2) * rows;
}

int hx_head_similarity(const struct hx_sample *s, size_t layer, size_t head, size_t other, double *out, struct hx_error *err)
{
    const struct hx_activations *a = s->of;
    const size_t cols = a->n_head * a->dh, n = s->n;
    const float *x = layer_of(a, a->heads, layer, cols);
    double *rows = malloc(n * a->dh * sizeof(*rows)), *g = malloc(2 * n * n * sizeof(*g));

    if (!rows || !g) {
        free(rows);
        free(g);
        return out_of_memory(err);
    }
    hx_rows_of(rows, x, cols, s->at, n, head * a->dh, a->dh);
    gram(g, rows, n, a->dh);
    hx_rows_of(rows, x, cols, s->at, n, other * a->dh, a->dh);
    gram(g + n * n, rows, n, a->dh);
    const double own = dependence(g, g, n) * dependence(g + n * n, g + n * n, n);

    *out = own > 0 ? dependence(g, g + n * n, n) / sqrt(own) : 0;
    free(rows);
    free(g);
    return 0;
}

/* --- the cloud of the last states */

static const float *last_states(const struct hx_activations *a)
{
    return layer_of(a, a->states, a->n_layer - 1, a->width);
}

int hx_frame_open(struct hx_frame *f, const struct hx_sample *s, struct hx_error *err)
{
    const size_t width = s->of->width, m = s->n < width ? s->n : width;
    double *x = malloc(s->n * width * sizeof(*x)), *shares = malloc(m * sizeof(*shares)), all = 0;
    int rc;

    *f = (struct hx_frame){0, malloc(width * sizeof(double)), malloc(m * width * sizeof(double))};
    rc = x && shares && f->mean && f->axes ? 0 : out_of_memory(err);
    if (!rc) {
        hx_rows_of(x, last_states(s->of), width, s->at, s->n, 0, width);
        rc = hx_principal(x, s->n, width, shares, f->axes, f->mean, err);
    }
    for (size_t i = 0; i < s->n && !rc; i++)
        for (size_t k = 0; k < width; k++)
            all += (x[i * width + k] - f->mean[k]) * (x[i * width + k] - f->mean[k]) / (double)s->n;
    while (!rc && f->n < HX_METRIC_MOST && f->n < m && shares[f->n] > 1e-9) {
        for (size_t k = 0; k < width; k++)
            f->axes[f->n * width + k] /= sqrt(shares[f->n] * all);
        f->n++;
    }
    if (!rc && f->n < 2)
        rc = hx_error_set(err, -EINVAL, "states behind the last layer have %zu dimensions; 2 are needed", f->n);
    free(x);
    free(shares);
    return rc;
}

void hx_frame_free(struct hx_frame *f)
{
    free(f->mean);
    free(f->axes);
    *f = (struct hx_frame){0};
}

int hx_frame_place(const struct hx_frame *f, const struct hx_sample *s, double *to, struct hx_error *err)
{
    const size_t width = s->of->width;
    double *x = malloc(s->n * width * sizeof(*x));

    if (!x)
        return out_of_memory(err);
    hx_rows_of(x, last_states(s->of), width, s->at, s->n, 0, width);
    for (size_t i = 0; i < s->n; i++)
        for (size_t a = 0; a < f->n; a++) {
            double sum = 0;

            for (size_t k = 0; k < width; k++)
                sum += (x[i * width + k] - f->mean[k]) * f->axes[a * width + k];
            to[i * f->n + a] = sum;
        }
    free(x);
    return 0;
}

/* --- statements */

static struct hx_axiom *state(struct hx_axioms *x, enum hx_axiom_type type, size_t a, size_t b, size_t c)
{
    struct hx_axiom *s = &x->at[x->n++];

    *s = (struct hx_axiom){.type = type, .which = {a, b, c}};
    return s;
}

static void judge(struct hx_axiom *a)
{
    const struct hx_axiom_rule *rule = &hx_axiom_rules[a->type];

    a->accepted = rule->side * (a->value - rule->border) > 0;
    a->survived = a->accepted && rule->side * (a->again - rule->border) > 0;
}

static int find_metric(struct hx_axioms *x, const struct hx_sample *s, const struct hx_sample *other, struct hx_error *err)
{
    const size_t width = s->of->width, m = s->n < width ? s->n : width;
    double *own = malloc(s->n * width * sizeof(*own)), *others = malloc(other->n * width * sizeof(*others));
    double *axes = malloc(m * width * sizeof(*axes)), *shares = malloc(m * sizeof(*shares));
    int rc = own && others && axes && shares ? 0 : out_of_memory(err);

    if (!rc) {
        hx_rows_of(own, last_states(s->of), width, s->at, s->n, 0, width);
        hx_rows_of(others, last_states(other->of), width, other->at, other->n, 0, width);
        rc = hx_principal(own, s->n, width, shares, axes, NULL, err);
    }
    for (size_t i = 0; i < HX_AXIOMS_OF_TYPE && i + 1 < m && !rc; i++) {
        struct hx_axiom *a = state(x, HX_AXIOM_METRIC, i, 0, 0);

        a->value = shares[i] * (double)width;
        a->again = hx_variance_along(others, other->n, width, axes + i * width);
    }
    free(own);
    free(others);
    free(axes);
    free(shares);
    return rc;
}

static int find_symmetry(struct hx_axioms *x, const struct hx_sample *s, const struct hx_sample *other, struct hx_error *err)
{
    const size_t most = x->n + HX_AXIOMS_OF_TYPE;
    int rc = 0;

    for (size_t layer = 0; layer < s->of->n_layer; layer++)
        for (size_t h = 0; h < s->of->n_head; h++)
            for (size_t k = h + 1; k < s->of->n_head && x->n < most && !rc; k++) {
                struct hx_axiom *a = state(x, HX_AXIOM_SYMMETRY, layer, h, k);

                rc = hx_head_similarity(s, layer, h, k, &a->value, err);
                if (!rc)
                    rc = hx_head_similarity(other, layer, h, k, &a->again, err);
            }
    return rc;
}

static int find_geodesic(struct hx_axioms *x, const struct hx_sample *s, const struct hx_sample *other, struct hx_error *err)
{
    struct hx_frame f = {0};
    double *place = malloc((s->n + other->n) * HX_METRIC_MOST * sizeof(*place));
    struct hx_cloud_metric own = {.points = s->n, .x = place}, others = {.points = other->n};
    int rc = place ? hx_frame_open(&f, s, err) : out_of_memory(err);

    own.n = others.n = f.n;
    others.x = place ? place + s->n * f.n : NULL;
    if (!rc)
        rc = hx_frame_place(&f, s, place, err);
    if (!rc)
        rc = hx_frame_place(&f, other, place + s->n * f.n, err);
    if (!rc)
        rc = hx_cloud_metric_open(&own, err);
    if (!rc)
        rc = hx_cloud_metric_open(&others, err);
    for (size_t i = 0; i < HX_AXIOMS_OF_TYPE && i < s->n && !rc; i++) {
        const struct hx_metric fields[] = {hx_cloud_metric_field(&own), hx_cloud_metric_field(&others)};
        struct hx_axiom *a = state(x, HX_AXIOM_GEODESIC, i, 0, 0);
        struct hx_curved curved;

        rc = hx_curved_at(&fields[0], place + i * f.n, &curved, err);
        a->value = curved.scalar;
        if (!rc)
            rc = hx_curved_at(&fields[1], place + i * f.n, &curved, err);
        a->again = curved.scalar;
    }
    hx_cloud_metric_free(&own);
    hx_cloud_metric_free(&others);
    hx_frame_free(&f);
    free(place);
    return rc;
}

/* Mean cosine of states behind a layer and behind the next, each without its mean. */
static int alike(const struct hx_sample *s, size_t layer, double *out, struct hx_error *err)
{
    const struct hx_activations *a = s->of;
    const size_t width = a->width;
    double *x = malloc(s->n * width * sizeof(*x)), *y = malloc(s->n * width * sizeof(*y));
    int rc = x && y ? 0 : out_of_memory(err);

    *out = 0;
    if (!rc) {
        hx_rows_of(x, layer_of(a, a->states, layer, width), width, s->at, s->n, 0, width);
        hx_rows_of(y, layer_of(a, a->states, layer + 1, width), width, s->at, s->n, 0, width);
    }
    for (size_t k = 0; k < width && !rc; k++) {
        double mean_x = 0, mean_y = 0;

        for (size_t i = 0; i < s->n; i++) {
            mean_x += x[i * width + k] / (double)s->n;
            mean_y += y[i * width + k] / (double)s->n;
        }
        for (size_t i = 0; i < s->n; i++) {
            x[i * width + k] -= mean_x;
            y[i * width + k] -= mean_y;
        }
    }
    for (size_t i = 0; i < s->n && !rc; i++) {
        double xy = 0, xx = 0, yy = 0;

        for (size_t k = 0; k < width; k++) {
            xy += x[i * width + k] * y[i * width + k];
            xx += x[i * width + k] * x[i * width + k];
            yy += y[i * width + k] * y[i * width + k];
        }
        *out += xx * yy > 0 ? xy / sqrt(xx * yy) / (double)s->n : 0;
    }
    free(x);
    free(y);
    return rc;
}

static int find_boundary(struct hx_axioms *x, const struct hx_sample *s, const struct hx_sample *other, struct hx_error *err)
{
    int rc = 0;

    for (size_t layer = 0; layer + 1 < s->of->n_layer && layer < HX_AXIOMS_OF_TYPE && !rc; layer++) {
        struct hx_axiom *a = state(x, HX_AXIOM_BOUNDARY, layer, 0, 0);

        rc = alike(s, layer, &a->value, err);
        if (!rc)
            rc = alike(other, layer, &a->again, err);
    }
    return rc;
}

int hx_axioms_find(struct hx_axioms *x, const struct hx_sample *s, const struct hx_sample *other, struct hx_error *err)
{
    int rc;

    x->n = 0;
    rc = find_metric(x, s, other, err);
    if (!rc)
        rc = find_symmetry(x, s, other, err);
    if (!rc)
        rc = find_geodesic(x, s, other, err);
    if (!rc)
        rc = find_boundary(x, s, other, err);
    for (size_t i = 0; i < x->n; i++)
        judge(&x->at[i]);
    return rc;
}
