/* The plain fp32 linear layer, see linear.h.  A row is widened once and used for all vectors of the batch. */
#include <string.h>

#include "gguf.h"
#include "hx_f16.h"
#include "linear.h"
#include "vec.h"

typedef uint16_t u16x16 __attribute__((vector_size(32)));
typedef uint32_t u32x16 __attribute__((vector_size(64)));
typedef int8_t i8x16 __attribute__((vector_size(16)));

/* 16 halves to floats: the exponent is rebased by an exact multiply, which also normalises subnormals; infinity and NaN
 * get their exponent back. */
static hx_v16 widen_halves(u16x16 h)
{
    u32x16 u = __builtin_convertvector(h, u32x16);
    u32x16 bits = (u32x16)((hx_v16)((u & 0x7fff) << 13) * 0x1p112f);

    bits |= (u32x16)((u & 0x7c00) == 0x7c00) & 0x7f800000;
    return (hx_v16)(bits | (u & 0x8000) << 16);
}

static void widen_f16(float *out, const uint8_t *w, size_t n)
{
    u16x16 h;
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        memcpy(&h, w + 2 * i, sizeof(h));
        hx_v16 f = widen_halves(h);
        memcpy(out + i, &f, sizeof(f));
    }
    for (; i < n; i++) {
        uint16_t half;

        memcpy(&half, w + 2 * i, sizeof(half));
        out[i] = hx_f32_from_f16(half);
    }
}

static void widen_q8_0(float *out, const uint8_t *w, size_t n)
{
    for (size_t b = 0; b < n / HX_Q8_0_WEIGHTS; b++) {
        const uint8_t *block = w + b * HX_Q8_0_BYTES;
        uint16_t half;
        float scale;

        memcpy(&half, block, sizeof(half));
        scale = hx_f32_from_f16(half);
        for (size_t i = 0; i < HX_Q8_0_WEIGHTS; i += 16) {
            i8x16 q;

            memcpy(&q, block + 2 + i, sizeof(q));
            hx_v16 f = scale * __builtin_convertvector(q, hx_v16);
            memcpy(out + b * HX_Q8_0_WEIGHTS + i, &f, sizeof(f));
        }
    }
}

/* Row r as f32; points into the weights when they are f32 already, else into out. */
static const float *widen_row(const struct hx_linear *l, size_t r, float *out)
{
    const uint8_t *w = l->w;

    switch (l->type) {
    case HX_QUANT_F16:
        widen_f16(out, w + r * l->cols * 2, l->cols);
        return out;
    case HX_QUANT_Q8_0:
        widen_q8_0(out, w + r * (l->cols / HX_Q8_0_WEIGHTS) * HX_Q8_0_BYTES, l->cols);
        return out;
    default:
        return (const float *)l->w + r * l->cols;
    }
}

static void apply_one(const struct hx_linear *l, float *y, const float *x, size_t n,
                      float *scratch)
{
    for (size_t r = 0; r < l->rows; r++) {
        const float *w = widen_row(l, r, scratch);
        size_t i = 0;

        for (; i + 4 <= n; i += 4) {
            float four[4];

            hx_dot4(four, w, x + i * l->cols, l->cols, l->cols);
            for (size_t t = 0; t < 4; t++)
                y[(i + t) * l->rows + r] = four[t];
        }
        for (; i < n; i++)
            y[i * l->rows + r] = hx_dot(w, x + i * l->cols, l->cols);
    }
}

static int apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x,
                 size_t n, float *scratch, struct hx_why *why)
{
    (void)why;
    for (size_t m = 0; m < n_m; m++)
        apply_one(w[m], y[m], x, n, scratch);
    return 0;
}

const struct hx_linear_ops hx_linear_ref = {"ref", apply, NULL};

void hx_linear_row(const struct hx_linear *w, size_t r, float *out)
{
    const float *row = widen_row(w, r, out);

    if (row != out)
        memcpy(out, row, w->cols * sizeof(*out));
}
