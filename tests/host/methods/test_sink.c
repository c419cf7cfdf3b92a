/* Protects bases that begin with a sink (host/methods/lowrank/sink.h): a planted one is found at position 0 and nowhere else, bases of
 * weights miss it, those that begin with it lose nothing of it whatever the rank of the moment is, and stay orthonormal; without a sink in
 * the model no basis is another than that of one rank more. */
#include <math.h>

#include "e2e.h"
#include "golden.h"
#include "methods/lowrank/linear_lowrank.h"
#include "open_engine.h"

enum { RANK = 48, WIDTH = 256 };

/* A model with a sink, or without, made once each. */
static const char *planted(int sink)
{
    static char path[2][256];
    struct hxt_result res;

    if (*path[sink])
        return path[sink];
    snprintf(path[sink], sizeof(path[sink]), "%s/sink%d.gguf", hxt_tmpdir(), sink);
    e2e_run(&res, hxt_path("model synth --geometry 4x4/2x32x256x512x2048 --act-rank 32 --noise 0.01 -o %s%s", path[sink],
                           sink ? " --sink" : ""));
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    return path[sink];
}

static struct hx_engine *opened(const char *model, int bypass)
{
    const char *const settings[] = {"kv=f32", "wproj-cache=none", "axex-compress", hxt_path("axex-compress-rank=%d", RANK),
                                    bypass ? "axex-sink-bypass=" HOLDOUT : NULL, NULL};

    return hxt_engine_open(&(struct hx_engine_cfg){.model = model, .settings = settings, .threads = 2, .n_ctx = 16});
}

static const struct hx_lowrank_factors *factors_of(const struct hx_engine *e)
{
    return hx_linear_lowrank_factors(e->core->linear[0].open);
}

static double reported(const struct hx_engine *e, const char *key)
{
    json_t *j = json_object();
    double x;

    assert_int_equal(hx_engine_report(e, j), 0);
    x = e2e_number(j, hxt_path("lowrank.sink.%s", key));
    json_decref(j);
    return x;
}

static void test_a_planted_sink_is_found_and_held(void **state)
{
    struct hx_engine *e = opened(planted(1), 1);
    const struct hx_lowrank_factors *f = factors_of(e);

    (void)state;
    assert_true(reported(e, "found") == reported(e, "tokens") / 128); /* windows have 128 tokens, the first of each is one */
    assert_true(reported(e, "most_sigma") > 10);
    for (size_t i = 0; i < f->n_bases; i++) {
        assert_int_equal(f->bases[i].rank, RANK + 1);
        assert_true(f->bases[i].sink.first);
        assert_true(f->bases[i].sink.lost_without > .5);
        assert_true(f->bases[i].sink.lost < 1e-12);
    }
    hx_engine_close(e);
}

static void test_the_basis_stays_orthonormal(void **state)
{
    struct hx_engine *e = opened(planted(1), 1);
    const struct hx_lowrank_factors *f = factors_of(e);

    (void)state;
    for (size_t i = 0; i < f->n_bases; i++) {
        const float *p = f->bases[i].down->w;

        for (size_t a = 0; a < RANK + 1; a++)
            for (size_t b = 0; b <= a; b++) {
                double sum = 0;

                for (size_t c = 0; c < WIDTH; c++)
                    sum += (double)p[a * WIDTH + c] * p[b * WIDTH + c];
                if (!(fabs(sum - (a == b)) < 1e-5))
                    fail_msg("basis %zu: rows %zu and %zu: %g", i, a, b, sum);
            }
    }
    hx_engine_close(e);
}

/* What the first direction makes is what the matrices make of the sink: so it does not depend on how many come behind it. */
static void test_matrices_make_of_it_what_they_did(void **state)
{
    struct hx_engine *e = opened(planted(1), 1);
    const struct hx_lowrank_factors *f = factors_of(e);
    double error = 0, all = 0;
    float row[WIDTH];

    (void)state;
    for (size_t p = 0; p < f->n_parts; p++) {
        const float *s = f->bases[f->parts[p].basis].down->w, *up = f->parts[p].up->w;

        for (size_t r = 0; r < f->parts[p].up->rows; r++) {
            double y = 0;

            hx_linear_row(f->parts[p].w, r, row);
            for (size_t c = 0; c < WIDTH; c++)
                y += (double)row[c] * s[c];
            error += pow(y - up[r * (RANK + 1)], 2);
            all += y * y;
        }
    }
    assert_true(all > 0 && error < 1e-10 * all);
    hx_engine_close(e);
}

static void test_without_a_sink_nothing_is_begun(void **state)
{
    struct hx_engine *e = opened(planted(0), 1);
    const struct hx_lowrank_factors *f = factors_of(e);

    (void)state;
    for (size_t i = 0; i < f->n_bases; i++) {
        assert_int_equal(f->bases[i].rank, RANK + 1);
        if (f->bases[i].sink.first)
            assert_true(f->bases[i].sink.lost_without > .19); /* of some longer tokens: what the rule is */
    }
    assert_true(reported(e, "most_sigma") < 10);
    hx_engine_close(e);
}

static void test_what_cannot_be_is_refused(void **state)
{
    const char *empty = hxt_path("%s/empty.txt", hxt_tmpdir());

    (void)state;
    hxt_write_file(empty, "", 0);
    e2e_refused(hxt_path("run -p x --kv f32 --axex-compress --axex-sink-bypass %s", empty), 1, "has no tokens");
    e2e_refused("run -p x --kv f32 --axex-sink-bypass x.txt", 2, "--axex-sink-bypass needs --axex-compress");
    e2e_refused("run -p x --kv f32 --axex-compress --wproj-format q8_0 --axex-compress-rank 64 --axex-sink-bypass " HOLDOUT, 1, "rank 65");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_planted_sink_is_found_and_held),
    cmocka_unit_test(test_the_basis_stays_orthonormal),
    cmocka_unit_test(test_matrices_make_of_it_what_they_did),
    cmocka_unit_test(test_without_a_sink_nothing_is_begun),
    cmocka_unit_test(test_what_cannot_be_is_refused),
};

int main(void)
{
    return HXT_RUN(tests);
}
