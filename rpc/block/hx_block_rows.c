/* The encoder's columns and the decoder's rows, see hx_block_rows.h: all of it in fp64, rounded once at the end. */
#include "hx_block_rows.h"

#include <math.h>
#include <string.h>

#include "hx_f16.h"
#include "hx_vht2.h"

static int is_klt(const struct hx_rows *r)
{
    return r->f->basis == HX_BASIS_KLT;
}

static double half_at(const struct hx_rows *r, size_t i)
{
    uint16_t h;

    memcpy(&h, r->table + 2 * i, sizeof(h));
    return (double)hx_f32_from_f16(h);
}

static double largest(const double *v, size_t n)
{
    double m = 0;

    for (size_t i = 0; i < n; i++)
        m = fmax(m, fabs(v[i]));
    return m;
}

/* --- basis klt */

static double klt_basis(const struct hx_rows *r, size_t j, size_t i)
{
    const struct hx_block_shape *s = r->f->shape;

    return half_at(r, (size_t)s->dh + s->n_res + j * s->dh + i);
}

static double klt_scale(const struct hx_rows *r, size_t lane)
{
    return half_at(r, (size_t)r->f->shape->dh + lane);
}

static void klt_skeleton_row(const struct hx_rows *r, size_t lane, double *row)
{
    for (size_t i = 0; i < r->f->shape->dh; i++)
        row[i] = lane < HX_BLOCK_SKEL ? klt_basis(r, lane, i)
                 : lane == HX_BLOCK_SKEL ? ldexp(half_at(r, i), -r->mean_exp) : 0;
}

static void klt_residual_row(const struct hx_rows *r, size_t lane, double *row)
{
    for (size_t i = 0; i < r->f->shape->dh; i++)
        row[i] = klt_basis(r, HX_BLOCK_SKEL + lane, i) * klt_scale(r, lane);
}

/* The mean is a power of two times a row. */
static void split_mean(struct hx_rows *r)
{
    enum { MIN = -14, MAX = 15, BIAS = 15 };
    double top = 0;
    int e;

    for (size_t i = 0; i < r->f->shape->dh; i++)
        top = fmax(top, fabs(half_at(r, i)));
    if (top == 0)
        return;
    frexp(top, &e);
    r->mean_exp = e + 1 < MIN ? MIN : e + 1 > MAX ? MAX : e + 1;
    r->mean_half = (uint16_t)((r->mean_exp + BIAS) << 10);
}

/* --- bases vht2 and vht2w.  VHT2 is its own inverse, so a coefficient's row is the transform of its unit vector. */

/* A skeleton coefficient and all that is predicted from it.  row: room for pad. */
static void vht2_skeleton_row(const struct hx_rows *r, size_t lane, double *row)
{
    const size_t head = HX_BLOCK_SKEL + 2;

    memset(row, 0, r->f->shape->pad * sizeof(*row));
    if (lane >= HX_BLOCK_SKEL)
        return;
    row[r->skeleton[lane]] = 1;
    for (size_t p = 0; p < r->n_predicted; p++)
        row[r->predicted[p]] = half_at(r, head + p * HX_BLOCK_SKEL + lane);
    hx_vht2_f64(row, r->f->shape->pad);
}

static void vht2_residual_row(const struct hx_rows *r, size_t lane, double *row)
{
    memset(row, 0, r->f->shape->pad * sizeof(*row));
    row[r->predicted[lane]] = 1;
    hx_vht2_f64(row, r->f->shape->pad);
}

/* The padding is linear in x (each pad value is the mean), so it is folded in: the transform of the padded unit vector. */
static void vht2_column(const struct hx_rows *r, size_t i, float *column)
{
    const size_t dh = r->f->shape->dh, pad = r->f->shape->pad;
    double c[HX_BLOCK_MAX_PAD];

    for (size_t p = 0; p < pad; p++)
        c[p] = p == i ? 1 : p < dh ? 0 : 1.0 / (double)dh;
    hx_vht2_f64(c, pad);
    for (size_t p = 0; p < pad; p++)
        column[p] = (float)c[p];
}

/* --- all */

void hx_rows_init(struct hx_rows *r, const struct hx_codec_format *f, const void *table)
{
    *r = (struct hx_rows){.f = f, .table = table};
    if (is_klt(r)) {
        split_mean(r);
    } else if (table) {
        memcpy(r->skeleton, table, sizeof(r->skeleton));
        r->n_predicted = hx_block_predicted(f->shape, f->basis, r->skeleton, r->predicted);
    } else {
        hx_block_residual_rows(f->shape, r->predicted);
    }
}

/* |row| * scale <= 32767 */
static void put_row(const struct hx_rows *r, hx_row_fn *put, void *to, size_t lane, const double *row, double scale)
{
    int16_t rounded[HX_BLOCK_MAX_DH];

    for (size_t i = 0; i < r->f->shape->dh; i++)
        rounded[i] = (int16_t)round(row[i] * scale);
    put(to, lane, rounded);
}

int hx_rows_skeleton(const struct hx_rows *r, hx_row_fn *put, void *to)
{
    enum { LIMIT = 60, ROOM = (1 << 17) - HX_ROWS_SKEL };
    void (*const get)(const struct hx_rows *r, size_t lane, double *row) = is_klt(r) ? klt_skeleton_row : vht2_skeleton_row;
    const size_t dh = r->f->shape->dh;
    double row[HX_BLOCK_MAX_PAD], column[HX_BLOCK_MAX_DH] = {0}, top = 0, sum;
    int e = LIMIT;

    for (size_t j = 0; j < HX_ROWS_SKEL; j++) {
        get(r, j, row);
        top = fmax(top, largest(row, dh));
        for (size_t i = 0; i < dh; i++)
            column[i] += fabs(row[i]);
    }
    sum = largest(column, dh);
    while (e > -LIMIT && (ldexp(top, e) > INT16_MAX || ldexp(sum, e) > ROOM))
        e--;
    for (size_t j = 0; j < HX_ROWS_SKEL; j++) {
        get(r, j, row);
        put_row(r, put, to, j, row, ldexp(1, e));
    }
    return e;
}

float hx_rows_residual(const struct hx_rows *r, hx_row_fn *put, void *to)
{
    void (*const get)(const struct hx_rows *r, size_t lane, double *row) = is_klt(r) ? klt_residual_row : vht2_residual_row;
    const size_t dh = r->f->shape->dh, n_res = r->f->shape->n_res;
    double row[HX_BLOCK_MAX_PAD], top = 0;

    for (size_t lane = 0; lane < n_res; lane++) {
        get(r, lane, row);
        top = fmax(top, largest(row, dh));
    }
    for (size_t lane = 0; lane < n_res; lane++) {
        get(r, lane, row);
        put_row(r, put, to, lane, row, top > 0 ? INT16_MAX / top : 0);
    }
    return (float)(top / INT16_MAX);
}

void hx_rows_column(const struct hx_rows *r, size_t i, float *column)
{
    const size_t n_res = r->f->shape->n_res;

    if (!is_klt(r)) {
        vht2_column(r, i, column);
        return;
    }
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        column[j] = (float)klt_basis(r, j, i);
    for (size_t lane = 0; lane < n_res; lane++)
        column[HX_BLOCK_SKEL + lane] = (float)(klt_basis(r, HX_BLOCK_SKEL + lane, i) / klt_scale(r, lane));
}

void hx_rows_predictor(const struct hx_rows *r, size_t j, float *w)
{
    for (size_t lane = 0; lane < r->f->shape->n_res; lane++)
        w[lane] = (float)half_at(r, HX_BLOCK_SKEL + 2 + lane * HX_BLOCK_SKEL + j);
}

void hx_rows_mean(const struct hx_rows *r, float *mean)
{
    for (size_t i = 0; i < r->f->shape->dh; i++)
        mean[i] = (float)half_at(r, i);
}
