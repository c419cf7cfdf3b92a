/* Protects: bytes by place and purpose, from the DSP's counters to reports, the node `stats` and the trace: all say the same, and
 * what they say of weights is what the weights take. */
#include "e2e.h"

#define RUN "run -p PROMPT -n 4 --kv f32 --json --offload linear --placement "

/* Of the shipped model as int8: 1.125 bytes each. */
enum { LAYER = 512 * 256 + 256 * 256 + 2 * 512 * 256 + 256 * 512, WEIGHTS = (6 * LAYER + 2048 * 256) / 8 * 9 };

static double bytes_of(const json_t *j, const char *purpose, const char *place)
{
    const json_t *of = json_object_get(json_object_get(json_object_get(json_object_get(j, "dispatch"),
                                                                       "dsp_bytes_per_token_by_purpose"), purpose), place);

    return json_number_value(of);
}

static void is(const char *what, double got, double want)
{
    if (got != want)
        fail_msg("%s: %.0f bytes, want %.0f", what, got, want);
}

/* Each weight is read once for a token, from wherever it lies; DMA brings it there. */
static void test_weights_are_read_once_where_they_are_placed(void **state)
{
    static const char *const placements[] = {"ddr", "vtcm", "dma"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(placements); i++) {
        json_t *j = e2e_json(hxt_path(RUN "%s", placements[i]));

        is("weights by DMA", bytes_of(j, "weights", "dma"), i > 0 ? WEIGHTS : 0);
#ifndef __SANITIZE_ADDRESS__ /* which has no traces */
        is("weights in VTCM", bytes_of(j, "weights", "vtcm"), i > 0 ? WEIGHTS : 0);
        is("weights in DDR", bytes_of(j, "weights", "ddr"), i > 0 ? 0 : WEIGHTS);
        is("weights in L2", bytes_of(j, "weights", "l2"), 0);
        assert_true(bytes_of(j, "activations", "ddr") > 0);
        assert_true(bytes_of(j, "activations", "l2") > 0);
#endif
        is("hits", e2e_number(j, "dispatch.dsp_resident_bytes_per_token.hit"), 0);
        is("misses", e2e_number(j, "dispatch.dsp_resident_bytes_per_token.miss"), WEIGHTS);
        json_decref(j);
    }
    e2e_clean();
}

/* By place they are the sums over all purposes. */
static void test_places_are_sums_of_purposes(void **state)
{
    static const char *const places[] = {"ddr", "dma", "l2", "vtcm"};
    json_t *j = e2e_json("run -p PROMPT -n 4 --json --offload linear");
    const json_t *by, *of;
    const char *purpose;

    (void)state;
    by = json_object_get(json_object_get(j, "dispatch"), "dsp_bytes_per_token_by_purpose");
    for (size_t i = 0; i < HXT_LEN(places); i++) {
        double sum = 0;

        json_object_foreach((json_t *)by, purpose, of)
            sum += json_number_value(json_object_get(of, places[i]));
        is(places[i], e2e_number(j, hxt_path("dispatch.dsp_bytes_per_token.%s", places[i])), sum);
    }
    json_decref(j);
    e2e_clean();
}

/* Blocks of the cache, and tables that lie in VTCM as long as the session. */
static void test_blocks_and_their_tables_are_told_apart(void **state)
{
    static const char *const options[] = {"", "--offload attn"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(options); i++) {
        json_t *j = e2e_json(hxt_path("run -p PROMPT -n 4 --json %s", options[i]));

#ifndef __SANITIZE_ADDRESS__
        assert_true(bytes_of(j, "kv", "ddr") > 0 && bytes_of(j, "tables", "vtcm") > 0 && bytes_of(j, "activations", "ddr") > 0);
        is("of no known purpose", bytes_of(j, "other", "ddr") + bytes_of(j, "other", "l2"), 0);
#endif
        assert_true(e2e_number(j, "dispatch.dsp_resident_bytes_per_token.hit") > 0);
        is("misses", e2e_number(j, "dispatch.dsp_resident_bytes_per_token.miss"), 0);
        json_decref(j);
    }
    e2e_clean();
}

static void test_density_says_what_a_token_moves(void **state)
{
    json_t *j = e2e_json("density --kv f32 --offload linear --pos 5 --json"), *row = json_array_get(json_object_get(j, "rows"), 0);
    struct hxt_result res;

    (void)state;
    is("density", e2e_number(row, "dsp_bytes_per_token.dma"), WEIGHTS);
    is("misses", e2e_number(row, "dsp_resident_bytes_per_token.miss"), WEIGHTS);
    e2e_run(&res, "density --kv f32 --offload linear --pos 5");
    assert_non_null(strstr(res.out, "DDR bytes   DMA bytes    L2 bytes  VTCM bytes"));
    assert_non_null(strstr(res.out, hxt_path(" %d ", WEIGHTS)));
    hxt_result_free(&res);
    json_decref(j);
    e2e_clean();
}

/* A packet's figures travel another way than a call's. */
static void test_packets_count_as_calls_do(void **state)
{
    json_t *j = e2e_json("density --density per-token,queue --pos 20 --json"), *rows = json_object_get(j, "rows");
    json_t *call = json_array_get(rows, 0), *packet = json_array_get(rows, 1);

    (void)state;
    assert_true(e2e_number(packet, "calls_per_token") == 0);
#ifndef __SANITIZE_ADDRESS__
    assert_true(e2e_number(packet, "dsp_bytes_per_token.ddr") > 0);
#endif
    assert_true(json_equal(json_object_get(packet, "dsp_bytes_per_token"), json_object_get(call, "dsp_bytes_per_token")));
    json_decref(j);
    e2e_clean();
}

/* Sum of all numbers behind `key` in a text. */
static double sum_of(const char *text, const char *key)
{
    double sum = 0;

    for (const char *at = text; (at = strstr(at, key)); at += strlen(key))
        sum += strtod(at + strlen(key), NULL);
    return sum;
}

/* The prompt's last tokens are prefill, in one batch of two. */
static void test_stats_and_trace_say_the_same(void **state)
{
    const char *path = hxt_path("%s/bytes.json", hxt_tmpdir());
    json_t *j = e2e_json(hxt_path(RUN "dma --filter trace:file=%s", path));
    char *trace = hxt_read_file(path, NULL);
    double all = 5 * WEIGHTS; /* four tokens, and a batch before them, which has no logits */

    (void)state;
    assert_non_null(trace);
    is("of the trace", sum_of(trace, "\"dma_bytes\": "), all - 2048 * 256 / 8 * 9);
    is("misses of the trace", sum_of(trace, "\"miss_bytes\": "), all - 2048 * 256 / 8 * 9);
    free(trace);
    json_decref(j);
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_weights_are_read_once_where_they_are_placed),
    cmocka_unit_test(test_places_are_sums_of_purposes),
    cmocka_unit_test(test_blocks_and_their_tables_are_told_apart),
    cmocka_unit_test(test_density_says_what_a_token_moves),
    cmocka_unit_test(test_packets_count_as_calls_do),
    cmocka_unit_test(test_stats_and_trace_say_the_same),
};

int main(void)
{
    return HXT_RUN(tests);
}
