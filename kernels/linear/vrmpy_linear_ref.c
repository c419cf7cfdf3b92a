/* int8 linear layers in plain C, see vrmpy_linear.h. */
#include <math.h>
#include <string.h>

#include "vrmpy_linear.h"

static int code_of(float v, int most)
{
    const int code = (int)(v + (v >= 0 ? 0.5f : -0.5f));

    return code > most ? most : code < -most ? -most : code;
}

/* One of a block's codes. */
static int8_t *code_at(struct hx_linear_block *out, size_t i)
{
    return (int8_t *)out->code + i % HX_WEIGHTS_BLOCK;
}

/* One piece with one scale; wide: highs and lows take turns. */
static int quantize_piece(const float *x, size_t n, int wide, struct hx_linear_block *out)
{
    const float most = wide ? HX_LINEAR_WIDE : 127.0f;
    int sum[2] = {0, 0};
    float top = 0;

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return 1;
        top = fmaxf(top, fabsf(x[i]));
    }
    const float up = top > HX_LINEAR_TINY ? most / top : 0;

    for (size_t i = 0; i < n; i++) {
        const int code = code_of(x[i] * up, (int)most), high = wide ? (int)floor((code + 128) / 256.0) : code;
        struct hx_linear_block *at = &out[hx_linear_quantized(i / HX_WEIGHTS_BLOCK, wide)];

        *code_at(at, i) = (int8_t)high;
        sum[0] += high;
        if (wide) {
            *code_at(at + 1, i) = (int8_t)(code - 256 * high);
            sum[1] += code - 256 * high;
        }
    }
    for (size_t b = 0; b < hx_linear_quantized(hx_weights_blocks(n), wide); b++)
        out[b].scale = top > HX_LINEAR_TINY ? top / most : 0;
    for (int i = 0; i <= wide; i++)
        out[i].start = -HX_WEIGHTS_ZERO * sum[i];
    return 0;
}

static int quantize(enum hx_weights_type type, const float *x, size_t cols, int wide, struct hx_linear_block *out)
{
    const size_t piece = type == HX_WEIGHTS_Q8_0 ? HX_WEIGHTS_BLOCK : cols;
    int bad = 0;

    memset(out, 0, hx_linear_quantized(hx_weights_blocks(cols), wide) * sizeof(*out));
    for (size_t i = 0; i < cols; i += piece)
        bad |= quantize_piece(x + i, cols - i < piece ? cols - i : piece, wide, &out[hx_linear_quantized(i / HX_WEIGHTS_BLOCK, wide)]);
    return bad;
}

int hx_linear_quantize_ref(enum hx_weights_type type, const float *x, size_t cols,
                           struct hx_linear_block *out)
{
    return quantize(type, x, cols, 0, out);
}

int hx_linear_quantize_wide_ref(enum hx_weights_type type, const float *x, size_t cols, struct hx_linear_block *out)
{
    return quantize(type, x, cols, 1, out);
}

/* Sum of code * weight of lane l in a block. */
static int dot_codes(const uint8_t *w, const struct hx_linear_block *x, size_t l)
{
    const int8_t *code = (const int8_t *)x->code;
    int sum = 0;

    for (size_t i = 0; i < HX_WEIGHTS_BLOCK; i++)
        sum += (w[i / 4 * HX_WEIGHTS_VECTOR + 4 * l + i % 4] - HX_WEIGHTS_ZERO) * code[i];
    return sum;
}

/* Of the activations of block b. */
static int dot(const uint8_t *w, const struct hx_linear_block *x, int wide, size_t b, size_t l)
{
    return wide ? 256 * dot_codes(w, &x[2 * b], l) + dot_codes(w, &x[2 * b + 1], l) : dot_codes(w, &x[b], l);
}

static float row_of_q8(const uint8_t *w, const struct hx_linear_job *job, const struct hx_linear_block *x, size_t l)
{
    double y = 0;

    for (size_t b = 0; b < job->blocks; b++) {
        const float *scale = (const float *)(w + HX_WEIGHTS_CODE_VECTORS * HX_WEIGHTS_VECTOR);

        y += dot(w, x, job->wide, b, l) * ((double)scale[l] * x[hx_linear_quantized(b, job->wide)].scale);
        w += (HX_WEIGHTS_CODE_VECTORS + 1) * HX_WEIGHTS_VECTOR;
    }
    return (float)y;
}

static float row_of_row8(const uint8_t *w, const struct hx_linear_job *job, const struct hx_linear_block *x, size_t l)
{
    int64_t sum = 0;

    for (size_t b = 0; b < job->blocks; b++, w += HX_WEIGHTS_CODE_VECTORS * HX_WEIGHTS_VECTOR)
        sum += dot(w, x, job->wide, b, l);
    return (float)((double)sum * ((double)((const float *)w)[l] * x->scale));
}

void hx_linear_rows_ref(const struct hx_linear_job *job)
{
    const size_t group = hx_weights_group_bytes(job->type, job->blocks * HX_WEIGHTS_BLOCK);

    for (size_t t = 0; t < job->n; t++)
        for (size_t r = 0; r < job->rows; r++) {
            const uint8_t *w = job->w + r / HX_WEIGHTS_ROWS * group;
            const struct hx_linear_block *x = job->x + t * hx_linear_quantized(job->blocks, job->wide);

            job->y[t * job->y_stride + r] = (job->type == HX_WEIGHTS_Q8_0 ? row_of_q8 : row_of_row8)(w, job, x,
                                                                                                   r % HX_WEIGHTS_ROWS);
        }
}

long hx_linear_argmax_ref(const float *y, size_t n)
{
    size_t best = 0;

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(y[i]))
            return -1;
        if (y[i] > y[best])
            best = i;
    }
    return (long)best;
}
