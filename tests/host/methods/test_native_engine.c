/* Protects linear method `native` (host/methods/native) on the project's model: at full k it is the model; perplexities are those that
 * double-precision prototypes gave for matrices of that rank; a file has the same logits as what it was written from; the best for a text
 * beats the best for weights; results depend on neither batch nor threads; what cannot be is refused in one line. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden.h"
#include "methods/native/linear_native.h"
#include "open_engine.h"
#include "ppl_window.h"

enum { CTX = 128, WINDOWS = 24, VOCAB = 2048, SOME = 24 };

/* --- engines */

static int open_settings(struct hx_engine **e, const char *words, size_t threads, struct hx_error *err)
{
    const char *settings[24] = {"kv=f32"};
    char copy[1024], *rest = copy, *word;
    size_t n = 1;

    snprintf(copy, sizeof(copy), "%s", words);
    while ((word = strsep(&rest, " ")))
        settings[n++] = word;
    return hx_engine_open(e, &(struct hx_engine_cfg){.model = MODEL_F16, .settings = settings, .threads = threads, .n_ctx = CTX + 1}, err);
}

/* Settings as words, beside K and V in f32. */
static struct hx_engine *open_words(const char *words, size_t threads)
{
    struct hx_error err = {""};
    struct hx_engine *e = NULL;

    if (open_settings(&e, words, threads, &err))
        fail_msg("%s: %s", words, err.text);
    return e;
}

static void refused(const char *words, const char *says)
{
    struct hx_error err = {""};
    struct hx_engine *e = NULL;

    if (!open_settings(&e, words, 1, &err) || !strstr(err.text, says) || strchr(err.text, '\n'))
        fail_msg("%s: '%s', not '%s'", words, err.text, says);
}

/* --- the golden windows */

static uint32_t (*windows)[CTX + 1];

static int read_windows(void **state)
{
    size_t bytes;
    uint16_t *all = hxt_read_file(GOLDEN "wikitext2-windows.u16", &bytes);

    (void)state;
    windows = calloc(WINDOWS, sizeof(*windows));
    if (!all || bytes != WINDOWS * (CTX + 1) * sizeof(*all))
        return -1;
    for (size_t i = 0; i < WINDOWS * (CTX + 1); i++)
        windows[i / (CTX + 1)][i % (CTX + 1)] = all[i];
    free(all);
    return 0;
}

static int free_windows(void **state)
{
    (void)state;
    free(windows);
    return 0;
}

static double ppl_of(const char *words, size_t n)
{
    struct hx_engine *e = open_words(words, 2);
    struct hx_error err = {""};
    double sum = 0;

    for (size_t w = 0; w < n; w++)
        if (hxt_ppl_window(e->model, e->forward, windows[w], CTX, &sum, &err))
            fail_msg("%s: %s", words, err.text);
    hx_engine_close(e);
    return exp(sum / (double)(CTX * n));
}

/* The sanitizers' build runs the same code on fewer windows, too few for figures. */
#ifdef __SANITIZE_ADDRESS__
enum { FIGURES = 0, FEW = 1 };
#else
enum { FIGURES = 1, FEW = 4 };
#endif

static void test_perplexities_are_those_of_the_prototypes(void **state)
{
    static const struct {
        const char *words;
        double ppl, within;
    } cases[] = {
        {"linear=cpu,wq=native:128,wk=native:128,wv=native:128", 27.79, .05},
        {"linear=cpu,wq=native:64,wk=native:64,wv=native:64", 32.35, .1},
        {"linear=cpu,down=native:128", 32.28, .1},
        {"linear=native:128", 55.1, .2},
    };

    (void)state;
    if (!FIGURES)
        hxt_skip_test("perplexities of 24 windows are the plain build's");
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        const double ppl = ppl_of(cases[i].words, WINDOWS);

        if (fabs(ppl - cases[i].ppl) > cases[i].within)
            fail_msg("%s: perplexity %.4f, %.4f +- %.4f is right", cases[i].words, ppl, cases[i].ppl, cases[i].within);
    }
}

static void test_at_full_k_it_is_the_model(void **state)
{
    const double want = ppl_of("linear=cpu", FEW), got = ppl_of("linear=native:256", FEW);

    (void)state;
    if (fabs(got / want - 1) > 1e-4)
        fail_msg("perplexity %.6f, of the model %.6f", got, want);
}

static void test_the_best_for_a_text_beats_the_best_for_weights(void **state)
{
    const char *text = hxt_path("%s/text", hxt_tmpdir());
    double of_weights, of_text;
    char *all = hxt_read_file(HOLDOUT, NULL);

    (void)state;
    hxt_write_file(text, all, 8000);
    free(all);
    of_weights = ppl_of("linear=native:96", FEW);
    of_text = ppl_of(hxt_path("linear=native:96 native-from=text native-text=%s", text), FEW);
    if (!(of_text < 0.9 * of_weights))
        fail_msg("perplexity %.3f of a text, %.3f of weights", of_text, of_weights);
}

/* logits [n][VOCAB] */
static float *logits_of(struct hx_engine *e, const uint32_t *ids, size_t n)
{
    float *logits = malloc(n * VOCAB * sizeof(*logits));

    run(e, ids, n, 0);
    assert_int_equal(hx_forward_logits(e->forward, 0, n, logits, NULL), 0);
    return logits;
}

static void test_logits_depend_on_neither_batch_nor_threads(void **state)
{
    static const char *const words[] = {"linear=native:48", "linear=native:96 native-format=q8_0"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(words); i++) {
        struct hx_engine *many = open_words(words[i], 3), *one = open_words(words[i], 1);
        float *want = logits_of(many, windows[1], SOME), *got = malloc(VOCAB * sizeof(*got));

        for (size_t t = 0; t < SOME; t++) {
            run(one, &windows[1][t], 1, t);
            assert_int_equal(hx_engine_logits(one, got, NULL), 0);
            hxt_same_bytes(got, want + t * VOCAB, VOCAB * sizeof(*got));
        }
        free(want);
        free(got);
        hx_engine_close(many);
        hx_engine_close(one);
    }
}

/* --- files */

/* The best of 32 dimensions of all wk and wv, as a file. */
static const char *write_file(const struct hx_model *m)
{
    static char path[4096];
    struct hx_matrices all;
    struct hx_linear_set set = {.at = calloc(2 * m->n_layer, sizeof(*set.at))};
    struct hx_native_fits f = {.fingerprint = m->fingerprint};
    struct hx_error err = {""};

    assert_int_equal(hx_matrices_copy(&all, m), 0);
    for (size_t i = 0; i < 2 * m->n_layer; i++) {
        set.at[i].which = i & 1 ? HX_WV : HX_WK;
        set.at[i].layer = i / 2;
        set.at[i].w = hx_matrices_at(&all, i / 2, set.at[i].which);
        set.n++;
    }
    snprintf(path, sizeof(path), "%s/best.nat", hxt_tmpdir());
    assert_int_equal(hx_native_fits_take(&f, &set, HX_LAYER_MATRICES, 32, 0, &err), 0);
    assert_int_equal(hx_native_fits_each(&f, NULL, NULL, "matrices", hx_native_fits_best, NULL, &err), 0);
    assert_int_equal(hx_native_fits_write(&f, path, &err), 0);
    hx_native_fits_free(&f);
    hx_matrices_free(&all);
    free(set.at);
    return path;
}

static void test_a_file_has_the_logits_of_what_it_was_written_from(void **state)
{
    struct hx_engine *plain = open_words("linear=cpu", 1), *made = open_words("linear=cpu,wk=native:32,wv=native:32", 1), *file;
    const char *path = write_file(plain->model);
    float *want = logits_of(made, windows[0], SOME), *got;

    (void)state;
    file = open_words(hxt_path("linear=native native-file=%s", path), 1);
    assert_true(hxt_reported(file, "native", "matrices") == 12);
    got = logits_of(file, windows[0], SOME);
    hxt_same_bytes(got, want, SOME * VOCAB * sizeof(*got));
    free(want);
    free(got);
    hx_engine_close(plain);
    hx_engine_close(made);
    hx_engine_close(file);
    refused(hxt_path("linear=native:64 native-file=%s", path), "says how many dimensions");
    refused(hxt_path("linear=native native-k=64 native-file=%s", path), "exclude each other");
    refused(hxt_path("linear=cpu,wq=native native-file=%s", path), "has none of the matrices");
}

static void test_what_cannot_be_is_refused(void **state)
{
    (void)state;
    refused("linear=native:48 native-format=q8_0", "legal: multiples of 32");
    refused("linear=native native-from=text", "native-from text and native-text go together");
    refused(hxt_path("linear=native native-text=%s", HOLDOUT), "native-text needs native-from");
    refused("linear=native native-file=/nowhere.nat", "/nowhere.nat");
    refused(hxt_path("linear=native native-file=%s", HOLDOUT), "no file of matrices in k dimensions");
    refused("linear=native:0", "native");
    refused("linear=cpu,out=native:32", "none of its matrices");
}

static void test_reports_count_parameters_and_bytes(void **state)
{
    struct hx_engine *e = open_words("linear=native:64 native-format=f16", 1);
    const double of_layer = 64 * 64 * 7 + 64 * (512 + 2 * 384 + 512 + 3 * 768);

    (void)state;
    assert_true(hxt_reported(e, "native", "params") == 6 * of_layer);
    assert_true(hxt_reported(e, "native", "bytes_per_token") == 12 * of_layer);
    assert_true(hxt_reported(e, "native", "raw_params") == 6 * (65536.0 * 2 + 32768 * 2 + 131072 * 3));
    hx_engine_close(e);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_perplexities_are_those_of_the_prototypes),
    cmocka_unit_test(test_at_full_k_it_is_the_model),
    cmocka_unit_test(test_the_best_for_a_text_beats_the_best_for_weights),
    cmocka_unit_test(test_logits_depend_on_neither_batch_nor_threads),
    cmocka_unit_test(test_a_file_has_the_logits_of_what_it_was_written_from),
    cmocka_unit_test(test_what_cannot_be_is_refused),
    cmocka_unit_test(test_reports_count_parameters_and_bytes),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, read_windows, free_windows);
}
