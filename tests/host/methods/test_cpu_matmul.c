/* Protects host/cpu: every instruction set multiplies quantised weights exactly as the formats define them, gives the bits of
 * every other one, and a result depends on nothing but its row and its vector. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/cpu/isa/qx.h"
#include "methods/cpu/isa/isa.h"
#include "hx_f16.h"
#include "hxt.h"
#include "quant/quant.h"

enum { MAX_COLS = 4352, MAX_ROWS = 37, MAX_N = 133, SEED = 71 };

static const uint32_t types[] = {
    HX_QUANT_F32,  HX_QUANT_F16,  HX_QUANT_BF16, HX_QUANT_Q8_0, HX_QUANT_Q4_0,
    HX_QUANT_Q4_1, HX_QUANT_Q5_0, HX_QUANT_Q5_1, HX_QUANT_Q2_K, HX_QUANT_Q3_K,
    HX_QUANT_Q4_K, HX_QUANT_Q5_K, HX_QUANT_Q6_K, HX_QUANT_IQ4_NL,
};

/* rows, cols / 256 (float types: + 9 columns), vectors */
static const size_t shapes[][3] = {
    {1, 1, 1}, {3, 1, 2}, {16, 2, 1}, {5, 17, 4}, {37, 9, 5}, {17, 3, 33}, {2, 8, 133}, {32, 10, 40},
};

struct mm_case {
    struct hx_cpu_matmul m;
    struct hx_qx_buf *buf;
    uint8_t *w;
    float *x, *y, *wide;
    size_t rows, cols, n;
};

/* Where fp16 numbers of a block are: anything random may be elsewhere, but these must be small. */
static void set_halves(struct hxt_rng *rng, uint32_t type, uint8_t *block)
{
    static const struct {
        uint32_t type;
        size_t at[2];
    } halves[] = {
        {HX_QUANT_Q8_0, {0, 0}}, {HX_QUANT_Q4_0, {0, 0}},   {HX_QUANT_Q4_1, {0, 2}},
        {HX_QUANT_Q5_0, {0, 0}}, {HX_QUANT_Q5_1, {0, 2}},   {HX_QUANT_Q2_K, {80, 82}},
        {HX_QUANT_Q3_K, {108, 108}}, {HX_QUANT_Q4_K, {0, 2}}, {HX_QUANT_Q5_K, {0, 2}},
        {HX_QUANT_Q6_K, {208, 208}}, {HX_QUANT_IQ4_NL, {0, 0}},
    };

    for (size_t i = 0; i < HXT_LEN(halves); i++)
        for (size_t j = 0; j < 2 && halves[i].type == type; j++) {
            float f;
            uint16_t h;

            hxt_fill_f32(rng, &f, 1, HXT_NORMAL);
            h = hx_f16_from_f32(f / 64);
            memcpy(block + halves[i].at[j], &h, sizeof(h));
        }
}

static void fill_weights(struct hxt_rng *rng, struct mm_case *c)
{
    const struct hx_quant_info *q = hx_quant_info(c->m.type);
    const size_t bytes = c->rows * c->m.row_bytes;

    if (hx_qx_form(c->m.type) == 0) {
        hxt_fill_f32(rng, c->wide, c->rows * c->cols, HXT_NORMAL);
        for (size_t i = 0; i < c->rows * c->cols; i++) {
            uint32_t u;
            uint16_t h = hx_f16_from_f32(c->wide[i]);

            memcpy(&u, c->wide + i, sizeof(u));
            if (c->m.type == HX_QUANT_BF16)
                h = (uint16_t)(u >> 16);
            if (c->m.type == HX_QUANT_F32)
                memcpy(c->w + 4 * i, &u, sizeof(u));
            else
                memcpy(c->w + 2 * i, &h, sizeof(h));
        }
    } else {
        hxt_fill_bytes(rng, c->w, bytes);
        for (size_t i = 0; i < bytes; i += q->bytes)
            set_halves(rng, c->m.type, c->w + i);
    }
    for (size_t r = 0; r < c->rows; r++)
        q->widen(c->wide + r * c->cols, c->w + r * c->m.row_bytes, c->cols);
}

static void mm_open(struct mm_case *c, uint32_t type, const size_t shape[3])
{
    struct hxt_rng rng;

    *c = (struct mm_case){.rows = shape[0], .n = shape[2]};
    c->cols = shape[1] * 256 + (hx_qx_form(type) == 0 ? 9 : hx_qx_form(type) == 32 ? 32 : 0);
    hxt_rng_init(&rng, SEED + type + c->rows);
    c->m.type = type;
    c->m.row_bytes = hx_quant_row_bytes(type, c->cols);
    c->m.rows = c->m.y_rows = c->rows;
    c->w = hxt_guard_alloc(c->rows * c->m.row_bytes, 2); /* as unaligned as a file may be */
    c->x = hxt_guard_alloc(c->n * c->cols * sizeof(float), 4);
    c->y = hxt_guard_alloc(c->n * c->rows * sizeof(float), 4);
    c->wide = malloc(c->rows * c->cols * sizeof(float));
    assert_non_null(c->wide);
    fill_weights(&rng, c);
    hxt_fill_f32(&rng, c->x, c->n * c->cols, HXT_NORMAL);
    assert_int_equal(hx_qx_buf_open(&c->buf, c->cols, c->n, NULL), 0);
    c->m.w = c->w;
    c->m.y = c->y;
    c->m.x = hx_qx_set(c->buf, hx_isa(HX_ISA_PORTABLE), NULL, c->x, c->cols, c->n,
                       HX_QX_F32 | HX_QX_32 | HX_QX_256);
}

static void mm_close(struct mm_case *c)
{
    hxt_guard_intact(c->y);
    hxt_guard_free(c->w);
    hxt_guard_free(c->x);
    hxt_guard_free(c->y);
    free(c->wide);
    hx_qx_buf_close(c->buf);
}

/* activation i of vector v as the kernel has it */
static double activation(const struct mm_case *c, size_t v, size_t i)
{
    const struct hx_qx *x = c->m.x;
    size_t at;

    switch (hx_qx_form(c->m.type)) {
    case 32:
        at = i / 32 * x->n + v;
        return (double)x->d32[at] * x->q32[at * 32 + i % 32];
    case 256:
        at = i / 256 * x->n + v;
        return (double)x->d256[at] * x->q256[at * 256 + i % 256];
    default:
        return c->x[v * c->cols + i];
    }
}

/* Rounding: the integers are exact; one per operation and block, and of the formula's f32 weights. */
static void check_value(const struct mm_case *c, const char *isa, size_t v, size_t r)
{
    double want = 0, sum = 0, got = c->y[v * c->rows + r];

    for (size_t i = 0; i < c->cols; i++) {
        double p = activation(c, v, i) * (double)c->wide[r * c->cols + i];

        want += p;
        sum += fabs(p);
    }
    if (!(fabs(got - want) <= 4e-6 * sum + 1e-30))
        fail_msg("%s, %s %zu x %zu, vector %zu of %zu, row %zu: got %.9g, want %.9g", isa,
                 hx_quant_name(c->m.type), c->rows, c->cols, v, c->n, r, got, want);
}

static void run(struct mm_case *c, const struct hx_cpu_kernels *isa)
{
    hx_qx_set(c->buf, isa, NULL, c->x, c->cols, c->n, HX_QX_F32 | HX_QX_32 | HX_QX_256);
    memset(c->y, 0xa5, c->n * c->rows * sizeof(float));
    isa->matmul(&c->m);
    hxt_guard_intact(c->y);
}

static void test_every_isa_and_type_meets_the_formats_definition(void **state)
{
    (void)state;
    for (size_t t = 0; t < HXT_LEN(types); t++)
        for (size_t s = 0; s < HXT_LEN(shapes); s++) {
            struct mm_case c;

            mm_open(&c, types[t], shapes[s]);
            for (int i = 0; i < HX_ISAS; i++) {
                const struct hx_cpu_kernels *isa = hx_isa((enum hx_isa)i);

                if (!isa)
                    continue;
                run(&c, isa);
                for (size_t v = 0; v < c.n; v += 1 + c.n / 7)
                    for (size_t r = 0; r < c.rows; r++)
                        check_value(&c, isa->name, v, r);
            }
            mm_close(&c);
        }
}

static void test_quantised_products_have_the_same_bits_on_every_isa(void **state)
{
    (void)state;
    for (size_t t = 0; t < HXT_LEN(types); t++)
        for (size_t s = 0; s < HXT_LEN(shapes); s++) {
            struct mm_case c;
            /* the AVX tables have fused multiply-adds for float weights, the portable one has none */
            const int first = hx_qx_form(types[t]) ? HX_ISA_PORTABLE : HX_ISA_AVX2;
            float *want;

            mm_open(&c, types[t], shapes[s]);
            want = malloc(c.n * c.rows * sizeof(float));
            assert_non_null(want);
            for (int i = first; i < HX_ISAS; i++) {
                const struct hx_cpu_kernels *isa = hx_isa((enum hx_isa)i);

                if (!isa)
                    continue;
                run(&c, isa);
                if (i == first)
                    memcpy(want, c.y, c.n * c.rows * sizeof(float));
                if (memcmp(c.y, want, c.n * c.rows * sizeof(float)) != 0)
                    fail_msg("%s: %s %zu x %zu x %zu differs", isa->name, hx_quant_name(types[t]),
                             c.rows, c.cols, c.n);
            }
            free(want);
            mm_close(&c);
        }
}

/* One vector and a few rows at a time, against all at once. */
static void test_a_result_depends_on_its_row_and_vector_alone(void **state)
{
    (void)state;
    for (size_t t = 0; t < HXT_LEN(types); t++)
        for (int i = 0; i < HX_ISAS; i++) {
            const struct hx_cpu_kernels *isa = hx_isa((enum hx_isa)i);
            struct mm_case c;
            float *want;

            if (!isa)
                continue;
            mm_open(&c, types[t], (const size_t[3]){37, 9, 40});
            run(&c, isa);
            want = malloc(c.n * c.rows * sizeof(float));
            assert_non_null(want);
            memcpy(want, c.y, c.n * c.rows * sizeof(float));
            for (size_t v = 0; v < c.n; v += 3) {
                struct hx_cpu_matmul m = c.m;

                m.x = hx_qx_set(c.buf, isa, NULL, c.x + v * c.cols, c.cols, 1,
                                HX_QX_F32 | HX_QX_32 | HX_QX_256);
                m.y = c.y + v * c.rows;
                memset(m.y, 0xa5, c.rows * sizeof(float));
                for (m.first = 0; m.first < c.rows; m.first += 13) {
                    m.rows = c.rows - m.first < 13 ? c.rows - m.first : 13;
                    isa->matmul(&m);
                }
            }
            hxt_same_bytes(c.y, want, c.n * c.rows * sizeof(float));
            free(want);
            mm_close(&c);
        }
}

/* --- activations */

static void test_activations_are_rounded_to_the_nearest_step(void **state)
{
    const size_t shape[3] = {1, 3, 7};

    (void)state;
    for (int i = 0; i < HX_ISAS; i++) {
        const struct hx_cpu_kernels *isa = hx_isa((enum hx_isa)i);
        struct mm_case c;
        int8_t *q;

        if (!isa)
            continue;
        mm_open(&c, HX_QUANT_Q4_K, shape);
        q = malloc(c.n * c.cols);
        assert_non_null(q);
        memcpy(q, c.m.x->q256, c.n * c.cols);
        hx_qx_set(c.buf, isa, NULL, c.x, c.cols, c.n, HX_QX_32 | HX_QX_256);
        hxt_same_bytes(c.m.x->q256, q, c.n * c.cols);
        for (c.m.type = HX_QUANT_Q8_0; c.m.type; c.m.type = c.m.type == HX_QUANT_Q8_0 ? HX_QUANT_Q4_K : 0)
            for (size_t v = 0; v < c.n; v++)
                for (size_t j = 0; j < c.cols; j++) {
                    const size_t at = c.m.type == HX_QUANT_Q8_0 ? j / 32 * c.n + v : j / 256 * c.n + v;
                    const double d = (double)(c.m.type == HX_QUANT_Q8_0 ? c.m.x->d32 : c.m.x->d256)[at];

                    assert_true(fabs(activation(&c, v, j) - (double)c.x[v * c.cols + j]) <= d * 0.50001);
                }
        free(q);
        mm_close(&c);
    }
}

/* A damaged model's numbers must not turn into plausible ones. */
static void test_what_is_not_finite_stays_so(void **state)
{
    static const uint32_t some[] = {HX_QUANT_F16, HX_QUANT_Q8_0, HX_QUANT_Q4_K};
    static const float bad[] = {NAN, INFINITY, -INFINITY};

    (void)state;
    for (int i = 0; i < HX_ISAS; i++)
        for (size_t t = 0; t < HXT_LEN(some) * HXT_LEN(bad); t++) {
            const struct hx_cpu_kernels *isa = hx_isa((enum hx_isa)i);
            struct mm_case c;

            if (!isa)
                continue;
            mm_open(&c, some[t % HXT_LEN(some)], (const size_t[3]){20, 2, 9});
            c.x[3 * c.cols + 50] = bad[t / HXT_LEN(some)];
            hx_qx_set(c.buf, isa, NULL, c.x, c.cols, c.n, HX_QX_32 | HX_QX_256);
            run(&c, isa);
            for (size_t r = 0; r < c.rows; r++) {
                assert_false(isfinite(c.y[3 * c.rows + r]));
                assert_true(isfinite(c.y[4 * c.rows + r]));
            }
            mm_close(&c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_isa_and_type_meets_the_formats_definition),
        cmocka_unit_test(test_quantised_products_have_the_same_bits_on_every_isa),
        cmocka_unit_test(test_a_result_depends_on_its_row_and_vector_alone),
        cmocka_unit_test(test_activations_are_rounded_to_the_nearest_step),
        cmocka_unit_test(test_what_is_not_finite_stays_so),
    };

    for (int i = 0; i < HX_ISAS; i++)
        if (!hx_isa((enum hx_isa)i))
            print_message("no table %d on this machine: not tested\n", i);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
