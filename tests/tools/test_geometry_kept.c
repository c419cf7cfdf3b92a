/* Protects hexrig geometry's trajectories that are kept: a store that is filled in goes, look-ups that are those of a scan, what stands for
 * what is not kept. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "e2e.h"
#include "golden.h"
#include "hxt_each.h"
#include "spec_texts.h"

#define SMALL " --json -m " MODEL_F16 " --held 64"

/* A store that was filled in two goes has the bytes of one that was filled in one. */
static void test_a_store_is_gone_on_with(void **state)
{
    char one[200], two[200], *a, *b;
    size_t n, m;
    json_t *j;

    (void)state;
    snprintf(one, sizeof(one), "%s/one.gtc", hxt_tmpdir());
    snprintf(two, sizeof(two), "%s/two.gtc", hxt_tmpdir());
    j = e2e_json(hxt_path("geometry store" SMALL " --points 128 --neighbours 32 --records 4 --store %s", one));
    assert_int_equal((int)e2e_number(j, "records"), 4);
    assert_true(e2e_number(j, "bytes_per_record") < 50 * 1024);
    assert_true(e2e_number(j, "rank_5_error") > e2e_number(j, "rank_5_error_of_change"));
    assert_true(e2e_number(j, "rho_above_0") > .5);
    json_decref(j);
    json_decref(e2e_json(hxt_path("geometry store" SMALL " --points 128 --neighbours 32 --records 2 --store %s", two)));
    json_decref(e2e_json(hxt_path("geometry store" SMALL " --points 128 --neighbours 32 --records 4 --store %s", two)));
    a = hxt_read_file(one, &n);
    b = hxt_read_file(two, &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
    j = e2e_json(hxt_path("geometry lookup" SMALL " --store %s", two));
    assert_true(e2e_number(j, "recall") == 1);
    json_decref(j);
    e2e_refused(hxt_path("geometry store --points 128 --records 4 --store %s", two), 1, "the store is of another model");
    e2e_refused(hxt_path("geometry store -m " MODEL_F16 " --points 128 --store %s", two), 1, "the store is of another cloud");
    e2e_refused(hxt_path("geometry lookup --store %s", two), 1, "the store is of another model");
}

static json_t *text_with(const char *draft)
{
    return e2e_json(hxt_path("run --json -m " MODEL_F16 " -p PROMPT -n 24 --kv f32 --threads 1 %s", draft));
}

static const char *drafts_store(void)
{
    const char *store = hxt_path("%s/draft.gtc", hxt_tmpdir());

    json_decref(e2e_json(hxt_path("geometry store" SMALL " --points 64 --neighbours 32 --records 16 --store %s", store)));
    return store;
}

/* Trajectories guess, the model decides: the text is what it is without them. */
static void test_drafts_of_trajectories_change_no_text(void **state)
{
    const char *store = drafts_store();
    char words[400];
    json_t *a, *b;

    (void)state;
    snprintf(words, sizeof(words), "--draft gtc --gtc-store %s --gtc-eps 100 --spec-thresh 0 --spec-warmup 0", store);
    a = text_with("--temp 0");
    b = text_with(hxt_path("--temp 0 %s", words));
    assert_string_equal(e2e_text(a, "text"), e2e_text(b, "text"));
    assert_true(e2e_number(b, "spec.proposed") > 0);
    assert_int_equal((int)e2e_number(b, "gtc.records"), 16);
    assert_true(e2e_number(b, "gtc.misses") == 0 && e2e_number(b, "gtc.hits") + e2e_number(b, "gtc.corrects") > 0);
    json_decref(b);
    b = text_with(hxt_path("--temp 0 %s --gtc-eps 0", words)); /* nothing is so near */
    assert_string_equal(e2e_text(a, "text"), e2e_text(b, "text"));
    assert_true(e2e_number(b, "spec.proposed") == 0 && e2e_number(b, "gtc.misses") > 0);
    json_decref(a);
    json_decref(b);
    e2e_refused(hxt_path("run -p x --kv f32 --draft gtc --gtc-store %s", store), 1, "the store is of another model");
    e2e_refused("run -p x --draft gtc", 2, "draft gtc needs --gtc-store FILE");
}

/* What the model would draw behind the prompt: p [vocab], of which a few are above 0. */
static void distribution(struct hx_engine *e, const struct hx_completion_cfg *cfg, float *p)
{
    struct hx_sampler *s = hx_sampler_open(&cfg->sampling, e->model->vocab);
    struct hx_error err;

    run(e, cfg->prompt, cfg->n_prompt, 0);
    assert_int_equal(hx_engine_logits(e, p, &err), 0);
    hx_sampler_distribution(s, p, p);
    hx_sampler_close(s);
}

/* A guess that is drawn is held against the model's distribution; what becomes text has that, whatever trajectories say. */
static void test_tokens_drawn_behind_trajectories_have_the_models_distribution(void **state)
{
    enum { DRAWS = 4000 / HXT_EACH, CELLS = 40 };
    static const double critical = 62.428; /* of chi-square, 39 degrees of freedom, p = 0.01 */
    struct hx_engine *e = hxt_engine_open(&(struct hx_engine_cfg){
        .model = MODEL_F16, .threads = 1, .n_ctx = 64,
        .settings = HXT_SETTINGS("kv=f32", "draft=gtc", hxt_path("gtc-store=%s", drafts_store()), "gtc-eps=100", "spec-thresh=0",
                                 "spec-warmup=0", "spec-adapt=off")});
    static const uint32_t prompt[] = {505, 1905, 305, 419};
    struct hx_completion_cfg cfg = {.prompt = prompt, .n_prompt = HXT_LEN(prompt), .n_max = 2,
                                    .sampling = {.temp = 2, .top_p = 1, .top_k = CELLS}};
    float *p = calloc(e->model->vocab, sizeof(*p));
    size_t *count = calloc(e->model->vocab, sizeof(*count)), right = 0, cells = 0;
    double chi = 0;

    (void)state;
    assert_true(p && count);
    distribution(e, &cfg, p);
    cfg.n_cached = cfg.n_prompt - 1;
    for (cfg.sampling.seed = 1; cfg.sampling.seed <= DRAWS; cfg.sampling.seed++) {
        struct spec_text t;

        spec_text(&t, e, &cfg);
        assert_int_equal(t.stats.proposed, 1);
        right += t.stats.accepted;
        count[t.ids[0]]++;
    }
    for (size_t i = 0; i < e->model->vocab; i++) {
        const double want = (double)p[i] * DRAWS, off = (double)count[i] - want;

        if (!(p[i] > 0))
            assert_int_equal(count[i], 0);
        chi += p[i] > 0 ? off * off / want : 0;
        cells += p[i] > 0;
    }
    assert_int_equal(cells, CELLS);
    print_message("%zu of %d guesses right, chi-square %.2f\n", right, DRAWS, chi);
    assert_true(right > 0 && right < DRAWS);
    assert_true(chi < critical);
    free(count);
    free(p);
    hx_engine_close(e);
}

/* Beside the others: a row of its own, and equal seeds give equal texts. */
static void test_trajectories_are_measured_as_other_drafters_are(void **state)
{
    const char *store = drafts_store();
    json_t *j = e2e_json(hxt_path("spec table --json --kv f32 --threads 1 -m " MODEL_F16 " --texts 1 -n 12 --draft gtc --gtc-store %s "
                                  "--gtc-eps 100", store));
    const json_t *row = json_array_get(json_object_get(j, "rows"), 2);
    json_t *a, *b;

    (void)state;
    assert_string_equal(e2e_text(row, "draft"), "gtc");
    assert_true(e2e_number(row, "greedy.proposed") > 0 && e2e_number(row, "along.proposed") > 0);
    assert_true(e2e_number(row, "greedy.over_lookup") > 0);
    json_decref(j);
    a = text_with(hxt_path("--temp 1 --seed 7 --draft gtc --gtc-eps 100 --spec-thresh 0 --gtc-store %s", store));
    b = text_with(hxt_path("--temp 1 --seed 7 --draft gtc --gtc-eps 100 --spec-thresh 0 --gtc-store %s", store));
    assert_true(e2e_number(a, "spec.proposed") > 0);
    assert_string_equal(e2e_text(a, "text"), e2e_text(b, "text"));
    json_decref(a);
    json_decref(b);
}

static void test_look_ups_are_those_of_a_scan(void **state)
{
    enum { POINTS = 1000 / HXT_EACH };
    json_t *j = e2e_json(hxt_path("geometry lookup" SMALL " --points %d --by metric", POINTS));

    (void)state;
    assert_true(e2e_number(j, "recall") == 1);
    assert_int_equal((int)e2e_number(j, "records"), POINTS);
    assert_true(fabs(e2e_number(j, "miss") + e2e_number(j, "hit") + e2e_number(j, "correct") - 1) < 1e-9);
    json_decref(j);
}

/* Published of 64 points: all hits, none near enough to correct. */
static void test_denser_clouds_can_correct(void **state)
{
    json_t *j;

    (void)state;
    if (!HXT_ALL_ROWS)
        hxt_skip_test("600 points are the plain build's");
    j = e2e_json("geometry substitute" SMALL " --sizes 64,600 --neighbours 32 --questions 8");
    assert_true(e2e_number(j, "points_64.hit") > .8 && e2e_number(j, "points_64.correct") < .05);
    assert_true(e2e_number(j, "points_600.correct") >= e2e_number(j, "points_64.correct"));
    assert_true(e2e_number(j, "points_600.error_of_hits.median") < e2e_number(j, "points_64.error_of_hits.median"));
    assert_true(e2e_number(j, "points_600.good") > 0);
    json_decref(j);
}

static void test_what_cannot_be_is_refused(void **state)
{
    (void)state;
    e2e_refused("geometry store", 2, "--store FILE is missing");
    e2e_refused("geometry store --store x --points 20 --records 21", 2, "--records 21 of --points 20");
    e2e_refused("geometry lookup --store /nonexistent/x --points 64", 1, "/nonexistent/x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_store_is_gone_on_with),
        cmocka_unit_test(test_drafts_of_trajectories_change_no_text),
        cmocka_unit_test(test_tokens_drawn_behind_trajectories_have_the_models_distribution),
        cmocka_unit_test(test_trajectories_are_measured_as_other_drafters_are),
        cmocka_unit_test(test_look_ups_are_those_of_a_scan),
        cmocka_unit_test(test_denser_clouds_can_correct),
        cmocka_unit_test(test_what_cannot_be_is_refused),
    };

    return HXT_RUN(tests);
}
