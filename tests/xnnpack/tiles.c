/* Matrix products, convolutions: weights in the order that each kernel reads.  Twins have tiles of 1 x 4, so they run row by row with
 * weights of their own, and once more on magnitudes, for the scale. */
#include "twins.h"

#include <math.h>
#include <string.h>

#include "src/xnnpack/microfnptr.h"

enum {
    VECTOR_FLOATS = 32,
    TWIN_COLUMNS = 4,
    GROUP = 4, /* values of 8 bits that lie together */
    DEPTH_MAX = 24,
    PATCHES_MAX = 3,
    A_STRIDE = 96,
    ROWS_MAX = 20,
    POINTERS_MAX = 256,
    OFFSET = 8
};

struct product {
    size_t rows, columns, depth, patches; /* patches: pointers of an indirect gemm for each row, else 1 */
    size_t tile_rows, tile_columns;
    size_t stride; /* elements of a row of results */
};

static struct product any_product(const struct twins *t, size_t patches)
{
    struct product p = { .rows = twins_size(1, (size_t)t->first), .depth = twins_size(1, DEPTH_MAX), .patches = patches };

    p.tile_rows = (size_t)t->first;
    p.tile_columns = (size_t)t->second;
    p.columns = twins_random(4) == 0 ? p.tile_columns : twins_size(1, 2 * p.tile_columns + 9); /* one in four has no tail */
    if (p.columns % VECTOR_FLOATS == 0 && p.columns % p.tile_columns != 0)
        p.columns--; /* there the wide float kernels store a tail of no floats, which XNNPACK's own assert forbids */
    p.stride = p.columns + twins_random(9);
    return p;
}

static void fill(const struct twins *t, float *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = twins_float(t);
}

static void magnitudes(float *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = fabsf(data[i]);
}

/* `plain`: biases of all columns, then weights[column][depth].  Each tile: its biases, then for each depth its weights; zeroes where no
 * column is. */
static void pack(float *to, const float *plain, size_t columns, size_t depth, size_t tile)
{
    const float *weights = plain + columns;

    for (size_t first = 0; first < columns; first += tile) {
        for (size_t j = 0; j < tile; j++)
            *to++ = first + j < columns ? plain[first + j] : 0;
        for (size_t k = 0; k < depth; k++)
            for (size_t j = 0; j < tile; j++)
                *to++ = first + j < columns ? weights[(first + j) * depth + k] : 0;
    }
}

void run_gemm(const struct twins *t)
{
    struct product p = any_product(t, 1);
    struct xnn_f32_minmax_params limits = { .scalar = { -1.5f, 1.25f } }, open = { .scalar = { -INFINITY, INFINITY } };
    xnn_f32_gemm_minmax_ukernel_fn hvx = (xnn_f32_gemm_minmax_ukernel_fn)t->hvx, scalar = (xnn_f32_gemm_minmax_ukernel_fn)t->scalar;
    size_t bytes = sizeof(float), plain = p.columns * (p.depth + 1);

    twins_begin();
    fill(t, twins_a, ROWS_MAX * A_STRIDE);
    fill(t, twins_b, plain);
    pack(twins_weights, twins_b, p.columns, p.depth, p.tile_columns);
    hvx(p.rows, p.columns, p.depth * bytes, twins_a, A_STRIDE * bytes, twins_weights, twins_got, p.stride * bytes, p.tile_columns * bytes,
        &limits);
    pack(twins_weights, twins_b, p.columns, p.depth, TWIN_COLUMNS);
    for (size_t i = 0; i < p.rows; i++)
        scalar(1, p.columns, p.depth * bytes, twins_a + i * A_STRIDE, 0, twins_weights, twins_wanted + i * p.stride, 0,
               TWIN_COLUMNS * bytes, &limits);
    magnitudes(twins_a, ROWS_MAX * A_STRIDE);
    magnitudes(twins_b, plain);
    pack(twins_weights, twins_b, p.columns, p.depth, TWIN_COLUMNS);
    for (size_t i = 0; i < p.rows; i++)
        scalar(1, p.columns, p.depth * bytes, twins_a + i * A_STRIDE, 0, twins_weights, twins_scale + i * p.stride, 0, TWIN_COLUMNS * bytes,
               &open);
    twins_compare_floats(t);
}

/* pointers[patch][row of the tile] for the kernel, rows behind the last one are that one again; its twin reads those of one row. */
static void indirect(const void **pointers, const struct product *p, const void *a, size_t row_bytes, const void *zero)
{
    for (size_t patch = 0; patch < p->patches; patch++)
        for (size_t i = 0; i < p->tile_rows; i++)
            pointers[patch * p->tile_rows + i] = i >= p->rows              ? pointers[patch * p->tile_rows + p->rows - 1]
                                                 : twins_random(5) == 0 ? zero
                                                                           : (const char *)a + twins_random(ROWS_MAX) * row_bytes;
}

static void of_row(const void **to, const void **pointers, const struct product *p, size_t row)
{
    for (size_t patch = 0; patch < p->patches; patch++)
        to[patch] = pointers[patch * p->tile_rows + row];
}

/* Limits that the kernels understand: they take (int)limit for the bits of a float. */
static float limit_of_bits(float f)
{
    int32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return (float)bits;
}

void run_igemm(const struct twins *t)
{
    struct product p = any_product(t, twins_size(1, PATCHES_MAX));
    struct xnn_f32_minmax_params hvx_limits = { .scalar = { limit_of_bits(-1e9f), limit_of_bits(1e9f) } };
    struct xnn_f32_minmax_params open = { .scalar = { -INFINITY, INFINITY } };
    xnn_f32_igemm_minmax_ukernel_fn hvx = (xnn_f32_igemm_minmax_ukernel_fn)t->hvx, scalar = (xnn_f32_igemm_minmax_ukernel_fn)t->scalar;
    const void *all[POINTERS_MAX], *row[PATCHES_MAX];
    size_t bytes = sizeof(float), depth = p.depth * p.patches, plain = p.columns * (depth + 1), ks = p.patches * sizeof(void *);

    twins_begin();
    fill(t, twins_a, ROWS_MAX * A_STRIDE);
    fill(t, twins_b, plain);
    indirect(all, &p, twins_a, A_STRIDE * bytes, twins_zero);
    pack(twins_weights, twins_b, p.columns, depth, p.tile_columns);
    hvx(p.rows, p.columns, p.depth * bytes, ks * p.tile_rows, (const float **)all, twins_weights, twins_got, p.stride * bytes,
        p.tile_columns * bytes, OFFSET * bytes, twins_zero, &hvx_limits);
    for (int absolute = 0; absolute < 2; absolute++) {
        if (absolute) {
            magnitudes(twins_a, ROWS_MAX * A_STRIDE);
            magnitudes(twins_b, plain);
        }
        pack(twins_weights, twins_b, p.columns, depth, TWIN_COLUMNS);
        for (size_t i = 0; i < p.rows; i++) {
            of_row(row, all, &p, i);
            scalar(1, p.columns, p.depth * bytes, ks, (const float **)row, twins_weights,
                   (absolute ? twins_scale : twins_wanted) + i * p.stride, 0, TWIN_COLUMNS * bytes, OFFSET * bytes, twins_zero, &open);
        }
    }
    twins_compare_floats(t);
}

/* Of 8 bits: biases of 32 bits and, with `gap`, as many words behind them; weights[column][depth] in groups of depth; a float scale for
 * each column. */
static void pack_qs8(int8_t *to, const int8_t *weights, const struct product *p, size_t tile, size_t group, int gap)
{
    size_t deep = (p->depth + group - 1) / group * group, all = p->depth * p->patches, column;
    float scale;

    for (size_t first = 0; first < p->columns; first += tile) {
        for (size_t j = 0; j < tile; j++, to += sizeof(int32_t))
            memcpy(to, &((const int32_t *)twins_other)[first + j], sizeof(int32_t));
        to += gap ? tile * sizeof(int32_t) : 0;
        for (size_t k = 0; k < deep * p->patches; k += group)
            for (size_t j = 0; j < tile; j++)
                for (size_t i = 0; i < group; i++) {
                    column = first + j;
                    *to++ = column < p->columns && k % deep + i < p->depth ? weights[column * all + k / deep * p->depth + k % deep + i] : 0;
                }
        for (size_t j = 0; j < tile; j++, to += sizeof(float)) {
            scale = 1e-3f + 1e-5f * (float)((first + j) % 97);
            memcpy(to, &scale, sizeof(scale));
        }
    }
}

static void fill_qs8(const struct product *p)
{
    for (size_t i = 0; i < ROWS_MAX * A_STRIDE * 2; i++)
        ((int8_t *)twins_a)[i] = (int8_t)twins_random(256);
    for (size_t i = 0; i < p->columns * p->depth * p->patches; i++)
        ((int8_t *)twins_b)[i] = (int8_t)twins_random(256);
    for (size_t i = 0; i < 2 * p->columns + 2 * p->tile_columns; i++)
        ((int32_t *)twins_other)[i] = (int32_t)twins_random(20000) - 10000;
}

static const union xnn_qs8_qc8w_conv_minmax_params qs8_limits = { .fp32_scalar = { 7, -110, 115 } };

/* What the kernels read where rows lie on words: the second word of eight bytes 12 bytes further on, *((int32_t *)a + 4) for a + 4.  In
 * whole eights only. */
static void as_upstream_reads(int8_t *to, const int8_t *from, size_t depth)
{
    size_t deep = (depth + GROUP - 1) / GROUP * GROUP;

    memcpy(to, from, deep);
    for (size_t k = 0; k + 8 <= deep; k += 8)
        memcpy(to + k + 4, from + k + 16, 4);
}

/* Rows of odd places on one side, of words on the other: there the product is asked for first, then what upstream's slip makes of it. */
void run_gemm_qs8(const struct twins *t)
{
    struct product p = any_product(t, 1);
    xnn_qs8_qc8w_gemm_minmax_ukernel_fn hvx = (xnn_qs8_qc8w_gemm_minmax_ukernel_fn)t->hvx;
    xnn_qs8_qc8w_gemm_minmax_ukernel_fn scalar = (xnn_qs8_qc8w_gemm_minmax_ukernel_fn)t->scalar;
    int words = (int)twins_random(2);
    const int8_t *a = (const int8_t *)twins_a + (words ? 0 : 1);
    size_t stride = words ? A_STRIDE : A_STRIDE - 1;
    int8_t read[A_STRIDE * 2];

    twins_begin();
    fill_qs8(&p);
    pack_qs8((int8_t *)twins_weights, (const int8_t *)twins_b, &p, p.tile_columns, GROUP, 0);
    hvx(p.rows, p.columns, p.depth, a, stride, twins_weights, (int8_t *)twins_got, p.stride, p.tile_columns, &qs8_limits);
    pack_qs8((int8_t *)twins_weights, (const int8_t *)twins_b, &p, TWIN_COLUMNS, 1, 0);
    for (int slip = 0; slip <= words; slip++) {
        if (slip && memcmp(twins_got, twins_wanted, p.rows * p.stride) == 0)
            break;
        for (size_t i = 0; i < p.rows; i++) {
            memcpy(read, a + i * stride, p.depth);
            if (slip)
                as_upstream_reads(read, a + i * stride, p.depth);
            scalar(1, p.columns, p.depth, read, 0, twins_weights, (int8_t *)twins_wanted + i * p.stride, 0, TWIN_COLUMNS, &qs8_limits);
        }
    }
    twins_compare_bytes(t);
}

/* The kernels step over as many words again as there are biases. */
void run_igemm_qs8(const struct twins *t)
{
    struct product p = any_product(t, twins_size(1, PATCHES_MAX));
    xnn_qs8_qc8w_igemm_minmax_ukernel_fn hvx = (xnn_qs8_qc8w_igemm_minmax_ukernel_fn)t->hvx;
    xnn_qs8_qc8w_igemm_minmax_ukernel_fn scalar = (xnn_qs8_qc8w_igemm_minmax_ukernel_fn)t->scalar;
    const void *all[POINTERS_MAX], *row[PATCHES_MAX];
    size_t ks = p.patches * sizeof(void *);

    twins_begin();
    fill_qs8(&p);
    indirect(all, &p, twins_a, A_STRIDE, twins_zero);
    pack_qs8((int8_t *)twins_weights, (const int8_t *)twins_b, &p, p.tile_columns, GROUP, 1);
    hvx(p.rows, p.columns, p.depth, ks * p.tile_rows, (const int8_t **)all, twins_weights, (int8_t *)twins_got, p.stride, p.tile_columns,
        OFFSET, (const int8_t *)twins_zero, &qs8_limits);
    pack_qs8((int8_t *)twins_weights, (const int8_t *)twins_b, &p, TWIN_COLUMNS, 1, 0);
    for (size_t i = 0; i < p.rows; i++) {
        of_row(row, all, &p, i);
        scalar(1, p.columns, p.depth, ks, (const int8_t **)row, twins_weights, (int8_t *)twins_wanted + i * p.stride, 0, TWIN_COLUMNS,
               OFFSET, (const int8_t *)twins_zero, &qs8_limits);
    }
    twins_compare_bytes(t);
}

/* `first` taps; tiles of `second` channels, 1 for the twin: pack() of taps for depth. */
void run_dwconv(const struct twins *t)
{
    size_t taps = (size_t)t->first, channels = twins_size(1, 150), width = twins_size(1, 3), gap = sizeof(float) * twins_random(9);
    struct xnn_f32_minmax_params limits = { .scalar = { -1.5f, 1.25f } }, open = { .scalar = { -INFINITY, INFINITY } };
    xnn_f32_dwconv_minmax_ukernel_fn hvx = (xnn_f32_dwconv_minmax_ukernel_fn)t->hvx, scalar = (xnn_f32_dwconv_minmax_ukernel_fn)t->scalar;
    const float *rows[POINTERS_MAX];
    size_t plain = channels * (taps + 1), step = taps * sizeof(void *);

    twins_begin();
    fill(t, twins_a, (ROWS_MAX + 2) * 160);
    fill(t, twins_b, plain);
    for (size_t i = 0; i < taps * width; i++)
        rows[i] = twins_random(5) == 0 ? twins_zero : twins_a + twins_random(ROWS_MAX) * 160;
    pack(twins_weights, twins_b, channels, taps, (size_t)t->second);
    hvx(channels, width, rows, twins_weights, twins_got, (intptr_t)step, gap, OFFSET, 0, twins_zero, &limits);
    pack(twins_weights, twins_b, channels, taps, 1);
    scalar(channels, width, rows, twins_weights, twins_wanted, (intptr_t)step, gap, OFFSET, 0, twins_zero, &limits);
    magnitudes(twins_a, (ROWS_MAX + 2) * 160);
    magnitudes(twins_weights, plain);
    scalar(channels, width, rows, twins_weights, twins_scale, (intptr_t)step, gap, OFFSET, 0, twins_zero, &open);
    twins_compare_floats(t);
}

/* Sparse weights: for each column its bias, then its weights; `steps` are bytes from one weight's row of inputs to the next one's, the
 * last one back. */
void run_spmm(const struct twins *t)
{
    enum { INPUTS = 24, COLUMNS = 12, ROW = 320 };
    size_t count = twins_size(1, 300), columns = twins_size(1, COLUMNS), used = 0, weights = 0;
    struct xnn_f32_minmax_params limits = { .scalar = { -1.5f, 1.25f } }, open = { .scalar = { -INFINITY, INFINITY } };
    xnn_f32_spmm_minmax_ukernel_fn hvx = (xnn_f32_spmm_minmax_ukernel_fn)t->hvx, scalar = (xnn_f32_spmm_minmax_ukernel_fn)t->scalar;
    int32_t steps[INPUTS * COLUMNS + 8] = { 0 };
    uint32_t sizes[COLUMNS] = { 0 };
    size_t inputs[INPUTS * COLUMNS], bytes = sizeof(float), first;

    twins_begin();
    fill(t, twins_a, INPUTS * ROW);
    for (size_t j = 0; j < columns; j++) {
        twins_weights[weights++] = twins_float(t);
        for (size_t k = 0; k < INPUTS; k++)
            if (twins_random(3) == 0) {
                twins_weights[weights++] = twins_float(t);
                inputs[used++] = k;
                sizes[j]++;
            }
    }
    for (size_t i = 0; i < used; i++)
        steps[i] = ((int32_t)inputs[(i + 1) % used] - (int32_t)inputs[i]) * (int32_t)(ROW * bytes);
    first = used ? inputs[0] * ROW : 0;
    hvx(count * bytes, columns, twins_a + first, twins_weights, steps, sizes, twins_got, ROW * bytes, &limits);
    scalar(count * bytes, columns, twins_a + first, twins_weights, steps, sizes, twins_wanted, ROW * bytes, &limits);
    magnitudes(twins_a, INPUTS * ROW);
    magnitudes(twins_weights, weights);
    scalar(count * bytes, columns, twins_a + first, twins_weights, steps, sizes, twins_scale, ROW * bytes, &open);
    twins_compare_floats(t);
}
