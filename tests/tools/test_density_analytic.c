/* Protects: analytic rows of `hexrig density`: what they say of a far position is what counting it says, calls and bytes exactly, modelled
 * times nearly; the default is the same for the same question; and a wall of calls takes no time to tell. */
#include "e2e.h"

/* Small enough to be counted at 200. */
#define SMALL \
    "{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"hidden_size\": 256, \"num_attention_heads\": 4, " \
    "\"num_key_value_heads\": 1, \"head_dim\": 64, \"intermediate_size\": 512, \"vocab_size\": 1024}"

static const char *const exact[] = {"calls_per_token", "packets_per_token", "bytes_copied_per_token", "bytes_shared_per_token",
                                    "formula_calls_per_token", "formula_packets_per_token"};

static const char *small(void)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/small.json", hxt_tmpdir());
    hxt_write_file(path, SMALL, strlen(SMALL));
    return path;
}

static json_t *rows(const char *options)
{
    json_t *j = e2e_json(hxt_path("density --json %s", options)), *r = json_incref(json_object_get(j, "rows"));

    json_decref(j);
    return r;
}

static void check_near(const json_t *got, const json_t *want, const char *key, double most)
{
    const double a = e2e_number(got, key), b = e2e_number(want, key);

    if (fabs(a - b) > most * b)
        fail_msg("%s, %s at %g: analytic %g, counted %g", key, e2e_text(got, "density"), e2e_number(got, "pos"), a, b);
}

static void check_rows(const json_t *got, const json_t *want)
{
    const json_t *g;
    size_t i;

    assert_int_equal(json_array_size(got), json_array_size(want));
    json_array_foreach(got, i, g) {
        const json_t *w = json_array_get(want, i);

        assert_string_equal(e2e_text(g, "how"), "analytic");
        assert_string_equal(e2e_text(w, "how"), "counted");
        for (size_t k = 0; k < HXT_LEN(exact); k++)
            check_near(g, w, exact[k], 0);
        check_near(g, w, "model_us_per_token.marshal", 1e-6);
        check_near(g, w, "model_us_per_token.exec", 0.03);
        check_near(g, w, "model_us_per_token.total", 0.03);
        check_near(g, w, "model_us_per_token.wall", 0.03);
        check_near(g, w, "dsp_bytes_per_token.ddr", 0.01);
    }
}

/* With calls that contain execution, so that their overhead shrinks as they execute for longer, and with calls that do not. */
static void test_analytic_rows_say_what_counted_rows_say(void **state)
{
    static const char *const options[] = {"--profile s22u-577", "--profile s22u-sync --density batched"};
    const char *path = small();

    (void)state;
    for (size_t i = 0; i < HXT_LEN(options); i++) {
        json_t *got = rows(hxt_path("--geometry %s %s --pos 200 --rows analytic", path, options[i]));
        json_t *want = rows(hxt_path("--geometry %s %s --pos 200 --rows counted", path, options[i]));

        check_rows(got, want);
        json_decref(got);
        json_decref(want);
    }
    e2e_clean();
}

static void test_matrices_cost_the_same_at_every_position(void **state)
{
    const char *path = small();
    json_t *got = rows(hxt_path("--geometry %s --kv f32 --offload linear,argmax --pos 4000 --rows analytic", path));
    json_t *want = rows(hxt_path("--geometry %s --kv f32 --offload linear,argmax --pos 200 --rows counted", path));

    (void)state;
    json_object_set_new(json_array_get(want, 0), "pos", json_integer(4000));
    check_rows(got, want);
    json_decref(got);
    json_decref(want);
    e2e_clean();
}

/* The wall: 737 thousand calls. */
static void test_the_default_counts_near_positions_and_tells_far_ones(void **state)
{
    json_t *r = rows("--geometry smollm2-135m --density per-vector --pos 1,4096");

    (void)state;
    assert_string_equal(e2e_text(json_array_get(r, 0), "how"), "counted");
    assert_string_equal(e2e_text(json_array_get(r, 1), "how"), "analytic");
    assert_true(e2e_number(json_array_get(r, 1), "calls_per_token") == 2 * 30 * 3 * 4097.0);
    assert_true(e2e_number(json_array_get(r, 1), "bytes_copied_per_token") ==
                e2e_number(json_array_get(r, 0), "bytes_copied_per_token") / 2 * 4097); /* as many bytes for each vector */
    json_decref(r);
}

/* Its text is needed for what calls contain of their execution, and a rig tells its name alone. */
static void test_far_positions_follow_from_a_profile_of_ones_own(void **state)
{
    static const char *const files[][2] = {{"v69.inc", "v69.inc"}, {"s22u-577.conf", "own.conf"}};
    const char *path = small();
    json_t *got, *want = rows(hxt_path("--geometry %s --density batched --pos 4000 --rows analytic", path));

    (void)state;
    for (size_t i = 0; i < HXT_LEN(files); i++) {
        size_t n;
        char *text = hxt_read_file(hxt_path(HXT_BUILD "/share/hexrig/profiles/%s", files[i][0]), &n);

        hxt_write_file(hxt_path("%s/%s", hxt_tmpdir(), files[i][1]), text, n);
        free(text);
    }
    got = rows(hxt_path("--geometry %s --density batched --pos 4000 --rows analytic --profile %s/own.conf", path, hxt_tmpdir()));
    assert_true(json_equal(got, want));
    json_decref(got);
    json_decref(want);
    e2e_clean();
}

/* A position that is counted anyway is not told from others. */
static void test_near_positions_are_counted(void **state)
{
    const char *path = small();
    json_t *r = rows(hxt_path("--geometry %s --density batched,queue --pos 0,2 --rows analytic", path)), *row;
    size_t i;

    (void)state;
    json_array_foreach(r, i, row)
        assert_string_equal(e2e_text(row, "how"), "counted");
    json_decref(r);
    e2e_refused("density --rows guessed", 2, "--rows: unknown value 'guessed'; legal: auto, counted, analytic");
    e2e_clean();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_analytic_rows_say_what_counted_rows_say),
    cmocka_unit_test(test_matrices_cost_the_same_at_every_position),
    cmocka_unit_test(test_the_default_counts_near_positions_and_tells_far_ones),
    cmocka_unit_test(test_far_positions_follow_from_a_profile_of_ones_own),
    cmocka_unit_test(test_near_positions_are_counted),
};

int main(void)
{
    return HXT_RUN(tests);
}
