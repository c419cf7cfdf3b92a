/* One result for each input, or for each pair. */
#include "twins.h"

#include <math.h>

#include "src/xnnpack/microfnptr.h"

enum { SIZE_MAX_ = 300, OFFSET_MAX = 31 }; /* elements, and how far a buffer's begin is moved */

static const float HALF_NORMAL = 0x1p-14f; /* below, halves have fewer bits */

static void fill(const struct twins *t, float *to)
{
    for (size_t i = 0; i < SIZE_MAX_ + 2 * OFFSET_MAX; i++)
        to[i] = twins_float(t);
}

/* The scale: |x| for functions that are a product with x, 1 for those that come to 0 by what is subtracted from x. */
enum scale { BY_RESULT, BY_INPUT, BY_ONE };

static void unary(const struct twins *t, enum scale scale)
{
    size_t n = twins_size(1, SIZE_MAX_), in = twins_random(OFFSET_MAX), out = twins_random(OFFSET_MAX);
    struct xnn_f32_minmax_params limits = { .scalar = { t->low / 2, t->high / 3 } };

    twins_begin();
    fill(t, twins_a);
    for (size_t i = 0; i < n && scale != BY_RESULT; i++)
        twins_scale[out + i] = scale == BY_ONE ? 1 : fabsf(twins_a[in + i]);
    ((xnn_vunary_ukernel_fn)t->hvx)(n * sizeof(float), twins_a + in, twins_got + out, (const void *)&limits);
    ((xnn_vunary_ukernel_fn)t->scalar)(n * sizeof(float), twins_a + in, twins_wanted + out, (const void *)&limits);
}

void run_unary(const struct twins *t)
{
    unary(t, BY_RESULT);
    twins_compare_floats(t);
}

void run_unary_by_input(const struct twins *t)
{
    unary(t, BY_INPUT);
    twins_compare_floats(t);
}

void run_unary_by_one(const struct twins *t)
{
    unary(t, BY_ONE);
    twins_compare_floats(t);
}

void run_unary_signed(const struct twins *t)
{
    unary(t, BY_INPUT);
    twins_compare_signs(t);
}

static void unary_f16(const struct twins *t, int by_input)
{
    size_t n = twins_size(1, SIZE_MAX_), in = twins_random(OFFSET_MAX), out = twins_random(OFFSET_MAX);
    _Float16 *a = (_Float16 *)twins_a;

    twins_begin();
    for (size_t i = 0; i < SIZE_MAX_ + 2 * OFFSET_MAX; i++)
        a[i] = (_Float16)twins_float(t);
    for (size_t i = 0; i < n; i++)
        twins_scale[out + i] = by_input ? fabsf((float)a[in + i]) : HALF_NORMAL;
    ((xnn_vunary_ukernel_fn)t->hvx)(n * sizeof(*a), a + in, (_Float16 *)twins_got + out, NULL);
    ((xnn_vunary_ukernel_fn)t->scalar)(n * sizeof(*a), a + in, (_Float16 *)twins_wanted + out, NULL);
    twins_compare_halves(t);
}

void run_unary_f16(const struct twins *t)
{
    unary_f16(t, 0);
}

void run_unary_f16_by_input(const struct twins *t)
{
    unary_f16(t, 1);
}

/* `power` of |a| + |b| is the scale, 0 none.  A function of a vector and a constant reads the first of b. */
static void binary(const struct twins *t, int power)
{
    size_t n = twins_size(1, SIZE_MAX_), in = twins_random(OFFSET_MAX), other = twins_random(OFFSET_MAX), out = twins_random(OFFSET_MAX);
    struct xnn_f32_default_params none = { 0 };
    float largest = 0;

    twins_begin();
    fill(t, twins_a);
    fill(t, twins_b);
    for (size_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(twins_a[in + i]) + fmaxf(fabsf(twins_b[other + i]), fabsf(twins_b[other])));
    for (size_t i = 0; i < n && power > 0; i++)
        twins_scale[out + i] = power == 1 ? largest : largest * largest;
    ((xnn_f32_vbinary_ukernel_fn)t->hvx)(n * sizeof(float), twins_a + in, twins_b + other, twins_got + out, &none);
    ((xnn_f32_vbinary_ukernel_fn)t->scalar)(n * sizeof(float), twins_a + in, twins_b + other, twins_wanted + out, &none);
    twins_compare_floats(t);
}

void run_binary(const struct twins *t)
{
    binary(t, 1);
}

void run_binary_far(const struct twins *t)
{
    binary(t, 0);
}

void run_binary_square(const struct twins *t)
{
    binary(t, 2);
}

void run_cvt_qs8(const struct twins *t)
{
    size_t n = twins_size(1, SIZE_MAX_), in = twins_random(OFFSET_MAX), out = twins_random(OFFSET_MAX);
    struct xnn_f32_qs8_cvt_params params = { .scalar = { 12.5f, (int16_t)((int)twins_random(21) - 10) } };

    twins_begin();
    fill(t, twins_a);
    ((xnn_vunary_ukernel_fn)t->hvx)(n * sizeof(float), twins_a + in, (int8_t *)twins_got + out, (const void *)&params);
    ((xnn_vunary_ukernel_fn)t->scalar)(n * sizeof(float), twins_a + in, (int8_t *)twins_wanted + out, (const void *)&params);
    twins_compare_bytes(t);
}

/* Between 2^-9 and 2^8, one in two above 2^7, where sums do not fit into a half. */
static float add_scale(void)
{
    return ldexpf(1 + (float)twins_random(1000) / 1000, twins_random(2) ? 7 : (int)twins_random(17) - 9);
}

/* a * scale_a + b * scale_b: multipliers of 21 bits, and a bias that rounds. */
static void add_params(struct xnn_qs8_add_minmax_params *params)
{
    float scale_a = add_scale(), scale_b = add_scale();
    int shift = 20 - ilogbf(fmaxf(scale_a, scale_b));

    params->scalar.a_zero_point = (int8_t)twins_random(256);
    params->scalar.b_zero_point = (int8_t)twins_random(256);
    params->scalar.a_multiplier = (int32_t)lrintf(ldexpf(scale_a, shift));
    params->scalar.b_multiplier = (int32_t)lrintf(ldexpf(scale_b, shift));
    params->scalar.shift = shift;
    params->scalar.bias = (1 << (shift - 1)) - params->scalar.a_multiplier * params->scalar.a_zero_point -
                          params->scalar.b_multiplier * params->scalar.b_zero_point;
    params->scalar.output_zero_point = (int16_t)((int)twins_random(256) - 128);
    params->scalar.output_min = -120;
    params->scalar.output_max = 119;
}

void run_add_qs8(const struct twins *t)
{
    size_t n = twins_size(1, SIZE_MAX_), in = twins_random(OFFSET_MAX), other = twins_random(OFFSET_MAX), out = twins_random(OFFSET_MAX);
    int8_t *a = (int8_t *)twins_a, *b = (int8_t *)twins_b;
    struct xnn_qs8_add_minmax_params params;

    twins_begin();
    add_params(&params);
    for (size_t i = 0; i < SIZE_MAX_ + 2 * OFFSET_MAX; i++)
        a[i] = (int8_t)twins_random(256), b[i] = (int8_t)twins_random(256);
    ((xnn_qs8_vadd_minmax_ukernel_fn)t->hvx)(n, a + in, b + other, (int8_t *)twins_got + out, &params);
    ((xnn_qs8_vadd_minmax_ukernel_fn)t->scalar)(n, a + in, b + other, (int8_t *)twins_wanted + out, &params);
    twins_compare_bytes(t);
}

/* exp(x - max), and its sum behind them. */
void run_softmax(const struct twins *t)
{
    size_t n = twins_size(1, SIZE_MAX_), in = twins_random(OFFSET_MAX), out = twins_random(OFFSET_MAX);
    xnn_f32_raddstoreexpminusmax_ukernel_fn hvx = (xnn_f32_raddstoreexpminusmax_ukernel_fn)t->hvx;
    xnn_f32_raddstoreexpminusmax_ukernel_fn scalar = (xnn_f32_raddstoreexpminusmax_ukernel_fn)t->scalar;
    float most = t->high;

    twins_begin();
    fill(t, twins_a);
    hvx(n * sizeof(float), twins_a + in, &most, twins_got + out, twins_got + TWINS_CELLS - 1, NULL);
    scalar(n * sizeof(float), twins_a + in, &most, twins_wanted + out, twins_wanted + TWINS_CELLS - 1, NULL);
    twins_compare_floats(t);
}
