/* Protects exact matrices with a scale for every 32 weights (--ok-scale block): Q4_0 and Q8_0 weights are taken as they are, others
 * rounded by block; a product is the sum over blocks of exact integers times their scales; the shim changes no bit of it and leaves
 * the coordinates of 4-bit weights far within int32. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "golden.h"
#include "gguf/gguf_convert.h"
#include "methods/ok/linear_ok.h"
#include "open_engine.h"
#include "quant/quant.h"

enum { VOCAB = 2048, TOKENS = 6, MATRICES = 42, WIDTH = 256 };

#define OK "kv=f32", "attn=ref", "linear=ok"
#define BLOCKS OK, "ok-scale=block"

static char q4_0[300]; /* the project's model in Q4_0 */

static int make_q4_0(void **state)
{
    const struct hx_convert how = {.type = HX_QUANT_Q4_0};
    struct hx_gguf *in = NULL;
    struct hx_error err;
    int rc;

    (void)state;
    snprintf(q4_0, sizeof(q4_0), "%s/q4_0.gguf", hxt_tmpdir());
    rc = hx_gguf_open(&in, MODEL_F16, &err);
    if (!rc)
        rc = hx_gguf_convert(in, q4_0, &how, &err);
    hx_gguf_close(in);
    return rc;
}

/* --- tensors */

/* A matrix of random weights in a number format; free w->w. */
static struct hx_linear random_matrix(uint32_t type, size_t rows, size_t cols, enum hxt_fill kind)
{
    uint8_t *w = malloc(rows * hx_quant_row_bytes(type, cols));
    float *row = malloc(cols * sizeof(*row));
    struct hxt_rng rng;

    hxt_rng_init(&rng, type);
    for (size_t r = 0; r < rows; r++) {
        hxt_fill_f32(&rng, row, cols, kind);
        hx_quant_info(type)->narrow(w + r * hx_quant_row_bytes(type, cols), row, cols);
    }
    free(row);
    return (struct hx_linear){.ops = &hx_linear_ref, .w = w, .type = type, .rows = rows, .cols = cols};
}

static void test_blocks_of_a_file_are_taken_as_they_are(void **state)
{
    static const struct {
        uint32_t type;
        unsigned q_max;
    } all[] = {{HX_QUANT_Q4_0, 3}, {HX_QUANT_Q8_0, 7}};
    enum { ROWS = 5, COLS = 96 };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(all); i++) {
        const struct hx_linear w = random_matrix(all[i].type, ROWS, COLS, HXT_NORMAL);
        struct hx_ok_tensor *t = NULL;
        float row[COLS];
        int64_t top = 0;

        assert_true(hx_ok_keeps(all[i].type));
        assert_int_equal(hx_ok_tensor_of_blocks(&t, &w, 9, NULL), 0);
        assert_int_equal(t->q_max, all[i].q_max);
        assert_int_equal(t->blocks, COLS / HX_OK_BLOCK);
        for (size_t r = 0; r < ROWS; r++) {
            hx_linear_row(&w, r, row);
            for (size_t j = 0; j < COLS; j++) {
                const struct hx_ok e = t->data[r * COLS + j];

                assert_int_equal(e.b, 0);
                assert_true((float)((double)e.a * t->scale[r * t->blocks + j / t->block]) == row[j]);
                top = llabs(e.a) > top ? llabs(e.a) : top;
            }
        }
        assert_in_range(top, 1, 1 << all[i].q_max);
        assert_int_equal(hx_ok_tensor_top(t), top);
        hx_ok_tensor_free(t);
        free((void *)w.w);
    }
    assert_false(hx_ok_keeps(HX_QUANT_F16));
}

/* The last block of a row of 80 has 16 weights. */
static void test_others_are_rounded_by_block(void **state)
{
    enum { ROWS = 3, COLS = 80, Q = 9 };
    const struct hx_linear w = random_matrix(HX_QUANT_F32, ROWS, COLS, HXT_SPIKE);
    struct hx_ok_tensor *t = NULL;
    struct hx_ok_planes p;
    float row[COLS];

    (void)state;
    assert_int_equal(hx_ok_tensor_of_blocks(&t, &w, Q, NULL), 0);
    assert_int_equal(t->blocks, 3);
    for (size_t r = 0; r < ROWS; r++) {
        hx_linear_row(&w, r, row);
        for (size_t j = 0; j < COLS; j++) {
            const size_t first = j / HX_OK_BLOCK * HX_OK_BLOCK;
            const double s = t->scale[r * t->blocks + j / HX_OK_BLOCK];
            float top = 0;

            for (size_t k = first; k < first + HX_OK_BLOCK && k < COLS; k++)
                top = fmaxf(top, fabsf(row[k]));
            assert_true(s == ldexp((double)top, -Q));
            assert_true(fabs((double)t->data[r * COLS + j].a * s - (double)row[j]) <= 0.5000001 * s);
        }
    }
    assert_int_equal(hx_ok_planes_of_tensor(&p, t, NULL), 0);
    assert_true(p.blocks == 3 && p.block == HX_OK_BLOCK && p.stride == COLS);
    hx_ok_planes_free(&p);
    hx_ok_tensor_free(t);
    assert_int_equal(hx_ok_tensor_alloc_blocks(&t, 1, 64, 20, Q, NULL), 0);
    assert_int_equal(hx_ok_planes_of_tensor(&p, t, NULL), -EINVAL); /* kernels take multiples of 16 */
    hx_ok_tensor_free(t);
    free((void *)w.w);
}

static void test_a_scale_that_is_no_number_is_refused(void **state)
{
    const uint16_t bad[] = {0x7c00, 0xfc00, 0x7e00};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        const struct hx_linear w = random_matrix(HX_QUANT_Q4_0, 2, 64, HXT_NORMAL);
        struct hx_ok_tensor *t = NULL;
        struct hx_error err = {""};

        memcpy((uint8_t *)w.w + 3 * sizeof(struct hx_q4_0), &bad[i], sizeof(bad[i]));
        assert_int_equal(hx_ok_tensor_of_blocks(&t, &w, 9, &err), -EDOM);
        assert_null(t);
        assert_string_equal(err.text, "tensor: the scale of block 1 of row 1 is not finite");
        free((void *)w.w);
    }
}

/* --- the engine */

static struct hx_engine *open_blocks(const char *const *settings, size_t threads)
{
    return hxt_engine_open(&(struct hx_engine_cfg){.model = q4_0, .settings = settings, .threads = threads, .n_ctx = 32});
}

/* Integers of the file times integers of the vector, block by block. */
static float product(const struct hx_linear *w, size_t r, const int32_t *x, double x_scale)
{
    const struct hx_q4_0 *b = (const struct hx_q4_0 *)w->w + r * (w->cols / HX_OK_BLOCK);
    double y = 0;

    for (size_t i = 0; i < w->cols / HX_OK_BLOCK; i++) {
        float row[HX_OK_BLOCK], unit[HX_OK_BLOCK];
        struct hx_q4_0 one = b[i];
        int64_t sum = 0;
        double d;

        one.d = 0x3c00; /* 1 */
        hx_quant_info(HX_QUANT_Q4_0)->widen(unit, &one, HX_OK_BLOCK);
        hx_quant_info(HX_QUANT_Q4_0)->widen(row, &b[i], HX_OK_BLOCK);
        d = 0;
        for (size_t j = 0; j < HX_OK_BLOCK; j++) {
            d = unit[j] != 0 ? (double)row[j] / (double)unit[j] : d;
            sum += (int64_t)unit[j] * x[i * HX_OK_BLOCK + j];
        }
        y += (double)sum * (d * x_scale);
    }
    return (float)y;
}

static void test_a_product_is_the_sum_of_its_blocks(void **state)
{
    enum { VECTORS = 5 };
    static const char *const shims[] = {"native-ok", "frobenius-quant"};
    float x[VECTORS * WIDTH], y[VECTORS * WIDTH], one[WIDTH], scratch[WIDTH];
    struct hxt_rng rng;
    int32_t xi[WIDTH];

    (void)state;
    hxt_rng_init(&rng, 28);
    hxt_fill_f32(&rng, x, VECTORS * WIDTH, HXT_NORMAL);
    for (size_t s = 0; s < HXT_LEN(shims); s++) {
        struct hx_engine *e = open_blocks(HXT_SETTINGS(BLOCKS, "x-bits=14", shims[s]), 3);
        const struct hx_linear *w = &e->core->matrices.layers[3].q;
        float *to[] = {y}, *to_one[] = {one};

        assert_int_equal(w->type, HX_QUANT_Q4_0);
        assert_true(w->rows == WIDTH && w->cols == WIDTH);
        assert_int_equal(hx_linear_apply(&w, to, 1, x, VECTORS, scratch, NULL), 0);
        for (size_t t = 0; t < VECTORS; t++) {
            const double scale = hx_ok_quantize(xi, x + t * WIDTH, WIDTH, 14);

            for (size_t r = 0; r < WIDTH; r++)
                assert_true(y[t * WIDTH + r] == product(w, r, xi, scale));
            assert_int_equal(hx_linear_apply(&w, to_one, 1, x + t * WIDTH, 1, scratch, NULL), 0);
            assert_memory_equal(one, y + t * WIDTH, sizeof(one));
        }
        hx_engine_close(e);
    }
}

/* Greedy tokens, their logits, and what the method says of itself. */
struct made {
    uint32_t ids[TOKENS];
    float logits[TOKENS * VOCAB];
    struct hx_ok_report report;
};

static void make(struct made *m, const char *const *settings, size_t threads)
{
    static const uint32_t prompt[] = {1066, 260, 579};
    struct hx_engine *e = open_blocks(settings, threads);

    run(e, prompt, HXT_LEN(prompt), 0);
    for (size_t i = 0; i < TOKENS; i++) {
        float *l = m->logits + i * VOCAB;

        assert_int_equal(hx_engine_logits(e, l, NULL), 0);
        m->ids[i] = 0;
        for (uint32_t id = 1; id < VOCAB; id++)
            m->ids[i] = l[id] > l[m->ids[i]] ? id : m->ids[i];
        run(e, &m->ids[i], 1, HXT_LEN(prompt) + i);
    }
    hx_linear_ok_report(e->core->linear[0].open, &m->report);
    hx_engine_close(e);
}

static void test_shim_on_and_off_give_the_same_tokens(void **state)
{
    static struct made native, shimmed;
    const char *const *const ways[] = {HXT_SETTINGS(BLOCKS, "frobenius-quant"),
                                       HXT_SETTINGS(BLOCKS, "frobenius-quant", "shim-config=E"),
                                       HXT_SETTINGS(BLOCKS, "frobenius-quant", "ok-kernel=scalar"),
                                       HXT_SETTINGS(BLOCKS, "frobenius-quant", "shim-p=43", "shim-k=6")};

    (void)state;
    make(&native, HXT_SETTINGS(BLOCKS, "native-ok"), 1);
    assert_true(native.report.by_block && native.report.amax_ratio == 1);
    for (size_t i = 0; i < HXT_LEN(ways); i++) {
        make(&shimmed, ways[i], 1 + 2 * i);
        assert_memory_equal(shimmed.ids, native.ids, sizeof(native.ids));
        hxt_same_bytes(shimmed.logits, native.logits, sizeof(native.logits));
        assert_int_equal(shimmed.report.kept, MATRICES);
        assert_true(shimmed.report.rel_l2 == 0); /* no weight was rounded */
        assert_true(shimmed.report.count.divisions > 0 && shimmed.report.count.remainders == 0);
        assert_true(shimmed.report.amax_ratio > 1e4 && shimmed.report.lane_ratio < 1 && shimmed.report.split == 0);
        if (i == 0) { /* pi_41^8 = 2420599 - 259119 w */
            assert_true(shimmed.report.amax_ratio == 2420599);
            assert_true(fabs(shimmed.report.lane_ratio - 8 * 2420599. / INT32_MAX) < 1e-12);
        }
    }
}

/* One scale for a row rounds 4-bit weights once more, and does so with coordinates that fill lanes. */
static void test_a_scale_per_row_is_no_copy_of_blocks(void **state)
{
    struct hx_engine *e = open_blocks(HXT_SETTINGS(OK, "frobenius-quant"), 1);
    struct hx_ok_report r;

    (void)state;
    hx_linear_ok_report(e->core->linear[0].open, &r);
    assert_false(r.by_block);
    assert_int_equal(r.kept, 0);
    assert_true(r.rel_l2 > 1e-4);
    assert_true(r.lane_ratio > 0.5);
    hx_engine_close(e);
}

static void test_the_dsp_is_refused(void **state)
{
    const char *const *settings = HXT_SETTINGS(BLOCKS, "offload=linear");
    struct hx_engine *e = NULL;
    struct hx_error err = {""};

    (void)state;
    assert_int_equal(hx_engine_open(&e, &(struct hx_engine_cfg){.model = q4_0, .settings = settings}, &err), -EINVAL);
    assert_non_null(strstr(err.text, "ok-scale block: the DSP sums whole rows, not blocks of 32; legal there: row"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_blocks_of_a_file_are_taken_as_they_are),
    cmocka_unit_test(test_others_are_rounded_by_block),
    cmocka_unit_test(test_a_scale_that_is_no_number_is_refused),
    cmocka_unit_test(test_a_product_is_the_sum_of_its_blocks),
    cmocka_unit_test(test_shim_on_and_off_give_the_same_tokens),
    cmocka_unit_test(test_a_scale_per_row_is_no_copy_of_blocks),
    cmocka_unit_test(test_the_dsp_is_refused),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, make_q4_0, NULL);
}
