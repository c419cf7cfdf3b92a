/* Protects libhex_linear_skel.so: through the rig its products are the kernel's bit for bit, from wherever the weights
 * come and on any number of contexts; it finds the first largest; and it refuses what does not fit, by name. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "AEEStdErr.h"
#include "hex_linear.h"
#include "linear/vrmpy_linear.h"
#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"

enum { DMA_WAYS = 4, MAX_N = 6 };

static const hex_linear_how ways[] = {
    {HEX_LINEAR_DDR, 1}, {HEX_LINEAR_DDR, 2},  {HEX_LINEAR_VTCM, 1},
    {HEX_LINEAR_VTCM, 2}, {HEX_LINEAR_DMA, 1}, {HEX_LINEAR_DMA, 2},
    {HEX_LINEAR_RESIDENT, 1}, {HEX_LINEAR_RESIDENT, 2}, {HEX_LINEAR_AUTO, 2},
};

/* What every test has loaded.  0..2 go together; 3 takes several tiles; 4 is larger than VTCM; 5 one row. */
static const struct {
    uint32_t type, rows, cols;
} shapes[] = {{HX_WEIGHTS_Q8_0, 256, 256},  {HX_WEIGHTS_Q8_0, 100, 256},   {HX_WEIGHTS_Q8_0, 33, 256},
              {HX_WEIGHTS_Q8_0, 3000, 1000}, {HX_WEIGHTS_ROW8, 9000, 1024}, {HX_WEIGHTS_ROW8, 1, 70}};
enum { N = HXT_LEN(shapes) };

static remote_handle64 skel;
static hex_linear_matrix table[N];
static uint8_t *weights;
static size_t weights_bytes;

static void fill_matrix(struct hxt_rng *rng, uint8_t *w, const hex_linear_matrix *m)
{
    const enum hx_weights_type type = (enum hx_weights_type)m->type;
    const size_t run = 1024 * (type == HX_WEIGHTS_Q8_0 ? 1 : hx_weights_blocks(m->cols));
    const size_t bytes = hx_weights_bytes(type, m->rows, m->cols);

    hxt_fill_bytes(rng, w, bytes);
    for (size_t at = run; at < bytes; at += run + HX_WEIGHTS_VECTOR)
        hxt_fill_f32(rng, (float *)(w + at), HX_WEIGHTS_ROWS, HXT_UNIFORM);
}

static int open_skel(void **state)
{
    struct hxt_rng rng;

    (void)state;
    weights_bytes = 0;
    for (size_t i = 0; i < N; i++) {
        table[i] = (hex_linear_matrix){shapes[i].type, shapes[i].rows, shapes[i].cols,
                                       (uint32_t)weights_bytes};
        weights_bytes += hx_weights_bytes(shapes[i].type, shapes[i].rows, shapes[i].cols);
    }
    weights = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, weights_bytes);
    hxt_rng_init(&rng, 1);
    for (size_t i = 0; i < N; i++)
        fill_matrix(&rng, weights + table[i].offset, &table[i]);
    return hex_linear_open(hex_linear_URI "&_dom=cdsp", &skel) ||
           fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(weights), weights, 0, weights_bytes,
                        FASTRPC_MAP_FD);
}

static int close_skel(void **state)
{
    int rc;

    (void)state;
    rc = hex_linear_load(skel, -1, 0, NULL, 0) ||
         fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(weights), weights, weights_bytes) ||
         hex_linear_close(skel);
    rpcmem_free(weights);
    return rc;
}

static void load(void)
{
    assert_int_equal(hex_linear_load(skel, rpcmem_to_fd(weights), (uint32_t)weights_bytes, table, N),
                     AEE_SUCCESS);
}

/* What the kernel gives in this process. */
static void expect(uint32_t which, const float *x, size_t n, float *y)
{
    const hex_linear_matrix *m = &table[which];
    const enum hx_weights_type type = (enum hx_weights_type)m->type;
    const size_t blocks = hx_weights_blocks(m->cols);
    struct hx_linear_block *quantized = malloc(n * blocks * sizeof(*quantized));

    for (size_t t = 0; t < n; t++)
        hx_linear_quantize_ref(type, x + t * m->cols, m->cols, quantized + t * blocks);
    hx_linear_rows_hvx(&(struct hx_linear_job){.type = type, .blocks = blocks,
                                               .w = weights + m->offset, .rows = m->rows,
                                               .x = quantized, .n = n, .y = y,
                                               .y_stride = m->rows});
    free(quantized);
}

static float *vectors(size_t n, uint64_t stream)
{
    float *x = malloc(n * sizeof(*x));
    struct hxt_rng rng;

    hxt_rng_init(&rng, stream);
    hxt_fill_f32(&rng, x, n, HXT_NORMAL);
    return x;
}

static void check_matrices(const uint32_t *which, size_t n_m, size_t n, const hex_linear_how *how)
{
    const size_t cols = table[which[0]].cols;
    size_t rows = 0;
    hex_linear_cycles t;

    for (size_t m = 0; m < n_m; m++)
        rows += table[which[m]].rows;
    float *x = vectors(n * cols, n), *want = hxt_guard_alloc(n * rows * 4, 128);
    float *got = hxt_guard_alloc(n * rows * 4, 128), *at = want;

    for (size_t m = 0; m < n_m; m++, at += n * table[which[m - 1]].rows)
        expect(which[m], x, n, at);
    assert_int_equal(hex_linear_apply(skel, how, which, (int)n_m, (uint32_t)n, x, (int)(n * cols),
                                      got, (int)(n * rows), &t), AEE_SUCCESS);
    hxt_same_bytes(got, want, n * rows * 4);
    assert_true(t.total > 0 && t.handler > 0);
    if (rows > HX_WEIGHTS_ROWS) /* the worker has the lower groups */
        assert_true((t.worker > 0) == (how->threads == 2));
    if (how->placement < HEX_LINEAR_RESIDENT) /* what stays was fetched by another call */
        assert_true((t.fetch > 0) == (how->placement != HEX_LINEAR_DDR));
    hxt_guard_free(want);
    hxt_guard_free(got);
    free(x);
}

static void test_products_are_the_same_bits_from_everywhere(void **state)
{
    static const uint32_t together[] = {0, 1, 2}, tiles[] = {3}, one[] = {5};

    (void)state;
    load();
    for (size_t w = 0; w < HXT_LEN(ways); w++)
        for (size_t n = 1; n <= MAX_N; n += 4) {
            check_matrices(together, 3, n, &ways[w]);
            check_matrices(tiles, 1, n, &ways[w]);
            check_matrices(one, 1, n, &ways[w]);
        }
}

static void test_a_matrix_larger_than_vtcm_streams_and_is_refused_whole(void **state)
{
    const uint32_t big = 4;
    float *x = vectors(1024, 2), *y = malloc(9000 * sizeof(*y));
    hex_linear_cycles t;

    (void)state;
    load();
    check_matrices(&big, 1, 1, &ways[DMA_WAYS + 1]);
    check_matrices(&big, 1, 1, &ways[0]);
    assert_int_equal(hex_linear_apply(skel, &ways[3], &big, 1, 1, x, 1024, y, 9000, &t),
                     AEE_DSP(AEE_ENOMEMORY));
    check_matrices(&big, 1, 1, &ways[DMA_WAYS]); /* and goes on */
    free(x);
    free(y);
}

/* With enough vectors, streaming hides nearly all of what fetching whole matrices waits for. */
static void test_streaming_waits_less_than_fetching(void **state)
{
    enum { VECTORS = 16, X = VECTORS * 1000, Y = VECTORS * 3000 };
    const uint32_t which = 3;
    hex_linear_cycles whole, streamed;
    float *x = vectors(X, 3), *y = malloc(Y * sizeof(*y));

    (void)state;
    load();
    assert_int_equal(hex_linear_apply(skel, &ways[3], &which, 1, VECTORS, x, X, y, Y, &whole), 0);
    assert_int_equal(hex_linear_apply(skel, &ways[5], &which, 1, VECTORS, x, X, y, Y, &streamed), 0);
    if (!(streamed.fetch * 4 < whole.fetch && streamed.total < whole.total))
        fail_msg("fetch %llu whole, %llu streamed; total %llu and %llu",
                 (unsigned long long)whole.fetch, (unsigned long long)streamed.fetch,
                 (unsigned long long)whole.total, (unsigned long long)streamed.total);
    free(x);
    free(y);
}

/* A single vector is bound by user DMA, 8.55 bytes per pcycle in the profile. */
static void test_one_vector_streams_at_the_rate_of_dma(void **state)
{
    const uint32_t which = 4;
    const size_t bytes = hx_weights_bytes(HX_WEIGHTS_ROW8, 9000, 1024);
    float *x = vectors(1024, 8), *y = malloc(9000 * sizeof(*y));
    hex_linear_cycles t;

    (void)state;
    load();
    for (int i = 0; i < 2; i++) /* the first call asks for VTCM, too */
        assert_int_equal(hex_linear_apply(skel, &ways[5], &which, 1, 1, x, 1024, y, 9000, &t), 0);
    print_message("9000 x 1024, one vector: %llu pcycles, %.2f bytes per pcycle\n",
                  (unsigned long long)t.total, (double)bytes / (double)t.total);
    assert_true((double)bytes / (double)t.total > 8 && (double)bytes / (double)t.total < 8.55);
    free(x);
    free(y);
}

static void test_a_vector_that_is_not_finite_spoils_itself_only(void **state)
{
    const uint32_t which[] = {0, 2};
    float *x = vectors(3 * 256, 4), y[3 * (256 + 33)], want[256];
    hex_linear_cycles t;

    (void)state;
    load();
    x[256 + 17] = INFINITY;
    assert_int_equal(hex_linear_apply(skel, &ways[5], which, 2, 3, x, 768, y, HXT_LEN(y), &t), 0);
    for (size_t i = 0; i < 256; i++)
        assert_true(isfinite(y[i]) && isnan(y[256 + i]) && isfinite(y[512 + i]));
    for (size_t i = 0; i < 33; i++)
        assert_true(isfinite(y[768 + i]) && isnan(y[768 + 33 + i]));
    expect(0, x + 512, 1, want);
    hxt_same_bytes(y + 512, want, sizeof(want));
    free(x);
}

static void test_argmax_is_that_of_the_products(void **state)
{
    float *x = vectors(MAX_N * 1000, 5), *y = malloc(MAX_N * 3000 * sizeof(*y));
    uint32_t ids[MAX_N];
    hex_linear_cycles t;

    (void)state;
    load();
    x[2 * 1000 + 999] = NAN;
    expect(3, x, MAX_N, y);
    for (size_t w = 0; w < HXT_LEN(ways); w++) {
        memset(ids, HXT_POISON, sizeof(ids));
        assert_int_equal(hex_linear_argmax(skel, &ways[w], 3, MAX_N, x, MAX_N * 1000, ids, MAX_N, &t), 0);
        for (size_t i = 0; i < MAX_N; i++)
            assert_int_equal(ids[i], i == 2 ? UINT32_MAX
                                            : (uint32_t)hx_linear_argmax_ref(y + i * 3000, 3000));
    }
    free(x);
    free(y);
}

/* Matrices of low rank: two calls' results by one, whatever the bases. */
static void test_a_projection_is_the_same_bits_as_two_calls(void **state)
{
    enum { COLS = 256, VECTORS = 3, Y = VECTORS * (256 + 100 + 33) };
    static const uint32_t down[] = {0, 0}, ups[] = {0, 1, 2}, of[] = {0, 0, 1};
    float *x = vectors(VECTORS * COLS, 4), *t = malloc(VECTORS * COLS * sizeof(*t));
    float *want = hxt_guard_alloc(Y * sizeof(float), 128), *got = hxt_guard_alloc(Y * sizeof(float), 128);
    hex_linear_cycles c;

    (void)state;
    load();
    for (size_t w = 0; w < HXT_LEN(ways); w++) {
        assert_int_equal(hex_linear_apply(skel, &ways[w], down, 1, VECTORS, x, VECTORS * COLS, t, VECTORS * COLS, &c), 0);
        assert_int_equal(hex_linear_apply(skel, &ways[w], ups, 3, VECTORS, t, VECTORS * COLS, want, Y, &c), 0);
        assert_int_equal(hex_linear_project(skel, &ways[w], down, 2, ups, 3, of, 3, VECTORS, x, VECTORS * COLS, got, Y, &c), 0);
        hxt_same_bytes(got, want, Y * sizeof(float));
        assert_true(c.total > 0);
    }
    x[COLS] = INFINITY; /* spoils the second vector alone */
    assert_int_equal(hex_linear_project(skel, &ways[0], down, 2, ups, 3, of, 3, VECTORS, x, VECTORS * COLS, got, Y, &c), 0);
    for (size_t i = 0; i < 256; i++) {
        assert_true(isnan(got[256 + i]));
        assert_true(got[i] == want[i] && got[512 + i] == want[512 + i]);
    }
    hxt_guard_free(want);
    hxt_guard_free(got);
    free(t);
    free(x);
}

static void test_projections_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        uint32_t down[2], ups[2], of[2];
        int n_downs, n_ups, n_of, x, y;
    } bad[] = {
        {{0}, {3}, {0}, 1, 1, 1, 256, 3000},       /* columns */
        {{9}, {0}, {0}, 1, 1, 1, 256, 256},        /* no such down */
        {{0}, {9}, {0}, 1, 1, 1, 256, 256},        /* no such up */
        {{0}, {0}, {1}, 1, 1, 1, 256, 256},        /* of no down */
        {{0, 0}, {1, 2}, {1, 0}, 2, 2, 2, 256, 133}, /* order */
        {{0}, {0}, {0}, 1, 1, 0, 256, 256},        /* an up of nothing */
        {{0}, {0}, {0}, 1, 1, 1, 255, 256},        /* x */
        {{0}, {0}, {0}, 1, 1, 1, 256, 255},        /* y */
        {{0}, {0}, {0}, 0, 1, 1, 256, 256},        /* nothing */
    };
    float *x = vectors(256, 5), *y = malloc(3000 * sizeof(*y));
    hex_linear_cycles c;

    (void)state;
    load();
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        if (hex_linear_project(skel, &ways[0], bad[i].down, bad[i].n_downs, bad[i].ups, bad[i].n_ups, bad[i].of, bad[i].n_of, 1, x,
                               bad[i].x, y, bad[i].y, &c) != AEE_DSP(AEE_EBADPARM))
            fail_msg("call %zu was not refused", i);
    free(x);
    free(y);
}

/* Matrices of three: three calls' results by one. */
static void test_a_sandwich_is_the_same_bits_as_three_calls(void **state)
{
    enum { COLS = 256, VECTORS = 3, Y = VECTORS * (100 + 33) };
    static const uint32_t which[] = {0, 0, 1, 0, 0, 2}, downs[] = {0}, ups[] = {1, 2};
    const size_t n = VECTORS * COLS;
    float *x = vectors(n, 4), *t = malloc(n * sizeof(*t)), *s = malloc(n * sizeof(*s));
    float *want = hxt_guard_alloc(Y * sizeof(float), 128), *got = hxt_guard_alloc(Y * sizeof(float), 128);
    hex_linear_cycles c;

    (void)state;
    load();
    for (size_t w = 0; w < HXT_LEN(ways); w++) {
        assert_int_equal(hex_linear_apply(skel, &ways[w], downs, 1, VECTORS, x, (int)n, t, (int)n, &c), 0);
        assert_int_equal(hex_linear_apply(skel, &ways[w], downs, 1, VECTORS, t, (int)n, s, (int)n, &c), 0);
        assert_int_equal(hex_linear_apply(skel, &ways[w], ups, 2, VECTORS, s, (int)n, want, Y, &c), 0);
        assert_int_equal(hex_linear_sandwich(skel, &ways[w], which, 6, VECTORS, x, (int)n, got, Y, &c), 0);
        hxt_same_bytes(got, want, Y * sizeof(float));
        assert_true(c.total > 0);
    }
    x[COLS] = INFINITY; /* spoils the second vector alone */
    for (size_t w = 7; w < HXT_LEN(ways); w++) { /* from VTCM, each context with a matrix of its own */
        assert_int_equal(hex_linear_sandwich(skel, &ways[w], which, 6, VECTORS, x, (int)n, got, Y, &c), 0);
        for (size_t i = 0; i < 100; i++) {
            assert_true(isnan(got[100 + i]));
            assert_true(got[i] == want[i] && got[200 + i] == want[200 + i]);
        }
    }
    hxt_guard_free(want);
    hxt_guard_free(got);
    free(s);
    free(t);
    free(x);
}

static void test_sandwiches_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        uint32_t which[27];
        int n_which, x, y;
    } bad[] = {
        {{9, 0, 0}, 3, 256, 256},          /* no such down */
        {{0, 9, 0}, 3, 256, 256},          /* no such core */
        {{0, 0, 9}, 3, 256, 256},          /* no such up */
        {{0, 3, 0}, 3, 256, 256},          /* a core of other columns */
        {{0, 1, 0}, 3, 256, 256},          /* an up of other columns */
        {{0, 0, 0, 3, 0, 0}, 6, 256, 512}, /* downs of two inputs */
        {{0, 0, 0}, 2, 256, 256},          /* two of three */
        {{0}, 27, 256, 2304},              /* nine of them */
        {{0}, 0, 256, 256},                /* nothing */
        {{0, 0, 0}, 3, 255, 256},          /* x */
        {{0, 0, 0}, 3, 256, 255},          /* y */
    };
    float *x = vectors(256, 5), *y = malloc(3000 * sizeof(*y));
    hex_linear_cycles c;

    (void)state;
    load();
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        if (hex_linear_sandwich(skel, &ways[0], bad[i].which, bad[i].n_which, 1, x, bad[i].x, y, bad[i].y, &c) != AEE_DSP(AEE_EBADPARM))
            fail_msg("call %zu was not refused", i);
    free(x);
    free(y);
}

static void test_what_does_not_fit_is_refused(void **state)
{
    static const hex_linear_how no_way[] = {{-1, 1}, {HEX_LINEAR_AUTO + 1, 1}, {HEX_LINEAR_DDR, 0}, {HEX_LINEAR_DMA, 3}};
    static const uint32_t fused[] = {0, 1}, mixed[] = {0, 3}, types[] = {4, 5}, absent[] = {N};
    static float x[2048], y[4096];
    const int bad = AEE_DSP(AEE_EBADPARM);
    uint32_t many[17] = {0}, ids[2];
    hex_linear_cycles t;

    (void)state;
    assert_int_equal(hex_linear_load(skel, -1, 0, NULL, 0), 0);
    assert_int_equal(hex_linear_apply(skel, &ways[0], fused, 1, 1, x, 256, y, 256, &t),
                     AEE_DSP(AEE_EBADSTATE));
    load();
    for (size_t i = 0; i < HXT_LEN(no_way); i++)
        assert_int_equal(hex_linear_apply(skel, &no_way[i], fused, 1, 1, x, 256, y, 256, &t), bad);
    assert_int_equal(hex_linear_apply(skel, &ways[0], fused, 2, 1, x, 256, y, 355, &t), bad);
    assert_int_equal(hex_linear_apply(skel, &ways[0], fused, 2, 1, x, 255, y, 356, &t), bad);
    assert_int_equal(hex_linear_apply(skel, &ways[0], fused, 2, 2, x, 256, y, 356, &t), bad);
    assert_int_equal(hex_linear_apply(skel, &ways[0], fused, 2, 0, x, 0, y, 0, &t), bad);
    assert_int_equal(hex_linear_apply(skel, &ways[0], fused, 0, 1, x, 256, y, 256, &t), bad);
    assert_int_equal(hex_linear_apply(skel, &ways[0], many, 17, 1, x, 256, y, 4096, &t), bad);
    assert_int_equal(hex_linear_apply(skel, &ways[0], mixed, 2, 1, x, 256, y, 3256, &t), bad);
    assert_int_equal(hex_linear_apply(skel, &ways[0], types, 2, 1, x, 1024, y, 1, &t), bad);
    assert_int_equal(hex_linear_apply(skel, &ways[0], absent, 1, 1, x, 256, y, 256, &t), bad);
    assert_int_equal(hex_linear_argmax(skel, &ways[0], N, 1, x, 256, ids, 1, &t), bad);
    assert_int_equal(hex_linear_argmax(skel, &ways[0], 0, 1, x, 256, ids, 2, &t), bad);
    assert_int_equal(hex_linear_argmax(skel, &ways[0], 0, 1, x, 257, ids, 1, &t), bad);
    assert_int_equal(hex_linear_apply(skel + 1000, &ways[0], fused, 1, 1, x, 256, y, 256, &t),
                     AEE_EINVHANDLE);
}

static void test_matrices_that_are_not_there_are_refused(void **state)
{
    static const hex_linear_matrix wrong[] = {
        {3, 32, 32, 0},   {HX_WEIGHTS_Q8_0, 0, 32, 0},       {HX_WEIGHTS_Q8_0, 32, 0, 0},
        {0, 32, 32, 64},  {0, 32, 32, 0xffffff80u},          {0, 1 << 24, 1 << 14, 0},
        {0, 32, 29121, 0}, {HX_WEIGHTS_ROW8, 33, 32, 0},
    };
    const int fd = rpcmem_to_fd(weights);
    const uint32_t first = 0;
    static float x[256], y[256];
    hex_linear_cycles t;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(wrong); i++)
        assert_int_equal(hex_linear_load(skel, fd, 2048, &wrong[i], 1), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hex_linear_load(skel, fd, (uint32_t)weights_bytes + 8192, table, N),
                     AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hex_linear_load(skel, 1000, (uint32_t)weights_bytes, table, N),
                     AEE_DSP(AEE_ENOSUCHMAP));
    assert_int_equal(hex_linear_apply(skel, &ways[0], &first, 1, 1, x, 256, y, 256, &t),
                     AEE_DSP(AEE_EBADSTATE)); /* what was loaded before is gone, too */
}

/* All matrices are decided on at once: the first ones stay, a part of the one that is too large, and what comes behind streams. */
static void test_what_stays_is_told_and_ends_with_another_placement(void **state)
{
    const hex_linear_how stay = {HEX_LINEAR_RESIDENT, 2}, dma = {HEX_LINEAR_DMA, 2};
    const uint32_t small = 0, last = N - 1;
    hex_linear_residence r[N];
    uint64_t slots, sum = 0;
    hex_linear_cycles first, second;
    static float x[256], y[256];

    (void)state;
    load();
    assert_int_equal(hex_linear_where(skel, r, N, &slots), AEE_DSP(AEE_EBADSTATE)); /* nobody has asked yet */
    assert_int_equal(hex_linear_apply(skel, &stay, &small, 1, 1, x, 256, y, 256, &first), 0);
    assert_int_equal(hex_linear_apply(skel, &stay, &small, 1, 1, x, 256, y, 256, &second), 0);
    assert_true(first.fetch > 0 && second.fetch == 0);
    assert_int_equal(hex_linear_where(skel, r, N - 1, &slots), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(hex_linear_where(skel, r, N, &slots), 0);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(r[i].bytes, hx_weights_bytes(shapes[i].type, shapes[i].rows, shapes[i].cols));
        assert_true(i > 3 || r[i].stays == r[i].bytes);
        sum += r[i].stays;
    }
    assert_true(r[4].stays > 0 && r[4].stays < r[4].bytes);
    assert_true(sum + slots <= 8 << 20 && slots > 0);
    check_matrices(&last, 1, 2, &stay);
    check_matrices((const uint32_t[]){4}, 1, 2, &stay);
    assert_int_equal(hex_linear_apply(skel, &dma, &small, 1, 1, x, 256, y, 256, &first), 0);
    assert_int_equal(hex_linear_where(skel, r, N, &slots), AEE_DSP(AEE_EBADSTATE));
    check_matrices(&small, 1, 3, &stay); /* fetched again, as the slots have lain there */
}

/* Two handles at once share contexts and VTCM. */
static void *other_client(void *result)
{
    const uint32_t which = 3;
    float *x = vectors(1000, 6), *y = malloc(3000 * sizeof(*y)), *want = malloc(3000 * sizeof(*want));
    remote_handle64 h;
    hex_linear_cycles t;
    int *rc = result;

    expect(which, x, 1, want);
    *rc = hex_linear_open(hex_linear_URI "&_dom=cdsp", &h);
    if (!*rc)
        *rc = hex_linear_load(h, rpcmem_to_fd(weights), (uint32_t)weights_bytes, table, N);
    for (int i = 0; i < 10 && !*rc; i++) {
        *rc = hex_linear_apply(h, &ways[DMA_WAYS + i % 2], &which, 1, 1, x, 1000, y, 3000, &t);
        if (!*rc)
            *rc = memcmp(y, want, 3000 * sizeof(*y));
    }
    hex_linear_close(h);
    free(x);
    free(y);
    free(want);
    return NULL;
}

static void test_two_handles_do_not_disturb_each_other(void **state)
{
    pthread_t t[2];
    int rc[2];

    (void)state;
    load();
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&t[i], NULL, other_client, &rc[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(rc[0], 0);
    assert_int_equal(rc[1], 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_products_are_the_same_bits_from_everywhere),
    cmocka_unit_test(test_a_matrix_larger_than_vtcm_streams_and_is_refused_whole),
    cmocka_unit_test(test_streaming_waits_less_than_fetching),
    cmocka_unit_test(test_one_vector_streams_at_the_rate_of_dma),
    cmocka_unit_test(test_a_vector_that_is_not_finite_spoils_itself_only),
    cmocka_unit_test(test_argmax_is_that_of_the_products),
    cmocka_unit_test(test_a_projection_is_the_same_bits_as_two_calls),
    cmocka_unit_test(test_projections_that_do_not_fit_are_refused),
    cmocka_unit_test(test_a_sandwich_is_the_same_bits_as_three_calls),
    cmocka_unit_test(test_sandwiches_that_do_not_fit_are_refused),
    cmocka_unit_test(test_what_does_not_fit_is_refused),
    cmocka_unit_test(test_matrices_that_are_not_there_are_refused),
    cmocka_unit_test(test_what_stays_is_told_and_ends_with_another_placement),
    cmocka_unit_test(test_two_handles_do_not_disturb_each_other),
};

static int start(void **state)
{
    return own_rig_start(state) || open_skel(state);
}

static int stop(void **state)
{
    int rc = close_skel(state);

    return own_rig_stop(state) || rc;
}

static int run(const char *front_end)
{
    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, start, stop);
}

int main(void)
{
    return own_rig_run_both(run);
}
