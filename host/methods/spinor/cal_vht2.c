/* Tables of bases vht2 and vht2w: skeleton by variance, predictor by ridge regression, see calibrate.h. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cal_fit.h"
#include "hx_f16.h"
#include "hx_vht2.h"

enum { MAX_SKEL = HX_BLOCK_MAX_SKEL };

/* Rows of W. */
static size_t n_rows(const struct hx_codec_format *f)
{
    const size_t values = hx_block_table_bytes(f->shape, f->basis) / sizeof(uint16_t);

    return (values - f->shape->n_skel - 2) / f->shape->n_skel;
}

/* First pass: [pad] sums, [pad] squares.  Second: S^T S [n_skel][n_skel], lower triangle, and S^T T [n_skel][rows]. */
static size_t n_sums(const struct hx_codec_format *f)
{
    const size_t first = 2 * (size_t)f->shape->pad, second = f->shape->n_skel * (f->shape->n_skel + n_rows(f));

    return first > second ? first : second;
}

static void coefficients(const struct hx_block_shape *s, const float *x, double *coef)
{
    double sum = 0;

    for (size_t i = 0; i < s->dh; i++) {
        coef[i] = (double)x[i];
        sum += (double)x[i];
    }
    for (size_t i = s->dh; i < s->pad; i++)
        coef[i] = sum / s->dh;
    hx_vht2_f64(coef, s->pad);
}

static void add_variance(const struct hx_codec_format *f, const void *table, double *sums,
                         const float *x)
{
    const size_t pad = f->shape->pad;
    double coef[HX_BLOCK_MAX_PAD];

    (void)table;
    coefficients(f->shape, x, coef);
    for (size_t i = 0; i < pad; i++) {
        sums[i] += coef[i];
        sums[pad + i] += coef[i] * coef[i];
    }
}

/* The share of a block's own lanes; what vht2w predicts beside them is not held. */
static double retained(const struct hx_block_shape *s, const double *variance, const uint16_t *skeleton)
{
    uint16_t lanes[HX_BLOCK_MAX_PAD];
    double held = 0, all = 0;

    hx_block_residual_rows(s, lanes);
    for (size_t i = 0; i < s->n_skel; i++)
        held += fmax(variance[skeleton[i]], 0);
    for (size_t i = 0; i < s->n_res; i++)
        held += fmax(variance[lanes[i]], 0);
    for (size_t i = 0; i < s->pad; i++)
        all += fmax(variance[i], 0);
    return all > 0 ? held / all : 1;
}

/* The squarefree indices of largest variance, ascending. */
static int choose_skeleton(const struct hx_codec_format *f, double *sums, double n, void *table,
                           struct hx_fit_seen *seen, struct hx_error *err)
{
    const size_t pad = f->shape->pad;
    uint8_t chosen[HX_BLOCK_MAX_PAD] = {0};
    uint16_t *skeleton = table;
    double *variance = sums;

    (void)err;
    for (size_t i = 0; i < pad; i++)
        variance[i] = sums[pad + i] / n - sums[i] / n * (sums[i] / n);
    for (size_t picked = 0; picked < f->shape->n_skel; picked++) {
        size_t best = pad;

        for (size_t i = 0; i < pad; i++)
            if (hx_squarefree_index(i) && !chosen[i] &&
                (best == pad || variance[i] > variance[best]))
                best = i;
        chosen[best] = 1;
    }
    for (size_t i = 0; i < pad; i++)
        if (chosen[i])
            *skeleton++ = (uint16_t)i;
    seen->retained = retained(f->shape, variance, table);
    return 0;
}

static void add_products(const struct hx_codec_format *f, const void *table, double *sums,
                         const float *x)
{
    const uint16_t *skeleton = table;
    const size_t rows = n_rows(f), n_skel = f->shape->n_skel;
    double coef[HX_BLOCK_MAX_PAD], skel[MAX_SKEL], *sts = sums, *stt = sums + n_skel * n_skel;
    uint16_t predicted[HX_BLOCK_MAX_PAD];

    coefficients(f->shape, x, coef);
    hx_block_predicted(f->shape, f->basis, skeleton, predicted);
    for (size_t a = 0; a < n_skel; a++) /* as a block will hold it */
        skel[a] = (double)hx_f32_from_f16(hx_f16_from_f32((float)coef[skeleton[a]]));
    for (size_t a = 0; a < n_skel; a++) {
        for (size_t b = 0; b <= a; b++)
            sts[a * n_skel + b] += skel[a] * skel[b];
        for (size_t r = 0; r < rows; r++)
            stt[a * rows + r] += skel[a] * coef[predicted[r]];
    }
}

/* a = L L^T, L in place of the lower triangle.  -EDOM: a is not positive definite.  Written out, because a library of
 * linear algebra may round differently on every machine, and these tables shall not. */
static int cholesky(double a[MAX_SKEL][MAX_SKEL], size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i][j];

            for (size_t k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            if (i == j && !(sum > 0 && isfinite(sum)))
                return -EDOM;
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    return 0;
}

/* x = (L L^T)^-1 x, all columns of x [n][rows] at once. */
static void solve(double l[MAX_SKEL][MAX_SKEL], size_t n, double *x, size_t rows)
{
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < rows; r++) {
            for (size_t k = 0; k < i; k++)
                x[i * rows + r] -= l[i][k] * x[k * rows + r];
            x[i * rows + r] /= l[i][i];
        }
    for (size_t i = n; i-- > 0;)
        for (size_t r = 0; r < rows; r++) {
            for (size_t k = i + 1; k < n; k++)
                x[i * rows + r] -= l[k][i] * x[k * rows + r];
            x[i * rows + r] /= l[i][i];
        }
}

/* Solves (S^T S + 1e-4 n I) X = S^T T in place and stores W = X^T as fp16. */
static int fit(const struct hx_codec_format *f, double *sums, double n, void *table,
               struct hx_fit_seen *seen, struct hx_error *err)
{
    const size_t rows = n_rows(f), n_skel = f->shape->n_skel;
    double l[MAX_SKEL][MAX_SKEL], *stt = sums + n_skel * n_skel;
    uint16_t *w = (uint16_t *)table + n_skel + 2;

    (void)seen;
    for (size_t a = 0; a < n_skel; a++) {
        memcpy(l[a], sums + a * n_skel, n_skel * sizeof(*sums));
        l[a][a] += 1e-4 * n;
    }
    if (cholesky(l, n_skel))
        return hx_error_set(err, -EDOM, "its predictor has no solution");
    solve(l, n_skel, stt, rows);
    for (size_t r = 0; r < rows; r++)
        for (size_t a = 0; a < n_skel; a++)
            *w++ = hx_f16_from_f32((float)stt[a * rows + r]);
    return 0;
}

const struct hx_fit hx_fit_vht2 = {n_sums, {add_variance, add_products}, {choose_skeleton, fit}};
