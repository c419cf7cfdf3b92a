/* Protects the int8 linear layer (kernels/linear, host/methods/dsp/linear_pack.c, host/dsp/offload.c): the layout keeps a
 * model's weights, the HVX kernels give what the reference gives, bit-identical however the work is cut, and argmax is the first largest.
 * Through a rig: test_linear_rig.c. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "gguf/gguf.h"
#include "hexrig_hvx_count.h"
#include "hx_f16.h"
#include "hxt.h"
#include "linear/vrmpy_linear.h"
#include "methods/dsp/linear_pack.h"
#include "dsp/offload.h"

enum { ALIGN = 128, MAX_N = 9 };

/* --- a random matrix in the DSP's layout, and vectors */

struct linear_case {
    enum hx_weights_type type;
    size_t rows, cols, n, blocks;
    int wide;
    uint8_t *w;
    float *x, *want, *got;
    struct hx_linear_block *quantized;
};

/* Scales everywhere, codes everywhere: group by group as hx_weights.h says. */
static void fill_weights(struct linear_case *c, struct hxt_rng *rng)
{
    const size_t bytes = hx_weights_bytes(c->type, c->rows, c->cols);
    const size_t codes = HX_WEIGHTS_CODE_VECTORS * HX_WEIGHTS_VECTOR;
    const size_t run = c->type == HX_WEIGHTS_Q8_0 ? codes : codes * c->blocks;

    c->w = hxt_guard_alloc(bytes, ALIGN);
    hxt_fill_bytes(rng, c->w, bytes);
    for (size_t at = run; at < bytes; at += run + HX_WEIGHTS_VECTOR)
        hxt_fill_f32(rng, (float *)(c->w + at), HX_WEIGHTS_ROWS, HXT_UNIFORM);
}

static void case_alloc(struct linear_case *c, enum hx_weights_type type, size_t rows, size_t cols,
                       size_t n, enum hxt_fill kind, uint64_t stream)
{
    struct hxt_rng rng;

    hxt_rng_init(&rng, stream);
    *c = (struct linear_case){.type = type, .rows = rows, .cols = cols, .n = n,
                              .blocks = hx_weights_blocks(cols)};
    fill_weights(c, &rng);
    c->x = hxt_guard_alloc(n * cols * sizeof(float), 4);
    c->want = hxt_guard_alloc(n * rows * sizeof(float), 4);
    c->got = hxt_guard_alloc(n * rows * sizeof(float), 4);
    c->quantized = hxt_guard_alloc(n * 2 * c->blocks * sizeof(*c->quantized), 8);
    hxt_fill_f32(&rng, c->x, n * cols, kind);
}

static void case_free(struct linear_case *c)
{
    void *all[] = {c->w, c->x, c->want, c->got, c->quantized};

    for (size_t i = 0; i < HXT_LEN(all); i++)
        hxt_guard_free(all[i]);
}

typedef int quantizer(enum hx_weights_type, const float *, size_t, struct hx_linear_block *);

static size_t per_vector(const struct linear_case *c)
{
    return hx_linear_quantized(c->blocks, c->wide);
}

static void quantize_by(struct linear_case *c, quantizer *how)
{
    for (size_t t = 0; t < c->n; t++)
        assert_int_equal(how(c->type, c->x + t * c->cols, c->cols, c->quantized + t * per_vector(c)), 0);
}

static void quantize(struct linear_case *c)
{
    quantize_by(c, c->wide ? hx_linear_quantize_wide_dsp : hx_linear_quantize_dsp);
}

static struct hx_linear_job job_of(const struct linear_case *c, float *y)
{
    return (struct hx_linear_job){.type = c->type, .blocks = c->blocks, .w = c->w, .rows = c->rows,
                                  .x = c->quantized, .n = c->n, .wide = c->wide, .y = y, .y_stride = c->rows};
}

static size_t group_bytes(const struct linear_case *c)
{
    return hx_weights_group_bytes(c->type, c->cols);
}

static int code_at(const struct linear_case *c, const struct hx_linear_block *x, size_t b, size_t i)
{
    const int8_t *high = (const int8_t *)x[hx_linear_quantized(b, c->wide)].code;

    return c->wide ? 256 * high[i] + ((const int8_t *)x[2 * b + 1].code)[i] : high[i];
}

/* The header's bound for element (t, r), from the definition of the layout. */
static double bound(const struct linear_case *c, size_t t, size_t r)
{
    const uint8_t *w = c->w + r / HX_WEIGHTS_ROWS * group_bytes(c);
    const struct hx_linear_block *x = c->quantized + t * per_vector(c);
    const size_t l = r % HX_WEIGHTS_ROWS, terms = c->type == HX_WEIGHTS_Q8_0 ? c->blocks : 1;
    const double each = c->wide && c->type == HX_WEIGHTS_ROW8 ? 0x1p6 : 0x1p-3;
    double sum = 0, top = 0;

    for (size_t term = 0, b = 0; term < terms; term++) {
        double s = 0;

        for (; b < (term + 1) * c->blocks / terms; b++, w += 1024)
            for (size_t i = 0; i < HX_WEIGHTS_BLOCK; i++)
                s += (w[i / 4 * 128 + 4 * l + i % 4] - 128) * code_at(c, x, b, i);
        const double scale = fabs((double)((const float *)w)[l] * x[hx_linear_quantized(term, c->wide)].scale);

        sum += fabs(s) * scale;
        top = fmax(top, scale);
        w += 128;
    }
    return each * (double)terms * top + 0x1p-22 * (double)(terms + 3) * sum + 0x1p-125;
}

static void check_against_reference(struct linear_case *c)
{
    const struct hx_linear_job want = job_of(c, c->want), got = job_of(c, c->got);

    hx_linear_rows_ref(&want);
    hx_linear_rows_hvx(&got);
    for (size_t i = 0; i < c->n * c->rows; i++)
        if (!(fabs((double)c->got[i] - c->want[i]) <= bound(c, i / c->rows, i % c->rows)))
            fail_msg("type %d, %zu x %zu, vector %zu row %zu: got %.9g, want %.9g +- %.3g", c->type,
                     c->rows, c->cols, i / c->rows, i % c->rows, (double)c->got[i],
                     (double)c->want[i], bound(c, i / c->rows, i % c->rows));
    hxt_guard_intact(c->got);
}

static const size_t shapes[][3] = {/* rows, columns, vectors */
    {1, 1, 1},   {1, 32, 1},   {31, 33, 2},  {32, 128, 3},  {33, 96, 4},
    {64, 257, 5}, {100, 1000, 9}, {65, 31, 8}, {256, 256, 1}, {40, 4097, 1},
};

static void test_hvx_is_within_its_bound_of_the_reference(void **state)
{
    static const enum hxt_fill fills[] = {HXT_NORMAL, HXT_TINY, HXT_ZERO, HXT_SPIKE, HXT_RANGE,
                                          HXT_DENORMAL, HXT_HUGE};
    struct linear_case c;

    (void)state;
    for (int type = 0; type < HX_WEIGHTS_TYPES; type++)
        for (size_t s = 0; s < HXT_LEN(shapes); s++)
            for (size_t f = 0; f < HXT_LEN(fills); f++) {
                case_alloc(&c, (enum hx_weights_type)type, shapes[s][0], shapes[s][1], shapes[s][2],
                           fills[f], 100 * s + f);
                for (c.wide = 0; c.wide < 2; c.wide++) {
                    quantize(&c);
                    hx_hvx_reset();
                    check_against_reference(&c);
                    assert_true(hx_hvx_ops(&hx_hvx_counts) > 0);
                }
                case_free(&c);
            }
}

static void check_quantisation(const struct linear_case *of, quantizer *ref, quantizer *dsp)
{
    struct linear_case c = *of;
    const size_t n = c.n * per_vector(&c);
    struct hx_linear_block *want = hxt_guard_alloc(n * sizeof(*want), 8);

    c.quantized = want;
    quantize_by(&c, ref);
    c.quantized = hxt_guard_alloc(n * sizeof(*want), 8);
    quantize_by(&c, dsp);
    hxt_same_bytes(c.quantized, want, n * sizeof(*want));
    hxt_guard_free(want);
    hxt_guard_free(c.quantized);
}

static void test_quantisation_is_the_references_bit_for_bit(void **state)
{
    struct linear_case c;

    (void)state;
    for (int type = 0; type < HX_WEIGHTS_TYPES; type++)
        for (size_t s = 0; s < HXT_LEN(shapes); s++)
            for (int f = 0; f < HXT_FINITE; f++) {
                case_alloc(&c, (enum hx_weights_type)type, 1, shapes[s][1], 3, (enum hxt_fill)f, s);
                check_quantisation(&c, hx_linear_quantize_ref, hx_linear_quantize_dsp);
                c.wide = 1;
                check_quantisation(&c, hx_linear_quantize_wide_ref, hx_linear_quantize_wide_dsp);
                case_free(&c);
            }
}

/* 16 bits: no further from x than half of a 32512th of the largest. */
static void test_wide_codes_are_near_what_they_stand_for(void **state)
{
    enum { COLS = 500 };
    struct linear_case c;

    (void)state;
    for (int type = 0; type < HX_WEIGHTS_TYPES; type++) {
        float top = 0;

        case_alloc(&c, (enum hx_weights_type)type, 1, COLS, 1, HXT_NORMAL, 9);
        c.wide = 1;
        quantize(&c);
        for (size_t i = 0; i < COLS; i++)
            top = fmaxf(top, fabsf(c.x[i]));
        for (size_t i = 0; i < COLS; i++) {
            const size_t b = i / HX_WEIGHTS_BLOCK;

            assert_true(fabs(code_at(&c, c.quantized, b, i % HX_WEIGHTS_BLOCK) * (double)c.quantized[2 * b].scale - c.x[i]) <=
                        0.501 * top / 32512);
        }
        case_free(&c);
    }
}

static void test_quantisation_rounds_halves_away_from_zero(void **state)
{
    static const float x[] = {127, 0.5f, -0.5f, 1.49f, -2.5f, -127, 126.5f, 0.49f};
    static const int8_t want[] = {127, 1, -1, 1, -3, -127, 127, 0};
    struct hx_linear_block b;

    (void)state;
    assert_int_equal(hx_linear_quantize_dsp(HX_WEIGHTS_Q8_0, x, HXT_LEN(x), &b), 0);
    hxt_same_bytes(b.code, want, sizeof(want));
    assert_true(b.scale == 1);
    assert_int_equal(b.start, -128 * (127 + 1 - 1 + 1 - 3 - 127 + 127));
}

static void test_what_is_not_finite_is_told_and_nothing_else(void **state)
{
    struct hx_linear_block b[40];
    float x[1000];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 3);
    for (int i = 0; i < 200; i++) {
        const enum hx_weights_type type = (enum hx_weights_type)(i % 2);
        const int bad = i % 3 == 0;

        hxt_fill_f32(&rng, x, HXT_LEN(x), bad ? (i % 4 ? HXT_NAN : HXT_INF) : HXT_RANGE);
        assert_int_equal(hx_linear_quantize_dsp(type, x, HXT_LEN(x), b), bad);
        assert_int_equal(hx_linear_quantize_ref(type, x, HXT_LEN(x), b), bad);
    }
}

/* Largest sums that can be: nothing overflows. */
static void test_extreme_codes_are_exact_enough(void **state)
{
    static const size_t widest[] = {29120, 32736};
    struct linear_case c;

    (void)state;
    for (int type = 0; type < HX_WEIGHTS_TYPES; type++) {
        assert_true(hx_weights_bytes((uint32_t)type, 32, widest[type]) > 0);
        assert_true(hx_weights_bytes((uint32_t)type, 32, widest[type] + 1) == 0);
        for (int value = 0; value < 256; value += 255) {
            const size_t step = type == HX_WEIGHTS_Q8_0 ? 1152 : 1024;

            case_alloc(&c, (enum hx_weights_type)type, 32, widest[type], 1, HXT_CONST, 4);
            for (size_t b = 0; b < c.blocks; b++)
                memset(c.w + b * step, value, 1024);
            for (c.wide = 0; c.wide < 2; c.wide++) {
                quantize(&c);
                check_against_reference(&c);
            }
            case_free(&c);
        }
    }
}

/* All vectors at once, one by one, and groups in two parts. */
static void test_results_do_not_depend_on_how_the_work_is_cut(void **state)
{
    struct linear_case c;

    (void)state;
    for (int kind = 0; kind < 2 * HX_WEIGHTS_TYPES; kind++) {
        case_alloc(&c, (enum hx_weights_type)(kind / 2), 100, 300, MAX_N, HXT_NORMAL, 7);
        c.wide = kind % 2;
        quantize(&c);
        const struct hx_linear_job whole = job_of(&c, c.want);
        struct hx_linear_job part = job_of(&c, c.got);

        hx_linear_rows_hvx(&whole);
        part.n = 1;
        for (size_t t = 0; t < c.n; t++) {
            part.x = c.quantized + t * per_vector(&c);
            part.y = c.got + t * c.rows;
            part.w = c.w;
            part.rows = 64;
            hx_linear_rows_hvx(&part);
            part.w += 2 * group_bytes(&c);
            part.y += 64;
            part.rows = 36;
            hx_linear_rows_hvx(&part);
        }
        hxt_same_bytes(c.got, c.want, c.n * c.rows * sizeof(float));
        case_free(&c);
    }
}

/* --- argmax */

static void test_argmax_is_the_first_largest(void **state)
{
    static const size_t sizes[] = {1, 2, 31, 32, 33, 64, 1000, 2048};
    float *y = hxt_guard_alloc(2048 * sizeof(float), ALIGN);
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 5);
    for (size_t s = 0; s < HXT_LEN(sizes); s++)
        for (int round = 0; round < 200; round++) {
            const size_t n = sizes[s];

            for (size_t i = 0; i < n; i++) /* many ties, both zeros */
                y[i] = ((float)hxt_below(&rng, 5) - (round % 2 ? 2 : 6)) * (hxt_below(&rng, 2) ? 1 : -0.0f);
            assert_int_equal(hx_linear_argmax_hvx(y, n), hx_linear_argmax_ref(y, n));
            hxt_fill_f32(&rng, y, n, (enum hxt_fill)(round % HXT_FILLS));
            assert_int_equal(hx_linear_argmax_hvx(y, n), hx_linear_argmax_ref(y, n));
        }
    y[0] = -0.0f;
    y[1] = 0;
    assert_int_equal(hx_linear_argmax_hvx(y, 2), 0);
    y[1] = -NAN;
    assert_int_equal(hx_linear_argmax_hvx(y, 2), -1);
    hxt_guard_free(y);
}

/* --- packing */

/* Q8_0 as in a file: every weight and every scale comes back. */
static void test_q8_0_keeps_every_weight(void **state)
{
    enum { ROWS = 45, COLS = 96, BLOCKS = COLS / 32 };
    uint8_t file[ROWS * BLOCKS * HX_Q8_0_BYTES];
    struct hx_linear w = {.ops = &hx_linear_ref, .w = file, .type = HX_QUANT_Q8_0, .rows = ROWS,
                          .cols = COLS};
    float row[COLS];
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 8);
    hxt_fill_bytes(&rng, file, sizeof(file));
    for (size_t b = 0; b < ROWS * BLOCKS; b++) {
        const uint16_t half = hx_f16_from_f32((float)hxt_normal(&rng));

        memcpy(file + b * HX_Q8_0_BYTES, &half, sizeof(half));
    }
    assert_int_equal(hx_linear_pack_bytes(&w), 2 * BLOCKS * 1152);
    uint8_t *packed = hxt_guard_alloc(hx_linear_pack_bytes(&w), ALIGN);

    assert_int_equal(hx_linear_pack(&w, packed, row, NULL), 0);
    for (size_t r = 0; r < 64; r++) {
        const uint8_t *group = packed + r / 32 * BLOCKS * 1152;

        if (r < ROWS)
            hx_linear_row(&w, r, row);
        for (size_t i = 0; i < COLS; i++) {
            const uint8_t *block = group + i / 32 * 1152;
            const float scale = ((const float *)(block + 1024))[r % 32];
            const int code = block[i % 32 / 4 * 128 + 4 * (r % 32) + i % 4] - 128;

            assert_true((float)code * scale == (r < ROWS ? row[i] : 0));
        }
    }
    hxt_guard_free(packed);
}

static void test_other_types_are_rounded_row_by_row(void **state)
{
    enum { ROWS = 33, COLS = 70 };
    float file[ROWS * COLS], row[COLS];
    const struct hx_linear w = {.ops = &hx_linear_ref, .w = file, .type = HX_QUANT_F32,
                                .rows = ROWS, .cols = COLS};
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 9);
    hxt_fill_f32(&rng, file, HXT_LEN(file), HXT_NORMAL);
    memset(file + COLS, 0, COLS * sizeof(float)); /* a row of zeros */
    assert_int_equal(hx_linear_pack_bytes(&w), 2 * (3 * 1024 + 128));
    uint8_t *packed = hxt_guard_alloc(hx_linear_pack_bytes(&w), ALIGN);

    assert_int_equal(hx_linear_pack(&w, packed, row, NULL), 0);
    for (size_t r = 0; r < ROWS; r++) {
        const uint8_t *group = packed + r / 32 * (3 * 1024 + 128);
        const float scale = ((const float *)(group + 3 * 1024))[r % 32];
        float top = 0;

        for (size_t i = 0; i < COLS; i++)
            top = fmaxf(top, fabsf(file[r * COLS + i]));
        for (size_t i = 0; i < 96; i++) {
            const int code = group[i / 4 * 128 + 4 * (r % 32) + i % 4] - 128;

            assert_true(fabsf((float)code * scale - (i < COLS ? file[r * COLS + i] : 0)) <=
                        top / 253);
        }
    }
    hxt_guard_free(packed);
}

static void test_what_int8_has_not_is_refused(void **state)
{
    enum { ROWS = 40, COLS = 32 };
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    float file[ROWS * COLS] = {0}, row[COLS];
    const struct hx_linear w = {.ops = &hx_linear_ref, .w = file, .type = HX_QUANT_F32,
                                .rows = ROWS, .cols = COLS};
    uint8_t *packed = hxt_guard_alloc(hx_linear_pack_bytes(&w), ALIGN);
    struct hx_error err;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        file[37 * COLS + 9] = bad[i];
        assert_int_equal(hx_linear_pack(&w, packed, row, &err), -EDOM);
        assert_non_null(strstr(err.text, "row 37"));
    }
    hxt_guard_free(packed);
}

static void test_there_is_no_such_matrix(void **state)
{
    static const size_t bad[][3] = {{3, 32, 32}, {0, 0, 32}, {0, 32, 0}, {1, (1 << 24) + 1, 32},
                                    {0, 32, SIZE_MAX}, {1, SIZE_MAX, 32}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        assert_int_equal(hx_weights_bytes((uint32_t)bad[i][0], bad[i][1], bad[i][2]), 0);
}

/* --- lists */

static void test_offload_lists(void **state)
{
    static const struct {
        const char *list, *text;
    } good[] = {{"linear", "linear"},
                {"linear=wq,wk,wv", "linear=wq,wk,wv"},
                {"linear=down,argmax", "linear=down,out,argmax"},
                {"argmax", "linear=out,argmax"},
                {"argmax,linear=up", "linear=up,out,argmax"},
                {"linear=wq,wk,wv,wo,gate,up,down,out", "linear"},
                {"linear,argmax", "linear,argmax"},
                {"kv", "kv"},
                {"attn,argmax", "linear=out,argmax,kv,attn"}};
    static const char *const bad[] = {"", "block", "linear=", "linear=argmax", "wq", "linear,", "linear=wq,,wk",
                                      "linear=wx", "Linear", "argmax,wq"};
    char text[HX_OFFLOAD_TEXT];
    struct hx_error err;
    uint32_t set, again;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(good); i++) {
        set = again = 0;
        assert_int_equal(hx_offload_parse(good[i].list, &set, &err), 0);
        hx_offload_text(set, text);
        assert_string_equal(text, good[i].text);
        assert_int_equal(hx_offload_parse(text, &again, &err), 0);
        assert_int_equal(again, set);
    }
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        set = 0;
        if (hx_offload_parse(bad[i], &set, &err) != -EINVAL || !strstr(err.text, "wq, wk, wv"))
            fail_msg("'%s' is taken for a list", bad[i]);
    }
    hx_offload_text(0, text);
    assert_string_equal(text, "none");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_hvx_is_within_its_bound_of_the_reference),
    cmocka_unit_test(test_quantisation_is_the_references_bit_for_bit),
    cmocka_unit_test(test_wide_codes_are_near_what_they_stand_for),
    cmocka_unit_test(test_quantisation_rounds_halves_away_from_zero),
    cmocka_unit_test(test_what_is_not_finite_is_told_and_nothing_else),
    cmocka_unit_test(test_extreme_codes_are_exact_enough),
    cmocka_unit_test(test_results_do_not_depend_on_how_the_work_is_cut),
    cmocka_unit_test(test_argmax_is_the_first_largest),
    cmocka_unit_test(test_q8_0_keeps_every_weight),
    cmocka_unit_test(test_other_types_are_rounded_row_by_row),
    cmocka_unit_test(test_what_int8_has_not_is_refused),
    cmocka_unit_test(test_there_is_no_such_matrix),
    cmocka_unit_test(test_offload_lists),
};

int main(void)
{
    return HXT_RUN(tests);
}
