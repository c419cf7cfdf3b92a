/* int8 linear layers in plain C, see vrmpy_linear.h. */
#include <math.h>
#include <string.h>

#include "vrmpy_linear.h"

static int code_of(float v)
{
    const int code = (int)(v + (v >= 0 ? 0.5f : -0.5f));

    return code > 127 ? 127 : code < -127 ? -127 : code;
}

/* One piece with one scale; *sum gets the codes' sum. */
static int quantize_piece(const float *x, size_t n, struct hx_linear_block *out, int *sum)
{
    float top = 0;

    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return 1;
        top = fmaxf(top, fabsf(x[i]));
    }
    const float up = top > HX_LINEAR_TINY ? 127.0f / top : 0;

    for (size_t i = 0; i < n; i++) {
        const int code = code_of(x[i] * up);

        ((int8_t *)out[i / HX_WEIGHTS_BLOCK].code)[i % HX_WEIGHTS_BLOCK] = (int8_t)code;
        *sum += code;
    }
    for (size_t b = 0; b < hx_weights_blocks(n); b++)
        out[b].scale = top > HX_LINEAR_TINY ? top / 127.0f : 0;
    return 0;
}

int hx_linear_quantize_ref(enum hx_weights_type type, const float *x, size_t cols,
                           struct hx_linear_block *out)
{
    const size_t piece = type == HX_WEIGHTS_Q8_0 ? HX_WEIGHTS_BLOCK : cols;
    int bad = 0, sum;

    memset(out, 0, hx_weights_blocks(cols) * sizeof(*out));
    for (size_t i = 0; i < cols; i += piece) {
        struct hx_linear_block *first = &out[i / HX_WEIGHTS_BLOCK];

        bad |= quantize_piece(x + i, cols - i < piece ? cols - i : piece, first, &sum);
        first->start = -HX_WEIGHTS_ZERO * sum;
    }
    return bad;
}

/* Sum of code * weight of lane l in a block. */
static int dot(const uint8_t *w, const struct hx_linear_block *x, size_t l)
{
    const int8_t *code = (const int8_t *)x->code;
    int sum = 0;

    for (size_t i = 0; i < HX_WEIGHTS_BLOCK; i++)
        sum += (w[i / 4 * HX_WEIGHTS_VECTOR + 4 * l + i % 4] - HX_WEIGHTS_ZERO) * code[i];
    return sum;
}

static float row_of_q8(const uint8_t *w, const struct hx_linear_block *x, size_t blocks, size_t l)
{
    double y = 0;

    for (size_t b = 0; b < blocks; b++) {
        const float *scale = (const float *)(w + HX_WEIGHTS_CODE_VECTORS * HX_WEIGHTS_VECTOR);

        y += dot(w, &x[b], l) * ((double)scale[l] * x[b].scale);
        w += (HX_WEIGHTS_CODE_VECTORS + 1) * HX_WEIGHTS_VECTOR;
    }
    return (float)y;
}

static float row_of_row8(const uint8_t *w, const struct hx_linear_block *x, size_t blocks, size_t l)
{
    int32_t sum = 0;

    for (size_t b = 0; b < blocks; b++, w += HX_WEIGHTS_CODE_VECTORS * HX_WEIGHTS_VECTOR)
        sum += dot(w, &x[b], l);
    return (float)(sum * ((double)((const float *)w)[l] * x->scale));
}

void hx_linear_rows_ref(const struct hx_linear_job *job)
{
    const size_t group = hx_weights_group_bytes(job->type, job->blocks * HX_WEIGHTS_BLOCK);

    for (size_t t = 0; t < job->n; t++)
        for (size_t r = 0; r < job->rows; r++) {
            const uint8_t *w = job->w + r / HX_WEIGHTS_ROWS * group;
            const struct hx_linear_block *x = job->x + t * job->blocks;

            job->y[t * job->y_stride + r] = (job->type == HX_WEIGHTS_Q8_0 ? row_of_q8 : row_of_row8)(
                w, x, job->blocks, r % HX_WEIGHTS_ROWS);
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
