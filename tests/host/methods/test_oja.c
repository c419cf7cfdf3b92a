/* Protects bases that follow what they are shown (host/methods/adaptive/oja.h) and drafters whose bases follow their mistakes
 * (host/methods/gp/online.h): a stream's subspace is found, rows stay orthonormal, and without mistakes nothing turns; a text stays the
 * model's, token for token, and what a drafter learns from it makes its guesses better. */
#include <inttypes.h>
#include <math.h>

#include "e2e.h"
#include "engine/arch/arch.h"
#include "golden.h"
#include "methods/adaptive/oja.h"
#include "model/model.h"

enum { D = 24, SAMPLES = 2000 };

static struct hxt_rng rng;

/* --- the rule */

/* Directions of a stream: 2 orthonormal ones in D. */
static void plant(double u[2 * D])
{
    for (size_t i = 0; i < 2 * D; i++)
        u[i] = hxt_normal(&rng);
    hx_oja_orthonormalise(u, 2, D);
}

/* Most of its energy lies in them. */
static void draw(const double *u, double *x)
{
    const double a = 3 * hxt_normal(&rng), b = 2 * hxt_normal(&rng);

    for (size_t i = 0; i < D; i++)
        x[i] = a * u[i] + b * u[D + i] + .1 * hxt_normal(&rng);
}

/* The larger of the two angles between planes, degrees: from the smaller singular value of the 2 x 2 matrix of their cosines. */
static double angle(const double *u, const double *w)
{
    double m[2][2] = {{0}}, trace = 0, det;

    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 2; b++)
            for (size_t i = 0; i < D; i++)
                m[a][b] += u[a * D + i] * w[b * D + i];
    for (size_t a = 0; a < 2; a++)
        trace += m[a][0] * m[a][0] + m[a][1] * m[a][1];
    det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    return acos(fmin(1, sqrt(fmax(0, trace / 2 - sqrt(fmax(0, trace * trace / 4 - det * det)))))) * 180 / acos(-1);
}

static void test_the_subspace_of_a_stream_is_found(void **state)
{
    double u[2 * D], w[2 * D], x[D], before, after;

    (void)state;
    plant(u);
    plant(w);
    before = angle(u, w);
    for (size_t t = 1; t <= SAMPLES; t++) {
        draw(u, x);
        assert_int_equal(hx_oja_step(w, 2, D, x, hx_oja_eta(.5, HX_OJA_SQRT, t)), 1);
    }
    hx_oja_orthonormalise(w, 2, D);
    after = angle(u, w);
    print_message("angle %.1f degrees, then %.2f\n", before, after);
    assert_true(before > 45 && after < 5);
}

static void test_rows_stay_orthonormal(void **state)
{
    enum { K = 8 };
    double w[K * D], x[D], worst = 0;

    (void)state;
    for (size_t i = 0; i < K * D; i++)
        w[i] = hxt_normal(&rng);
    hx_oja_orthonormalise(w, K, D);
    for (size_t t = 1; t <= 1000; t++) {
        for (size_t i = 0; i < D; i++)
            x[i] = hxt_normal(&rng);
        hx_oja_step(w, K, D, x, hx_oja_eta(.01, HX_OJA_SQRT, t));
        hx_oja_orthonormalise(w, K, D);
        worst = fmax(worst, hx_oja_error(w, K, D));
    }
    assert_true(worst < 1e-5);
}

static void test_what_is_nearly_nothing_turns_nothing(void **state)
{
    double w[D] = {1}, was[D] = {1}, x[D] = {0, 9e-7};

    (void)state;
    assert_int_equal(hx_oja_step(w, 1, D, x, .5), 0);
    hxt_same_bytes(w, was, sizeof(w));
}

static void test_steps_become_smaller_as_published(void **state)
{
    (void)state;
    assert_true(fabs(hx_oja_eta(.01, HX_OJA_SQRT, 10000) - 1e-4) < 1e-12);
    assert_true(fabs(hx_oja_eta(.01, HX_OJA_LINEAR, 100) - 1e-4) < 1e-12);
}

/* --- drafters */

#define RUN "run -p PROMPT --temp 0 -n 100 --json --kv f32 --wproj-cache none --spec-thresh 0 --spec-adapt off "

static void test_a_text_stays_the_models_and_guesses_become_better(void **state)
{
    json_t *plain = e2e_json("run -p PROMPT --temp 0 -n 100 --json --kv f32"), *off = e2e_json(RUN "--draft gp:64");
    json_t *on = e2e_json(RUN "--draft gp:64 --axex-online-basis --online-from state --online-eta 0.5");

    (void)state;
    assert_true(json_equal(json_object_get(on, "tokens"), json_object_get(plain, "tokens")));
    assert_true(e2e_number(on, "gp.online.steps") > 3 && e2e_number(on, "gp.online.turned") > 0);
    assert_true(e2e_number(on, "gp.online.orthonormal_within") < 1e-5);
    print_message("accepted: %g off, %g on\n", e2e_number(off, "spec.accept_rate"), e2e_number(on, "spec.accept_rate"));
    assert_true(e2e_number(on, "spec.accept_rate") > e2e_number(off, "spec.accept_rate"));
    json_decref(plain);
    json_decref(off);
    json_decref(on);
}

/* --- all adaptive choices at once, in the published order */

enum { LAYERS = 6, WIDTH = 256 };
static const int planned[LAYERS] = {64, 96, 128, 48, 80, 96};

/* Ranks by layer, and gains. */
static const char *write_plan(void)
{
    const char *path = hxt_path("%s/rank_plan.txt", hxt_tmpdir());
    FILE *f = fopen(path, "w");
    struct hx_model *m;
    struct hx_error err;
    int sum = 0;

    assert_non_null(f);
    assert_int_equal(hx_model_open(&m, MODEL_F16, hx_archs, &err), 0);
    fprintf(f, "hexrig rank plan 1\nmodel %016" PRIx64 "\n", m->fingerprint);
    hx_model_close(m);
    for (int l = 0; l < LAYERS; l++, sum += planned[l - 1])
        fprintf(f, "rank %d qkv %d mix\n", l, planned[l]);
    fprintf(f, "sum %d\n", sum);
    for (int i = 0; i < WIDTH; i++)
        fprintf(f, "gain %d %.6f\n", i, exp(.3 * sin(i)));
    assert_int_equal(fclose(f), 0);
    return path;
}

/* Ranks of a plan with gains, which the temperature makes lower (of a rig that is a little warm: blocks of K and V are coded there), and
 * bases that turn: the text is the model's, no basis has more directions than its plan says, and sums are exact. */
static void test_ranks_gains_temperature_and_turns_go_together(void **state)
{
    json_t *plain = e2e_json("run -p PROMPT --temp 0 -n 60 --json --model " MODEL_F16), *j;
    json_int_t sum_planned = 0, sum_active = 0;
    const char *words = hxt_path("run -p PROMPT --temp 0 -n 60 --json --model " MODEL_F16 " --wproj-cache none --spec-thresh 0 "
                                 "--draft gp:96 --axex-rank-plan %s --axex-thermal --axex-thermal-low 24.9 --axex-thermal-high 25.3 "
                                 "--axex-online-basis --online-from state --online-eta 0.1", write_plan());

    (void)state;
    j = e2e_json(words);
    assert_true(json_equal(json_object_get(j, "tokens"), json_object_get(plain, "tokens")));
    assert_true(e2e_number(j, "gp.online.steps") > 0);
    assert_true(json_is_true(json_object_get(json_object_get(json_object_get(j, "gp"), "thermal"), "sensor")));
    assert_true(e2e_number(j, "gp.thermal.rank_mean") < 128);
    for (size_t i = 0; i < LAYERS; i++) {
        const json_t *t = json_object_get(json_object_get(j, "gp"), "thermal");
        const json_int_t of_plan = json_integer_value(json_array_get(json_object_get(t, "planned_by_basis"), i));
        const json_int_t active = json_integer_value(json_array_get(json_object_get(t, "active_by_basis"), i));

        assert_int_equal(of_plan, planned[i]);
        assert_true(active >= 1 && active <= of_plan);
        sum_planned += of_plan;
        sum_active += active;
    }
    assert_true(e2e_number(j, "gp.thermal.planned_sum") == (double)sum_planned && sum_planned == 512);
    assert_true(e2e_number(j, "gp.thermal.active_sum") == (double)sum_active && sum_active < sum_planned);
    json_decref(plain);
    json_decref(j);
    e2e_clean();
}

/* At full rank every guess is right, so nothing is learned. */
static void test_without_mistakes_nothing_turns(void **state)
{
    json_t *j = e2e_json("run -p PROMPT --temp 0 -n 24 --json --kv f32 --linear ref --wproj-cache none --draft gp:256 --axex-online-basis");

    (void)state;
    assert_true(e2e_number(j, "gp.online.steps") == 0);
    json_decref(j);
}

static void test_what_cannot_turn_is_refused(void **state)
{
    const char *books = hxt_read_file(HOLDOUT, NULL), *text = hxt_path("%s/text", hxt_tmpdir());

    (void)state;
    hxt_write_file(text, books, 10000);
    free((void *)books);
    e2e_refused(hxt_path("run -p x --kv f32 --draft gp:64 --axex-online-basis --wproj-cache none --basis-from text --basis-text %s", text),
                1, "cannot turn: it is of a text");
    e2e_refused("run -p x --kv f32 --axex-online-basis", 2, "--axex-online-basis needs --draft gp");
    e2e_refused("run -p x --kv f32 --draft gp:64 --online-eta 0.1", 2, "--online-eta needs --axex-online-basis");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_the_subspace_of_a_stream_is_found),
    cmocka_unit_test(test_rows_stay_orthonormal),
    cmocka_unit_test(test_what_is_nearly_nothing_turns_nothing),
    cmocka_unit_test(test_steps_become_smaller_as_published),
    cmocka_unit_test(test_a_text_stays_the_models_and_guesses_become_better),
    cmocka_unit_test(test_ranks_gains_temperature_and_turns_go_together),
    cmocka_unit_test(test_without_mistakes_nothing_turns),
    cmocka_unit_test(test_what_cannot_turn_is_refused),
};

int main(void)
{
    hxt_rng_init(&rng, 20);
    return HXT_RUN(tests);
}
