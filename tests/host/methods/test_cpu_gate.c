/* Protects the quality of the fast path (linear cpu, attention flash) on the project's model: what rounding activations to
 * int8 may cost, and that results do not depend on threads or batches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "open_engine.h"

/* A sanitizer's build, which is there for what memory is touched, runs few of the windows, as all touch the same. */
#ifdef __SANITIZE_ADDRESS__
enum { CTX = 128, WINDOWS = 24, WINDOWS_RUN = 3 };
#else
enum { CTX = 128, WINDOWS = 24, WINDOWS_RUN = WINDOWS };
#endif

static const struct {
    const char *path, *reference;
} models[] = {
    {MODEL_F16, GOLDEN "reference-f16.json"},
    {MODEL_Q8_0, GOLDEN "reference-q8_0.json"},
};

static struct hx_engine *open_path(const char *model, const char *linear, const char *attn, size_t threads)
{
    return hxt_engine_open(&(struct hx_engine_cfg){
        .model = model, .settings = HXT_SETTINGS("kv=f32", hxt_setting("linear", linear), hxt_setting("attn", attn)),
        .threads = threads, .n_ctx = CTX + 1});
}

static double golden_ppl(const char *path)
{
    json_t *all = golden_json(path);
    const json_t *one = json_object_get(json_object_get(all, "ppl"), "wikitext2-test ctx=128 chunks=24");
    const double ppl = json_real_value(json_object_get(one, "ppl"));

    json_decref(all);
    assert_true(ppl > 1);
    return ppl;
}

static void window(const uint16_t *all, size_t w, uint32_t ids[CTX + 1])
{
    for (size_t i = 0; i <= CTX; i++)
        ids[i] = all[w * (CTX + 1) + i];
}

/* logits [CTX][vocab] after each of the first CTX ids */
static void logits_of(struct hx_engine *e, const uint32_t *ids, float *logits)
{
    struct hx_error err = {""};

    run(e, ids, CTX, 0);
    if (hx_forward_logits(e->forward, 0, CTX, logits, &err))
        fail_msg("%s", err.text);
}

static size_t top(const float *x, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        best = x[i] > x[best] ? i : best;
    return best;
}

static double nll(const float *x, size_t n, uint32_t id)
{
    const double max = x[top(x, n)];
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += exp(x[i] - max);
    return max + log(sum) - x[id];
}

/* Of a perplexity beside the one that it should be. */
static void expect_ppl(const char *model, double ppl, const char *whose, double want)
{
    print_message("%s: fast path's PPL %.4f, %s %.4f (%+.4f %%)\n", model, ppl, whose, want, 100 * (ppl / want - 1));
    assert_true(fabs(ppl / want - 1) <= 0.002);
}

static void check_model(size_t which, const uint16_t *windows)
{
    struct hx_engine *ref = open_path(models[which].path, "ref", "ref", 1);
    struct hx_engine *fast = open_path(models[which].path, "cpu", "flash", 2);
    const size_t vocab = ref->model->vocab;
    float *want = malloc(CTX * vocab * sizeof(*want)), *got = malloc(CTX * vocab * sizeof(*got));
    double nll_want = 0, nll_got = 0, ppl;
    size_t same = 0;

    assert_true(want && got);
    for (size_t w = 0; w < WINDOWS_RUN; w++) {
        uint32_t ids[CTX + 1];

        window(windows, w, ids);
        logits_of(ref, ids, want);
        logits_of(fast, ids, got);
        for (size_t i = 0; i < CTX; i++) {
            same += top(want + i * vocab, vocab) == top(got + i * vocab, vocab);
            nll_want += nll(want + i * vocab, vocab, ids[i + 1]);
            nll_got += nll(got + i * vocab, vocab, ids[i + 1]);
        }
    }
    ppl = exp(nll_got / (CTX * WINDOWS_RUN));
    expect_ppl(models[which].path, ppl, "the reference path's", exp(nll_want / (CTX * WINDOWS_RUN)));
    if (WINDOWS_RUN == WINDOWS) /* of all of them there is a golden figure */
        expect_ppl(models[which].path, ppl, "golden", golden_ppl(models[which].reference));
    print_message("%s: same first choice in %zu of %d\n", models[which].path, same, CTX * WINDOWS_RUN);
    assert_true((double)same >= 0.98 * CTX * WINDOWS_RUN);
    free(want);
    free(got);
    hx_engine_close(ref);
    hx_engine_close(fast);
}

static void test_the_fast_path_keeps_the_models_quality(void **state)
{
    size_t bytes;
    uint16_t *windows = hxt_read_file(GOLDEN "wikitext2-windows.u16", &bytes);

    (void)state;
    assert_non_null(windows);
    assert_int_equal(bytes, WINDOWS * (CTX + 1) * sizeof(*windows));
    for (size_t i = 0; i < HXT_LEN(models); i++)
        check_model(i, windows);
    free(windows);
}

/* All at once on three threads, one by one on one. */
static void test_logits_depend_on_neither_threads_nor_batches(void **state)
{
    size_t bytes;
    uint16_t *windows = hxt_read_file(GOLDEN "wikitext2-windows.u16", &bytes);
    uint32_t ids[CTX + 1];

    (void)state;
    assert_non_null(windows);
    window(windows, 3, ids);
    for (size_t m = 0; m < HXT_LEN(models); m++) {
        struct hx_engine *many = open_path(models[m].path, "cpu", "flash", 3);
        struct hx_engine *one = open_path(models[m].path, "cpu", "flash", 1);
        const size_t vocab = one->model->vocab;
        float *want = malloc(CTX * vocab * sizeof(*want)), *got = malloc(vocab * sizeof(*got));
        struct hx_error err = {""};

        assert_true(want && got);
        logits_of(many, ids, want);
        for (size_t i = 0; i < CTX; i++) {
            run(one, ids + i, 1, i);
            assert_int_equal(hx_engine_logits(one, got, &err), 0);
            hxt_same_bytes(got, want + i * vocab, vocab * sizeof(*got));
        }
        free(want);
        free(got);
        hx_engine_close(many);
        hx_engine_close(one);
    }
    free(windows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_fast_path_keeps_the_models_quality),
        cmocka_unit_test(test_logits_depend_on_neither_threads_nor_batches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
