/* Protects gated calls of libhex_linear_skel.so (kernels/linear/hex_linear_gated.c, hex_linear_join.c) through the rig: each vector
 * takes the path that it should, with the bits that apply() has for it, from wherever bases, images and weights come, in any batch; a
 * direction that joins lets its vector pass from then on; what does not fit is refused. */
#include <math.h>
#include <stdlib.h>

#include "AEEStdErr.h"
#include "hex_linear.h"
#include "hx_f16.h"
#include "linear/subspace_gate.h"
#include "methods/dsp/linear_pack.h"
#include "own_rig.h"
#include "quant/quant.h"
#include "remote.h"
#include "rpcmem.h"

enum { COLS = 200, ROOM = 40, K = 24, PARTS = 3, PAIRS = 4, WIDE = 256, N = 9, ROWS = 256 + 100 + 33 };

static const hex_linear_how ways[] = {
    {HEX_LINEAR_DDR, 1}, {HEX_LINEAR_DDR, 2}, {HEX_LINEAR_VTCM, 2}, {HEX_LINEAR_DMA, 1},
    {HEX_LINEAR_DMA, 2}, {HEX_LINEAR_RESIDENT, 2}, {HEX_LINEAR_AUTO, 1},
};

static const size_t rows[PARTS] = {256, 100, 33};

/* Matrices as load() gets them: the basis, images, weights. */
enum { BASIS, IMAGE, WHOLE = IMAGE + PARTS, MATRICES = WHOLE + PARTS };

static remote_handle64 skel;
static hex_linear_matrix table[MATRICES];
static uint8_t *buffer;
static size_t buffer_bytes;
static float w[ROWS * COLS], v[ROOM * COLS], image[ROWS * ROOM], x[N * COLS];
static uint32_t outside; /* bits: vectors that do not pass at eps 0.05 */

/* --- what is loaded */

/* K directions, orthonormal; the others 0. */
static void make_basis(struct hxt_rng *rng)
{
    for (size_t d = 0; d < K; d++) {
        float *row = v + d * COLS;
        double sum = 0;

        for (size_t i = 0; i < COLS; i++)
            row[i] = (float)hxt_normal(rng);
        for (size_t e = 0; e < d; e++) {
            double dot = 0;

            for (size_t i = 0; i < COLS; i++)
                dot += (double)row[i] * v[e * COLS + i];
            for (size_t i = 0; i < COLS; i++)
                row[i] -= (float)(dot * v[e * COLS + i]);
        }
        for (size_t i = 0; i < COLS; i++)
            sum += (double)row[i] * row[i];
        for (size_t i = 0; i < COLS; i++)
            row[i] = hx_f32_from_f16(hx_f16_from_f32((float)(row[i] / sqrt(sum))));
    }
}

static void make_images(void)
{
    for (size_t r = 0; r < ROWS; r++)
        for (size_t d = 0; d < ROOM; d++) {
            double sum = 0;

            for (size_t i = 0; i < COLS; i++)
                sum += (double)w[r * COLS + i] * v[d * COLS + i];
            image[r * ROOM + d] = (float)sum;
        }
}

/* Every third one lies outside. */
static void make_vectors(struct hxt_rng *rng)
{
    outside = 0;
    for (size_t t = 0; t < N; t++) {
        const int out = t % 3 == 2;

        for (size_t i = 0; i < COLS; i++)
            x[t * COLS + i] = (out ? 1 : 0.002f) * (float)hxt_normal(rng);
        for (size_t d = 0; d < K; d++) {
            const float z = 4 * (float)hxt_normal(rng);

            for (size_t i = 0; i < COLS; i++)
                x[t * COLS + i] += z * v[d * COLS + i];
        }
        outside |= (uint32_t)out << t;
    }
}

static struct hx_linear full(const float *at, size_t n, size_t cols)
{
    return (struct hx_linear){.w = at, .type = HX_QUANT_F32, .rows = n, .cols = cols};
}

static void place(size_t i, uint32_t type, size_t n, size_t cols)
{
    table[i] = (hex_linear_matrix){type, (uint32_t)n, (uint32_t)cols, (uint32_t)buffer_bytes};
    buffer_bytes += hx_weights_bytes(type, n, cols);
}

static void place_all(void)
{
    buffer_bytes = 0;
    place(BASIS, HX_WEIGHTS_BASIS, ROOM, COLS);
    for (size_t m = 0; m < PARTS; m++)
        place(IMAGE + m, HX_WEIGHTS_ROW8, rows[m], ROOM);
    for (size_t m = 0; m < PARTS; m++)
        place(WHOLE + m, HX_WEIGHTS_ROW8, rows[m], COLS);
}

static void fill(void)
{
    uint16_t *halves = (uint16_t *)(buffer + table[BASIS].offset);
    float row[COLS];
    struct hx_error err;
    size_t first = 0;

    memset(buffer, 0, buffer_bytes);
    for (size_t d = 0; d < ROOM; d++)
        for (size_t i = 0; i < COLS; i++)
            halves[d * WIDE + i] = hx_f16_from_f32(v[d * COLS + i]);
    for (size_t m = 0; m < PARTS; first += rows[m++]) {
        const struct hx_linear thin = full(image + first * ROOM, rows[m], ROOM), all = full(w + first * COLS, rows[m], COLS);

        assert_int_equal(hx_linear_pack(&thin, buffer + table[IMAGE + m].offset, row, &err), 0);
        assert_int_equal(hx_linear_pack(&all, buffer + table[WHOLE + m].offset, row, &err), 0);
    }
}

/* As the client made it, whatever has joined since. */
static void load(void)
{
    static const hex_linear_gate gate = {.basis = BASIS, .k = K, .first = 0, .n = PARTS};
    hex_linear_part parts[PARTS];

    for (uint32_t m = 0; m < PARTS; m++)
        parts[m] = (hex_linear_part){WHOLE + m, IMAGE + m};
    fill();
    assert_int_equal(hex_linear_load(skel, rpcmem_to_fd(buffer), (uint32_t)buffer_bytes, table, MATRICES), AEE_SUCCESS);
    assert_int_equal(hex_linear_gates(skel, &gate, 1, parts, PARTS), AEE_SUCCESS);
}

static int open_skel(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 3);
    for (size_t i = 0; i < ROWS * COLS; i++)
        w[i] = (float)hxt_normal(&rng);
    make_basis(&rng);
    make_images();
    make_vectors(&rng);
    place_all();
    buffer = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, buffer_bytes);
    return hex_linear_open(hex_linear_URI "&_dom=cdsp", &skel) ||
           fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(buffer), buffer, 0, buffer_bytes, FASTRPC_MAP_FD);
}

static int close_skel(void **state)
{
    int rc;

    (void)state;
    rc = hex_linear_load(skel, -1, 0, NULL, 0) || fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(buffer), buffer, buffer_bytes) ||
         hex_linear_close(skel);
    rpcmem_free(buffer);
    return rc;
}

/* --- calls */

static const uint32_t all_parts[PARTS] = {0, 1, 2};

static int gated(const hex_linear_how *how, size_t n, const float *from, float eps, uint32_t most, float *y, uint32_t *paths)
{
    hex_linear_cycles t;

    return hex_linear_gated(skel, how, all_parts, PARTS, (uint32_t)n, eps, most, from, (int)(n * COLS), y, (int)(n * ROWS), paths,
                            (int)n, &t);
}

/* z of a vector, by the kernel in this process. */
static void project(const float *from, float *z)
{
    float *spread = hxt_guard_alloc(WIDE * sizeof(float), 128), *within = hxt_guard_alloc(WIDE * sizeof(float), 128), top;

    memset(spread, 0, WIDE * sizeof(*spread));
    memcpy(spread, from, COLS * sizeof(*spread));
    memset(within, 0, WIDE * sizeof(*within));
    memset(z, 0, ROOM * sizeof(*z));
    hx_gate_spread_hvx(spread, PAIRS, &top);
    for (size_t d = 0; d < K; d++)
        z[d] = hx_gate_direction_hvx((const uint16_t *)(buffer + table[BASIS].offset) + d * WIDE, spread, PAIRS, within);
    hxt_guard_free(spread), hxt_guard_free(within);
}

/* Of all vectors by either path: [2][N * ROWS], laid out as results are. */
static void expect(float *slow, float *fast)
{
    static const uint32_t wholes[] = {WHOLE, WHOLE + 1, WHOLE + 2}, images[] = {IMAGE, IMAGE + 1, IMAGE + 2};
    float z[N * ROOM];
    hex_linear_cycles t;

    for (size_t i = 0; i < N; i++)
        project(x + i * COLS, z + i * ROOM);
    assert_int_equal(hex_linear_apply(skel, &ways[0], wholes, PARTS, N, x, N * COLS, slow, N * ROWS, &t), 0);
    assert_int_equal(hex_linear_apply(skel, &ways[0], images, PARTS, N, z, N * ROOM, fast, N * ROWS, &t), 0);
}

/* Vector t of n, all of its results. */
static void row_of(const float *y, size_t n, size_t t, float *to)
{
    for (size_t m = 0, first = 0; m < PARTS; first += rows[m++])
        memcpy(to + first, y + n * first + t * rows[m], rows[m] * sizeof(*to));
}

static void check_rows(const float *got, size_t n, size_t first, const uint32_t *paths, const float *slow, const float *fast)
{
    float is[ROWS], want[ROWS];

    for (size_t t = 0; t < n; t++) {
        const int out = outside >> (first + t) & 1;

        assert_int_equal(paths[t], out ? HEX_LINEAR_SLOW : HEX_LINEAR_FAST);
        row_of(got, n, t, is);
        row_of(out ? slow : fast, N, first + t, want);
        hxt_same_bytes(is, want, sizeof(is));
    }
}

static void test_each_vector_takes_its_path_with_the_bits_of_apply(void **state)
{
    float *slow = malloc(N * ROWS * sizeof(*slow)), *fast = malloc(N * ROWS * sizeof(*fast)), *got = hxt_guard_alloc(N * ROWS * 4, 128);
    uint32_t paths[N];

    (void)state;
    load();
    expect(slow, fast);
    for (size_t h = 0; h < HXT_LEN(ways); h++) {
        assert_int_equal(gated(&ways[h], N, x, 0.05f, 0, got, paths), 0);
        check_rows(got, N, 0, paths, slow, fast);
        for (size_t t = 0; t < N; t += 2) { /* alone, and with the next one */
            const size_t n = t + 2 <= N ? t % 4 / 2 + 1 : 1;

            assert_int_equal(gated(&ways[h], n, x + t * COLS, 0.05f, 0, got, paths), 0);
            check_rows(got, n, t, paths, slow, fast);
        }
    }
    hxt_guard_intact(got);
    hxt_guard_free(got);
    free(slow), free(fast);
}

/* The share of |W x| by which a row of all results differs from W x. */
static double error_of(const float *y, size_t n, size_t t, const float *from)
{
    float is[ROWS];
    double off = 0, all = 0;

    row_of(y, n, t, is);
    for (size_t r = 0; r < ROWS; r++) {
        double want = 0;

        for (size_t i = 0; i < COLS; i++)
            want += (double)w[r * COLS + i] * from[i];
        off += (is[r] - want) * (is[r] - want);
        all += want * want;
    }
    return sqrt(off / all);
}

static void test_images_are_what_the_weights_give(void **state)
{
    float y[N * ROWS];
    uint32_t paths[N];

    (void)state;
    load();
    assert_int_equal(gated(&ways[4], N, x, 0.05f, 0, y, paths), 0);
    for (size_t t = 0; t < N; t++)
        if (error_of(y, N, t, x + t * COLS) > 0.02) /* int8 on either side */
            fail_msg("vector %zu: %.4f of its length", t, error_of(y, N, t, x + t * COLS));
}

static void test_eps_decides(void **state)
{
    float y[N * ROWS];
    uint32_t paths[N];

    (void)state;
    load();
    assert_int_equal(gated(&ways[4], N, x, 0, 0, y, paths), 0);
    for (size_t t = 0; t < N; t++)
        assert_int_equal(paths[t], HEX_LINEAR_SLOW);
    assert_int_equal(gated(&ways[4], N, x, INFINITY, 0, y, paths), 0);
    for (size_t t = 0; t < N; t++)
        assert_int_equal(paths[t], HEX_LINEAR_FAST);
}

static void test_a_vector_that_is_not_finite_spoils_itself_only(void **state)
{
    float bad[N * COLS], slow[N * ROWS], fast[N * ROWS], y[N * ROWS], is[ROWS];
    uint32_t paths[N];

    (void)state;
    load();
    expect(slow, fast);
    memcpy(bad, x, sizeof(bad));
    bad[COLS + 170] = INFINITY;
    bad[3 * COLS + 2] = NAN;
    assert_int_equal(gated(&ways[4], N, bad, 0.05f, ROOM, y, paths), 0);
    for (size_t t = 0; t < 2; t++) { /* the third one joins, and what is behind it has another basis */
        assert_int_equal(paths[t], t ? HEX_LINEAR_SLOW : HEX_LINEAR_FAST);
        row_of(y, N, t, is);
        for (size_t r = 0; r < ROWS; r++)
            assert_int_equal(isnan(is[r]) != 0, t == 1);
    }
    row_of(y, N, 3, is);
    assert_int_equal(paths[3], HEX_LINEAR_SLOW);
    assert_true(isnan(is[0]) && isnan(is[ROWS - 1]));
}

/* --- directions that join */

static void check_orthonormal(size_t k)
{
    const uint16_t *halves = (const uint16_t *)(buffer + table[BASIS].offset);

    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;

            for (size_t i = 0; i < WIDE; i++)
                sum += (double)hx_f32_from_f16(halves[a * WIDE + i]) * hx_f32_from_f16(halves[b * WIDE + i]);
            if (fabs(sum - (a == b)) > 3e-4) /* f16 */
                fail_msg("directions %zu and %zu: %.6f", a, b, sum);
        }
}

static void test_a_direction_that_joins_lets_its_vector_pass(void **state)
{
    float y[N * ROWS];
    uint32_t paths[N];

    (void)state;
    for (size_t h = 0; h < HXT_LEN(ways); h++) {
        load();
        assert_int_equal(gated(&ways[h], N, x, 0.05f, ROOM, y, paths), 0);
        for (size_t t = 0; t < N; t++)
            assert_int_equal(paths[t], outside >> t & 1 ? HEX_LINEAR_JOINED : HEX_LINEAR_FAST);
        check_orthonormal(K + 3);
        for (int again = 0; again < 2; again++) { /* wherever it is read from */
            assert_int_equal(gated(&ways[again ? 4 : h], N, x, 0.05f, ROOM, y, paths), 0);
            for (size_t t = 0; t < N; t++) {
                assert_int_equal(paths[t], HEX_LINEAR_FAST);
                if (error_of(y, N, t, x + t * COLS) > 0.03)
                    fail_msg("way %zu, vector %zu: %.4f of its length", h, t, error_of(y, N, t, x + t * COLS));
            }
        }
    }
}

static void test_directions_end_with_the_room(void **state)
{
    float many[N * COLS], y[N * ROWS];
    uint32_t paths[N], joined = 0;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 11);
    load();
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < N * COLS; i++)
            many[i] = (float)hxt_normal(&rng);
        assert_int_equal(gated(&ways[5], N, many, 0.05f, 1000, y, paths), 0);
        for (size_t t = 0; t < N; t++)
            joined += paths[t] == HEX_LINEAR_JOINED;
    }
    assert_int_equal(joined, ROOM - K);
    check_orthonormal(ROOM);
    load();
    assert_int_equal(gated(&ways[5], N, many, 0.05f, K + 2, y, paths), 0);
    for (size_t t = 0; t < N; t++)
        assert_int_equal(paths[t], t < 2 ? HEX_LINEAR_JOINED : HEX_LINEAR_SLOW);
}

/* --- refusals */

static void test_gates_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        hex_linear_gate gate;
        hex_linear_part part;
    } bad[] = {
        {{IMAGE, K, 0, 1}, {WHOLE, IMAGE}},        /* no basis */
        {{MATRICES, K, 0, 1}, {WHOLE, IMAGE}},     /* no matrix */
        {{BASIS, 0, 0, 1}, {WHOLE, IMAGE}},        /* no direction */
        {{BASIS, ROOM + 1, 0, 1}, {WHOLE, IMAGE}}, /* more than there is room for */
        {{BASIS, K, 1, 1}, {WHOLE, IMAGE}},        /* parts that are not there */
        {{BASIS, K, 0, 0}, {WHOLE, IMAGE}},
        {{BASIS, K, 0, 2}, {WHOLE, IMAGE}},
        {{BASIS, K, 0, 1}, {WHOLE, IMAGE + 1}},    /* rows */
        {{BASIS, K, 0, 1}, {IMAGE, IMAGE}},        /* columns */
        {{BASIS, K, 0, 1}, {WHOLE, WHOLE}},
        {{BASIS, K, 0, 1}, {BASIS, IMAGE}},
        {{BASIS, K, 0, 1}, {WHOLE, MATRICES}},
    };
    float y[N * ROWS];
    uint32_t paths[N];

    (void)state;
    load();
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        if (hex_linear_gates(skel, &bad[i].gate, 1, &bad[i].part, 1) != AEE_DSP(AEE_EBADPARM))
            fail_msg("gate %zu was not refused", i);
    assert_int_equal(gated(&ways[0], N, x, 0.05f, 0, y, paths), AEE_DSP(AEE_EBADSTATE)); /* those before are gone */
}

static void test_calls_that_do_not_fit_are_refused(void **state)
{
    static const uint32_t absent[] = {PARTS}, basis[] = {BASIS};
    const int bad = AEE_DSP(AEE_EBADPARM);
    uint32_t many[17] = {0}, paths[N];
    float y[N * ROWS];
    hex_linear_cycles t;

    (void)state;
    load();
    assert_int_equal(gated(&ways[0], N, x, -1, 0, y, paths), bad);
    assert_int_equal(gated(&ways[0], N, x, NAN, 0, y, paths), bad);
    assert_int_equal(hex_linear_gated(skel, &ways[0], absent, 1, 1, 1, 0, x, COLS, y, 256, paths, 1, &t), bad);
    assert_int_equal(hex_linear_gated(skel, &ways[0], many, 0, 1, 1, 0, x, COLS, y, 256, paths, 1, &t), bad);
    assert_int_equal(hex_linear_gated(skel, &ways[0], many, 17, 1, 1, 0, x, COLS, y, 256, paths, 1, &t), bad);
    assert_int_equal(hex_linear_gated(skel, &ways[0], all_parts, 1, 1, 1, 0, x, COLS - 1, y, 256, paths, 1, &t), bad);
    assert_int_equal(hex_linear_gated(skel, &ways[0], all_parts, 1, 1, 1, 0, x, COLS, y, 255, paths, 1, &t), bad);
    assert_int_equal(hex_linear_gated(skel, &ways[0], all_parts, 1, 1, 1, 0, x, COLS, y, 256, paths, 2, &t), bad);
    assert_int_equal(hex_linear_gated(skel, &ways[0], all_parts, 1, 0, 1, 0, x, 0, y, 0, paths, 0, &t), bad);
    assert_int_equal(hex_linear_apply(skel, &ways[0], basis, 1, 1, x, COLS, y, ROOM, &t), bad);
    assert_int_equal(hex_linear_gated(skel, &ways[0], all_parts, 1, 1, 1, 0, x, COLS, y, 256, paths, 1, &t), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_each_vector_takes_its_path_with_the_bits_of_apply),
    cmocka_unit_test(test_images_are_what_the_weights_give),
    cmocka_unit_test(test_eps_decides),
    cmocka_unit_test(test_a_vector_that_is_not_finite_spoils_itself_only),
    cmocka_unit_test(test_a_direction_that_joins_lets_its_vector_pass),
    cmocka_unit_test(test_directions_end_with_the_room),
    cmocka_unit_test(test_gates_that_do_not_fit_are_refused),
    cmocka_unit_test(test_calls_that_do_not_fit_are_refused),
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
