/* An orthonormal basis that can grow, see subspace.h. */
#include "subspace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Below this share of |x|^2 the difference of two squares is mostly rounding. */
static const double rounding_from = 1e-3;

/* Less than this share of |x| is left: what rounding has put back is taken away once more. */
static const double again_below = 0.7071, nothing_below = 1e-6;

int hx_subspace_open(struct hx_subspace *s, size_t cols, size_t room)
{
    *s = (struct hx_subspace){.v = calloc(room * cols + 1, sizeof(*s->v)), .room = room, .cols = cols,
                              .work = malloc((cols + room + 1) * sizeof(*s->work))};
    return s->v && s->work ? 0 : -ENOMEM;
}

void hx_subspace_free(struct hx_subspace *s)
{
    free(s->v);
    free(s->work);
    *s = (struct hx_subspace){0};
}

void hx_subspace_project(const struct hx_subspace *s, const float *x, size_t n, size_t first, size_t end, float *z)
{
    for (size_t j = first; j < end; j++) {
        const float *v = s->v + j * s->cols;
        size_t i = 0;

        for (; i + 4 <= n; i += 4) {
            float four[4];

            hx_dot4(four, v, x + i * s->cols, s->cols, s->cols);
            for (size_t t = 0; t < 4; t++)
                z[(i + t) * s->room + j] = four[t];
        }
        for (; i < n; i++)
            z[i * s->room + j] = hx_dot(v, x + i * s->cols, s->cols);
    }
}

double hx_norm2(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

static double norm2(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

/* r -= by * row */
static void take_away(double *r, const float *row, double by, size_t n)
{
    for (size_t i = 0; i < n; i++)
        r[i] -= by * row[i];
}

static void widen(double *to, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = x[i];
}

double hx_subspace_rest2(const struct hx_subspace *s, const float *x, double x2, const float *z)
{
    const double rest = x2 - hx_norm2(z, s->k);

    if (rest >= rounding_from * x2)
        return rest;
    widen(s->work, x, s->cols);
    for (size_t j = 0; j < s->k; j++)
        take_away(s->work, s->v + j * s->cols, z[j], s->cols);
    return norm2(s->work, s->cols);
}

/* In four running sums, which do not wait for each other. */
static double inner(const double *r, const float *v, size_t n)
{
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;

    for (; i + 4 <= n; i += 4)
        for (size_t l = 0; l < 4; l++)
            sum[l] += r[i + l] * v[i + l];
    for (; i < n; i++)
        sum[0] += r[i] * v[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* r -= V V^T r */
static void orthogonalise(const struct hx_subspace *s, double *r)
{
    double *h = s->work + s->cols;

    for (size_t j = 0; j < s->k; j++)
        h[j] = inner(r, s->v + j * s->cols, s->cols);
    for (size_t j = 0; j < s->k; j++)
        take_away(r, s->v + j * s->cols, h[j], s->cols);
}

int hx_subspace_add(struct hx_subspace *s, const float *x)
{
    const double x2 = hx_norm2(x, s->cols);
    double *r = s->work, left;

    if (s->k == s->room)
        return 0;
    widen(r, x, s->cols);
    orthogonalise(s, r);
    if (norm2(r, s->cols) < again_below * again_below * x2)
        orthogonalise(s, r);
    left = norm2(r, s->cols);
    if (!(left > nothing_below * nothing_below * x2) || !isfinite(left))
        return 0;
    for (size_t i = 0; i < s->cols; i++)
        s->v[s->k * s->cols + i] = (float)(r[i] / sqrt(left));
    s->k++;
    return 1;
}

double hx_subspace_defect(const struct hx_subspace *s)
{
    double worst = 0;

    for (size_t a = 0; a < s->k; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = a == b ? -1 : 0;

            for (size_t i = 0; i < s->cols; i++)
                sum += (double)s->v[a * s->cols + i] * s->v[b * s->cols + i];
            worst = fabs(sum) > worst ? fabs(sum) : worst;
        }
    return worst;
}
