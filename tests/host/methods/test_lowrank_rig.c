/* Protects matrices of low rank as people use them (hexrig run and ppl with --axex-compress, host/methods/lowrank): on the DSP one call for
 * each input of a layer, the same text from everywhere and as packets, nearly the perplexity that they have here; an interrupt leaves no
 * half a file; the model's file can go. */
#include "e2e.h"
#include "golden.h"

enum { LAYERS = 6 };

#define RANK "--kv f32 --wproj-cache none --axex-compress --axex-compress-rank 96 "
#define RUN "run -p PROMPT --temp 0 -n 8 --json " RANK

static void test_calls_are_one_for_each_input(void **state)
{
    static const struct {
        const char *words;
        int calls;
    } cases[] = {
        {RUN "--offload linear=wq,wk,wv", LAYERS},
        {RUN "--offload linear", 4 * LAYERS + 1},
        {RUN "--offload linear,argmax --axex-full-compress --grc-basis per-slot", 4 * LAYERS + 1},
        {RUN "--offload linear=gate,up --axex-ffn-compress", LAYERS},
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

static void test_tokens_do_not_depend_on_the_placement_or_on_packets(void **state)
{
    static const char *const same[] = {RUN "--offload linear --placement resident", RUN "--offload linear --packets",
                                       RUN "--offload linear --front-end socket --placement ddr",
                                       RUN "--offload linear --linear grc:96"}; /* the papers' name */
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
    json_t *j = e2e_json(hxt_path("ppl -f " HOLDOUT " --chunks 6 --json " RANK "%s", options));
    const double ppl = e2e_number(j, "ppl");

    json_decref(j);
    return ppl;
}

static void test_perplexity_on_the_dsp_is_nearly_that_here(void **state)
{
    const double here = ppl_of("--wproj-format q8_0"), there = ppl_of("--wproj-format q8_0 --offload linear");

    (void)state;
    if (!(there != here && fabs(there / here - 1) < 0.01))
        fail_msg("perplexity %.4f here, %.4f on the DSP", here, there);
    e2e_clean();
}

/* One basis cannot be in two places. */
static void test_what_cannot_work_is_said(void **state)
{
    (void)state;
    e2e_refused("run -p x " RANK "--offload linear=wq", 1, "lowrank: wk of layer 0 shares its basis with matrices that are on the DSP");
    e2e_refused("run -p x " RANK "--page-weights", 2, "linear method lowrank has the weights in a form of its own");
}

/* Killed while factors are made: nothing is there but what is complete. */
static void test_an_interrupt_leaves_no_half_a_file(void **state)
{
    static const char like[] = "ott_wproj_cache_01234567.bin";
    const char *folder = hxt_path("%s/interrupted", hxt_tmpdir());
    struct hxt_result res;
    struct e2e_run r;
    struct hxt_child c;
    DIR *dir;

    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    e2e_command(&r, hxt_path("run -p PROMPT -n 1 --kv f32 --axex-full-compress --wproj-cache %s", folder));
    assert_int_equal(hxt_start(&c, &r.cmd), 0);
    hxt_signal(&c, SIGINT); /* whenever that is */
    assert_int_equal(hxt_wait(&c, &res), 0);
    hxt_result_free(&res);
    dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));)
        if (*e->d_name != '.' && (strncmp(e->d_name, like, 16) != 0 || strlen(e->d_name) != strlen(like)))
            fail_msg("%s is left", e->d_name);
    closedir(dir);
    e2e_clean();
}

static void test_the_replaced_weights_can_go(void **state)
{
    json_t *kept = e2e_json(RUN), *gone = e2e_json(RUN "--grc-free-raw");

    (void)state;
    assert_true(json_equal(json_object_get(gone, "tokens"), json_object_get(kept, "tokens")));
    assert_true(e2e_number(gone, "release_file.gone_mb") > 0);
    json_decref(kept);
    json_decref(gone);
    e2e_clean();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_are_one_for_each_input),
        cmocka_unit_test(test_tokens_do_not_depend_on_the_placement_or_on_packets),
        cmocka_unit_test(test_perplexity_on_the_dsp_is_nearly_that_here),
        cmocka_unit_test(test_what_cannot_work_is_said),
        cmocka_unit_test(test_an_interrupt_leaves_no_half_a_file),
        cmocka_unit_test(test_the_replaced_weights_can_go),
    };

    return HXT_RUN(tests);
}
