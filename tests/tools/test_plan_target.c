/* Protects `hexrig plan`: its rows are those of `hexrig density` for the same options, what it rules out is too slow, the first choice that
 * is fast enough is the cheapest, and what it says would have to change is what changes it. */
#include "e2e.h"
#include "plan/verdict.h"

#define SMALL "--geometry 2x2/1x64x128x256x512 --front-end socket"

/* 8 GB/s, 100 us for a call. */
static const struct hx_ceilings ceilings = {
    .ddr_bytes = 8, .ddr_load_bytes = 2, .vtcm_bytes = 64, .hvx_ops = 2, .call_pcycles = 100000,
    .packet_pcycles = 10000, .pcycles_per_us = 1000,
};

/* --- verdicts */

static const struct hx_need *need(const struct hx_verdict *v, enum hx_need_what what)
{
    for (size_t i = 0; i < v->n_needs; i++)
        if (v->need[i].what == what)
            return &v->need[i];
    return NULL;
}

static void check_need(const struct hx_verdict *v, enum hx_need_what what, double wanted, int enough)
{
    const struct hx_need *n = need(v, what);

    if (!n || fabs(n->wanted - wanted) > 1e-9 * wanted || n->enough != enough)
        fail_msg("%s: %s %.12g, enough %d; it is %.12g, %d", hx_need_names[what].key, n ? "" : "not there", n ? n->wanted : 0,
                 n ? n->enough : 0, wanted, enough);
}

static void check_bound(const struct hx_session_stats *s, enum hx_bound bound, double share)
{
    const struct hx_verdict v = hx_verdict(s, &ceilings, 1e9);

    if (v.bound != bound || fabs(v.share - share) > 1e-9)
        fail_msg("%s %g, not %s %g", hx_bound_names[v.bound], v.share, hx_bound_names[bound], share);
    assert_int_equal(v.n_needs, 0);
}

static void test_the_bound_is_what_most_of_the_time_goes_to(void **state)
{
    (void)state;
    check_bound(&(struct hx_session_stats){.invokes = 6, .dispatch_ns = 600000, .exec_ns = 400000}, HX_BOUND_DISPATCH, 0.6);
    check_bound(&(struct hx_session_stats){.marshal_ns = 500, .exec_ns = 400, .queue_ns = 100}, HX_BOUND_MARSHAL, 0.5);
    check_bound(&(struct hx_session_stats){.queue_ns = 500, .exec_ns = 400, .marshal_ns = 100}, HX_BOUND_QUEUE, 0.5);
    check_bound(&(struct hx_session_stats){.exec_ns = 1000000, .hvx_ops = 900000}, HX_BOUND_ISSUE, 1); /* 450 of 1000 us */
    check_bound(&(struct hx_session_stats){.exec_ns = 1000000, .hvx_ops = 1600000}, HX_BOUND_HVX, 0.8);
    check_bound(&(struct hx_session_stats){.exec_ns = 900000, .dispatch_ns = 100000,
                                           .traffic.bytes[HX_PURPOSE_WEIGHTS][HX_PLACE_DMA] = 6400000}, HX_BOUND_DDR, 0.8);
    check_bound(&(struct hx_session_stats){.exec_ns = 1000000, .traffic.bytes[HX_PURPOSE_KV][HX_PLACE_VTCM] = 32000000},
                HX_BOUND_VTCM, 0.5);
}

/* 10 calls and 20 packets: 3000 us of calls, 200 of packets, 1000 of execution, 300 beside. */
static const struct hx_session_stats slow = {
    .invokes = 10, .packets = 20, .dispatch_ns = 3200000, .exec_ns = 1000000, .marshal_ns = 200000, .queue_ns = 100000, .hvx_ops = 1000000,
    .traffic.bytes = {[HX_PURPOSE_WEIGHTS] = {[HX_PLACE_DMA] = 6000000}, [HX_PURPOSE_KV] = {[HX_PLACE_DDR] = 1000000}},
};

static void test_what_is_enough_alone_fills_the_budget(void **state)
{
    const struct hx_verdict v = hx_verdict(&slow, &ceilings, 4400), fast = hx_verdict(&slow, &ceilings, 4500);

    (void)state;
    assert_true(v.total_us == 4500 && fast.n_needs == 0);
    check_need(&v, HX_NEED_CALL_US, 290, 1);
    check_need(&v, HX_NEED_CALLS, 9, 1);
    check_need(&v, HX_NEED_PACKET_US, 5, 1);
    check_need(&v, HX_NEED_PACKETS, 10, 1);
    check_need(&v, HX_NEED_EXEC_US, 900, 1);
    assert_null(need(&v, HX_NEED_VTCM_GB_S));
    assert_null(need(&v, HX_NEED_HVX_GOPS));
    assert_null(need(&v, HX_NEED_DDR_GB_S)); /* 7 MB take 875 us */
    assert_int_equal(v.n_needs, 5);
}

/* 2000 us: neither calls without execution nor the other way round; 1500 us remain for either. */
static void test_where_nothing_alone_is_enough_needs_are_the_least(void **state)
{
    const struct hx_verdict v = hx_verdict(&slow, &ceilings, 1000); /* 700 us beside marshalling and queues */

    (void)state;
    check_need(&v, HX_NEED_CALL_US, 50, 0);
    check_need(&v, HX_NEED_CALLS, 1, 0);
    check_need(&v, HX_NEED_EXEC_US, 700, 0);
    check_need(&v, HX_NEED_DDR_GB_S, 10, 0);
    check_need(&v, HX_NEED_WEIGHT_BYTES, 700 * 8e3 - 1e6, 0);
    assert_null(need(&v, HX_NEED_PACKET_US)); /* packets cannot help */
    assert_null(need(&v, HX_NEED_HVX_GOPS));
}

static void test_least_times_are_those_of_calls_or_of_bytes(void **state)
{
    enum hx_bound bound;

    (void)state;
    assert_true(hx_least_us(&ceilings, 3, 10, 0, &bound) == 400 && bound == HX_BOUND_DISPATCH);
    assert_true(hx_least_us(&ceilings, 3, 10, 4e6, &bound) == 500 && bound == HX_BOUND_DDR);
}

/* --- the command */

static double number(const json_t *j, const char *key)
{
    return json_number_value(json_object_get(j, key));
}

/* A plan's object, and its exit status. */
static json_t *plan_json(const char *words, int code)
{
    struct hxt_result res;
    json_t *j;

    e2e_run(&res, words);
    if (res.exit_code != code)
        fail_msg("hexrig %s: exit %d, not %d: %s", words, res.exit_code, code, res.err);
    j = json_loads(res.out, 0, NULL);
    assert_non_null(j);
    hxt_result_free(&res);
    return j;
}

/* Every row, of a target that all of them reach. */
static void check_rows(const char *options, const char *pos)
{
    json_t *plan = e2e_json(hxt_path("plan " SMALL " %s --pos %s --all --target 1 --json", options, pos)), *row;
    size_t i;

    assert_true(number(plan, "version") == 1);
    assert_true(json_array_size(json_object_get(plan, "rows")) > 0);
    json_array_foreach(json_object_get(plan, "rows"), i, row) {
        json_t *want = e2e_json(hxt_path("density " SMALL " %s --pos %s %s --json", options, pos, e2e_text(row, "options")));
        const json_t *there = json_array_get(json_object_get(want, "rows"), 0), *here = json_object_get(row, "row");

        if (!json_equal(here, there))
            fail_msg("%s: %s, and density has %s", e2e_text(row, "options"), json_dumps(here, 0), json_dumps(there, 0));
        assert_true(fabs(number(row, "tokens_per_s") * e2e_number(there, "model_us_per_token.total") / 1e6 - 1) < 1e-9);
        json_decref(want);
    }
    json_decref(plan);
}

static void test_rows_are_those_of_density(void **state)
{
    (void)state;
    check_rows("--density batched,queue", "16");
    check_rows("--kv f32 --offload linear,argmax --profile s22u-sync --placement dma", "3");
    check_rows("--density queue --kv spinor", "3000"); /* analytic, if the other command says so */
    e2e_clean();
}

static void test_the_cheapest_is_the_first_that_is_fast_enough(void **state)
{
    static const char question[] = "plan " SMALL " --kv spinor --density per-vector,batched,queue --pos 16 --json --target";
    json_t *j = e2e_json(hxt_path("%s 100", question)), *all = e2e_json(hxt_path("%s 100 --all", question)), *row;
    const size_t at = (size_t)number(j, "cheapest");
    size_t i;

    (void)state;
    assert_true(at > 0 && at + 1 == json_array_size(json_object_get(j, "rows")));
    assert_true(number(all, "cheapest") == number(j, "cheapest"));
    assert_true(json_is_null(json_object_get(j, "nearest")));
    json_array_foreach(json_object_get(all, "rows"), i, row) {
        const int fast = json_is_true(json_object_get(row, "reaches"));

        assert_true(i < at ? !fast : i > at || fast);
        if (json_is_true(json_object_get(row, "counted")))
            assert_int_equal(fast, e2e_number(row, "row.model_us_per_token.total") <= 10000);
        else /* what was ruled out is calls that take longer than the budget by themselves */
            assert_true(number(row, "least_us_per_token") > 10000);
    }
    json_decref(j);
    json_decref(all);
    e2e_clean();
}

/* A profile of its own, of which a packet costs so much. */
static void set_packet_us(const char *path, double us)
{
    char text[160];
    const int n = snprintf(text, sizeof(text), "include = v69.inc\ndispatch_us = 400\ndsp_wake_us = 0\nhost_cold_us = 0\n"
                           "host_sleep_us = 0\npacket_us = %.9f\n", us);

    hxt_write_file(path, text, (size_t)n);
}

/* Where it is, with the figures that it includes beside it. */
static const char *own_profile(double packet_us)
{
    const char *path = hxt_path("%s/own.conf", hxt_tmpdir());
    size_t bytes;
    char *figures = hxt_read_file(HXT_BUILD "/share/hexrig/profiles/v69.inc", &bytes);

    hxt_write_file(hxt_path("%s/v69.inc", hxt_tmpdir()), figures, bytes);
    free(figures);
    set_packet_us(path, packet_us);
    return path;
}

/* What two near tokens rule out is too slow when it is counted, too, and the nearest is counted. */
static void test_what_near_tokens_rule_out_is_too_slow(void **state)
{
    const char *path = own_profile(0.1);
    const char *question = hxt_path(SMALL " --kv spinor --packets --profile %s --pos 200", path);
    json_t *plan = plan_json(hxt_path("plan %s --density per-layer,batched,per-token,queue --target 10000 --json", question), 3), *row;
    double nearest = INFINITY;
    size_t i, ruled_out = 0;

    (void)state;
    json_array_foreach(json_object_get(plan, "rows"), i, row) {
        json_t *want = e2e_json(hxt_path("density %s %s --json", question, e2e_text(row, "options")));
        const double us = e2e_number(json_array_get(json_object_get(want, "rows"), 0), "model_us_per_token.total");

        nearest = fmin(nearest, us);
        if (!json_is_true(json_object_get(row, "counted"))) {
            assert_string_equal(e2e_text(row, "bound"), "issue");
            assert_true(number(row, "least_us_per_token") > 100 && number(row, "least_us_per_token") <= us);
            ruled_out++;
        }
        json_decref(want);
    }
    assert_true(ruled_out > 0);
    row = json_array_get(json_object_get(plan, "rows"), (size_t)number(plan, "nearest"));
    assert_true(fabs(e2e_number(row, "row.model_us_per_token.total") / nearest - 1) < 1e-9);
    json_decref(plan);
    e2e_clean();
}

/* With packets alone there is one choice, so its price is all that can change. */
static void test_what_would_have_to_change_changes_it(void **state)
{
    static const double factor[] = {0.999, 1.001};
    const char *path = own_profile(100);
    const char *ask = hxt_path("plan " SMALL " --kv spinor --density batched --packets --profile %s --pos 16 --json --target 5000", path);
    json_t *j, *n;
    double wanted;

    (void)state;
    j = plan_json(ask, 3);
    assert_true(json_is_null(json_object_get(j, "cheapest")) && number(j, "nearest") == 0);
    n = json_array_get(json_object_get(j, "needs"), 0);
    assert_string_equal(e2e_text(n, "what"), "us_per_packet");
    assert_true(number(n, "now") == 100 && json_is_true(json_object_get(n, "enough")));
    wanted = number(n, "at_most");
    json_decref(j);
    for (size_t i = 0; i < 2; i++) {
        set_packet_us(path, wanted * factor[i]);
        j = plan_json(ask, factor[i] > 1 ? 3 : 0);
        assert_int_equal(json_is_null(json_object_get(j, "cheapest")), factor[i] > 1);
        json_decref(j);
    }
    e2e_clean();
}

static void test_mistakes_are_told_in_a_line(void **state)
{
    static const char *const cases[][2] = {
        {"plan --target 5", "--geometry is missing"},
        {"plan " SMALL, "--target is missing"},
        {"plan " SMALL " --target 0", "--target: unknown value '0'; legal: numbers from 1e-06 to 1e+06"},
        {"plan " SMALL " --target nan", "--target: unknown value 'nan'"},
        {"plan " SMALL " --target 5 --pos 1,2", "--pos: a plan is for one position"},
        {"plan " SMALL " --target 5 --pos -1", "--pos: unknown value '-1'"},
        {"plan " SMALL " --target 5 --density queues", "--density: unknown value 'queues'; legal: per-vector"},
        {"plan " SMALL " --target 5 --kv f32", "--kv f32 makes no calls"},
        {"plan " SMALL " --target 5 --taget 6", "did you mean '--target'?"},
        {"plan --geometry 2x2 --target 5", "'2x2' is no LAYERSxHEADS"},
        {"plan " SMALL " --target 5 -m x.gguf", "--geometry excludes --model"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++)
        e2e_refused(cases[i][0], 2, cases[i][1]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_the_bound_is_what_most_of_the_time_goes_to),
    cmocka_unit_test(test_what_is_enough_alone_fills_the_budget),
    cmocka_unit_test(test_where_nothing_alone_is_enough_needs_are_the_least),
    cmocka_unit_test(test_least_times_are_those_of_calls_or_of_bytes),
    cmocka_unit_test(test_rows_are_those_of_density),
    cmocka_unit_test(test_the_cheapest_is_the_first_that_is_fast_enough),
    cmocka_unit_test(test_what_near_tokens_rule_out_is_too_slow),
    cmocka_unit_test(test_what_would_have_to_change_changes_it),
    cmocka_unit_test(test_mistakes_are_told_in_a_line),
};

int main(void)
{
    return HXT_RUN(tests);
}
