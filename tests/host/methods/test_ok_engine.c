/* Protects the exact linear layer (host/methods/ok/linear_ok.c) on the project's model: with and without the shim every logit has
 * the same bits, whatever kernel, threads and batch; no division leaves a remainder, and a damaged weight is found; the model
 * stays as good as it was. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/arch/arch.h"
#include "golden.h"
#include "hxt_each.h"
#include "methods/ok/linear_ok.h"
#include "open_engine.h"
#include "ppl_window.h"
#include "text/text.h"

enum { VOCAB = 2048, TOKENS = 256 / HXT_EACH, SHORT = 24 };

static const uint32_t prompt[] = {1066, 260, 579, 700, 49, 49, 260, 959, 1711, 273};

/* Settings: attention and cache are the reference, matrices are exact. */
#define OK "kv=f32", "attn=ref", "linear=ok"
#define OK_NATIVE OK, "native-ok"
#define OK_B OK, "frobenius-quant"
#define OK_E OK_B, "shim-config=E"

static struct hx_engine *open_ok(const char *const *settings, size_t threads)
{
    return hxt_engine_open(&(struct hx_engine_cfg){.model = MODEL_F16, .settings = settings, .threads = threads});
}

/* The only method of such an engine. */
static const struct hx_linear_method *ok_of(const struct hx_engine *e)
{
    assert_int_equal(e->core->n_linear, 1);
    return e->core->linear[0].open;
}

static uint32_t largest(const float *logits)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < VOCAB; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

/* Prompt and n greedy tokens.  logits: [n][VOCAB]. */
static void generate(struct hx_engine *e, uint32_t *ids, float *logits, size_t n)
{
    uint32_t id;

    run(e, prompt, HXT_LEN(prompt), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(hx_engine_logits(e, logits + i * VOCAB, NULL), 0);
        ids[i] = id = largest(logits + i * VOCAB);
        run(e, &id, 1, HXT_LEN(prompt) + i);
    }
}

/* What a configuration makes of `n` tokens. */
struct made {
    uint32_t ids[TOKENS];
    float *logits;
    struct hx_ok_report report;
};

static void make(struct made *m, const char *const *settings, size_t threads, size_t n)
{
    struct hx_engine *e = open_ok(settings, threads);

    m->logits = malloc(n * VOCAB * sizeof(*m->logits));
    generate(e, m->ids, m->logits, n);
    hx_linear_ok_report(ok_of(e), &m->report);
    hx_engine_close(e);
}

static void assert_same(const struct made *a, const struct made *b, size_t n)
{
    assert_memory_equal(a->ids, b->ids, n * sizeof(*a->ids));
    hxt_same_bytes(a->logits, b->logits, n * VOCAB * sizeof(*a->logits));
}

/* Rows of all matrices of the ring. */
static uint64_t ring_rows(void)
{
    struct hx_model *m = NULL;
    uint64_t rows = 0;

    assert_int_equal(hx_model_open(&m, MODEL_F16, hx_archs, NULL), 0);
    for (size_t i = 0; i < m->n_layer; i++) {
        const struct hx_layer *l = &m->layers[i];

        rows += l->q.rows + l->k.rows + l->v.rows + l->o.rows + l->gate.rows + l->up.rows +
                l->down.rows;
    }
    hx_model_close(m);
    return rows;
}

/* --- the promise */

/* Done means: 256 tokens, B and E, bit for bit; a remainder looked for in every product. */
static void test_shim_on_and_off_give_the_same_bits_over_256_tokens(void **state)
{
    const uint64_t products = ring_rows() * (HXT_LEN(prompt) + TOKENS);
    struct made native, b, e;

    (void)state;
    make(&native, HXT_SETTINGS(OK_NATIVE), 2, TOKENS);
    make(&b, HXT_SETTINGS(OK_B), 2, TOKENS);
    make(&e, HXT_SETTINGS(OK_E), 2, TOKENS);
    assert_same(&b, &native, TOKENS);
    assert_same(&e, &native, TOKENS);
    assert_int_equal(native.report.count.divisions, 0);
    assert_int_equal(b.report.count.divisions, products * (2 * 8 + 1));
    assert_int_equal(b.report.count.remainders, 0);
    assert_true(e.report.count.divisions > products * (2 * 2 + 1));
    assert_true(e.report.count.divisions < products * (2 * 8 + 1));
    assert_int_equal(e.report.count.remainders, 0);
    print_message("%llu products: %llu divisions in B, %llu in E, 0 remainders\n",
                  (unsigned long long)products, (unsigned long long)b.report.count.divisions,
                  (unsigned long long)e.report.count.divisions);
    free(native.logits);
    free(b.logits);
    free(e.logits);
}

static void test_q_max_15_cuts_coordinates_and_gives_the_same_bits(void **state)
{
    struct made native, b;

    (void)state;
    make(&native, HXT_SETTINGS(OK_NATIVE, "q-max=15"), 2, SHORT);
    make(&b, HXT_SETTINGS(OK_B, "q-max=15"), 2, SHORT);
    assert_same(&b, &native, SHORT);
    assert_int_equal(native.report.split, 0);
    assert_int_equal(b.report.split, b.report.matrices);
    assert_int_equal(b.report.bytes, 4 * native.report.bytes);
    assert_true(b.report.count.divisions > 0 && b.report.count.remainders == 0);
    free(native.logits);
    free(b.logits);
}

static void test_other_primes_cancel_too(void **state)
{
    static const char *const shims[][2] = {{"shim-p=2", "shim-k=8"}, {"shim-p=3", "shim-k=5"},
                                           {"shim-p=43", "shim-k=6"}, {"shim-p=163", "shim-k=2"}};
    struct made native;

    (void)state;
    make(&native, HXT_SETTINGS(OK_NATIVE), 1, SHORT);
    for (size_t i = 0; i < HXT_LEN(shims); i += HXT_EACH) {
        struct made b;

        make(&b, HXT_SETTINGS(OK_B, shims[i][0], shims[i][1]), 1, SHORT);
        assert_same(&b, &native, SHORT);
        assert_int_equal(b.report.count.remainders, 0);
        free(b.logits);
    }
    free(native.logits);
}

static void test_kernels_and_threads_change_no_bit(void **state)
{
    struct made want;

    (void)state;
    make(&want, HXT_SETTINGS(OK_B, "ok-kernel=scalar"), 1, SHORT);
    assert_string_equal(want.report.kernel, "scalar");
    for (size_t i = 0; hx_ok_kernels[i]; i++)
        for (size_t threads = HXT_ALL_ROWS ? 1 : 3; threads <= 5 && hx_ok_kernels[i]->usable(); threads += 2 * HXT_EACH) {
            struct made got;

            make(&got, HXT_SETTINGS(OK_B, hxt_setting("ok-kernel", hx_ok_kernels[i]->name)), threads, SHORT);
            assert_string_equal(got.report.kernel, hx_ok_kernels[i]->name);
            assert_same(&got, &want, SHORT);
            free(got.logits);
        }
    free(want.logits);
}

static void test_quantised_files_are_encoded_from_what_they_hold(void **state)
{
    float *logits[2];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct hx_engine_cfg cfg = {.model = MODEL_Q8_0,
                                          .settings = HXT_SETTINGS(OK, i ? "frobenius-quant" : "native-ok")};
        struct hx_engine *e = hxt_engine_open(&cfg);
        uint32_t ids[SHORT];

        logits[i] = malloc(SHORT * VOCAB * sizeof(float));
        generate(e, ids, logits[i], SHORT);
        hx_engine_close(e);
    }
    hxt_same_bytes(logits[1], logits[0], SHORT * VOCAB * sizeof(float));
    free(logits[0]);
    free(logits[1]);
}

/* 23 vectors: five times four and three single ones. */
static void test_a_batch_gives_what_its_vectors_give(void **state)
{
    enum { N = 23 };
    struct hx_engine *e = open_ok(HXT_SETTINGS(OK_B), 2);
    float *one = malloc(N * VOCAB * sizeof(*one)), *all = malloc(N * VOCAB * sizeof(*all));
    uint32_t ids[N];

    (void)state;
    for (size_t i = 0; i < N; i++) {
        ids[i] = prompt[i % HXT_LEN(prompt)];
        run(e, &ids[i], 1, i);
        assert_int_equal(hx_engine_logits(e, one + i * VOCAB, NULL), 0);
    }
    run(e, ids, N, 0);
    assert_int_equal(hx_forward_logits(e->forward, 0, N, all, NULL), 0);
    hxt_same_bytes(all, one, N * VOCAB * sizeof(*all));
    free(one);
    free(all);
    hx_engine_close(e);
}

/* --- what could go wrong */

static void test_a_damaged_weight_leaves_a_remainder_and_ends_the_run(void **state)
{
    struct hx_engine *e = open_ok(HXT_SETTINGS(OK_B), 2);
    struct hx_ok_report r;
    struct hx_error err = {""};

    (void)state;
    for (size_t j = 0; j < 64; j++) /* some of row 3 of the first layer's V */
        hx_linear_ok_planes(ok_of(e), 2)->w[3 * 2 * 256 + j]++;
    assert_int_equal(hx_engine_run(e, prompt, 4, 0, &err), -EDOM);
    assert_non_null(strstr(err.text, "matrix 2, rows from 0"));
    assert_non_null(strstr(err.text, "pi_41^8"));
    hx_linear_ok_report(ok_of(e), &r);
    assert_true(r.count.remainders > 0);
    hx_engine_close(e);
}

static void test_what_cannot_be_exact_is_refused(void **state)
{
    static const struct {
        struct hx_ok_cfg ok;
        int rc;
        const char *says;
    } bad[] = {
        {{.mode = HX_OK_B, .p = 4}, -EINVAL, "p = 4"},
        {{.mode = HX_OK_B, .k = 17}, -EINVAL, "k = 17"},
        {{.q_max = 21}, -EINVAL, "q_max 21"},
        {{.mode = HX_OK_B, .q_max = 15, .x_bits = 16}, -ERANGE, "x_bits up to 15 would do"},
        {{.kernel = "mmx"}, -EINVAL, "'mmx'"},
    };
    struct hx_model *m = NULL;
    struct hx_matrices all;
    struct hx_linear_set set = {.at = calloc(1, sizeof(*set.at)), .n = 1};

    (void)state;
    assert_int_equal(hx_model_open(&m, MODEL_F16, hx_archs, NULL), 0);
    assert_int_equal(hx_matrices_copy(&all, m), 0);
    set.at[0].w = hx_matrices_at(&all, 0, HX_WQ);
    set.at[0].which = HX_WQ;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        struct hx_linear_method *l = NULL;
        struct hx_error err = {""};

        assert_int_equal(hx_linear_ok_open(&l, m, &set, &bad[i].ok, NULL, &err), bad[i].rc);
        if (!strstr(err.text, bad[i].says))
            fail_msg("'%s' does not say '%s'", err.text, bad[i].says);
    }
    free(set.at);
    hx_matrices_free(&all);
    hx_model_close(m);
}

/* The same by its settings. */
static void test_settings_that_cannot_be_exact_are_refused(void **state)
{
    static const struct {
        const char *const settings[8];
        int rc;
        const char *says;
    } bad[] = {
        {{OK_B, "shim-p=4"}, -EINVAL, "shim-p: p = 4"},
        {{OK_B, "shim-k=17"}, -EINVAL, "shim-k: unknown value '17'; legal: integers from 1 to 16"},
        {{OK, "q-max=21"}, -EINVAL, "q-max: unknown value '21'; legal: integers from 1 to "},
        {{OK_B, "q-max=15", "x-bits=16"}, -ERANGE, "x_bits up to 15 would do"},
        {{OK, "ok-kernel=mmx"}, -EINVAL, "'mmx'"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        const struct hx_engine_cfg cfg = {.model = MODEL_F16, .settings = bad[i].settings};
        struct hx_engine *e = NULL;
        struct hx_error err = {""};

        assert_int_equal(hx_engine_open(&e, &cfg, &err), bad[i].rc);
        if (!strstr(err.text, bad[i].says))
            fail_msg("'%s' does not say '%s'", err.text, bad[i].says);
    }
}

/* --- quality */

/* The paper's largest element error, 7.98e-5, against half a step of one scale per tensor and of one per row. */
static void test_one_scale_per_tensor_cannot_err_as_little_as_claimed(void **state)
{
    const double claimed = 7.98e-5;
    struct hx_model *m = NULL;
    double per_tensor = 0, per_row = 0;

    (void)state;
    assert_int_equal(hx_model_open(&m, MODEL_F16, hx_archs, NULL), 0);
    for (size_t i = 0; i < m->n_layer; i++) {
        const struct hx_linear *w = &m->layers[i].down;
        struct hx_ok_tensor *t = NULL;
        double top = 0;

        assert_int_equal(hx_ok_tensor_of_linear(&t, w, 15, NULL), 0);
        for (size_t r = 0; r < t->rows; r++) {
            top = fmax(top, t->scale[r] * 0x1p15);
            per_row = fmax(per_row, t->scale[r] / 2);
        }
        hx_ok_tensor_free(t);
        per_tensor = fmax(per_tensor, top / 0x1p10); /* q_max 9 */
    }
    hx_model_close(m);
    print_message("half a step: %.3g with q_max 9 per tensor, %.3g with q_max 15 per row\n", per_tensor,
                  per_row);
    assert_true(per_tensor > 5 * claimed);
    assert_true(per_row < claimed / 2);
}

static double ppl_of(const struct hx_engine_cfg *cfg, struct hx_ok_report *r)
{
    struct hx_engine *e = hxt_engine_open(cfg);
    struct hx_ppl got;
    struct hx_error err;
    uint32_t *ids;
    size_t n;

    if (hx_text_encode(e->model->tok, HXT_SRC "/host/data/books-holdout.txt", &ids, &n, &err) ||
        hxt_ppl_run(e->model, e->forward, ids, n, 128, 4, &got, &err))
        fail_msg("%s", err.text);
    if (r)
        hx_linear_ok_report(ok_of(e), r);
    free(ids);
    hx_engine_close(e);
    return got.ppl;
}

static void test_perplexity_stays_within_a_ten_thousandth(void **state)
{
    struct hx_engine_cfg cfg = {.model = MODEL_F16, .settings = HXT_SETTINGS("kv=f32", HXT_REF), .n_ctx = 128,
                                .max_batch = 128};
    const double f32 = ppl_of(&cfg, NULL);
    static const struct {
        const char *q_max;
        double ppl, rel_l2;
    } gates[] = {{"q-max=9", 1e-3, 2.05e-3}, {"q-max=15", 1e-4, 4e-5}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(gates); i += HXT_EACH) {
        struct hx_ok_report r;

        cfg.settings = HXT_SETTINGS(OK, gates[i].q_max);
        const double ok = ppl_of(&cfg, &r);

        print_message("q_max %u, x_bits %u: ppl %.6f, f32 %.6f, weights off by %.3g\n", r.q_max,
                      r.x_bits, ok, f32, r.rel_l2);
        assert_true(fabs(ok / f32 - 1) < gates[i].ppl);
        assert_true(r.rel_l2 < gates[i].rel_l2);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_shim_on_and_off_give_the_same_bits_over_256_tokens),
    cmocka_unit_test(test_q_max_15_cuts_coordinates_and_gives_the_same_bits),
    cmocka_unit_test(test_other_primes_cancel_too),
    cmocka_unit_test(test_kernels_and_threads_change_no_bit),
    cmocka_unit_test(test_quantised_files_are_encoded_from_what_they_hold),
    cmocka_unit_test(test_a_batch_gives_what_its_vectors_give),
    cmocka_unit_test(test_a_damaged_weight_leaves_a_remainder_and_ends_the_run),
    cmocka_unit_test(test_what_cannot_be_exact_is_refused),
    cmocka_unit_test(test_settings_that_cannot_be_exact_are_refused),
    cmocka_unit_test(test_one_scale_per_tensor_cannot_err_as_little_as_claimed),
    cmocka_unit_test(test_perplexity_stays_within_a_ten_thousandth),
};

int main(void)
{
    return HXT_RUN(tests);
}
