/* Protects hexrig geometry's trajectories that are kept: a store that is filled in goes, look-ups that are those of a scan, what stands for
 * what is not kept. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "e2e.h"
#include "golden.h"
#include "hxt_each.h"

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
    j = e2e_json(hxt_path("geometry store" SMALL " --points 128 --neighbours 32 --records 6 --store %s", one));
    assert_int_equal((int)e2e_number(j, "records"), 6);
    assert_true(e2e_number(j, "bytes_per_record") < 50 * 1024);
    assert_true(e2e_number(j, "rank_5_error") > e2e_number(j, "rank_5_error_of_change"));
    assert_true(e2e_number(j, "rho_above_0") > .5);
    json_decref(j);
    json_decref(e2e_json(hxt_path("geometry store" SMALL " --points 128 --neighbours 32 --records 3 --store %s", two)));
    json_decref(e2e_json(hxt_path("geometry store" SMALL " --points 128 --neighbours 32 --records 6 --store %s", two)));
    a = hxt_read_file(one, &n);
    b = hxt_read_file(two, &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
    j = e2e_json(hxt_path("geometry lookup" SMALL " --store %s", two));
    assert_true(e2e_number(j, "recall") == 1);
    json_decref(j);
    e2e_refused(hxt_path("geometry store --points 128 --records 6 --store %s", two), 1, "the store is of another model");
    e2e_refused(hxt_path("geometry store -m " MODEL_F16 " --points 128 --store %s", two), 1, "the store is of another cloud");
    e2e_refused(hxt_path("geometry lookup --store %s", two), 1, "the store is of another model");
}

static json_t *text_with(const char *draft)
{
    return e2e_json(hxt_path("run --json -m " MODEL_F16 " -p PROMPT -n 24 --kv f32 --threads 1 %s", draft));
}

/* Trajectories guess, the model decides: the text is what it is without them. */
static void test_drafts_of_trajectories_change_no_text(void **state)
{
    char store[200], words[400];
    json_t *a, *b;

    (void)state;
    snprintf(store, sizeof(store), "%s/draft.gtc", hxt_tmpdir());
    json_decref(e2e_json(hxt_path("geometry store" SMALL " --points 64 --neighbours 32 --records 16 --store %s", store)));
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
        cmocka_unit_test(test_look_ups_are_those_of_a_scan),
        cmocka_unit_test(test_denser_clouds_can_correct),
        cmocka_unit_test(test_what_cannot_be_is_refused),
    };

    return HXT_RUN(tests);
}
