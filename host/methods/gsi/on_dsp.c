/* Classes on the DSP, see on_dsp.h. */
#include "on_dsp.h"

#include <errno.h>
#include <stdlib.h>

#include "methods/dsp/linear_dsp.h"
#include "methods/dsp/linear_pack.h"
#include "quant/quant.h"

/* The image as a matrix of rows, which that of directions becomes; 0 behind direction k. */
static void turn(float *to, const struct hx_image *im, size_t k, size_t room, float *column)
{
    for (size_t j = 0; j < room; j++) {
        if (j < k)
            hx_quant_info(im->type)->widen(column, im->at + j * im->row_bytes, im->rows);
        for (size_t r = 0; r < im->rows; r++)
            to[r * room + j] = j < k ? column[r] : 0;
    }
}

static struct hx_linear thin(const float *w, size_t rows, size_t cols)
{
    return (struct hx_linear){.ops = &hx_linear_ref, .w = w, .type = HX_QUANT_F32, .rows = rows, .cols = cols};
}

static void put(struct hx_linear_set *to, struct hx_linear *w, size_t layer, enum hx_matrix which, enum hx_matrix_form form)
{
    to->at[to->n].w = w;
    to->at[to->n].layer = layer;
    to->at[to->n].form = form;
    to->at[to->n++].which = which;
}

/* The first class that is shaped like this one, in a layer before it; or itself. */
static size_t first_like(const struct hx_gsi_classes *c, size_t i)
{
    size_t first = 0;

    while (c->at[first].input != c->at[i].input || c->at[first].n != c->at[i].n || c->at[first].rows != c->at[i].rows ||
           c->at[first].on_dsp != c->at[i].on_dsp)
        first++;
    return first;
}

/* Class i has what an earlier one has. */
static void share(struct hx_gsi_dsp *d, struct hx_gsi_classes *c, struct hx_linear_set *to, size_t i, size_t first)
{
    const struct hx_gsi_class *of = &c->at[i], *like = &c->at[first];

    d->basis[i] = d->basis[first];
    put(to, &d->basis[i], of->layer, c->parts[of->first].which, HX_FORM_BASIS);
    for (size_t p = 0; p < of->n; p++) {
        d->image[of->first + p] = d->image[like->first + p];
        put(to, &d->image[of->first + p], of->layer, c->parts[of->first + p].which, HX_FORM_IMAGE);
    }
}

/* images: room for those of all classes there, [rows][room] each; NULL: only the numbers that they take are told. */
static size_t collect(struct hx_gsi_dsp *d, struct hx_gsi_classes *c, struct hx_linear_set *to, float *images, float *column)
{
    size_t used = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct hx_gsi_class *of = &c->at[i];
        const size_t room = of->basis.room;

        if (!of->on_dsp)
            continue;
        if (c->shapes_alone && first_like(c, i) < i) {
            if (images)
                share(d, c, to, i, first_like(c, i));
            continue;
        }
        d->basis[i] = thin(of->basis.v, room, of->cols);
        if (images)
            put(to, &d->basis[i], of->layer, c->parts[of->first].which, HX_FORM_BASIS);
        for (size_t p = of->first; p < of->first + of->n; p++) {
            const size_t rows = c->parts[p].w->rows;

            if (images) {
                turn(images + used, &c->parts[p].image, of->basis.k, room, column);
                d->image[p] = thin(images + used, rows, room);
                put(to, &d->image[p], of->layer, c->parts[p].which, HX_FORM_IMAGE);
            }
            used += rows * room;
        }
    }
    return used;
}

static size_t most_rows(const struct hx_gsi_classes *c)
{
    size_t most = 1;

    for (size_t i = 0; i < c->n_parts; i++)
        most = c->parts[i].w->rows > most ? c->parts[i].w->rows : most;
    return most;
}

/* Behind all images: where VTCM has room for some only, it is for those. */
static void collect_wholes(struct hx_gsi_classes *c, struct hx_linear_set *to, const struct hx_linear_set *set)
{
    for (size_t p = 0; p < c->n_parts; p++)
        if (c->at[c->parts[p].class].on_dsp)
            put(to, &c->parts[p].full, c->at[c->parts[p].class].layer, c->parts[p].which, HX_FORM_WHOLE);
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i].which == HX_OUT && set->at[i].on_dsp)
            put(to, set->at[i].w, 0, HX_OUT, HX_FORM_WHOLE);
}

/* The classes there, each with its parts, and what they take. */
static int set_gates(struct hx_gsi_dsp *d, struct hx_gsi_classes *c, struct hx_error *err)
{
    struct hx_linear_gate *gates = calloc(c->n, sizeof(*gates));
    struct hx_linear_gate_part *parts = calloc(c->n_parts, sizeof(*parts));
    size_t n = 0, n_parts = 0;
    int rc = gates && parts ? 0 : hx_error_set(err, -ENOMEM, "gsi: out of memory");

    for (size_t i = 0; i < c->n && !rc; i++) {
        struct hx_gsi_class *of = &c->at[i];

        if (!of->on_dsp)
            continue;
        of->basis_there = hx_linear_pack_basis_bytes(&d->basis[i]);
        gates[n++] = (struct hx_linear_gate){&d->basis[i], of->basis.k, n_parts, of->n};
        for (size_t p = of->first; p < of->first + of->n; p++) {
            c->parts[p].there.whole = hx_linear_pack_bytes(&c->parts[p].full);
            c->parts[p].there.image = hx_linear_pack_bytes(&d->image[p]);
            d->number[p] = (uint32_t)n_parts;
            parts[n_parts++] = (struct hx_linear_gate_part){&c->parts[p].full, &d->image[p]};
        }
    }
    if (!rc && n)
        rc = hx_linear_dsp_gates(d->method, gates, n, parts, n_parts, err);
    free(gates);
    free(parts);
    return rc;
}

int hx_gsi_dsp_open(struct hx_gsi_dsp *d, struct hx_gsi_classes *c, const struct hx_linear_set *set, uint32_t placement, int packets,
                    struct hx_error *err)
{
    struct hx_linear_set to = {.at = calloc(set->n + 2 * c->n_parts + c->n, sizeof(*to.at))};
    float *images = NULL, *column = malloc(most_rows(c) * sizeof(*column));
    int rc = 0;

    d->basis = calloc(c->n, sizeof(*d->basis));
    d->image = calloc(c->n_parts, sizeof(*d->image));
    d->number = calloc(c->n_parts, sizeof(*d->number));
    if (to.at && column && d->basis && d->image && d->number)
        images = malloc((collect(d, c, &to, NULL, NULL) + 1) * sizeof(*images));
    if (!images) {
        rc = hx_error_set(err, -ENOMEM, "gsi: no memory for images");
    } else {
        collect(d, c, &to, images, column);
        collect_wholes(c, &to, set);
    }
    if (!rc && to.n)
        rc = hx_linear_dsp_open(&d->method, &to, placement, packets, err); /* which has packed all when it returns */
    if (!rc && to.n)
        rc = set_gates(d, c, err);
    free(images);
    free(column);
    free(to.at);
    return rc;
}

void hx_gsi_dsp_close(struct hx_gsi_dsp *d)
{
    hx_linear_close(d->method);
    free(d->basis);
    free(d->image);
    free(d->number);
    *d = (struct hx_gsi_dsp){0};
}

int hx_gsi_dsp_apply(const struct hx_gsi_dsp *d, const struct hx_gsi_dsp_call *call, float *const *y, const float *x, size_t n,
                     uint32_t *paths, struct hx_error *err)
{
    uint32_t which[HX_LINEAR_TOGETHER];
    const struct hx_linear *w[HX_LINEAR_TOGETHER];
    const struct hx_linear_gated g = {which, w, call->n_m, (float)call->eps, (uint32_t)call->most};

    for (size_t m = 0; m < call->n_m; m++) {
        which[m] = d->number[call->parts[m]];
        w[m] = &call->classes->parts[call->parts[m]].full;
    }
    return hx_linear_dsp_gated(&g, y, x, n, paths, err);
}
