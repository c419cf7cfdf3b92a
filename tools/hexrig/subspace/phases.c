/* The published files, see phases.h. */
#include "phases.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "methods/geometry/dimension.h"

enum { SHOWN_AXES = 3 };

static int done(json_t *j, json_t **out, struct hx_error *err)
{
    *out = j;
    return j ? 0 : hx_error_set(err, -ENOMEM, "out of memory");
}

static json_t *reals(const double *x, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_real(x[i]));
    return list;
}

/* --- 1 */

static int shares_of(const struct hx_sample *s, double *shares, struct hx_error *err)
{
    const size_t width = s->of->width;
    double *x = malloc(s->n * width * sizeof(*x));
    int rc = x ? 0 : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc) {
        hx_rows_of(x, s->of->states + (s->of->n_layer - 1) * s->of->tokens * width, width, s->at, s->n, 0, width);
        rc = hx_principal(x, s->n, width, shares, NULL, NULL, err);
    }
    free(x);
    return rc;
}

static int cloud_json(const struct hx_sample *s, json_t **out, struct hx_error *err)
{
    struct hx_frame f = {0};
    double *place = malloc(s->n * HX_METRIC_MOST * sizeof(*place));
    int rc = place ? hx_frame_open(&f, s, err) : hx_error_set(err, -ENOMEM, "out of memory");

    *out = NULL;
    if (!rc)
        rc = hx_frame_place(&f, s, place, err);
    if (!rc)
        *out = json_array();
    for (size_t i = 0; i < s->n && !rc; i++)
        json_array_append_new(*out, reals(place + i * f.n, f.n < SHOWN_AXES ? f.n : SHOWN_AXES));
    hx_frame_free(&f);
    free(place);
    return rc;
}

int hx_phase_manifold(const struct hx_phases *p, json_t **out, struct hx_error *err)
{
    const size_t width = p->own.of->width, m = p->own.n < width ? p->own.n : width;
    double *shares = malloc(2 * m * sizeof(*shares));
    json_t *cloud = NULL;
    int rc = shares ? shares_of(&p->own, shares, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc)
        rc = shares_of(&p->noise, shares + m, err);
    if (!rc)
        rc = cloud_json(&p->own, &cloud, err);
    if (!rc)
        rc = done(json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:{s:I, s:o}}", "phase", 1, "model_dim", (json_int_t)width, "layer",
                            (json_int_t)p->own.of->n_layer - 1, "n_samples", (json_int_t)p->own.n, "bounded_by",
                            (json_int_t)(p->own.n - 1 < width ? p->own.n - 1 : width), "intrinsic_dim",
                            (json_int_t)hx_fewest(shares, m, .95), "explained", reals(shares, m), "cloud", cloud, "noise",
                            "intrinsic_dim", (json_int_t)hx_fewest(shares + m, m, .95), "explained", reals(shares + m, m)),
                  out, err);
    free(shares);
    return rc;
}

/* --- 2 */

static int matrix_json(const struct hx_sample *s, size_t layer, json_t **out, double *mean, struct hx_error *err)
{
    const size_t n = s->of->n_head;
    int rc = 0;

    *out = json_array();
    *mean = 0;
    for (size_t h = 0; h < n && !rc; h++) {
        json_t *row = json_array();

        for (size_t k = 0; k < n && !rc; k++) {
            double v = 1;

            if (k != h)
                rc = hx_head_similarity(s, layer, h, k, &v, err);
            json_array_append_new(row, json_real(v));
            *mean += k != h ? v / (double)(n * (n - 1)) : 0;
        }
        json_array_append_new(*out, row);
    }
    return rc;
}

int hx_phase_symmetry(const struct hx_phases *p, json_t **out, struct hx_error *err)
{
    json_t *layers = json_array();
    int rc = 0;

    for (size_t l = 0; l < p->own.of->n_layer && !rc; l++) {
        json_t *own, *noise = NULL;
        double mean, mean_noise = 0;

        rc = matrix_json(&p->own, l, &own, &mean, err);
        if (!rc)
            rc = matrix_json(&p->noise, l, &noise, &mean_noise, err);
        json_decref(noise);
        json_array_append_new(layers, json_pack("{s:I, s:o, s:f, s:f}", "layer", (json_int_t)l, "similarity", own, "mean", mean,
                                                "noise_mean", mean_noise));
    }
    if (rc) {
        json_decref(layers);
        return rc;
    }
    return done(json_pack("{s:i, s:I, s:I, s:s, s:o}", "phase", 2, "n_samples", (json_int_t)p->own.n, "heads",
                          (json_int_t)p->own.of->n_head, "measure", "unbiased linear CKA of what heads make", "layers", layers),
                out, err);
}

/* --- 3 */

static int points_json(const struct hx_cloud_metric *c, json_t *to, struct hx_error *err)
{
    const struct hx_metric field = hx_cloud_metric_field(c);
    json_t *list = json_array();
    double scalar = 0, symbols = 0;
    size_t negative = 0;
    int rc = 0;

    for (size_t i = 0; i < c->points && !rc; i++) {
        struct hx_curved at;

        rc = hx_curved_at(&field, c->x + i * c->n, &at, err);
        scalar += at.scalar / (double)c->points;
        symbols += at.christoffel / (double)c->points;
        negative += at.scalar < 0;
        json_array_append_new(list, json_pack("{s:o, s:f, s:f, s:f}", "position", reals(c->x + i * c->n, c->n), "log_metric",
                                              hx_cloud_metric_log_size(c, i), "christoffel_norm", at.christoffel, "scalar_curvature",
                                              at.scalar));
    }
    json_object_set_new(to, "dimensions", json_integer((json_int_t)c->n));
    json_object_set_new(to, "mean_scalar_curvature", json_real(scalar));
    json_object_set_new(to, "mean_christoffel_norm", json_real(symbols));
    json_object_set_new(to, "negative", json_real((double)negative / (double)c->points));
    json_object_set_new(to, "points", list);
    return rc;
}

static int curvature_of(const struct hx_sample *s, json_t *to, struct hx_error *err)
{
    struct hx_frame f = {0};
    double *place = malloc(s->n * HX_METRIC_MOST * sizeof(*place));
    struct hx_cloud_metric c = {.points = s->n, .x = place};
    int rc = place ? hx_frame_open(&f, s, err) : hx_error_set(err, -ENOMEM, "out of memory");

    c.n = f.n;
    if (!rc)
        rc = hx_frame_place(&f, s, place, err);
    if (!rc)
        rc = hx_cloud_metric_open(&c, err);
    if (!rc)
        rc = points_json(&c, to, err);
    hx_cloud_metric_free(&c);
    hx_frame_free(&f);
    free(place);
    return rc;
}

int hx_phase_curvature(const struct hx_phases *p, json_t **out, struct hx_error *err)
{
    json_t *j = json_pack("{s:i, s:I}", "phase", 3, "n_samples", (json_int_t)p->own.n), *noise = json_object();
    int rc = j && noise ? curvature_of(&p->own, j, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc)
        rc = curvature_of(&p->noise, noise, err);
    json_object_del(noise, "points");
    json_object_set_new(j, "noise", noise);
    if (rc) {
        json_decref(j);
        return rc;
    }
    return done(j, out, err);
}

/* --- 4 */

double hx_axioms_consistency(const struct hx_axioms *x, size_t *accepted)
{
    size_t survived = 0;

    *accepted = 0;
    for (size_t i = 0; i < x->n; i++) {
        *accepted += (size_t)x->at[i].accepted;
        survived += (size_t)x->at[i].survived;
    }
    return *accepted ? (double)survived / (double)*accepted : 1;
}

static json_t *type_json(const struct hx_axioms *x, enum hx_axiom_type type)
{
    size_t n = 0, accepted = 0, survived = 0;

    for (size_t i = 0; i < x->n; i++) {
        n += x->at[i].type == type;
        accepted += x->at[i].type == type && x->at[i].accepted;
        survived += x->at[i].type == type && x->at[i].survived;
    }
    return json_pack("{s:s, s:f, s:I, s:I, s:I}", "says", hx_axiom_rules[type].says, "border", hx_axiom_rules[type].border, "candidates",
                     (json_int_t)n, "accepted", (json_int_t)accepted, "survived", (json_int_t)survived);
}

static json_t *set_json(const struct hx_axioms *x)
{
    size_t accepted;
    const double consistency = hx_axioms_consistency(x, &accepted);
    json_t *j = json_pack("{s:I, s:I, s:f}", "candidates", (json_int_t)x->n, "accepted", (json_int_t)accepted, "consistency", consistency);

    for (int t = 0; t < HX_AXIOM_TYPES; t++)
        json_object_set_new(j, hx_axiom_names[t], type_json(x, (enum hx_axiom_type)t));
    return j;
}

int hx_phase_axioms(const struct hx_phases *p, json_t **out, struct hx_error *err)
{
    struct hx_axioms *x = calloc(2, sizeof(*x));
    json_t *list, *j;
    int rc = x ? hx_axioms_find(&x[0], &p->own, &p->again, err) : hx_error_set(err, -ENOMEM, "out of memory");

    if (!rc)
        rc = hx_axioms_find(&x[1], &p->noise, &p->noise_again, err);
    if (rc) {
        free(x);
        return rc;
    }
    list = json_array();
    for (size_t i = 0; i < x[0].n; i++) {
        const struct hx_axiom *a = &x[0].at[i];

        json_array_append_new(list, json_pack("{s:s, s:[I,I,I], s:f, s:f, s:b, s:b}", "type", hx_axiom_names[a->type], "which",
                                              (json_int_t)a->which[0], (json_int_t)a->which[1], (json_int_t)a->which[2], "value", a->value,
                                              "value_of_resample", a->again, "accepted", a->accepted, "survived", a->survived));
    }
    j = set_json(&x[0]);
    json_object_set_new(j, "phase", json_integer(4));
    json_object_set_new(j, "n_samples", json_integer((json_int_t)p->own.n));
    json_object_set_new(j, "noise", set_json(&x[1]));
    json_object_set_new(j, "axioms", list);
    free(x);
    return done(j, out, err);
}
