/* Protects the guard's mathematics (host/methods/guard): the projector leaves nothing of its directions and all else, over 1000 states and
 * six steps; TEH is a ratio of lengths; probing finds the coordinate that tells, selection keeps the budget, thresholds tell no other
 * topic; chains score what they say; files come back bit by bit or are refused. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/method.h"
#include "engine/plan.h"
#include "hxt.h"
#include "methods/guard/guard_tap.h"
#include "methods/guard/ogd.h"
#include "methods/guard/probe.h"
#include "sealed_file.h"

enum { D = 96, F = 12, STATES = 1000, K = 8, N = 200 };

static const double alphas[] = {.05, .10, .15, .20, .25, .30};
extern const struct hx_method hx_method_tap_guard; /* engine/methods.c lists it */

static struct hxt_rng rng;
static float q[F * D];
static const struct hx_guard_q guard = {q, F, D};

/* Gram and Schmidt, twice. */
static int make_guard(void **state)
{
    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t i = 0; i < F; i++) {
        float *row = q + i * D;
        double length = 0;

        hxt_fill_f32(&rng, row, D, HXT_NORMAL);
        for (int pass = 0; pass < 2; pass++)
            hx_guard_project(&(struct hx_guard_q){q, i, D}, row);
        for (size_t k = 0; k < D; k++)
            length += (double)row[k] * row[k];
        for (size_t k = 0; k < D; k++)
            row[k] = (float)(row[k] / sqrt(length));
        for (int pass = 0; pass < 2; pass++)
            hx_guard_project(&(struct hx_guard_q){q, i, D}, row);
    }
    return 0;
}

static void test_1000_states_at_six_steps_have_nothing_left(void **state)
{
    double least = 1;

    (void)state;
    for (size_t s = 0; s < STATES; s++) {
        float h[D], v[D], to[D], bare[D];

        hxt_fill_f32(&rng, h, D, s % 5 ? HXT_NORMAL : HXT_HUGE);
        hxt_fill_f32(&rng, v, D, HXT_NORMAL);
        for (size_t a = 0; a < HXT_LEN(alphas); a++) {
            hx_ogd_step(&guard, h, v, alphas[a], to);
            if (!(hx_guard_left(&guard, to) < 1e-6 && hx_guard_teh(&guard, to) < 1e-6))
                fail_msg("state %zu, alpha %g: %g left", s, alphas[a], hx_guard_left(&guard, to));
            hx_ogd_step(&(struct hx_guard_q){q, 0, D}, h, v, alphas[a], bare);
            least = fmin(least, hx_guard_teh(&guard, bare));
        }
    }
    assert_true(least > .01); /* the steps alone would have had something */
}

static void test_what_is_orthogonal_stays(void **state)
{
    float h[D], was[D];

    (void)state;
    hxt_fill_f32(&rng, h, D, HXT_NORMAL);
    hx_guard_project(&guard, h);
    memcpy(was, h, sizeof(h));
    for (size_t k = 0; k < D; k++)
        h[k] += 3 * q[2 * D + k] - q[5 * D + k];
    hx_guard_project(&guard, h);
    for (size_t k = 0; k < D; k++)
        assert_true(fabsf(h[k] - was[k]) < 2e-6f);
}

static void test_teh_is_a_ratio_of_lengths(void **state)
{
    float h[D] = {0};

    (void)state;
    assert_true(hx_guard_teh(&guard, h) == 0);
    hxt_fill_f32(&rng, h, D, HXT_NORMAL);
    hx_guard_project(&guard, h);
    {
        double length = 0;

        for (size_t k = 0; k < D; k++)
            length += (double)h[k] * h[k];
        for (size_t k = 0; k < D; k++)
            h[k] = (float)(.8 * h[k] / sqrt(length) + .6 * q[3 * D + k]);
    }
    assert_true(fabs(hx_guard_teh(&guard, h) - .6) < 1e-6);
}

/* A state that is not finite has no TEH: it is counted, and left out of sums that a report would else have to print as no number. */
static void test_a_state_that_is_not_finite_is_counted_and_in_no_mean(void **state)
{
    static const enum hx_guard_mode modes[] = {HX_GUARD_PROJECT, HX_GUARD_GATE, HX_GUARD_MONITOR};
    const struct hx_tap_at at = {.point = HX_TAP_IN_OUT, .n = 3, .row = D};

    (void)state;
    for (size_t m = 0; m < HXT_LEN(modes); m++) {
        struct hx_guard g = {.name = "x", .q = malloc(sizeof(q)), .f = F, .d = D};
        float h[3 * D], was[3 * D];
        struct hx_tap *t;
        struct hx_guard_seen seen;

        memcpy(g.q, q, sizeof(q));
        assert_int_equal(hx_guard_tap_open(&t, &g, modes[m], 0, NULL, NULL), 0);
        hxt_fill_f32(&rng, h, D, HXT_NORMAL);
        hxt_fill_f32(&rng, h + D, D, HXT_NAN);
        hxt_fill_f32(&rng, h + 2 * D, D, HXT_INF);
        memcpy(was, h, sizeof(h));
        assert_int_equal(t->ops->at(t, &at, h, NULL), 0);
        seen = hx_guard_tap_seen(t);
        assert_true(seen.tokens == 3 && seen.not_finite == 2 && seen.told == 1);
        assert_int_equal(seen.projected, modes[m] != HX_GUARD_MONITOR);
        assert_true(seen.teh_sum == hx_guard_teh(&guard, was) && seen.teh_most == seen.teh_sum && seen.energy_sum > 0);
        hxt_same_bytes(h + D, was + D, 2 * D * sizeof(float));
        assert_true(isnan(hx_guard_teh(&guard, h + D)) && isnan(hx_guard_teh(&guard, h + 2 * D)));
        assert_int_equal(hx_tap_close(t, NULL), 0);
    }
}

/* Of no state there is no mean, and the report of it is whole. */
static void test_a_report_of_no_finite_state_has_null(void **state)
{
    const struct hx_tap_at at = {.point = HX_TAP_IN_OUT, .n = 1, .row = D};
    struct hx_guard g = {.name = "x", .q = malloc(sizeof(q)), .f = F, .d = D};
    struct hx_plan *p;
    struct hx_tap *t;
    float h[D] = {NAN};
    json_t *j;

    (void)state;
    memcpy(g.q, q, sizeof(q));
    assert_int_equal(hx_plan_open(&p, "--", 0, NULL), 0);
    assert_int_equal(hx_guard_tap_open(&t, &g, HX_GUARD_MONITOR, .5, NULL, NULL), 0);
    assert_int_equal(t->ops->at(t, &at, h, NULL), 0);
    j = hx_method_tap_guard.report(t, NULL, p);
    assert_non_null(j);
    assert_true(json_is_null(json_object_get(j, "teh_percent_mean")) && json_is_null(json_object_get(j, "teh_percent_most")));
    assert_int_equal(json_integer_value(json_object_get(j, "not_finite")), 1);
    json_decref(j);
    assert_int_equal(hx_tap_close(t, NULL), 0);
    hx_plan_close(p);
}

/* --- probing */

static void make_coordinates(double *z, unsigned char *in_topic)
{
    for (size_t i = 0; i < N; i++) {
        in_topic[i] = i % 4 == 0;
        for (size_t a = 0; a < K; a++)
            z[i * K + a] = hxt_normal(&rng) + (in_topic[i] && a == 5 ? 6 : 0) + (in_topic[i] && a == 2 ? 2 : 0);
    }
}

static void test_probing_orders_by_what_tells(void **state)
{
    static double z[N * K];
    static unsigned char in_topic[N];
    struct hx_probe_coordinate order[K];

    (void)state;
    make_coordinates(z, in_topic);
    assert_int_equal(hx_probe(z, in_topic, N, K, order, NULL), 0);
    assert_int_equal(order[0].index, 5);
    assert_int_equal(order[1].index, 2);
    assert_true(fabs(order[0].d - 6) < .6 && order[0].roi > 5 && order[K - 1].roi < 1.5);
    memset(in_topic, 1, N);
    assert_int_equal(hx_probe(z, in_topic, N, K, order, NULL), -EINVAL);
}

/* Each coordinate costs its index in percent. */
static int cost(void *arg, const size_t *coordinates, size_t n, double *loss, double *effect, struct hx_error *err)
{
    ++*(int *)arg;
    (void)err;
    *loss = 0;
    *effect = (double)n;
    for (size_t i = 0; i < n; i++)
        *loss += (double)coordinates[i] / 100;
    return 0;
}

static void test_selection_keeps_the_budget_and_goes_on_behind_what_breaks_it(void **state)
{
    const struct hx_probe_coordinate order[] = {{1, 1, 1}, {7, 1, 1}, {3, 1, 1}, {2, 1, 1}, {0, 1, 1}};
    const struct hx_snipe_rule rule = {.budget = .045, .most = 3};
    struct hx_snipe_step steps[HXT_LEN(order)];
    size_t chosen[3], n, n_steps;
    int calls = 0;

    (void)state;
    assert_int_equal(hx_snipe(order, HXT_LEN(order), &rule, cost, &calls, chosen, &n, steps, &n_steps, NULL), 0);
    assert_int_equal(n, 3);
    assert_true(chosen[0] == 1 && chosen[1] == 3 && chosen[2] == 0);
    assert_true(n_steps == 5 && calls == 5 && !steps[1].kept && !steps[3].kept && steps[4].kept);
    assert_true(fabs(steps[1].loss - .08) < 1e-12);
}

static void test_a_threshold_tells_none_of_the_others(void **state)
{
    const double teh[] = {.05, .10, .12, .30, .20, .40, .45, .08};
    const unsigned char in_topic[] = {0, 0, 0, 0, 1, 1, 1, 1};
    struct hx_teh_roc r = hx_teh_threshold(teh, in_topic, HXT_LEN(teh));

    (void)state;
    assert_true(fabs(r.threshold - .349) < 1e-9 && r.fpr == 0 && r.tpr == .5 && fabs(r.f1 - 2. / 3) < 1e-12);
    r = hx_teh_at(teh, in_topic, HXT_LEN(teh), .15);
    assert_true(r.tpr == .75 && r.fpr == .25);
    /* one of the others is above all thresholds: nothing may be told */
    r = hx_teh_threshold((const double[]){.9, .6, .7}, (const unsigned char[]){0, 1, 1}, 3);
    assert_true(r.threshold == 1 && r.tpr == 0 && r.f1 == 0);
    /* nobody is told below 50 % */
    r = hx_teh_threshold((const double[]){.0, .6, .7}, (const unsigned char[]){0, 1, 1}, 3);
    assert_true(r.tpr == 1 && r.threshold == .25);
}

/* --- chains */

static void test_chains_score_what_they_do(void **state)
{
    float from[D], to[D], scratch[4 * D];
    struct hx_ogd_chain c;

    (void)state;
    hxt_fill_f32(&rng, from, D, HXT_NORMAL);
    hxt_fill_f32(&rng, to, D, HXT_NORMAL);
    hx_ogd_chain(&guard, from, to, scratch, &c);
    assert_true(c.smoothness > .9 && c.smoothness < .9999 && c.directionality > .5 && c.convergence > .6 && c.convergence < .9);
    assert_true(fabs(c.coherence - (.35 * c.smoothness + .25 * c.directionality + .2 * c.convergence) / .8) < 1e-12);
    assert_true(c.teh < 1e-6);
    /* nowhere to go: nothing moves, which is a collapse */
    hx_ogd_chain(&(struct hx_guard_q){q, 0, D}, from, from, scratch, &c);
    assert_true(c.collapsed && c.convergence == 0);
}

/* --- files */

static void test_every_truncation_and_every_flipped_byte_is_refused(void **state)
{
    struct hx_guard g = {.name = "weather", .threshold = .25, .q = q, .f = 1, .d = D, .fingerprint = 9}, back;
    const char *path = hxt_path("%s/a.guard", hxt_tmpdir()), *bad = hxt_path("%s/bad.guard", hxt_tmpdir());
    struct hx_error err;
    uint8_t *bytes;
    size_t n;

    (void)state;
    assert_int_equal(hx_guard_write(&g, path, &err), 0);
    assert_int_equal(hx_guard_read(&back, path, 9, &err), 0);
    assert_string_equal(back.name, "weather");
    assert_true(back.threshold == .25 && back.f == 1 && back.d == D);
    hxt_same_bytes(back.q, q, D * sizeof(float));
    hx_guard_free(&back);
    assert_int_equal(hx_guard_read(&back, path, 10, &err), -EINVAL);
    bytes = hxt_read_file(path, &n);
    for (size_t i = 0; i < n; i++) {
        hxt_write_file(bad, bytes, i);
        assert_int_equal(hx_guard_read(&back, bad, 9, &err), -EINVAL);
        bytes[i] ^= 1;
        hxt_write_file(bad, bytes, n);
        assert_int_equal(hx_guard_read(&back, bad, 9, &err), -EINVAL);
        bytes[i] ^= 1;
    }
    free(bytes);
}

/* A file that somebody else made, with a good checksum. */
static void test_content_that_cannot_be_is_refused_behind_a_right_checksum(void **state)
{
    enum { D_AT = 12, F_AT = 16, RESERVED_AT = 20, THRESHOLD_AT = 32, NAME_END = 103, Q_AT = 104 };
    struct wrong_field each[] = {
        {8, 4, {.u32 = 2}, "version 2"},
        {D_AT, 4, {.u32 = 0}, "are not those of a guard of 0 x 2"},
        {F_AT, 4, {.u32 = 0}, "are not those"},
        {F_AT, 4, {.u32 = D + 1}, "are not those"},
        {RESERVED_AT, 4, {.u32 = 1}, "are not those"},
        {THRESHOLD_AT, 8, {.f64 = NAN}, "are not those"},
        {THRESHOLD_AT, 8, {.f64 = 1.5}, "are not those"},
        {NAME_END, 1, {.text = "x"}, "are not those"},
        {Q_AT, 4, {.f32 = INFINITY}, "not orthonormal: off by inf"},
        {Q_AT, 4, {.f32 = 2}, "not orthonormal"},
    };
    struct hx_guard g = {.name = "weather", .threshold = .25, .q = q, .f = 2, .d = D, .fingerprint = 9}, back;
    const char *path = hxt_path("%s/content.guard", hxt_tmpdir());
    uint8_t *bytes;
    size_t n;

    (void)state;
    assert_int_equal(hx_guard_write(&g, path, NULL), 0);
    bytes = hxt_read_file(path, &n);
    for (size_t i = 0; i < HXT_LEN(each); i++) {
        struct hx_error err = {""};

        swap_field(bytes, &each[i]);
        write_sealed(path, bytes, n);
        swap_field(bytes, &each[i]);
        assert_int_equal(hx_guard_read(&back, path, 9, &err), -EINVAL);
        if (!strstr(err.text, each[i].words) || strchr(err.text, '\n'))
            fail_msg("'%s' does not say '%s'", err.text, each[i].words);
    }
    write_sealed(path, bytes, n - 4);
    assert_int_equal(hx_guard_read(&back, path, 9, NULL), -EINVAL);
    free(bytes);
}

static void test_directions_that_are_not_orthonormal_are_refused(void **state)
{
    float twice[2 * D];
    struct hx_guard g = {.name = "x", .q = twice, .f = 2, .d = D}, back;
    const char *path = hxt_path("%s/skew.guard", hxt_tmpdir());
    struct hx_error err;

    (void)state;
    memcpy(twice, q, D * sizeof(float));
    memcpy(twice + D, q, D * sizeof(float));
    assert_int_equal(hx_guard_write(&g, path, &err), 0);
    assert_int_equal(hx_guard_read(&back, path, 0, &err), -EINVAL);
    assert_non_null(strstr(err.text, "orthonormal"));
    twice[3] = NAN;
    assert_int_equal(hx_guard_write(&g, path, &err), 0);
    assert_int_equal(hx_guard_read(&back, path, 0, &err), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_1000_states_at_six_steps_have_nothing_left),
        cmocka_unit_test(test_what_is_orthogonal_stays),
        cmocka_unit_test(test_teh_is_a_ratio_of_lengths),
        cmocka_unit_test(test_a_state_that_is_not_finite_is_counted_and_in_no_mean),
        cmocka_unit_test(test_a_report_of_no_finite_state_has_null),
        cmocka_unit_test(test_probing_orders_by_what_tells),
        cmocka_unit_test(test_selection_keeps_the_budget_and_goes_on_behind_what_breaks_it),
        cmocka_unit_test(test_a_threshold_tells_none_of_the_others),
        cmocka_unit_test(test_chains_score_what_they_do),
        cmocka_unit_test(test_every_truncation_and_every_flipped_byte_is_refused),
        cmocka_unit_test(test_content_that_cannot_be_is_refused_behind_a_right_checksum),
        cmocka_unit_test(test_directions_that_are_not_orthonormal_are_refused),
    };

    return HXT_RUN_FIXTURE(tests, make_guard, NULL);
}
