/* Protects: weights that stay in VTCM (--placement resident, auto): they are fetched once, what does not fit streams, the tokens are the
 * same, and reports say what lies where and why. */
#include <stdio.h>
#include <stdlib.h>

#include "e2e.h"

/* Of the shipped model as int8: 1.125 bytes each. */
enum { LAYER = 512 * 256 + 256 * 256 + 2 * 512 * 256 + 256 * 512, WEIGHTS = (6 * LAYER + 2048 * 256) / 8 * 9 };

#ifdef __SANITIZE_ADDRESS__
enum { IS_PRICED = 0 }; /* the sanitizer takes the place of what traces loads and stores */
#else
enum { IS_PRICED = 1 };
#endif

/* A profile with so much VTCM, among few that last. */
static const char *profile(int kib)
{
    static char path[300];
    char text[4096];
    size_t n = 0;
    char *base = hxt_read_file(HXT_SRC "/dsp/profiles/s22u-sync.conf", &n);

    assert_non_null(base);
    snprintf(path, sizeof(path), "%s/vtcm.conf", hxt_tmpdir());
    snprintf(text, sizeof(text), "%s\nvtcm_kib = %d\n", base, kib);
    hxt_write_file(path, text, strlen(text));
    free(base);
    return path;
}

/* The token before it has brought what stays. */
static json_t *token(int kib, const char *options)
{
    json_t *j = e2e_json(hxt_path("density --kv f32 --offload linear %s --pos 6 --json --profile %s", options, profile(kib)));
    json_t *row = json_incref(json_array_get(json_object_get(j, "rows"), 0));

    json_decref(j);
    return row;
}

static void test_hits_fall_as_vtcm_shrinks(void **state)
{
    static const int kib[] = {8192, 4608, 4352, 2048, 1024, 512, 256};
    double hits = 2.0 * WEIGHTS, before = 0;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(kib); i++) {
        json_t *row = token(kib[i], "--placement resident");
        const double hit = e2e_number(row, "dsp_resident_bytes_per_token.hit"), us = e2e_number(row, "model_us_per_token.exec");
        const double miss = e2e_number(row, "dsp_resident_bytes_per_token.miss");

        if (hit + miss != WEIGHTS || e2e_number(row, "dsp_bytes_per_token.dma") != miss)
            fail_msg("%d KiB: %g bytes hit, %g missed, of %d", kib[i], hit, miss, WEIGHTS);
        if (kib[i] << 10 >= WEIGHTS) /* the knee */
            assert_true(miss == 0);
        else if (!(hit < hits && hit > 0 && hit <= kib[i] << 10))
            fail_msg("%d KiB: %g bytes hit, %g with more VTCM", kib[i], hit, hits);
        assert_true(i == 0 || hit < hits || miss == 0);
        if (IS_PRICED && miss > 0 && us <= before)
            fail_msg("%d KiB: %g us, %g with more VTCM", kib[i], us, before);
        print_message("%5d KiB: hit %7.0f, miss %7.0f bytes per token, exec %6.1f us\n", kib[i], hit, miss, us);
        hits = hit;
        before = us;
        json_decref(row);
    }
    e2e_clean();
}

/* As dma, which fetches all of it every time. */
static void test_what_stays_is_faster_than_what_streams(void **state)
{
    json_t *stays = token(8192, "--placement resident"), *streams = token(8192, "--placement dma");

    (void)state;
    assert_true(e2e_number(streams, "dsp_resident_bytes_per_token.hit") == 0);
    assert_true(e2e_number(stays, "model_us_per_token.exec") < 0.8 * e2e_number(streams, "model_us_per_token.exec"));
    json_decref(stays);
    json_decref(streams);
    e2e_clean();
}

static json_t *run_with(int kib, const char *options)
{
    return e2e_json(hxt_path("run -p PROMPT -n 6 --json --offload linear %s --profile %s", options, profile(kib)));
}

static void same_tokens(const json_t *a, const json_t *b, const char *what)
{
    if (!json_equal(json_object_get(a, "tokens"), json_object_get(b, "tokens")))
        fail_msg("other tokens: %s", what);
}

static void test_tokens_do_not_depend_on_what_stays(void **state)
{
    static const int kib[] = {8192, 1536, 256};
    json_t *want = run_with(8192, "--kv f32 --placement dma");

    (void)state;
    for (size_t i = 0; i < HXT_LEN(kib); i++) {
        json_t *j = run_with(kib[i], "--kv f32 --placement resident"), *r = json_object_get(j, "residency");

        same_tokens(j, want, hxt_path("%d KiB", kib[i]));
        assert_string_equal(e2e_text(j, "placement"), "resident");
        assert_true(e2e_number(r, "resident_bytes") + e2e_number(r, "streamed_bytes") == WEIGHTS);
        json_decref(j);
    }
    json_decref(want);
    e2e_clean();
}

static void test_reports_say_what_lies_where_and_why(void **state)
{
    json_t *all = run_with(8192, "--kv f32 --placement resident"), *some = run_with(1024, "--kv f32 --placement resident");
    const json_t *a = json_object_get(all, "residency"), *s = json_object_get(some, "residency");

    (void)state;
    assert_string_equal(e2e_text(a, "why"), "everything fits");
    assert_int_equal(json_array_size(json_object_get(a, "resident")), 6 * 7 + 1);
    assert_string_equal(json_string_value(json_array_get(json_object_get(a, "resident"), 0)), "wq@0");
    assert_string_equal(json_string_value(json_array_get(json_object_get(a, "resident"), 42)), "out");
    assert_true(json_array_size(json_object_get(s, "streamed")) > 30);
    assert_int_equal(json_array_size(json_object_get(s, "resident")) + json_array_size(json_object_get(s, "streamed")) +
                         json_array_size(json_object_get(s, "in_part")), 6 * 7 + 1);
    assert_non_null(strstr(e2e_text(s, "why"), "of 4571136 bytes VTCM had room for "));
    assert_true(e2e_number(s, "resident_bytes") + e2e_number(s, "slot_bytes") <= 1 << 20);
    json_decref(all);
    json_decref(some);
    e2e_clean();
}

/* The blocks' tables have all there is. */
static void test_without_any_vtcm_auto_reads_where_weights_lie(void **state)
{
    json_t *want = run_with(8192, ""), *j = run_with(1024, "--placement auto");
    struct hxt_result res;

    (void)state;
    same_tokens(j, want, "auto");
    assert_string_equal(e2e_text(json_object_get(j, "residency"), "why"), "no VTCM was free: weights are read where they lie");
    assert_true(e2e_number(j, "dispatch.dsp_bytes_per_token.dma") == 0);
    e2e_run(&res, hxt_path("run -p x -n 1 --offload linear --placement resident --profile %s", profile(1024)));
    assert_int_equal(res.exit_code, 1);
    assert_non_null(strstr(res.err, "weights in resident: AEE_ENOMEMORY"));
    hxt_result_free(&res);
    json_decref(want);
    json_decref(j);
    e2e_clean();
}

static void same_figures(const json_t *got, const json_t *want)
{
    static const char *const figures[] = {"model_us_per_token.exec", "dsp_bytes_per_token.ddr", "dsp_bytes_per_token.l2"};

    for (size_t i = 0; i < HXT_LEN(figures); i++)
        if (e2e_number(got, figures[i]) != e2e_number(want, figures[i]))
            fail_msg("position %g: %s is %g, it was %g", e2e_number(got, "pos"), figures[i], e2e_number(got, figures[i]),
                     e2e_number(want, figures[i]));
    assert_true(json_equal(got, want));
}

/* What of a skel's heap lives from call to call decides how many lines and pages calls touch, so a thread that serves packets must not
 * take its part of the heap at a time of its own. */
static void test_figures_do_not_depend_on_when_threads_begin(void **state)
{
    static const char command[] = "density --kv f32 --offload linear,argmax --packets --placement resident --pos 3,9 --json";
    json_t *want = e2e_json(command), *rows = json_object_get(want, "rows");

    (void)state;
#ifdef HXT_SANITIZED
    hxt_skip_test("the sanitizer has a heap of its own, and takes no preloaded library");
#endif
    assert_int_equal(json_array_size(rows), 2);
    setenv("LD_PRELOAD", HXT_BUILD "/tests/libhxt_late.so", 1);
    for (int i = 0; i < 3; i++) {
        json_t *late = e2e_json(command);

        for (size_t k = 0; k < json_array_size(rows); k++)
            same_figures(json_array_get(json_object_get(late, "rows"), k), json_array_get(rows, k));
        json_decref(late);
    }
    unsetenv("LD_PRELOAD");
    json_decref(want);
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_hits_fall_as_vtcm_shrinks),
    cmocka_unit_test(test_what_stays_is_faster_than_what_streams),
    cmocka_unit_test(test_tokens_do_not_depend_on_what_stays),
    cmocka_unit_test(test_reports_say_what_lies_where_and_why),
    cmocka_unit_test(test_without_any_vtcm_auto_reads_where_weights_lie),
    cmocka_unit_test(test_figures_do_not_depend_on_when_threads_begin),
};

int main(void)
{
    return HXT_RUN(tests);
}
