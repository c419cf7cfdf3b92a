/* Protects rank plans (host/methods/adaptive): ranks by phase add up to exactly what they should; phases are where the profile turns;
 * plans come back from their files, others are refused with file and line; linear method lowrank has the ranks that a plan says, gains
 * change nothing at full rank, and perplexities are those of prototypes. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "engine/arch/arch.h"
#include "golden.h"
#include "methods/adaptive/mcr.h"
#include "methods/lowrank/linear_lowrank.h"
#include "open_engine.h"
#include "ppl_window.h"

enum { LAYERS = 6, WIDTH = 256, VOCAB = 2048, CTX = 128, WINDOWS = 24, QKV = 1 << HX_WQ | 1 << HX_WK | 1 << HX_WV };

static struct hx_model *model;

static int setup(void **state)
{
    struct hx_error err;

    (void)state;
    return hx_model_open(&model, MODEL_F16, hx_archs, &err);
}

static int teardown(void **state)
{
    (void)state;
    hx_model_close(model);
    return 0;
}

/* --- sums */

static void test_what_is_given_out_adds_up_and_stays_within_its_limits(void **state)
{
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (int round = 0; round < 2000; round++) {
        const size_t n = 1 + hxt_below(&rng, 40), step = 1 + hxt_below(&rng, 32), least = step * (hxt_below(&rng, 4));
        const size_t most = least + step * (hxt_below(&rng, 50)), room = n * (most - least) / step;
        const struct hx_allot a = {n * least + step * (hxt_below(&rng, room + 1)), least, most, step};
        double weight[40];
        size_t got[40], sum = 0;

        for (size_t i = 0; i < n; i++)
            weight[i] = .01 + (double)(hxt_below(&rng, 1000)) / 100;
        assert_int_equal(hx_allot(weight, n, &a, got, NULL), 0);
        for (size_t i = 0; i < n; i++) {
            sum += got[i];
            assert_true(got[i] >= least && got[i] <= most && got[i] % step == 0);
            for (size_t k = 0; k < i; k++) /* who weighs more has no less, but for a step of rounding */
                assert_true(weight[k] <= weight[i] ? got[k] <= got[i] + step : got[k] + step >= got[i]);
        }
        assert_int_equal(sum, a.sum);
    }
}

static void test_sums_that_cannot_be_are_refused(void **state)
{
    static const double weight[3] = {1, 2, 3};
    struct hx_error err = {""};
    size_t got[3];

    (void)state;
    assert_int_equal(hx_allot(weight, 3, &(struct hx_allot){301, 8, 100, 1}, got, &err), -EINVAL);
    assert_string_equal(err.text, "a sum of 301 over 3 layers, 8 to 100 each; legal: 24..300");
    assert_int_equal(hx_allot(weight, 3, &(struct hx_allot){23, 8, 100, 1}, got, &err), -EINVAL);
    assert_int_equal(hx_allot(weight, 3, &(struct hx_allot){100, 32, 96, 32}, got, &err), -EINVAL);
    assert_string_equal(err.text, "a sum of 100, 32 to 96 each: all have to be multiples of 32");
}

/* --- phases */

static void expect_phases(const double *variance, size_t n, const char *want)
{
    static const char letters[] = "-mcr";
    const struct hx_mcr m = hx_mcr_published();
    enum hx_phase phase[16];
    double smooth[16];
    char got[17] = "";

    assert_int_equal(hx_mcr_phases(&m, variance, n, smooth, phase), *want != '-');
    for (size_t i = 0; i < n; i++)
        got[i] = letters[phase[i]];
    assert_string_equal(got, want);
}

static void test_phases_are_where_a_profile_turns(void **state)
{
    static const double u[12] = {10, 10, 10, 1, 1, 1, 1, 1, 10, 10, 10, 10}, flat[4] = {1, 1.1, 1, 1.05}, none[3] = {0, 0, 0};
    static const double two[9] = {9, 1, 1, 1, 9, 9, 1, 1, 1}; /* the second valley is not one with the first */
    static const double ours[6] = {.015, 364, 686, 1069, 1722, 2769}, one[1] = {3};

    (void)state;
    expect_phases(u, 12, "mmmmcccrrrrr");
    expect_phases(flat, 4, "----");
    expect_phases(none, 3, "---");
    expect_phases(two, 9, "mmcrrrrrr");
    expect_phases(ours, 6, "crrrrr");
    expect_phases(one, 1, "-");
}

static void test_ranks_follow_phases_and_are_equal_without(void **state)
{
    static const enum hx_phase phase[6] = {HX_PHASE_COMPRESS, HX_PHASE_REFINE, HX_PHASE_REFINE, HX_PHASE_REFINE, HX_PHASE_REFINE,
                                           HX_PHASE_REFINE};
    static const enum hx_phase none[6] = {HX_PHASE_NONE};
    const struct hx_mcr m = hx_mcr_published();
    const struct hx_allot a = {768, 8, 256, 1};
    size_t rank[6];

    (void)state;
    assert_int_equal(hx_mcr_ranks(&m, phase, 6, &a, rank, NULL), 0);
    assert_int_equal(rank[0], 43);
    for (size_t i = 1; i < 6; i++)
        assert_int_equal(rank[i], 145);
    assert_int_equal(hx_mcr_ranks(&m, none, 6, &a, rank, NULL), 0);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(rank[i], 128);
}

/* --- files */

static const char *plan_path(void)
{
    return hxt_path("%s/plan.txt", hxt_tmpdir());
}

/* Ranks of wq, wk and wv. */
static struct hx_rank_plan plan_of(const size_t *rank)
{
    struct hx_rank_plan p;

    assert_int_equal(hx_rank_plan_alloc(&p, model, LAYERS), 0);
    for (size_t i = 0; i < LAYERS; i++)
        p.at[i] = (struct hx_rank){.layer = i, .matrices = QKV, .rank = rank[i], .phase = HX_PHASE_MIX, .why = "said so"};
    return p;
}

static void write_plan(const struct hx_rank_plan *p, const char *path)
{
    struct hx_error err = {""};

    if (hx_rank_plan_write(p, path, &err))
        fail_msg("%s", err.text);
}

static void test_a_plan_comes_back_from_its_file(void **state)
{
    static const size_t rank[LAYERS] = {43, 145, 145, 145, 145, 145};
    struct hx_rank_plan p = plan_of(rank), q;
    const char *path = plan_path();

    (void)state;
    p.gain = calloc(WIDTH, sizeof(*p.gain));
    p.n_gain = WIDTH;
    for (size_t i = 0; i < WIDTH; i++)
        p.gain[i] = exp((double)i / 100 - 1);
    write_plan(&p, path);
    write_plan(&p, path); /* it is replaced */
    assert_int_equal(hx_rank_plan_read(&q, path, model, NULL), 0);
    assert_int_equal(q.n, p.n);
    assert_int_equal(hx_rank_plan_sum(&q), 768);
    assert_memory_equal(q.at, p.at, p.n * sizeof(*p.at));
    assert_int_equal(q.n_gain, WIDTH);
    assert_memory_equal(q.gain, p.gain, WIDTH * sizeof(*p.gain));
    assert_int_equal(hx_rank_plan_find(&q, 3, HX_WK), 145);
    assert_int_equal(hx_rank_plan_find(&q, 3, HX_WO), 0);
    assert_int_equal(hx_rank_plan_find(&q, 6, HX_WK), 0);
    hx_rank_plan_free(&p);
    hx_rank_plan_free(&q);
}

static void test_another_file_is_not_replaced_by_a_plan(void **state)
{
    static const size_t rank[LAYERS] = {1, 1, 1, 1, 1, 1};
    struct hx_rank_plan p = plan_of(rank);
    const char *path = plan_path();

    (void)state;
    hxt_write_file(path, "a novel", 7);
    assert_int_equal(hx_rank_plan_write(&p, path, NULL), -EEXIST);
    hx_rank_plan_free(&p);
}

static void test_what_is_no_plan_for_this_model_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *lines, *says;
    } cases[] = {
        {"hexrig rank plan 2\n", ":1: first line 'hexrig rank plan 2'; legal: hexrig rank plan 1"},
        {"", ":1: first line ''; legal"},
        {"hexrig rank plan 1\nmodel 00c0ffee00c0ffee\n", ":2: plan of another model (fingerprint 00c0ffee00c0ffee, "},
        {"hexrig rank plan 1\nmodel king\n", ":2: model 'king'; legal: a fingerprint"},
        {"M\nrank 6 qkv 12 mix\nsum 12\n", ":3: layer '6'; legal: 0..5"},
        {"M\n# a remark\n\nrank 0 wx 12 mix\n", ":5: slot 'wx'; legal: wq, wk, wv, wo, gate, up, down, qkv"},
        {"M\nrank 0 wq 0 mix\n", ":3: rank '0'; legal: 1..512"},
        {"M\nrank 0 wq 513 mix\n", ":3: rank '513'; legal: 1..512"},
        {"M\nrank 0 wq -1 mix\n", ":3: rank '-1'; legal"},
        {"M\nrank 0 wq 12\n", ":3: phase ''; legal: -, mix, compress, refine"},
        {"M\nrank 0 wq 12 blur\n", ":3: phase 'blur'; legal"},
        {"M\nrank 0 qkv 12 -\nrank 0 wk 12 -\n", ":4: a second rank of wk of layer 0"},
        {"M\nrank 0 qkv 12 -\nsum 13\n", ":4: sum 13; the ranks before it add up to 12"},
        {"M\nrank 0 qkv 12 -\n", ": it ends without a line 'sum'"},
        {"hexrig rank plan 1\nsum 0\n", ": it ends without a line 'model'"},
        {"M\nsum 0\ngain 0 1\n", ": 1 gains; the model's stream has 256 values"},
        {"M\nsum 0\ngain 1 1\n", ":4: gain 1; the next is 0"},
        {"M\nsum 0\ngain 0 -1\n", ":4: gain '-1'; legal: positive numbers"},
        {"M\nsum 0\ngain 0 nan\n", ":4: gain 'nan'; legal: positive numbers"},
        {"M\nranks\n", ":3: line 'ranks'; legal: model, rank, sum, gain"},
    };
    char head[64];

    (void)state;
    snprintf(head, sizeof(head), "hexrig rank plan 1\nmodel %016" PRIx64, model->fingerprint);
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        const int headed = *cases[i].lines == 'M';
        const char *text = hxt_path("%s%s", headed ? head : "", cases[i].lines + headed), *path = plan_path();
        struct hx_error err = {""};
        struct hx_rank_plan p;

        hxt_write_file(path, text, strlen(text));
        assert_int_equal(hx_rank_plan_read(&p, path, model, &err), -EINVAL);
        assert_null(p.at);
        if (strncmp(err.text, path, strlen(path)) != 0 || !strstr(err.text, cases[i].says))
            fail_msg("case %zu: '%s', not '%s'", i, err.text, cases[i].says);
    }
}

/* --- by linear method lowrank */

static int open_with(struct hx_engine **e, const struct hx_rank_plan *p, const char *words, struct hx_error *err)
{
    const char *path = plan_path(), *settings[16] = {"kv=f32", "wproj-cache=none", hxt_path("axex-rank-plan=%s", path)};
    const struct hx_engine_cfg cfg = {.model = MODEL_F16, .settings = settings, .threads = 2, .n_ctx = CTX + 1};
    char *rest = strdup(words), *copy = rest, *word;
    size_t n = 3;
    int rc;

    write_plan(p, path);
    while ((word = strsep(&rest, " ")))
        settings[n++] = word;
    rc = hx_engine_open(e, &cfg, err);
    free(copy);
    return rc;
}

static struct hx_engine *opened(const struct hx_rank_plan *p, const char *words)
{
    struct hx_engine *e = NULL;
    struct hx_error err = {""};

    if (open_with(&e, p, words, &err))
        fail_msg("%s: %s", words, err.text);
    return e;
}

static double ppl_of(struct hx_engine *e)
{
    uint16_t *all = hxt_read_file(GOLDEN "wikitext2-windows.u16", NULL);
    struct hx_error err = {""};
    double sum = 0;

    assert_non_null(all);
    for (size_t w = 0; w < WINDOWS; w++) {
        uint32_t ids[CTX + 1];

        for (size_t i = 0; i <= CTX; i++)
            ids[i] = all[w * (CTX + 1) + i];
        if (hxt_ppl_window(e->model, e->forward, ids, CTX, &sum, &err))
            fail_msg("%s", err.text);
    }
    free(all);
    return exp(sum / (CTX * WINDOWS));
}

/* 29.18 with equal ranks; 103.4 by phases, which have to be refused therefore. */
static void test_perplexity_of_published_phases_is_the_prototypes(void **state)
{
    static const size_t rank[LAYERS] = {43, 145, 145, 145, 145, 145};
    struct hx_rank_plan p = plan_of(rank);
    struct hx_engine *e = opened(&p, "axex-compress");
    const struct hx_lowrank_factors *f = hx_linear_lowrank_factors(e->core->linear[0].open);
    double ppl;

    (void)state;
    for (size_t i = 0; i < LAYERS; i++)
        assert_int_equal(f->bases[i].rank, rank[i]);
    ppl = ppl_of(e);
    print_message("perplexity %.4f, prototype 103.4\n", ppl);
    assert_true(fabs(ppl / 103.4 - 1) < .02);
    hx_engine_close(e);
    hx_rank_plan_free(&p);
}

static void test_a_plan_of_equal_ranks_is_that_rank(void **state)
{
    static const size_t rank[LAYERS] = {96, 96, 96, 96, 96, 96};
    const char *const plain[] = {"kv=f32", "wproj-cache=none", "axex-compress", "axex-compress-rank=96", NULL};
    struct hx_rank_plan p = plan_of(rank);
    struct hx_engine *a = opened(&p, "axex-compress"), *b = NULL;
    float *logits[2] = {malloc(VOCAB * sizeof(float)), malloc(VOCAB * sizeof(float))};
    const uint32_t ids[] = {1066, 260, 579};

    (void)state;
    b = hxt_engine_open(&(struct hx_engine_cfg){.model = MODEL_F16, .settings = plain, .threads = 1, .n_ctx = CTX});
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hx_engine_run(i ? b : a, ids, 3, 0, NULL), 0);
        assert_int_equal(hx_engine_logits(i ? b : a, logits[i], NULL), 0);
    }
    hxt_same_bytes(logits[0], logits[1], VOCAB * sizeof(float));
    free(logits[0]);
    free(logits[1]);
    hx_engine_close(a);
    hx_engine_close(b);
    hx_rank_plan_free(&p);
}

/* Where matrices read the stream, and where they write it. */
static void test_gains_change_nothing_at_full_rank_and_something_below(void **state)
{
    static const size_t full[LAYERS] = {256, 256, 256, 256, 256, 256}, half[LAYERS] = {128, 128, 128, 128, 128, 128};
    const uint32_t ids[] = {1066, 260, 579, 700, 49};
    float *logits = malloc(VOCAB * sizeof(*logits)), *want = malloc(VOCAB * sizeof(*want));

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct hx_rank_plan p = plan_of(i < 2 ? full : half);
        struct hx_engine *e;
        double most = 0;

        if (i % 2) {
            p.gain = calloc(WIDTH, sizeof(*p.gain));
            p.n_gain = WIDTH;
            for (size_t g = 0; g < WIDTH; g++)
                p.gain[g] = exp(sin((double)g));
        }
        e = opened(&p, i < 2 ? "axex-full-compress axex-compress-rank=256" : "axex-full-compress axex-compress-rank=128");
        assert_int_equal(hx_engine_run(e, ids, HXT_LEN(ids), 0, NULL), 0);
        assert_int_equal(hx_engine_logits(e, i % 2 ? logits : want, NULL), 0);
        for (size_t k = 0; i % 2 && k < VOCAB; k++)
            most = fmax(most, fabs((double)logits[k] - want[k]));
        if (i == 1)
            assert_true(most < 1e-3);
        if (i == 3)
            assert_true(most > .1);
        hx_engine_close(e);
        hx_rank_plan_free(&p);
    }
    free(logits);
    free(want);
}

static void test_plans_that_do_not_go_with_other_options_are_refused(void **state)
{
    static const size_t rank[LAYERS] = {96, 96, 257, 96, 96, 96};
    struct hx_rank_plan p = plan_of(rank);
    struct hx_engine *e = NULL;
    struct hx_error err = {""};

    (void)state;
    assert_int_equal(open_with(&e, &p, "axex-compress", &err), -EINVAL);
    assert_non_null(strstr(err.text, "lowrank: rank 257: what wq of layer 2 takes in is 256 wide"));
    p.at[2].rank = 96;
    p.at[2].matrices = 1 << HX_WK;
    assert_int_equal(open_with(&e, &p, "axex-compress axex-compress-rank=64", &err), -EINVAL);
    assert_non_null(strstr(err.text, "lowrank: wq and wk of layer 2 share a basis, and have ranks 64 and 96"));
    hx_rank_plan_free(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_what_is_given_out_adds_up_and_stays_within_its_limits),
    cmocka_unit_test(test_sums_that_cannot_be_are_refused),
    cmocka_unit_test(test_phases_are_where_a_profile_turns),
    cmocka_unit_test(test_ranks_follow_phases_and_are_equal_without),
    cmocka_unit_test(test_a_plan_comes_back_from_its_file),
    cmocka_unit_test(test_another_file_is_not_replaced_by_a_plan),
    cmocka_unit_test(test_what_is_no_plan_for_this_model_is_refused_with_its_line),
    cmocka_unit_test(test_perplexity_of_published_phases_is_the_prototypes),
    cmocka_unit_test(test_a_plan_of_equal_ranks_is_that_rank),
    cmocka_unit_test(test_gains_change_nothing_at_full_rank_and_something_below),
    cmocka_unit_test(test_plans_that_do_not_go_with_other_options_are_refused),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, setup, teardown);
}
