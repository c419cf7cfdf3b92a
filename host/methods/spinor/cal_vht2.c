/* Tables of bases vht2 and vht2w: skeleton by variance, predictor by ridge regression, see calibrate.h. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cal_fit.h"
#include "hx_f16.h"
#include "hx_vht2.h"

enum { SKEL = HX_BLOCK_SKEL, HEAD = HX_BLOCK_SKEL + 2 };

/* Rows of W. */
static size_t n_rows(const struct hx_codec_format *f)
{
    return hx_block_table_bytes(f->shape, f->basis) / sizeof(uint16_t) / SKEL - 1;
}

/* First pass: [pad] sums, [pad] squares.  Second: S^T S [14][14], lower triangle, and S^T T [14][rows]. */
static size_t n_sums(const struct hx_codec_format *f)
{
    const size_t first = 2 * (size_t)f->shape->pad, second = SKEL * (SKEL + n_rows(f));

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

/* The 14 squarefree indices of largest variance, ascending. */
static int choose_skeleton(const struct hx_codec_format *f, double *sums, double n, void *table,
                           struct hx_error *err)
{
    const size_t pad = f->shape->pad;
    uint8_t chosen[HX_BLOCK_MAX_PAD] = {0};
    uint16_t *skeleton = table;
    double *variance = sums;

    (void)err;
    for (size_t i = 0; i < pad; i++)
        variance[i] = sums[pad + i] / n - sums[i] / n * (sums[i] / n);
    for (size_t picked = 0; picked < SKEL; picked++) {
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
    return 0;
}

static void add_products(const struct hx_codec_format *f, const void *table, double *sums,
                         const float *x)
{
    const uint16_t *skeleton = table;
    const size_t rows = n_rows(f);
    double coef[HX_BLOCK_MAX_PAD], skel[SKEL], *sts = sums, *stt = sums + SKEL * SKEL;
    uint16_t predicted[HX_BLOCK_MAX_PAD];

    coefficients(f->shape, x, coef);
    hx_block_predicted(f->shape, f->basis, skeleton, predicted);
    for (size_t a = 0; a < SKEL; a++) /* as a block will hold it */
        skel[a] = (double)hx_f32_from_f16(hx_f16_from_f32((float)coef[skeleton[a]]));
    for (size_t a = 0; a < SKEL; a++) {
        for (size_t b = 0; b <= a; b++)
            sts[a * SKEL + b] += skel[a] * skel[b];
        for (size_t r = 0; r < rows; r++)
            stt[a * rows + r] += skel[a] * coef[predicted[r]];
    }
}

/* a = L L^T, L in place of the lower triangle.  -EDOM: a is not positive definite.  Written out, because a library of
 * linear algebra may round differently on every machine, and these tables shall not. */
static int cholesky(double a[SKEL][SKEL])
{
    for (size_t i = 0; i < SKEL; i++)
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

/* x = (L L^T)^-1 x, all columns of x [14][rows] at once. */
static void solve(double l[SKEL][SKEL], double *x, size_t rows)
{
    for (size_t i = 0; i < SKEL; i++)
        for (size_t r = 0; r < rows; r++) {
            for (size_t k = 0; k < i; k++)
                x[i * rows + r] -= l[i][k] * x[k * rows + r];
            x[i * rows + r] /= l[i][i];
        }
    for (size_t i = SKEL; i-- > 0;)
        for (size_t r = 0; r < rows; r++) {
            for (size_t k = i + 1; k < SKEL; k++)
                x[i * rows + r] -= l[k][i] * x[k * rows + r];
            x[i * rows + r] /= l[i][i];
        }
}

/* Solves (S^T S + 1e-4 n I) X = S^T T in place and stores W = X^T as fp16. */
static int fit(const struct hx_codec_format *f, double *sums, double n, void *table,
               struct hx_error *err)
{
    double l[SKEL][SKEL], *stt = sums + SKEL * SKEL;
    const size_t rows = n_rows(f);
    uint16_t *w = (uint16_t *)table + HEAD;

    memcpy(l, sums, sizeof(l));
    for (size_t a = 0; a < SKEL; a++)
        l[a][a] += 1e-4 * n;
    if (cholesky(l))
        return hx_error_set(err, -EDOM, "its predictor has no solution");
    solve(l, stt, rows);
    for (size_t r = 0; r < rows; r++)
        for (size_t a = 0; a < SKEL; a++)
            *w++ = hx_f16_from_f32((float)stt[a * rows + r]);
    return 0;
}

const struct hx_fit hx_fit_vht2 = {n_sums, {add_variance, add_products}, {choose_skeleton, fit}};
