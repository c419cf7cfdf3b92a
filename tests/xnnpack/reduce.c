/* Sums, least and largest ones: of a vector, of columns, of pooled pixels. */
#include "twins.h"

#include <math.h>
#include <string.h>

#include "src/xnnpack/microfnptr.h"

enum { VECTOR_FLOATS = 32, SIZE_MAX_ = 400, ROWS_MAX = 20, CHANNELS_MAX = 150, STRIDE = 160, POINTERS_MAX = 128, TAPS_MAX = 20 };
enum { PIXELS_MAX = 3 };

static void fill(const struct twins *t, float *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = twins_float(t);
}

static void magnitudes(float *to, const float *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = fabsf(from[i]);
}

static void reduce(const struct twins *t, size_t n)
{
    struct xnn_f32_scale_params scale = { .scalar = { 0.75f } };
    size_t in = twins_random(VECTOR_FLOATS);
    xnn_f32_reduce_ukernel_fn hvx = (xnn_f32_reduce_ukernel_fn)t->hvx, scalar = (xnn_f32_reduce_ukernel_fn)t->scalar;

    twins_begin();
    fill(t, twins_a, SIZE_MAX_ + 2 * VECTOR_FLOATS);
    magnitudes(twins_b, twins_a, SIZE_MAX_ + 2 * VECTOR_FLOATS);
    twins_got[0] = twins_wanted[0] = twins_float(t);
    twins_got[1] = twins_wanted[1] = twins_float(t);
    twins_scale[0] = fabsf(twins_got[0]);
    hvx(n * sizeof(float), twins_a + in, twins_got, (const void *)&scale);
    scalar(n * sizeof(float), twins_a + in, twins_wanted, (const void *)&scale);
    scalar(n * sizeof(float), twins_b + in, twins_scale, (const void *)&scale);
    twins_compare_floats(t);
}

void run_reduce(const struct twins *t)
{
    reduce(t, twins_size(1, SIZE_MAX_));
}

void run_reduce_whole(const struct twins *t)
{
    reduce(t, VECTOR_FLOATS * twins_size(1, SIZE_MAX_ / VECTOR_FLOATS));
}

static void fill_bytes(const struct twins *t, void *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)to)[i] = (uint8_t)(int)floorf(twins_float(t));
}

void run_reduce_8(const struct twins *t)
{
    size_t n = twins_size(1, 2 * SIZE_MAX_), in = twins_random(VECTOR_FLOATS);

    twins_begin();
    fill_bytes(t, twins_a, sizeof(float) * SIZE_MAX_);
    fill_bytes(t, twins_got, 2);
    memcpy(twins_wanted, twins_got, 2);
    ((xnn_reduce_ukernel_fn)t->hvx)(n, (uint8_t *)twins_a + in, twins_got, NULL);
    ((xnn_reduce_ukernel_fn)t->scalar)(n, (uint8_t *)twins_a + in, twins_wanted, NULL);
    twins_compare_bytes(t);
}

void run_rd_f32(const struct twins *t)
{
    size_t rows = twins_size(1, ROWS_MAX), channels = twins_size(1, CHANNELS_MAX);

    twins_begin();
    fill(t, twins_a, ROWS_MAX * STRIDE);
    fill(t, twins_got, channels);
    memcpy(twins_wanted, twins_got, channels * sizeof(float));
    ((xnn_f32_rdminmax_ukernel_fn)t->hvx)(rows, channels, twins_a, STRIDE * sizeof(float), twins_zero, twins_got, NULL);
    ((xnn_f32_rdminmax_ukernel_fn)t->scalar)(rows, channels, twins_a, STRIDE * sizeof(float), twins_zero, twins_wanted, NULL);
    twins_compare_floats(t);
}

void run_rd_8(const struct twins *t)
{
    size_t rows = twins_size(1, ROWS_MAX), channels = twins_size(1, 3 * CHANNELS_MAX);
    xnn_u8_rdminmax_ukernel_fn hvx = (xnn_u8_rdminmax_ukernel_fn)t->hvx, scalar = (xnn_u8_rdminmax_ukernel_fn)t->scalar;
    uint8_t *a = (uint8_t *)twins_a;

    twins_begin();
    fill_bytes(t, twins_a, ROWS_MAX * STRIDE * 4);
    fill_bytes(t, twins_got, channels);
    memcpy(twins_wanted, twins_got, channels);
    hvx(rows, channels, a, STRIDE * 4, (uint8_t *)twins_zero, (uint8_t *)twins_got, NULL);
    scalar(rows, channels, a, STRIDE * 4, (uint8_t *)twins_zero, (uint8_t *)twins_wanted, NULL);
    twins_compare_bytes(t);
}

/* input[k3][k2][k1][channels] */
void run_rdsum(const struct twins *t)
{
    struct xnn_f32_scale_params scale = { .scalar = { 0.75f } };
    size_t channels = twins_size(1, CHANNELS_MAX), k1 = twins_size(1, ROWS_MAX), k2 = twins_size(1, 3), k3 = twins_size(1, 3);
    size_t row = STRIDE * sizeof(float), plane = k1 * row, block = k2 * plane;
    xnn_f32_rdsum_ukernel_fn hvx = (xnn_f32_rdsum_ukernel_fn)t->hvx, scalar = (xnn_f32_rdsum_ukernel_fn)t->scalar;

    twins_begin();
    fill(t, twins_a, ROWS_MAX * STRIDE * 9);
    magnitudes(twins_b, twins_a, ROWS_MAX * STRIDE * 9);
    fill(t, twins_got, channels);
    memcpy(twins_wanted, twins_got, channels * sizeof(float));
    magnitudes(twins_scale, twins_got, channels);
    hvx(channels, k1, k2, k3, twins_a, row, plane, block, twins_zero, twins_got, &scale);
    scalar(channels, k1, k2, k3, twins_a, row, plane, block, twins_zero, twins_wanted, &scale);
    scalar(channels, k1, k2, k3, twins_b, row, plane, block, twins_zero, twins_scale, &scale);
    twins_compare_floats(t);
}

/* Pointers to the rows of `count` taps, some of them to zeroes. */
static void taps(const float **to, const float *from, size_t count, int zeroes)
{
    for (size_t i = 0; i < count; i++)
        to[i] = zeroes && twins_random(5) == 0 ? twins_zero : from + twins_random(ROWS_MAX) * STRIDE;
}

struct pool {
    size_t pixels, taps, channels, step, gap; /* step: pointers from pixel to pixel; gap: bytes behind a pixel's results */
};

static struct pool any_pool(void)
{
    struct pool p = { .pixels = twins_size(1, PIXELS_MAX), .taps = twins_size(1, TAPS_MAX), .channels = twins_size(1, CHANNELS_MAX) };

    p.step = p.taps + twins_random(3);
    p.gap = sizeof(float) * twins_random(40);
    return p;
}

void run_avgpool(const struct twins *t)
{
    struct xnn_f32_scaleminmax_params params = { .scalar = { 0.125f, -0.3f, 0.35f } }, open = { .scalar = { 0.125f, -INFINITY, INFINITY } };
    const float *rows[POINTERS_MAX], *absolute[POINTERS_MAX];
    struct pool p = any_pool();
    xnn_f32_avgpool_ukernel_fn hvx = (xnn_f32_avgpool_ukernel_fn)t->hvx, scalar = (xnn_f32_avgpool_ukernel_fn)t->scalar;
    size_t step = p.step * sizeof(void *);

    twins_begin();
    fill(t, twins_a, (ROWS_MAX + PIXELS_MAX) * STRIDE);
    magnitudes(twins_b, twins_a, (ROWS_MAX + PIXELS_MAX) * STRIDE);
    taps(rows, twins_a, POINTERS_MAX, 1);
    for (size_t i = 0; i < POINTERS_MAX; i++)
        absolute[i] = rows[i] == twins_zero ? twins_zero : twins_b + (rows[i] - twins_a);
    hvx(p.pixels, p.taps, p.channels, rows, 8, 16, twins_zero, NULL, twins_got, step, p.gap, &params);
    scalar(p.pixels, p.taps, p.channels, rows, 8, 16, twins_zero, NULL, twins_wanted, step, p.gap, &params);
    scalar(p.pixels, p.taps, p.channels, absolute, 8, 16, twins_zero, NULL, twins_scale, step, p.gap, &open);
    twins_compare_floats(t);
}

void run_maxpool(const struct twins *t)
{
    struct xnn_f32_minmax_params params = { .scalar = { -2, 8 } };
    const float *rows[POINTERS_MAX];
    struct pool p = any_pool();
    size_t step = p.step * sizeof(void *);

    twins_begin();
    fill(t, twins_a, (ROWS_MAX + PIXELS_MAX) * STRIDE);
    taps(rows, twins_a, POINTERS_MAX, 0);
    ((xnn_f32_maxpool_ukernel_fn)t->hvx)(p.pixels, p.taps, p.channels, rows, 8, 16, twins_got, step, p.gap, &params);
    ((xnn_f32_maxpool_ukernel_fn)t->scalar)(p.pixels, p.taps, p.channels, rows, 8, 16, twins_wanted, step, p.gap, &params);
    twins_compare_floats(t);
}
