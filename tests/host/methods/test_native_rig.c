/* Protects matrices in k dimensions on the DSP as people use them (hexrig run, ppl and density with --linear native:K): one call for each
 * input of a layer, whose three products stay there; bases and cores in VTCM, byte by byte as counted; the same text from everywhere and as
 * packets, nearly the perplexity that they have here; the same calls of a geometry without weights. */
#include "e2e.h"
#include "golden.h"

enum { LAYERS = 6 };

#define NATIVE "--kv f32 --linear native:96 --native-format q8_0 "
#define RUN "run -p PROMPT --temp 0 -n 8 --json " NATIVE

static void test_calls_are_one_for_each_input(void **state)
{
    static const struct {
        const char *words;
        int calls;
    } cases[] = {
        {RUN "--offload linear=wq,wk,wv,wo,gate,up,down", 4 * LAYERS},
        {RUN "--offload linear,argmax", 4 * LAYERS + 1},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        json_t *j = e2e_json(cases[i].words);

        if (e2e_number(j, "dispatch.calls_per_token") != cases[i].calls)
            fail_msg("%s: %g calls, %d are right", cases[i].words, e2e_number(j, "dispatch.calls_per_token"), cases[i].calls);
        assert_true(e2e_number(j, "dispatch.slow_path_calls") == 0);
        json_decref(j);
    }
    e2e_clean();
}

/* int8 with a scale for each 32 of a row: 9/8 of a byte. */
static void test_bases_and_cores_are_in_vtcm(void **state)
{
    const double numbers = 3 * 96 * 96 + 96 * (512 + 2 * 384), bytes = LAYERS * numbers * 9 / 8;
    json_t *j = e2e_json(RUN "--offload linear=wq,wk,wv --placement resident");

    (void)state;
    assert_true(e2e_number(j, "dispatch.calls_per_token") == LAYERS);
    assert_true(e2e_number(j, "dispatch.dsp_resident_bytes_per_token.hit") == bytes);
    assert_true(e2e_number(j, "dispatch.dsp_resident_bytes_per_token.miss") == 0);
    json_decref(j);
    e2e_clean();
}

static void test_tokens_do_not_depend_on_the_placement_or_on_packets(void **state)
{
    static const char *const same[] = {RUN "--offload linear --packets --placement resident",
                                       RUN "--offload linear --front-end socket --placement ddr"};
    json_t *want = e2e_json(RUN "--offload linear");

    (void)state;
    for (size_t i = 0; i < HXT_LEN(same); i++) {
        json_t *got = e2e_json(same[i]);

        if (!json_equal(json_object_get(got, "tokens"), json_object_get(want, "tokens")))
            fail_msg("other tokens with %s", same[i]);
        json_decref(got);
    }
    json_decref(want);
    e2e_clean();
}

static double ppl_of(const char *options)
{
    json_t *j = e2e_json(hxt_path("ppl -f " HOLDOUT " --chunks 2 --json " NATIVE "%s", options));
    const double ppl = e2e_number(j, "ppl");

    json_decref(j);
    return ppl;
}

static void test_perplexity_on_the_dsp_is_nearly_that_here(void **state)
{
    const double here = ppl_of(""), there = ppl_of("--offload linear");

    (void)state;
    if (!(there != here && fabs(there / here - 1) < 0.03))
        fail_msg("perplexity %.4f here, %.4f on the DSP", here, there);
    e2e_clean();
}

static void test_a_geometry_makes_the_same_calls(void **state)
{
    json_t *j = e2e_json("density --geometry 6x2/1x128x256x512x2048 --pos 4 --json " NATIVE
                         "--offload linear=wq,wk,wv --placement resident");
    const json_t *row = json_array_get(json_object_get(j, "rows"), 0);

    (void)state;
    assert_non_null(row);
    assert_true(e2e_number(row, "calls_per_token") == LAYERS);
    assert_true(e2e_number(row, "dsp_resident_bytes_per_token.hit") == LAYERS * (3 * 96 * 96 + 96 * (512 + 2 * 384)) * 9 / 8);
    json_decref(j);
    e2e_clean();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_are_one_for_each_input),
        cmocka_unit_test(test_bases_and_cores_are_in_vtcm),
        cmocka_unit_test(test_tokens_do_not_depend_on_the_placement_or_on_packets),
        cmocka_unit_test(test_perplexity_on_the_dsp_is_nearly_that_here),
        cmocka_unit_test(test_a_geometry_makes_the_same_calls),
    };

    return HXT_RUN(tests);
}
