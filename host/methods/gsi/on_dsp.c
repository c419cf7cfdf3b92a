/* Classes on the DSP, see on_dsp.h. */
#include "on_dsp.h"

#include <errno.h>
#include <stdlib.h>

#include "methods/dsp/linear_dsp.h"
#include "quant/quant.h"

/* The image as a matrix of rows, which that of directions becomes. */
static void turn(float *to, const struct hx_image *im, size_t k, float *column)
{
    for (size_t j = 0; j < k; j++) {
        hx_quant_info(im->type)->widen(column, im->at + j * im->row_bytes, im->rows);
        for (size_t r = 0; r < im->rows; r++)
            to[r * k + j] = column[r];
    }
}

static struct hx_linear thin(const float *w, size_t rows, size_t cols)
{
    return (struct hx_linear){.ops = &hx_linear_ref, .w = w, .type = HX_QUANT_F32, .rows = rows, .cols = cols};
}

static void put(struct hx_linear_set *to, struct hx_linear *w, size_t layer, enum hx_matrix which)
{
    to->at[to->n].w = w;
    to->at[to->n].layer = layer;
    to->at[to->n++].which = which;
}

/* images: room for those of all classes there, [rows][k] each; NULL: only the numbers that they take are told. */
static size_t collect(struct hx_gsi_dsp *d, struct hx_gsi_classes *c, struct hx_linear_set *to, float *images, float *column)
{
    size_t used = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct hx_gsi_class *of = &c->at[i];
        const size_t k = of->basis.k;

        if (!of->on_dsp)
            continue;
        d->down[i] = thin(of->basis.v, k, of->cols);
        if (images)
            put(to, &d->down[i], of->layer, c->parts[of->first].which);
        for (size_t p = of->first; p < of->first + of->n; p++) {
            const size_t rows = c->parts[p].w->rows;

            if (images) {
                turn(images + used, &c->parts[p].image, k, column);
                d->up[p] = thin(images + used, rows, k);
                put(to, &d->up[p], of->layer, c->parts[p].which);
            }
            used += rows * k;
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

int hx_gsi_dsp_open(struct hx_gsi_dsp *d, struct hx_gsi_classes *c, const struct hx_linear_set *set, uint32_t placement, int packets,
                    struct hx_error *err)
{
    struct hx_linear_set to = {.at = calloc(set->n + 2 * c->n_parts + c->n, sizeof(*to.at))};
    float *images = NULL, *column = malloc(most_rows(c) * sizeof(*column));
    int rc = 0;

    d->down = calloc(c->n, sizeof(*d->down));
    d->up = calloc(c->n_parts, sizeof(*d->up));
    if (to.at && column && d->down && d->up)
        images = malloc((collect(d, c, &to, NULL, NULL) + 1) * sizeof(*images));
    if (!images)
        rc = hx_error_set(err, -ENOMEM, "gsi: no memory for images");
    else
        collect(d, c, &to, images, column);
    /* behind all images: where VTCM has room for some only, it is for those */
    for (size_t p = 0; p < c->n_parts && !rc; p++)
        if (c->at[c->parts[p].class].on_dsp)
            put(&to, &c->parts[p].full, c->at[c->parts[p].class].layer, c->parts[p].which);
    for (size_t i = 0; i < set->n && !rc; i++)
        if (set->at[i].which == HX_OUT && set->at[i].on_dsp)
            put(&to, set->at[i].w, 0, HX_OUT);
    if (!rc && to.n)
        rc = hx_linear_dsp_open(&d->method, &to, placement, packets, err); /* which has packed all when it returns */
    free(images);
    free(column);
    free(to.at);
    return rc;
}

void hx_gsi_dsp_close(struct hx_gsi_dsp *d)
{
    hx_linear_close(d->method);
    free(d->down);
    free(d->up);
    *d = (struct hx_gsi_dsp){0};
}

int hx_gsi_dsp_images(const struct hx_gsi_dsp *d, size_t class, const size_t *parts, size_t n_m, float *const *y, const float *x, size_t n,
                      struct hx_error *err)
{
    static const uint32_t of[HX_LINEAR_TOGETHER];
    const struct hx_linear *down = &d->down[class], *up[HX_LINEAR_TOGETHER];
    const struct hx_linear_projection p = {&down, up, of, 1, n_m};

    for (size_t m = 0; m < n_m; m++)
        up[m] = &d->up[parts[m]];
    return hx_linear_dsp_project(&p, y, x, n, err);
}
