/* Tables of basis klt: mean and principal directions, see calibrate.h. */
#include <errno.h>
#include <math.h>

#include "cal_fit.h"
#include "base/eigen.h"
#include "hx_f16.h"

#define MIN_SHARE (1.0 / 64) /* of the first residual lane's scale */
#define MIN_RANK 1e-10       /* of the first direction's variance */
#define MIN_SCALE 0x1p-14    /* smallest that a table may hold */

/* Sums: [dh] of x, [dh][dh] of x x^T (lower triangle), [dh] for eigenvalues. */
static size_t n_sums(const struct hx_codec_format *f)
{
    const size_t dh = f->shape->dh;

    return dh + dh * dh + dh;
}

static void add(const struct hx_codec_format *f, const void *table, double *sums, const float *x)
{
    const size_t dh = f->shape->dh;
    double *product = sums + dh;

    (void)table;
    for (size_t i = 0; i < dh; i++) {
        const double xi = (double)x[i];

        sums[i] += xi;
        for (size_t j = 0; j <= i; j++)
            product[i * dh + j] += xi * (double)x[j];
    }
}

/* Sums of products become the covariance, both triangles. */
static void centre(double *product, const double *sum, double n, size_t dh)
{
    for (size_t i = 0; i < dh; i++)
        for (size_t j = 0; j <= i; j++) {
            double c = product[i * dh + j] / n - sum[i] / n * (sum[j] / n);

            product[i * dh + j] = product[j * dh + i] = c;
        }
}

/* Square root of the deviation of each residual lane.  variance: of the directions, falling. */
static void scales(const struct hx_block_shape *s, const double *variance, uint16_t *out)
{
    double first = 0;

    for (size_t i = 0; i < s->n_res; i++) {
        const double v = variance[s->n_skel + i];
        double scale = v > 0 ? sqrt(sqrt(v)) : 0;

        if (i == 0)
            first = scale;
        scale = fmax(scale, first * MIN_SHARE);
        out[i] = hx_f16_from_f32((float)fmax(scale, MIN_SCALE));
    }
}

/* variance: of the directions, falling.  What is below MIN_RANK of the first is rounding. */
static void look(const struct hx_block_shape *s, const double *variance, struct hx_fit_seen *seen)
{
    double held = 0, all = 0;

    for (size_t i = 0; i < s->dh; i++) {
        const double v = fmax(variance[i], 0);

        seen->rank += v > MIN_RANK * variance[0];
        held += i < (size_t)(s->n_skel + s->n_res) ? v : 0;
        all += v;
    }
    seen->retained = all > 0 ? held / all : 1;
}

static int finish(const struct hx_codec_format *f, double *sums, double n, void *table,
                  struct hx_fit_seen *seen, struct hx_error *err)
{
    const struct hx_block_shape *s = f->shape;
    double *product = sums + s->dh, *variance = product + (size_t)s->dh * s->dh;
    uint16_t *out = table;
    int rc;

    centre(product, sums, n, s->dh);
    rc = hx_eigen_symmetric(product, s->dh, variance, err);
    if (rc)
        return rc;
    look(s, variance, seen);
    for (size_t i = 0; i < s->dh; i++)
        *out++ = hx_f16_from_f32((float)(sums[i] / n));
    scales(s, variance, out);
    out += s->n_res;
    for (size_t i = 0; i < (size_t)(s->n_skel + s->n_res) * s->dh; i++)
        *out++ = hx_f16_from_f32((float)product[i]);
    return 0;
}

const struct hx_fit hx_fit_klt = {n_sums, {add, NULL}, {finish, NULL}};
