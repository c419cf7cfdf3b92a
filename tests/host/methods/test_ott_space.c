/* Protects the steps of OneDecode's table (host/methods/onedecode/ott_space.h): how long they are and where they lead, straight and along
 * the metric of the states; and what is said of these states' halves. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hxt.h"
#include "methods/geometry/geodesic.h"
#include "methods/onedecode/ott_axioms.h"
#include "methods/onedecode/ott_space.h"

enum { WIDTH = 24, STATES = 200 };

/* Points around a bent sheet, so that neighbours lie otherwise at each of them. */
static void make_states(float *states, size_t n)
{
    struct hxt_rng rng = {.s = {1, 2, 3, 4}}; /* the same states in every run: what is said of halves is true of most, not of all */

    for (size_t i = 0; i < n; i++) {
        const double a = 2 * hxt_normal(&rng), b = 2 * hxt_normal(&rng);

        for (size_t k = 0; k < WIDTH; k++)
            states[i * WIDTH + k] = (float)(3 * sin(a + .3 * (double)k) + 2 * cos(b * (double)(k % 3)) + .3 * hxt_normal(&rng));
    }
}

struct made {
    float states[STATES * WIDTH];
    struct hx_ott_space s;
    double x[STATES * WIDTH];
};

static void open_space(struct made *m, int bent)
{
    struct hx_error err = {""};

    make_states(m->states, STATES);
    assert_int_equal(hx_ott_space_open(&m->s, m->states, STATES, WIDTH, &err), 0);
    assert_int_equal(m->s.axes, WIDTH);
    assert_int_equal(hx_ott_space_place(&m->s, m->states, STATES, m->x, &err), 0);
    if (bent && hx_ott_space_bend(&m->s, m->x, STATES, &err))
        fail_msg("%s", err.text);
}

static double length(const double *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

static void test_a_straight_step_leads_towards_its_end_as_far_as_the_variance_says(void **state)
{
    static struct made m;
    struct hx_ott_steps all = {0};
    struct hx_error err = {""};
    double dx[HX_OTT_AXES], to[WIDTH], variance = 0;

    (void)state;
    open_space(&m, 0);
    for (size_t i = 0; i < STATES * WIDTH; i++)
        variance += m.x[i] * m.x[i] / STATES / WIDTH;
    assert_int_equal(hx_ott_space_step(&m.s, m.x, m.x + WIDTH, dx, &all, &err), 0);
    assert_true(fabs(length(dx, WIDTH) - HX_OTT_STEP * variance) < 1e-9 * variance);
    for (size_t k = 0; k < WIDTH; k++)
        to[k] = m.x[WIDTH + k] - m.x[k];
    for (size_t k = 0; k < WIDTH; k++)
        assert_true(fabs(dx[k] / length(dx, WIDTH) - to[k] / length(to, WIDTH)) < 1e-12);
    assert_true(all.geodesic == 0 && all.straight == 0);
    assert_int_equal(hx_ott_space_step(&m.s, m.x, m.x, dx, &all, &err), 0);
    assert_true(length(dx, WIDTH) == 0);
    hx_ott_space_free(&m.s);
}

/* By other means: the same start, 512 parts. */
static void test_a_bent_step_is_the_fields_geodesic_and_straight_along_the_other_axes(void **state)
{
    static struct made m;
    struct hx_ott_steps all = {0};
    struct hx_error err = {""};

    (void)state;
    open_space(&m, 1);
    assert_int_equal(m.s.bent, HX_METRIC_MOST);
    for (size_t i = 0; i < 12; i++) {
        const struct hx_metric field = hx_cloud_metric_field(&m.s.metric);
        const double *x = m.x + i * WIDTH, *y = x + WIDTH;
        double dx[HX_OTT_AXES], v[WIDTH], to[HX_METRIC_MOST], scale, turn = all.turn;
        struct hx_geodesic g = {.carried = 0};

        assert_int_equal(hx_ott_space_step(&m.s, x, y, dx, &all, &err), 0);
        for (size_t k = 0; k < WIDTH; k++)
            v[k] = y[k] - x[k];
        for (size_t k = 0; k < m.s.bent; k++) {
            g.x[k] = x[k] / m.s.deviation[k];
            to[k] = y[k] / m.s.deviation[k];
        }
        assert_int_equal(hx_geodesic_aim(&field, g.x, to, 1, g.v, &err), 0);
        for (size_t k = 0; k < m.s.bent; k++)
            v[k] = g.v[k] * m.s.deviation[k];
        scale = m.s.step / length(v, WIDTH);
        for (size_t k = 0; k < m.s.bent; k++)
            g.v[k] *= scale;
        assert_int_equal(hx_geodesic_run(&field, &g, 1. / 512, 512, NULL, NULL, &err), 0);
        for (size_t k = 0; k < m.s.bent; k++)
            assert_true(fabs(x[k] + dx[k] - g.x[k] * m.s.deviation[k]) < 1e-3 * m.s.step);
        for (size_t k = m.s.bent; k < WIDTH; k++)
            assert_true(fabs(dx[k] - scale * v[k]) < 1e-12);
        assert_true(all.turn > turn); /* nowhere flat */
    }
    assert_true(all.geodesic == 12 && all.straight == 0 && all.drift <= HX_OTT_DRIFT && all.drift > 0);
    hx_ott_space_free(&m.s);
}

static void test_a_metric_needs_enough_states_that_differ(void **state)
{
    static struct made m;
    struct hx_error err = {""};

    (void)state;
    open_space(&m, 0);
    assert_int_equal(hx_ott_space_bend(&m.s, m.x, HX_OTT_BENT_LEAST - 1, &err), -EINVAL);
    assert_string_equal(err.text, "OneDecode: a metric of 65 states; it needs 66");
    memset(m.x, 0, sizeof(m.x));
    assert_int_equal(hx_ott_space_bend(&m.s, m.x, STATES, &err), -EINVAL);
    assert_string_equal(err.text, "OneDecode: all 200 states are the same");
    hx_ott_space_free(&m.s);
}

/* --- halves */

static void test_what_holds_of_a_half_holds_of_the_same_states_again(void **state)
{
    static float states[2 * STATES * WIDTH], once[STATES * WIDTH];
    struct hx_ott_axioms same = {0}, other = {0};
    struct hx_error err = {""};

    (void)state;
    make_states(once, STATES);
    for (size_t i = 0; i < 2 * STATES; i++)
        memcpy(states + i * WIDTH, once + i / 2 * WIDTH, WIDTH * sizeof(*once));
    assert_int_equal(hx_ott_axioms_find(&same, states, 2 * STATES, WIDTH, &err), 0);
    assert_true(same.accepted > 0 && same.survived == same.accepted);
    assert_true(same.noise_survived < same.noise_accepted);
    assert_int_equal(hx_ott_axioms_find(&other, once, STATES, WIDTH, &err), 0);
    assert_true(other.survived < other.accepted);
    assert_true(hx_ott_axioms_share(other.survived, other.accepted) > hx_ott_axioms_share(other.noise_survived, other.noise_accepted));
    assert_true(hx_ott_axioms_share(0, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_straight_step_leads_towards_its_end_as_far_as_the_variance_says),
        cmocka_unit_test(test_a_bent_step_is_the_fields_geodesic_and_straight_along_the_other_axes),
        cmocka_unit_test(test_a_metric_needs_enough_states_that_differ),
        cmocka_unit_test(test_what_holds_of_a_half_holds_of_the_same_states_again),
    };

    return HXT_RUN(tests);
}
