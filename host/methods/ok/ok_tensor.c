/* Tensors over the ring, see ok.h. */
#include "ok.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "hx_f16.h"
#include "quant/quant.h"

int hx_ok_tensor_alloc_blocks(struct hx_ok_tensor **out, size_t rows, size_t cols, size_t block, unsigned q_max,
                              struct hx_error *err)
{
    const size_t blocks = cols / block + (cols % block != 0);
    struct hx_ok_tensor *t;
    size_t n;

    if (q_max < 1 || q_max > HX_OK_MAX_Q)
        return hx_error_set(err, -EINVAL, "tensor: q_max %u; 1 to %d are legal", q_max, HX_OK_MAX_Q);
    t = calloc(1, sizeof(*t));
    if (t && !__builtin_mul_overflow(rows, cols, &n)) {
        *t = (struct hx_ok_tensor){.rows = rows, .cols = cols, .q_max = q_max, .block = block, .blocks = blocks};
        hx_ok_shim_init(&t->shim, 0, 0, NULL);
        t->data = calloc(n, sizeof(*t->data));
        t->scale = calloc(rows * blocks, sizeof(*t->scale));
        t->recip = calloc(rows * blocks, sizeof(*t->recip));
    }
    if (t && t->data && t->scale && t->recip) {
        *out = t;
        return 0;
    }
    hx_ok_tensor_free(t);
    return hx_error_set(err, -ENOMEM, "tensor: no memory for %zu x %zu elements", rows, cols);
}

int hx_ok_tensor_alloc(struct hx_ok_tensor **out, size_t rows, size_t cols, unsigned q_max,
                       struct hx_error *err)
{
    return hx_ok_tensor_alloc_blocks(out, rows, cols, cols ? cols : 1, q_max, err);
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
    const double r = s != 0 ? round(0x1p32 / s) : 0; /* a NaN is refused by who gave it */

    if (fabs(r) < 0x1p63)
        return (int64_t)r;
    return r > 0 ? INT64_MAX : -INT64_MAX;
}

static void set_scale(struct hx_ok_tensor *t, size_t at, double scale)
{
    t->scale[at] = scale;
    t->recip[at] = reciprocal(scale);
}

/* n weights that share the scale at `at`. */
static void set_block(struct hx_ok_tensor *t, size_t at, struct hx_ok *out, const float *w, size_t n)
{
    double top = 0;

    for (size_t j = 0; j < n; j++)
        top = fmax(top, fabs((double)w[j]));
    /* exact: a power of two apart, and no double is that small */
    set_scale(t, at, ldexp(top, -(int)t->q_max));
    for (size_t j = 0; j < n; j++)
        out[j] = (struct hx_ok){top > 0 ? (int64_t)round((double)w[j] / t->scale[at]) : 0, 0};
}

int hx_ok_tensor_set_row(struct hx_ok_tensor *t, size_t r, const float *row, struct hx_error *err)
{
    for (size_t j = 0; j < t->cols; j++)
        if (!isfinite(row[j]))
            return hx_error_set(err, -EDOM, "tensor: weight %zu of row %zu is not finite", j, r);
    for (size_t b = 0; b < t->blocks; b++) {
        const size_t first = b * t->block, left = t->cols - first;

        set_block(t, r * t->blocks + b, t->data + r * t->cols + first, row + first, left < t->block ? left : t->block);
    }
    return 0;
}

static int round_rows(struct hx_ok_tensor **out, const struct hx_linear *w, size_t block, unsigned q_max,
                      struct hx_error *err)
{
    float *row = malloc((w->cols + 1) * sizeof(*row));
    struct hx_ok_tensor *t = NULL;
    int rc = hx_ok_tensor_alloc_blocks(&t, w->rows, w->cols, block, q_max, err);

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

int hx_ok_tensor_of_linear(struct hx_ok_tensor **out, const struct hx_linear *w, unsigned q_max,
                           struct hx_error *err)
{
    return round_rows(out, w, w->cols ? w->cols : 1, q_max, err);
}

/* --- weights that are integers with scales of 32 already */

static float take_q4_0(const void *block, struct hx_ok *out)
{
    const struct hx_q4_0 *b = block;

    for (size_t j = 0; j < HX_OK_BLOCK; j++)
        out[j] = (struct hx_ok){(b->qs[j % 16] >> j / 16 * 4 & 15) - 8, 0};
    return hx_f32_from_f16(b->d);
}

static float take_q8_0(const void *block, struct hx_ok *out)
{
    const struct hx_q8_0 *b = block;

    for (size_t j = 0; j < HX_OK_BLOCK; j++)
        out[j] = (struct hx_ok){b->qs[j], 0};
    return hx_f32_from_f16(b->d);
}

static const struct kept {
    uint32_t type;
    unsigned q_max;
    size_t bytes; /* of a block */
    float (*take)(const void *block, struct hx_ok *out); /* integers to `out`; returns the scale */
} kept[] = {
    {HX_QUANT_Q4_0, 3, sizeof(struct hx_q4_0), take_q4_0},
    {HX_QUANT_Q8_0, 7, sizeof(struct hx_q8_0), take_q8_0},
};

static const struct kept *kept_type(uint32_t type)
{
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (kept[i].type == type)
            return &kept[i];
    return NULL;
}

int hx_ok_keeps(uint32_t type)
{
    return kept_type(type) != NULL;
}

int hx_ok_tensor_of_blocks(struct hx_ok_tensor **out, const struct hx_linear *w, unsigned q_max,
                           struct hx_error *err)
{
    const struct kept *as = kept_type(w->type);
    struct hx_ok_tensor *t = NULL;
    int rc;

    if (!as)
        return round_rows(out, w, HX_OK_BLOCK, q_max, err);
    rc = hx_ok_tensor_alloc_blocks(&t, w->rows, w->cols, HX_OK_BLOCK, as->q_max, err);
    for (size_t i = 0; !rc && i < w->rows * t->blocks; i++) { /* a file's rows are whole blocks, one behind the other */
        const float d = as->take((const uint8_t *)w->w + i * as->bytes, t->data + i * HX_OK_BLOCK);

        set_scale(t, i, (double)d);
        if (!isfinite(d))
            rc = hx_error_set(err, -EDOM, "tensor: the scale of block %zu of row %zu is not finite", i % t->blocks, i / t->blocks);
    }
    if (rc)
        hx_ok_tensor_free(t);
    else
        *out = t;
    return rc;
}

uint64_t hx_ok_tensor_top(const struct hx_ok_tensor *t)
{
    uint64_t top = 0;

    for (size_t i = 0; i < t->rows * t->cols; i++) {
        const uint64_t a = (uint64_t)llabs(t->data[i].a), b = (uint64_t)llabs(t->data[i].b);

        top = a > top ? a : top;
        top = b > top ? b : top;
    }
    return top;
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
