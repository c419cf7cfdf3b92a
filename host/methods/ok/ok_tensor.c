/* Tensors over the ring, see ok.h. */
#include "ok.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int hx_ok_tensor_alloc(struct hx_ok_tensor **out, size_t rows, size_t cols, unsigned q_max,
                       struct hx_error *err)
{
    struct hx_ok_tensor *t;
    size_t n;

    if (q_max < 1 || q_max > HX_OK_MAX_Q)
        return hx_error_set(err, -EINVAL, "tensor: q_max %u; 1 to %d are legal", q_max, HX_OK_MAX_Q);
    t = calloc(1, sizeof(*t));
    if (t && !__builtin_mul_overflow(rows, cols, &n)) {
        *t = (struct hx_ok_tensor){.rows = rows, .cols = cols, .q_max = q_max};
        hx_ok_shim_init(&t->shim, 0, 0, NULL);
        t->data = calloc(n, sizeof(*t->data));
        t->scale = calloc(rows, sizeof(*t->scale));
        t->recip = calloc(rows, sizeof(*t->recip));
    }
    if (t && t->data && t->scale && t->recip) {
        *out = t;
        return 0;
    }
    hx_ok_tensor_free(t);
    return hx_error_set(err, -ENOMEM, "tensor: no memory for %zu x %zu elements", rows, cols);
}

void hx_ok_tensor_free(struct hx_ok_tensor *t)
{
    if (!t)
        return;
    free(t->data);
    free(t->scale);
    free(t->recip);
    free(t);
}

/* 1 / s in Q31.32. */
static int64_t reciprocal(double s)
{
    const double r = s > 0 ? round(0x1p32 / s) : 0;

    return r < 0x1p63 ? (int64_t)r : INT64_MAX;
}

int hx_ok_tensor_set_row(struct hx_ok_tensor *t, size_t r, const float *row, struct hx_error *err)
{
    struct hx_ok *out = t->data + r * t->cols;
    double top = 0;

    for (size_t j = 0; j < t->cols; j++) {
        if (!isfinite(row[j]))
            return hx_error_set(err, -EDOM, "tensor: weight %zu of row %zu is not finite", j, r);
        top = fmax(top, fabs((double)row[j]));
    }
    /* exact: a power of two apart, and no double is that small */
    t->scale[r] = ldexp(top, -(int)t->q_max);
    t->recip[r] = reciprocal(t->scale[r]);
    for (size_t j = 0; j < t->cols; j++)
        out[j] = (struct hx_ok){top > 0 ? (int64_t)round((double)row[j] / t->scale[r]) : 0, 0};
    return 0;
}

int hx_ok_tensor_of_linear(struct hx_ok_tensor **out, const struct hx_linear *w, unsigned q_max,
                           struct hx_error *err)
{
    float *row = malloc((w->cols + 1) * sizeof(*row));
    struct hx_ok_tensor *t = NULL;
    int rc = hx_ok_tensor_alloc(&t, w->rows, w->cols, q_max, err);

    if (!row && !rc)
        rc = hx_error_set(err, -ENOMEM, "tensor: out of memory");
    for (size_t r = 0; r < w->rows && !rc; r++) {
        hx_linear_row(w, r, row);
        rc = hx_ok_tensor_set_row(t, r, row, err);
    }
    free(row);
    if (rc)
        hx_ok_tensor_free(t);
    else
        *out = t;
    return rc;
}

int hx_ok_tensor_shim(struct hx_ok_tensor *t, const struct hx_ok_shim *s, struct hx_error *err)
{
    const size_t n = t->rows * t->cols;

    for (size_t i = 0; i < n; i++)
        if (hx_ok_mul(&t->data[i], t->data[i], s->power))
            return hx_error_set(err, -ERANGE, "tensor: row %zu, column %zu times pi_%u^%u exceeds int64",
                              i / t->cols, i % t->cols, s->prime.p, s->k);
    t->shim = *s;
    return 0;
}

int hx_ok_tensor_apply(const struct hx_ok_tensor *t, const struct hx_ok *x, struct hx_ok *y)
{
    for (size_t r = 0; r < t->rows; r++) {
        const struct hx_ok *w = t->data + r * t->cols;
        struct hx_ok sum = {0, 0}, p;

        for (size_t j = 0; j < t->cols; j++)
            if (hx_ok_mul(&p, w[j], x[j]) || hx_ok_add(&sum, sum, p))
                return -ERANGE;
        y[r] = sum;
    }
    return 0;
}

double hx_ok_quantize(int32_t *out, const float *x, size_t n, unsigned bits)
{
    float top = 0;
    double up;

    for (size_t j = 0; j < n; j++) {
        if (!isfinite(x[j]))
            return NAN;
        top = fmaxf(top, fabsf(x[j]));
    }
    up = top > 0 ? ldexp(1, (int)bits) / (double)top : 0;
    for (size_t j = 0; j < n; j++)
        out[j] = (int32_t)round((double)x[j] * up);
    return ldexp((double)top, -(int)bits);
}
