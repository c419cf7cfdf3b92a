/* Statements about a table's states, see ott_axioms.h. */
#include "ott_axioms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "methods/geometry/curvature.h"
#include "methods/geometry/dimension.h"
#include "methods/geometry/field.h"
#include "methods/geometry/whitening.h"
#include "ott_space.h"

enum { OF_TYPE = 24 };

/* Two halves of some states. */
struct halves {
    size_t n, width; /* n: of each */
    float *rows;     /* [2][n][width] */
    uint32_t accepted, survived;
};

static void note(struct halves *h, int accepted, int again)
{
    h->accepted += (uint32_t)accepted;
    h->survived += (uint32_t)(accepted && again);
}

static int open_halves(struct halves *h, size_t n, size_t width, struct hx_error *err)
{
    *h = (struct halves){.n = n / 2, .width = width, .rows = malloc(n / 2 * 2 * width * sizeof(float))};
    return h->rows ? 0 : hx_error_set(err, -ENOMEM, "OneDecode: out of memory");
}

static void split(struct halves *h, const float *states)
{
    for (size_t i = 0; i < 2 * h->n; i++)
        memcpy(h->rows + (i % 2 * h->n + i / 2) * h->width, states + i * h->width, h->width * sizeof(*states));
}

/* Normal numbers, near enough: sums of twelve uniform ones. */
static void make_noise(struct halves *h)
{
    enum { KEY = 1, TERMS = 12 };

    for (size_t i = 0; i < 2 * h->n * h->width; i++) {
        double sum = -TERMS / 2;

        for (size_t k = 0; k < TERMS; k++)
            sum += (double)(hx_keyed(KEY, i * TERMS + k) >> 11) * 0x1p-53;
        h->rows[i] = (float)sum;
    }
}

/* --- statements */

static int about_axes(struct halves *h, struct hx_error *err)
{
    const size_t n = h->n, width = h->width, m = n < width ? n : width;
    double *x = malloc(2 * n * width * sizeof(*x)), *axes = malloc(m * width * sizeof(*axes)), *shares = malloc(m * sizeof(*shares));
    int rc = x && axes && shares ? 0 : hx_error_set(err, -ENOMEM, "OneDecode: out of memory");

    for (size_t i = 0; i < 2 * n * width && !rc; i++)
        x[i] = h->rows[i];
    if (!rc)
        rc = hx_principal(x, n, width, shares, axes, NULL, err);
    for (size_t k = 0; k < OF_TYPE && k + 1 < m && !rc; k++)
        note(h, shares[k] * (double)width > 1, hx_variance_along(x + n * width, n, width, axes + k * width) > 1);
    free(x);
    free(axes);
    free(shares);
    return rc;
}

/* Of points of the first half, by one field and by the other. */
static int compare_curvatures(struct halves *h, const struct hx_cloud_metric *own, const struct hx_cloud_metric *other,
                              struct hx_error *err)
{
    const struct hx_metric field[] = {hx_cloud_metric_field(own), hx_cloud_metric_field(other)};
    int rc = 0;

    for (size_t i = 0; i < OF_TYPE && !rc; i++) {
        const double *at = own->x + i * h->n / OF_TYPE * own->n;
        struct hx_curved curved, again = {0, 0};

        rc = hx_curved_at(&field[0], at, &curved, err);
        if (!rc)
            rc = hx_curved_at(&field[1], at, &again, err);
        if (!rc)
            note(h, curved.scalar < 0, again.scalar < 0);
    }
    return rc;
}

static int about_curvature(struct halves *h, struct hx_error *err)
{
    const size_t n = h->width < HX_METRIC_MOST ? h->width : HX_METRIC_MOST;
    double *x = malloc(2 * h->n * n * sizeof(*x));
    struct hx_cloud_metric own = {.n = n, .points = h->n, .neighbours = HX_OTT_NEIGHBOURS, .x = x}, other = own;
    struct hx_whitening w = {0};
    int rc = x ? hx_whitening_fit(&w, h->rows, h->n, h->width, n, err) : hx_error_set(err, -ENOMEM, "OneDecode: out of memory");

    if (!rc) {
        hx_whitening_place(&w, h->rows, 2 * h->n, x);
        other.x = x + h->n * n;
        rc = hx_cloud_metric_open(&own, err);
    }
    if (!rc)
        rc = hx_cloud_metric_open(&other, err);
    if (!rc)
        rc = compare_curvatures(h, &own, &other, err);
    hx_cloud_metric_free(&own);
    hx_cloud_metric_free(&other);
    hx_whitening_free(&w);
    free(x);
    return rc;
}

int hx_ott_axioms_find(struct hx_ott_axioms *a, const float *states, size_t n, size_t width, struct hx_error *err)
{
    struct halves h;
    int rc = open_halves(&h, n, width, err);

    for (int noise = 0; noise < 2 && !rc; noise++) {
        h.accepted = h.survived = 0;
        if (noise)
            make_noise(&h);
        else
            split(&h, states);
        rc = about_axes(&h, err);
        if (!rc)
            rc = about_curvature(&h, err);
        *(noise ? &a->noise_accepted : &a->accepted) = h.accepted;
        *(noise ? &a->noise_survived : &a->survived) = h.survived;
    }
    free(h.rows);
    return rc;
}

double hx_ott_axioms_share(uint32_t survived, uint32_t accepted)
{
    return accepted ? (double)survived / (double)accepted : 0;
}
