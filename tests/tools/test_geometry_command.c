/* Protects hexrig geometry: figures of small clouds beside noise, the same on every run; files in their published names; refusals. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "e2e.h"
#include "golden.h"

#define SMALL " --json -m " MODEL_F16 " --held 64"

static json_t *file(const char *folder, const char *what)
{
    return golden_json(hxt_path("%s/hexrig-tiny-f16_%s.json", folder, what));
}

static void test_cloud_has_its_points_in_a_file(void **state)
{
    char folder[256];
    struct stat st;
    json_t *j;

    (void)state;
    snprintf(folder, sizeof(folder), "%s/cloud", hxt_tmpdir());
    json_decref(e2e_json(hxt_path("geometry cloud" SMALL " --points 200 -o %s", folder)));
    j = file(folder, "cloud");
    assert_true(e2e_number(j, "states.pca95") < e2e_number(j, "noise.pca95"));
    assert_true(e2e_number(j, "states.two_nn") < e2e_number(j, "noise.two_nn"));
    assert_true(e2e_number(j, "held_variance") > .3 && e2e_number(j, "held_variance") < .8);
    json_decref(j);
    assert_int_equal(stat(hxt_path("%s/hexrig-tiny-f16_cloud.bin", folder), &st), 0);
    assert_int_equal(st.st_size, 200 * 8 * 4);
}

static void test_metric_is_definite_and_symmetric(void **state)
{
    json_t *j = e2e_json("geometry metric" SMALL " --points 64 --samples 4");

    (void)state;
    assert_true(e2e_number(j, "states.min_eig") > 1e-3 * (1 - 1e-9) && e2e_number(j, "states.max_eig") < 1e3 * (1 + 1e-9));
    assert_true(e2e_number(j, "states.christoffel_asymmetry") <= 1e-9);
    assert_true(e2e_number(j, "states.scalar_curvature") != 0);
    json_decref(j);
}

static void test_finer_geodesics_drift_less(void **state)
{
    json_t *j = e2e_json("geometry geodesic" SMALL " --points 64 --neighbours 32 --samples 4");

    (void)state;
    assert_true(e2e_number(j, "steps_16.drift_median") > 8 * e2e_number(j, "steps_32.drift_median")); /* fourth order */
    assert_true(e2e_number(j, "chosen_step") <= .05);
    assert_true(e2e_number(j, "aim") < 1);
    json_decref(j);
}

/* A prototype in double precision has 63.2 82.5 90.7 95.1 (noise 59.5 82.8 92.5 95.3) by whitened coordinates on a cloud of 64 of its own
 * choice, and 1.8 5.7 10.1 15.7 (noise .7 2.2 4.4 6.6) by local metrics; which 64 moves the former by some points, the latter by as much
 * as itself. */
static void test_coverage_stands_beside_noise(void **state)
{
    static const double whitened[] = {63.2, 82.5, 90.7, 95.1}, noise[] = {59.5, 82.8, 92.5, 95.3};
    static const int kept[] = {6, 16, 32, 48};
    json_t *j = e2e_json("geometry coverage" SMALL);
    double last = 0;

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        const double got = e2e_number(j, hxt_path("kept_%d.global.states", kept[k]));

        assert_true(fabs(got - whitened[k]) < 8);
        assert_true(fabs(e2e_number(j, hxt_path("kept_%d.global.noise", kept[k])) - noise[k]) < 5);
        assert_true(e2e_number(j, hxt_path("kept_%d.local.states", kept[k])) < 17);
        assert_true(got >= last);
        last = got;
    }
    assert_string_equal(json_string_value(json_object_get(json_object_get(json_object_get(j, "kept_32"), "global"), "verdict")),
                        "no evidence");
    json_decref(j);
}

static void test_corrections_hold_near_a_trajectory_and_beside_noise(void **state)
{
    char folder[256];
    json_t *j;

    (void)state;
    snprintf(folder, sizeof(folder), "%s/validity", hxt_tmpdir());
    json_decref(e2e_json(hxt_path("geometry validity" SMALL " --points 64 --neighbours 32 --n-seeds 3 --n-perturb 3 -o %s", folder)));
    j = file(folder, "validity_radius");
    assert_true(e2e_number(j, "states.median_radius_5") >= .1);
    assert_true(e2e_number(j, "states.radius_20") >= e2e_number(j, "states.radius_10"));
    assert_true(e2e_number(j, "noise.radius_20") > 0);
    for (size_t i = 2; i < 5; i++) /* .1 over .05, .2, .4 */
        assert_true(json_number_value(json_array_get(json_object_get(json_object_get(j, "states"), "ratio"), i)) > 1.5);
    json_decref(j);
}

static void test_many_corrections_are_those_one_by_one(void **state)
{
    json_t *j = e2e_json("geometry resonance" SMALL " --points 64 --neighbours 32");

    (void)state;
    for (int b = 1; b <= 10000; b *= 10) {
        assert_true(e2e_number(j, hxt_path("batch_%d.apart", b)) <= 1e-15);
        assert_true(e2e_number(j, hxt_path("batch_%d.together_ns", b)) > 0);
    }
    json_decref(j);
}

/* Published: 92 % hits, 7.8 % kept. */
static void test_clusters_make_hits(void **state)
{
    json_t *j = e2e_json("geometry simulate --json"), *few = e2e_json("geometry simulate --json --clusters 4 --spread 0");

    (void)state;
    assert_true(e2e_number(j, "clustered.hits") >= .9 && e2e_number(j, "clustered.kept") <= .1);
    assert_true(e2e_number(j, "without_clusters.hits") < .1);
    assert_true(fabs(e2e_number(few, "clustered.kept") - 4. / 1024) < 1e-9); /* each cluster once */
    json_decref(j);
    json_decref(few);
}

static void test_runs_are_the_same(void **state)
{
    json_t *a = e2e_json("geometry coverage" SMALL " --repeats 2"), *b = e2e_json("geometry coverage" SMALL " --repeats 2 --threads 1");

    (void)state;
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
}

static void test_what_cannot_be_is_refused(void **state)
{
    char text[256];

    (void)state;
    snprintf(text, sizeof(text), "%s/short", hxt_tmpdir());
    hxt_write_file(text, "a few words", 11);
    e2e_refused("geometry coverage --points 8", 2, "--points 8; --neighbours 8 needs more");
    e2e_refused("geometry coverage --points 6 --neighbours 4", 2, "--points 6; --axes 8 needs more");
    e2e_refused(hxt_path("geometry metric --fit %s", text), 1, "gives 0 states");
    e2e_refused(hxt_path("geometry metric --fit %s -f %s", text, text), 2, "is scored, too");
    e2e_refused("geometry validity --steps 20", 2, "--steps 20; legal: multiples of 16");
    e2e_refused("geometry metric --axes 9", 2, "--axes");
    e2e_refused("geometry metric --points 32 --samples 33", 2, "--samples 33 of --points 32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cloud_has_its_points_in_a_file),
        cmocka_unit_test(test_metric_is_definite_and_symmetric),
        cmocka_unit_test(test_finer_geodesics_drift_less),
        cmocka_unit_test(test_coverage_stands_beside_noise),
        cmocka_unit_test(test_corrections_hold_near_a_trajectory_and_beside_noise),
        cmocka_unit_test(test_many_corrections_are_those_one_by_one),
        cmocka_unit_test(test_clusters_make_hits),
        cmocka_unit_test(test_runs_are_the_same),
        cmocka_unit_test(test_what_cannot_be_is_refused),
    };

    return HXT_RUN(tests);
}
