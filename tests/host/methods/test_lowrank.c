/* Protects linear method `lowrank` (host/methods/lowrank) on the project's model: at full rank it is the model; errors fall with the rank
 * and are never below the Eckart-Young bound; perplexities are those that double-precision prototypes gave; results depend on neither
 * batch nor threads; files of factors are the same bytes each time, and a damaged or foreign one is made anew. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/watch.h"
#include "golden.h"
#include "hxt_each.h"
#include "methods/lowrank/linear_lowrank.h"
#include "open_engine.h"
#include "ppl_window.h"

enum { CTX = 128, WINDOWS = 24, VOCAB = 2048, WIDTH = 256, SOME = 24 };

static const uint32_t prompt[] = {1066, 260, 579, 700, 49, 49, 260, 959, 1711, 273};

/* --- engines */

static char notes[4096];

static void note(void *arg, const char *line)
{
    (void)arg;
    snprintf(notes + strlen(notes), sizeof(notes) - strlen(notes), "%s\n", line);
}

static const struct hx_watch watch = {.note = note};

/* Settings as words, beside K and V in f32. */
static struct hx_engine *open_words(const char *words, size_t threads)
{
    const char *settings[24] = {"kv=f32"};
    char copy[1024], *rest = copy, *word;
    size_t n = 1;

    snprintf(copy, sizeof(copy), "%s", words);
    while ((word = strsep(&rest, " ")))
        settings[n++] = word;
    return hxt_engine_open(&(struct hx_engine_cfg){.model = MODEL_F16, .settings = settings, .threads = threads, .n_ctx = CTX + 1,
                                                   .watch = &watch});
}

#define NO_FILE "wproj-cache=none "

/* "": it opened; else why not. */
static const char *refused(const char *words)
{
    static struct hx_error err;
    const char *settings[24] = {"kv=f32", "wproj-cache=none"};
    char copy[1024], *rest = copy, *word;
    struct hx_engine *e = NULL;
    size_t n = 2;

    err = (struct hx_error){""};
    snprintf(copy, sizeof(copy), "%s", words);
    while ((word = strsep(&rest, " ")))
        settings[n++] = word;
    assert_int_not_equal(hx_engine_open(&e, &(struct hx_engine_cfg){.model = MODEL_F16, .settings = settings, .watch = &watch}, &err),
                         0);
    assert_null(e);
    return err.text;
}

static const struct hx_lowrank_factors *factors_of(const struct hx_engine *e)
{
    assert_int_equal(e->core->n_linear, 1);
    return hx_linear_lowrank_factors(e->core->linear[0].open);
}

/* logits [n][VOCAB] */
static float *logits_of(struct hx_engine *e, const uint32_t *ids, size_t n)
{
    float *logits = malloc(n * VOCAB * sizeof(*logits));

    run(e, ids, n, 0);
    assert_int_equal(hx_forward_logits(e->forward, 0, n, logits, NULL), 0);
    return logits;
}

static uint32_t top(const float *x)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < VOCAB; i++)
        best = x[i] > x[best] ? i : best;
    return best;
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

static double ppl_of(const char *words)
{
    struct hx_engine *e = open_words(words, 2);
    struct hx_error err = {""};
    double sum = 0;

    for (size_t w = 0; w < WINDOWS; w++)
        if (hxt_ppl_window(e->model, e->forward, windows[w], CTX, &sum, &err))
            fail_msg("%s: %s", words, err.text);
    hx_engine_close(e);
    return exp(sum / (CTX * WINDOWS));
}

/* The first bytes of a text that is not scored, as a file. */
static const char *some_text(size_t bytes)
{
    static char path[4096];
    char *text = hxt_read_file(HOLDOUT, NULL);

    snprintf(path, sizeof(path), "%s/text-%zu.txt", hxt_tmpdir(), bytes);
    hxt_write_file(path, text, bytes);
    free(text);
    return path;
}

/* Of prototypes in double precision: 27.693050 without a method. */
static void test_perplexities_are_those_of_the_prototypes(void **state)
{
    static const struct {
        const char *words;
        double ppl, within;
    } cases[] = {
        {"axex-compress axex-compress-rank=64", 27.693 * 1.917, .02 * 53.1},
        {"axex-compress axex-compress-rank=96", 27.693 * 1.170, .02 * 32.4},
        {"axex-compress axex-compress-rank=128", 29.18, .05},
        {"axex-compress grc-basis=per-slot axex-compress-rank=128", 27.79, .05},
        {"linear=cpu,wo=lowrank:128", 28.11, .05},
        {"linear=cpu,gate=lowrank:128", 31.71, .1},
        {"linear=cpu,down=lowrank:128", 32.28, .1},
        {"axex-full-compress grc-basis=per-slot axex-compress-rank=128", 55.1, .2},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i += HXT_EACH) {
        char words[300];
        double ppl;

        snprintf(words, sizeof(words), NO_FILE "%s", cases[i].words);
        ppl = ppl_of(words);
        print_message("%s: %.4f, prototype %.4f\n", cases[i].words, ppl, cases[i].ppl);
        if (fabs(ppl - cases[i].ppl) > cases[i].within)
            fail_msg("%s: perplexity %.4f, %.4f +- %.4f is right", cases[i].words, ppl, cases[i].ppl, cases[i].within);
    }
}

/* --- full rank */

/* The reference's logits within 1e-3, and the same choices. */
static void test_at_full_rank_it_is_the_model(void **state)
{
    static const char *const full[] = {"axex-full-compress", "axex-full-compress grc-basis=per-slot grc-solver=subspace",
                                       "axex-compress grc-norm=slot", "axex-full-compress basis-from=text basis-text="};
    struct hx_engine *ref = open_words("linear=ref attn=ref", 1);
    float *want = logits_of(ref, windows[0], SOME);

    (void)state;
    for (size_t i = 0; i < HXT_LEN(full); i++) {
        char words[400];
        struct hx_engine *e;
        float *got;

        snprintf(words, sizeof(words), NO_FILE "attn=ref wproj-by=ref axex-compress-rank=256 %s%s", full[i],
                 full[i][strlen(full[i]) - 1] == '=' ? some_text(4000) : "");
        e = open_words(words, 2);
        got = logits_of(e, windows[0], SOME);
        for (size_t t = 0; t < SOME; t++) {
            for (size_t k = 0; k < VOCAB; k++)
                if (!(fabsf(got[t * VOCAB + k] - want[t * VOCAB + k]) <= 1e-3f))
                    fail_msg("%s: logit %zu of token %zu: %g, %g is right", full[i], k, t, (double)got[t * VOCAB + k],
                             (double)want[t * VOCAB + k]);
            assert_int_equal(top(got + t * VOCAB), top(want + t * VOCAB));
        }
        free(got);
        hx_engine_close(e);
    }
    free(want);
    hx_engine_close(ref);
}

/* --- errors */

static void test_errors_fall_with_the_rank_and_stay_above_the_bound(void **state)
{
    static const char *const bases[] = {"shared", "per-slot"};

    (void)state;
    for (size_t b = 0; b < HXT_LEN(bases); b++) {
        double last[6 * HX_PER_LAYER];

        for (size_t i = 0; i < HXT_LEN(last); i++)
            last[i] = 1;
        for (size_t k = 64; k <= WIDTH; k += 96) {
            struct hx_engine *e = open_words(hxt_path(NO_FILE "axex-full-compress axex-compress-rank=%zu grc-basis=%s", k, bases[b]), 2);
            const struct hx_lowrank_factors *f = factors_of(e);

            assert_int_equal(f->n_parts, HXT_LEN(last));
            for (size_t i = 0; i < f->n_parts; i++) {
                const struct hx_lowrank_part *p = &f->parts[i];
                const int alone = f->bases[p->basis].n == 1;

                if (!(p->rel_f2 <= last[i] + 1e-12 && p->rel_f2 >= p->eckart_young - 1e-9))
                    fail_msg("%s, rank %zu: %s of layer %zu: error %g, bound %g, before %g", bases[b], k, hx_matrix_names[p->which],
                             p->layer, p->rel_f2, p->eckart_young, last[i]);
                if (alone)
                    assert_true(fabs(p->rel_f2 - p->eckart_young) < 1e-9);
                last[i] = p->rel_f2;
            }
            hx_engine_close(e);
        }
    }
}

/* What a subspace finds is nearly as good as what all eigenvectors are, and no better. */
static void test_a_subspace_is_nearly_as_good_as_all_eigenvectors(void **state)
{
    struct hx_engine *e = open_words(NO_FILE "axex-full-compress axex-compress-rank=96 grc-solver=eigen", 2);
    struct hx_engine *s = open_words(NO_FILE "axex-full-compress axex-compress-rank=96 grc-solver=subspace", 2);
    const struct hx_lowrank_factors *all = factors_of(e), *sub = factors_of(s);
    double sum[2] = {0, 0};

    (void)state;
    for (size_t i = 0; i < all->n_parts; i++) {
        sum[0] += all->parts[i].rel_f2;
        sum[1] += sub->parts[i].rel_f2;
    }
    print_message("sum of errors: %.4f of a subspace, %.4f of all eigenvectors\n", sum[1], sum[0]);
    assert_true(sum[1] >= sum[0] && sum[1] < 1.05 * sum[0]);
    hx_engine_close(e);
    hx_engine_close(s);
}

/* Bases of another text than the one that is scored. */
static void test_bases_of_a_text_beat_those_of_weights(void **state)
{
    const double weights = 27.693 * 1.170;
    double text;

    (void)state;
    if (!HXT_ALL_ROWS)
        hxt_skip_test("24 windows are the plain build's");
    text = ppl_of(hxt_path(NO_FILE "axex-compress axex-compress-rank=96 basis-from=text basis-text=%s", some_text(20000)));
    print_message("rank 96, bases of books: perplexity %.4f; of weights %.4f\n", text, weights);
    assert_true(text < .98 * weights);
}

/* --- formats, batches, threads */

static void test_formats_take_what_they_should_and_keep_the_perplexity(void **state)
{
    static const struct {
        const char *name;
        double bytes, within;
    } formats[] = {{"f32", 4, 1e-4}, {"f16", 2, 1e-3}, {"q8_0", 34. / 32, .005}};
    const double want = 29.18;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(formats); i += HXT_EACH) {
        const char *words = hxt_path(NO_FILE "axex-compress axex-compress-rank=128 wproj-format=%s", formats[i].name);
        struct hx_engine *e = open_words(words, 1);
        const struct hx_lowrank_bytes b = hx_lowrank_bytes(factors_of(e));
        double ppl;

        hx_engine_close(e);
        assert_true((double)b.factors == 6 * 128 * (256 + 512) * formats[i].bytes);
        assert_true((double)b.same_format == 6 * 256 * 512 * formats[i].bytes);
        assert_true(b.raw == 6 * 256 * 512 * 2);
        ppl = ppl_of(words);
        print_message("%s: %.4f, %.3f of the bytes\n", formats[i].name, ppl, (double)b.factors / (double)b.same_format);
        assert_true(fabs(ppl / want - 1) < .0017 + formats[i].within);
    }
}

static void test_logits_depend_on_neither_batch_nor_threads(void **state)
{
    static const char *const words[] = {NO_FILE "axex-full-compress axex-compress-rank=96",
                                        NO_FILE "axex-full-compress axex-compress-rank=96 wproj-format=q8_0 grc-basis=per-slot"};

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

static struct hx_lowrank_told told_by(const char *words, char path[4096])
{
    struct hx_engine *e = open_words(words, 2);
    struct hx_lowrank_told t = hx_linear_lowrank_told(e->core->linear[0].open);

    snprintf(path, 4096, "%s", t.path ? t.path : "");
    t.path = NULL;
    hx_engine_close(e);
    return t;
}

#define IN(folder) hxt_path("axex-compress axex-compress-rank=96 wproj-cache=%s", folder)

static void test_a_file_of_factors_is_found_again_and_is_the_same_bytes_each_time(void **state)
{
    char a[4096], b[4096], folder[4096];
    struct hx_lowrank_told made, found;
    void *first, *second;
    size_t n, m;

    (void)state;
    snprintf(folder, sizeof(folder), "%s/deep/er", hxt_tmpdir());
    made = told_by(IN(folder), a);
    assert_int_equal(made.state, HX_WPROJ_BUILT);
    assert_non_null(strstr(a, "/ott_wproj_cache_"));
    first = hxt_read_file(a, &n);
    assert_non_null(first);
    assert_memory_equal(first, "WPROJV01", 8);
    found = told_by(IN(folder), b);
    assert_int_equal(found.state, HX_WPROJ_HIT);
    assert_string_equal(a, b);
    print_message("made in %.4f s, found in %.4f s\n", made.seconds, found.seconds);
    assert_int_equal(unlink(a), 0);
    assert_int_equal(told_by(IN(folder), b).state, HX_WPROJ_BUILT);
    second = hxt_read_file(b, &m);
    assert_int_equal(n, m);
    hxt_same_bytes(second, first, n);
    assert_int_equal(told_by(hxt_path("axex-compress axex-compress-rank=64 wproj-cache=%s", folder), b).state, HX_WPROJ_BUILT);
    assert_string_not_equal(a, b);
    free(first);
    free(second);
}

static void test_logits_are_the_same_with_a_file_and_without(void **state)
{
    const char *folder = hxt_tmpdir();
    float *logits[3];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct hx_engine *e = open_words(i ? IN(folder) : NO_FILE "axex-compress axex-compress-rank=96", 2);

        logits[i] = logits_of(e, prompt, HXT_LEN(prompt));
        hx_engine_close(e);
    }
    hxt_same_bytes(logits[1], logits[0], HXT_LEN(prompt) * VOCAB * sizeof(float));
    hxt_same_bytes(logits[2], logits[0], HXT_LEN(prompt) * VOCAB * sizeof(float));
    for (size_t i = 0; i < 3; i++)
        free(logits[i]);
}

static void test_a_damaged_or_foreign_file_is_made_anew(void **state)
{
    static const struct {
        size_t at; /* the byte that changes; SIZE_MAX: the file is cut */
        const char *says;
    } cases[] = {{0, "is no cache of factors"}, {8, "is of another model, or of other options"}, {16, "is of another model"},
                 {100, "is damaged"},           {500000, "is damaged"},                           {SIZE_MAX, "is damaged"}};
    char path[4096], folder[4096];
    uint8_t *right, *now;
    size_t n, m;

    (void)state;
    snprintf(folder, sizeof(folder), "%s", hxt_tmpdir());
    told_by(IN(folder), path);
    right = hxt_read_file(path, &n);
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        uint8_t *bad = malloc(n);

        memcpy(bad, right, n);
        if (cases[i].at < n)
            bad[cases[i].at] ^= 1;
        hxt_write_file(path, bad, cases[i].at < n ? n : n / 2);
        free(bad);
        *notes = '\0';
        assert_int_equal(told_by(IN(folder), path).state, HX_WPROJ_REBUILT);
        if (!strstr(notes, cases[i].says) || !strstr(notes, path))
            fail_msg("byte %zu: '%s'", cases[i].at, notes);
        now = hxt_read_file(path, &m);
        assert_int_equal(n, m);
        hxt_same_bytes(now, right, n);
        free(now);
    }
    free(right);
}

static void test_without_a_place_for_files_it_works_and_says_so(void **state)
{
    char path[4096], folder[4096];

    (void)state;
    snprintf(folder, sizeof(folder), "%s/file", hxt_tmpdir());
    hxt_write_file(folder, "x", 1);
    *notes = '\0';
    assert_int_equal(told_by(hxt_path("axex-compress axex-compress-rank=32 wproj-cache=%s/sub", folder), path).state, HX_WPROJ_NONE);
    assert_non_null(strstr(notes, "factors are not kept: Not a directory"));
}

/* --- what cannot be */

static void test_what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *words, *says;
    } cases[] = {
        {"axex-compress axex-compress-rank=0", "axex-compress-rank: unknown value '0'; legal: auto, or integers from 1 to 65536"},
        {"axex-compress axex-compress-rank=9x", "axex-compress-rank: unknown value '9x'"},
        {"axex-compress axex-compress-rank=257", "lowrank: rank 257: what wq of layer 0 takes in is 256 wide"},
        {"linear=lowrank:0", "linear: lowrank:0: RANK is an integer from 1 to 65536"},
        {"linear=ref,down@2=lowrank:513", "lowrank: rank 513: what down of layer 2 takes in is 512 wide"},
        {"linear=ref,out=lowrank:64", "lowrank: none of its matrices can be made of low rank"},
        {"axex-compress axex-compress-rank=100 wproj-format=q8_0", "rank 100 of wq, layer 0: Q8_0 codes 32 weights at a time; legal: "
                                                                   "multiples of 32"},
        {"axex-attn-only axex-full-compress", "axex-attn-only and axex-full-compress exclude each other"},
        {"axex-compress basis-from=text", "basis-from text needs basis-text"},
        {"axex-compress basis-text=x", "basis-text needs basis-from"},
        {"axex-compress basis-from=text basis-text=x axex-weight-pca", "basis-from text and axex-weight-pca exclude each other"},
        {"axex-compress basis-from=text basis-text=/nonexistent", "/nonexistent"},
        {"axex-compress linear=ref", "axex-compress and linear ref exclude each other"},
        {"linear=ref", "wproj-cache needs axex-compress or axex-ffn-compress or axex-full-compress"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        const char *says = refused(cases[i].words);

        if (!strstr(says, cases[i].says))
            fail_msg("%s: '%s'", cases[i].words, says);
    }
}

static void test_a_text_shorter_than_the_rank_is_refused(void **state)
{
    char path[4096];

    (void)state;
    snprintf(path, sizeof(path), "%s/short.txt", hxt_tmpdir());
    hxt_write_file(path, "The king was dead.", 18);
    assert_non_null(strstr(refused(hxt_path("axex-compress axex-compress-rank=96 basis-from=text basis-text=%s", path)),
                           "fewer than the rank, 96, of layer 0"));
}

static void test_a_rank_above_the_cap_is_cut_and_that_is_said(void **state)
{
    (void)state;
    assert_int_equal(hx_lowrank_fit(4096, 4096, HX_QUANT_F32), 256); /* of VTCM */
    assert_int_equal(hx_lowrank_fit(512, 256, HX_QUANT_F32), 160);   /* d D / (d + D) = 170 */
    assert_int_equal(hx_lowrank_fit(1 << 20, 1 << 20, HX_QUANT_F32), 32);
    *notes = '\0';
    assert_non_null(strstr(refused("axex-compress axex-compress-rank=2048"), "rank 1536"));
    assert_string_equal(notes, "rank 2048 is above the cap of 1536, which it becomes\n");
}

static void test_by_name_these_matrices_are_taken(void **state)
{
    static const struct {
        const char *words;
        size_t parts, bases;
    } cases[] = {
        {"linear=lowrank", 18, 6},        {"axex-compress axex-attn-only", 24, 12}, {"axex-compress axex-attn-only axex-skip-o", 18, 6},
        {"axex-ffn-compress", 36, 24},    {"axex-full-compress", 42, 30},           {"axex-full-compress axex-skip-o", 36, 24},
        {"linear=cpu,ffn=lowrank", 18, 18}, {"linear=lowrank,wq@0-2=ref", 15, 6},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_engine *e = open_words(hxt_path(NO_FILE "%s", cases[i].words), 2);
        const struct hx_lowrank_factors *f = NULL;

        for (size_t l = 0; l < e->core->n_linear; l++)
            if (strcmp(e->core->linear[l].method->name, "lowrank") == 0)
                f = hx_linear_lowrank_factors(e->core->linear[l].open);
        assert_non_null(f);
        if (f->n_parts != cases[i].parts || f->n_bases != cases[i].bases)
            fail_msg("%s: %zu matrices, %zu bases", cases[i].words, f->n_parts, f->n_bases);
        hx_engine_close(e);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_perplexities_are_those_of_the_prototypes),
    cmocka_unit_test(test_at_full_rank_it_is_the_model),
    cmocka_unit_test(test_errors_fall_with_the_rank_and_stay_above_the_bound),
    cmocka_unit_test(test_a_subspace_is_nearly_as_good_as_all_eigenvectors),
    cmocka_unit_test(test_bases_of_a_text_beat_those_of_weights),
    cmocka_unit_test(test_formats_take_what_they_should_and_keep_the_perplexity),
    cmocka_unit_test(test_logits_depend_on_neither_batch_nor_threads),
    cmocka_unit_test(test_a_file_of_factors_is_found_again_and_is_the_same_bytes_each_time),
    cmocka_unit_test(test_logits_are_the_same_with_a_file_and_without),
    cmocka_unit_test(test_a_damaged_or_foreign_file_is_made_anew),
    cmocka_unit_test(test_without_a_place_for_files_it_works_and_says_so),
    cmocka_unit_test(test_what_cannot_be_is_refused),
    cmocka_unit_test(test_a_text_shorter_than_the_rank_is_refused),
    cmocka_unit_test(test_a_rank_above_the_cap_is_cut_and_that_is_said),
    cmocka_unit_test(test_by_name_these_matrices_are_taken),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, read_windows, free_windows);
}
