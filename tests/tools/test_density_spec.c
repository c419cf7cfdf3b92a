/* Protects `hexrig density --spec`: a batch with guesses makes the calls of a token, whose figures are per token that comes out of it by
 * the law, and costs a geometry what it costs its model. */
#include "e2e.h"

static json_t *rows_of(json_t *j)
{
    json_t *r = json_incref(json_object_get(j, "rows"));

    assert_true(json_is_array(r));
    json_decref(j);
    return r;
}

static void near(double got, double want, const char *what)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%s: %.12g is not %.12g", what, got, want);
}

static const double step_tokens = 3.3616; /* of four guesses, 0.8 of them right */

static void test_a_batch_with_guesses_costs_a_token(void **state)
{
    static const char *const densities[] = {"batched", "per-token", "queue"};
    static const double calls[] = {12, 2, 0}, packets[] = {0, 0, 1};
    json_t *rows = rows_of(e2e_json("density --spec 4,0.8 --density batched,per-token,queue --pos 16 --json"));

    (void)state;
    assert_int_equal(json_array_size(rows), 6);
    for (size_t i = 0; i < HXT_LEN(densities); i++) {
        const json_t *plain = json_array_get(rows, i), *row = json_array_get(rows, 3 + i);
        const double gain = e2e_number(plain, "model_us_per_token.total") / e2e_number(row, "model_us_per_token.total");

        assert_string_equal(e2e_text(plain, "spec"), "none");
        assert_string_equal(e2e_text(row, "spec"), "4:0.8");
        assert_string_equal(e2e_text(row, "density"), densities[i]);
        near(e2e_number(row, "tokens_per_step"), step_tokens, "tokens per step");
        near(e2e_number(row, "calls_per_token"), calls[i] / step_tokens, "calls");
        near(e2e_number(row, "packets_per_token"), packets[i] / step_tokens, "packets");
        if (i < 2 && fabs(gain / step_tokens - 1) > 0.1)
            fail_msg("%s: %g times as fast, the law says %g", densities[i], gain, step_tokens);
        assert_true(gain > 1);
    }
    json_decref(rows);
    e2e_clean();
}

/* Of the shipped model. */
#define TINY \
    "{\"model_type\": \"llama\", \"num_hidden_layers\": 6, \"hidden_size\": 256, \"num_attention_heads\": 2, " \
    "\"num_key_value_heads\": 1, \"head_dim\": 128, \"intermediate_size\": 512, \"vocab_size\": 2048}"

static void test_a_geometry_with_guesses_costs_what_its_model_does(void **state)
{
    static const char *const options[] = {"--density batched,per-token,queue", "--kv f32 --offload linear,argmax",
                                          "--offload attn --density batched"};
    static const char *const same[] = {"calls_per_token", "packets_per_token", "bytes_copied_per_token", "bytes_shared_per_token"};
    const char *tiny = strdup(hxt_path("%s/tiny.json", hxt_tmpdir()));

    (void)state;
    hxt_write_file(tiny, TINY, strlen(TINY));
    for (size_t o = 0; o < HXT_LEN(options); o++) {
        json_t *want = rows_of(e2e_json(hxt_path("density %s --spec 3,0.5 --pos 12 --json", options[o])));
        json_t *got = rows_of(e2e_json(hxt_path("density --geometry %s %s --spec 3,0.5 --pos 12 --json", tiny, options[o])));

        assert_int_equal(json_array_size(got), json_array_size(want));
        for (size_t i = 0; i < json_array_size(want); i++) {
            const json_t *w = json_array_get(want, i), *g = json_array_get(got, i);

            for (size_t k = 0; k < HXT_LEN(same); k++)
                near(e2e_number(g, same[k]), e2e_number(w, same[k]), hxt_path("%s, row %zu, %s", options[o], i, same[k]));
            if (fabs(e2e_number(g, "model_us_per_token.total") / e2e_number(w, "model_us_per_token.total") - 1) > 0.01)
                fail_msg("%s, row %zu: %g us, the model %g", options[o], i, e2e_number(g, "model_us_per_token.total"),
                         e2e_number(w, "model_us_per_token.total"));
        }
        json_decref(want);
        json_decref(got);
    }
    free((char *)tiny);
    e2e_clean();
}

static void test_what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *words, *says;
    } cases[] = {
        {"density --spec 4", "--spec: '4' is no G,A"},
        {"density --spec 0,0.5", "--spec: unknown value '0'; legal: integers from 1 to 63"},
        {"density --spec 4,2", "--spec: unknown value '2'; legal: numbers from 0 to 1"},
        {"density --spec 4,0.8 --draft lookup", "--spec stands for a drafter"},
        {"density --geometry 2x2x64 --draft lookup", "--draft needs a model"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++)
        e2e_refused(cases[i].words, 2, cases[i].says);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_batch_with_guesses_costs_a_token),
    cmocka_unit_test(test_a_geometry_with_guesses_costs_what_its_model_does),
    cmocka_unit_test(test_what_cannot_be_is_refused),
};

int main(void)
{
    return HXT_RUN(tests);
}
