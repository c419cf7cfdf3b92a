/* Protects hexrig subspace intrinsic: both estimates of a dimension on clouds whose dimension is known, curvature on spheres, similarities
 * of heads, statements that a resample confirms or does not, and the published files. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "e2e.h"
#include "golden.h"
#include "methods/geometry/dimension.h"
#include "subspace/axioms.h"

enum { WIDE = 40, MANY = 600 };

/* MANY points of a random subspace of `rank` dimensions in WIDE: [MANY][WIDE]. */
static double *subspace_cloud(size_t rank)
{
    double *x = calloc(MANY * WIDE, sizeof(*x)), axes[WIDE * WIDE];

    assert_non_null(x);
    for (size_t i = 0; i < rank * WIDE; i++)
        axes[i] = hx_normal_at(1, i);
    for (size_t i = 0; i < MANY; i++)
        for (size_t r = 0; r < rank; r++)
            for (size_t k = 0; k < WIDE; k++)
                x[i * WIDE + k] += hx_normal_at(2, i * rank + r) * axes[r * WIDE + k];
    return x;
}

static size_t components(const double *x, size_t n, double share)
{
    double shares[WIDE];
    struct hx_error err = {""};

    if (hx_principal(x, n, WIDE, shares, NULL, NULL, &err))
        fail_msg("%s", err.text);
    return hx_fewest(shares, n < WIDE ? n : WIDE, share);
}

static void test_principal_components_of_a_subspace(void **state)
{
    (void)state;
    for (size_t rank = 2; rank <= 8; rank += 3) {
        double *x = subspace_cloud(rank);

        assert_int_equal(components(x, MANY, 1 - 1e-9), rank);
        assert_int_equal(components(x, 20, 1 - 1e-9), rank); /* fewer points than WIDE: by the other product */
        assert_true(components(x, MANY, .95) <= rank);
        free(x);
    }
}

/* The two products have the same components. */
static void test_axes_are_the_same_from_either_product(void **state)
{
    double *x = subspace_cloud(WIDE), shares[WIDE], axes[WIDE * WIDE], mean[WIDE], along = 0, all = 0;
    struct hx_error err = {""};
    const size_t n = 24;

    (void)state;
    assert_int_equal(hx_principal(x, n, WIDE, shares, axes, mean, &err), 0);
    for (size_t i = 0; i < n; i++) {
        double dot = 0;

        for (size_t k = 0; k < WIDE; k++) {
            const double v = x[i * WIDE + k] - mean[k];

            dot += v * axes[2 * WIDE + k];
            all += v * v;
        }
        along += dot * dot;
    }
    if (fabs(along / all - shares[2]) > 1e-9)
        fail_msg("%g of the variance along axis 2, share %g", along / all, shares[2]);
    free(x);
}

static void test_two_nn_of_a_subspace(void **state)
{
    struct hx_error err = {""};

    (void)state;
    for (size_t rank = 2; rank <= 8; rank += 3) {
        double *x = subspace_cloud(rank), twice[8 * WIDE];
        const double got = hx_two_nn(x, MANY, WIDE, &err);

        if (fabs(got - (double)rank) > .25 * (double)rank)
            fail_msg("%zu dimensions, %g by TwoNN", rank, got);
        memcpy(x + WIDE, x, WIDE * sizeof(*x)); /* a point that is there twice is no neighbour of itself */
        assert_true(isfinite(hx_two_nn(x, MANY, WIDE, &err)));
        for (size_t i = 0; i < 8; i++)
            memcpy(twice + i * WIDE, x, WIDE * sizeof(*x));
        assert_true(hx_two_nn(twice, 8, WIDE, &err) == 0);
        free(x);
    }
}

/* --- curvature */

/* The unit sphere by stereographic projection. */
static int sphere_at(const void *arg, const double *x, double *g, double *inverse, struct hx_error *err)
{
    const size_t n = *(const size_t *)arg;
    double square = 0;

    (void)err;
    for (size_t i = 0; i < n; i++)
        square += x[i] * x[i];
    for (size_t i = 0; i < n * n; i++) {
        g[i] = i % (n + 1) ? 0 : 4 / ((1 + square) * (1 + square));
        inverse[i] = i % (n + 1) ? 0 : 1 / g[i];
    }
    return 0;
}

static int flat_at(const void *arg, const double *x, double *g, double *inverse, struct hx_error *err)
{
    const size_t n = *(const size_t *)arg;

    (void)x;
    (void)err;
    for (size_t i = 0; i < n * n; i++)
        g[i] = inverse[i] = i % (n + 1) ? 0 : 1;
    return 0;
}

static void test_curvature_of_spheres_and_of_nothing(void **state)
{
    const double x[HX_METRIC_MOST] = {.3, -.2, .1, .4, -.1, .2, .05, -.3};

    (void)state;
    for (size_t n = 2; n <= HX_METRIC_MOST; n += 2) {
        const struct hx_metric sphere = {.n = n, .at = sphere_at, .arg = &n}, flat = {.n = n, .at = flat_at, .arg = &n};
        const double want = (double)(n * (n - 1));
        struct hx_error err = {""};
        struct hx_curved got;

        assert_int_equal(hx_curved_at(&sphere, x, &got, &err), 0);
        if (fabs(got.scalar - want) > .02 * want)
            fail_msg("a sphere of %zu dimensions: %g, %g expected", n, got.scalar, want);
        assert_true(got.christoffel > .1);
        assert_int_equal(hx_curved_at(&flat, x, &got, &err), 0);
        assert_true(got.scalar == 0 && got.christoffel == 0);
    }
}

/* --- activations that are made up */

enum { LAYERS = 3, WIDTH = 96, HEADS = 2, DH = 24, TOKENS = 128, SAMPLES = 64, HELD = 6 };

static const struct hx_activations shape = {.n_layer = LAYERS, .width = WIDTH, .n_head = HEADS, .dh = DH};

/* Noise; with `structure` states lie in HELD dimensions, the same behind each layer, and the second head is the first one, turned. */
static void make_activations(struct hx_activations *a, int structure)
{
    struct hx_error err = {""};

    assert_int_equal(hx_activations_noise(a, &shape, TOKENS, 7, &err), 0);
    for (size_t i = 0; i < LAYERS * TOKENS && structure; i++) {
        float *state = a->states + i * WIDTH, *head = a->heads + i * HEADS * DH;

        for (size_t k = 0; k < WIDTH; k++) {
            state[k] = 0;
            for (size_t r = 0; r < HELD; r++)
                state[k] += (float)(hx_normal_at(3, i % TOKENS * HELD + r) * hx_normal_at(4, r * WIDTH + k));
        }
        for (size_t k = 0; k < DH; k++)
            head[DH + k] = k % 2 ? -head[k - 1] : head[k + 1];
    }
}

static void sample(struct hx_sample *s, const struct hx_activations *a, size_t from)
{
    static size_t order[TOKENS];

    for (size_t i = 0; i < TOKENS; i++)
        order[i] = i;
    *s = (struct hx_sample){a, order + from, SAMPLES};
}

static void test_similarity_is_one_of_turned_heads_and_none_of_others(void **state)
{
    (void)state;
    for (int structure = 0; structure < 2; structure++) {
        struct hx_activations a;
        struct hx_error err = {""};
        struct hx_sample s;
        double got;

        make_activations(&a, structure);
        sample(&s, &a, 0);
        assert_int_equal(hx_head_similarity(&s, 1, 0, 1, &got, &err), 0);
        if (fabs(got - structure) > (structure ? 1e-6 : .2))
            fail_msg("similarity %g, %d expected", got, structure);
        hx_activations_free(&a);
    }
}

/* share of what was accepted that survives; *accepted of how many. */
static double consistency(int structure, size_t *accepted)
{
    struct hx_axioms *x = calloc(1, sizeof(*x));
    struct hx_activations a;
    struct hx_error err = {""};
    struct hx_sample s, other;
    size_t survived = 0;

    assert_non_null(x);
    make_activations(&a, structure);
    sample(&s, &a, 0);
    sample(&other, &a, SAMPLES);
    if (hx_axioms_find(x, &s, &other, &err))
        fail_msg("%s", err.text);
    *accepted = 0;
    for (size_t i = 0; i < x->n; i++) {
        if (x->at[i].type == HX_AXIOM_GEODESIC)
            continue; /* of neither anything is known */
        *accepted += (size_t)x->at[i].accepted;
        survived += (size_t)x->at[i].survived;
        assert_true(x->at[i].accepted || !x->at[i].survived);
    }
    free(x);
    hx_activations_free(&a);
    return *accepted ? (double)survived / (double)*accepted : 0;
}

static void test_a_resample_confirms_structure_and_not_noise(void **state)
{
    size_t accepted;
    const double own = consistency(1, &accepted);

    (void)state;
    assert_int_equal(accepted, HELD + LAYERS + LAYERS - 1); /* axes, pairs of heads, neighbours of layers */
    assert_true(own == 1);
    assert_true(consistency(0, &accepted) < .8);
    assert_true(accepted >= HELD); /* the noise's axes looked like structure to their own sample */
}

/* --- the command */

static json_t *phase(const char *folder, const char *name)
{
    return golden_json(hxt_path("%s/%s", folder, name));
}

static void test_command_prints_noise_beside_states_and_writes_files(void **state)
{
    char folder[256];
    json_t *j, *p;

    (void)state;
    snprintf(folder, sizeof(folder), "%s/phases", hxt_tmpdir());
    j = e2e_json(hxt_path("subspace intrinsic --json -m " MODEL_F16 " --tokens 1024 --cloud 256 --seeds 3 -o %s", folder));
    assert_int_equal((int)e2e_number(j, "pca95_bounded_by"), 63);
    for (int l = 0; l < 6; l++) {
        const double pca = e2e_number(j, hxt_path("layer_%d.pca95.mean", l)), nn = e2e_number(j, hxt_path("layer_%d.two_nn.mean", l));

        assert_true(pca > 20 && pca < e2e_number(j, hxt_path("layer_%d.pca95.noise", l)));
        assert_true(e2e_number(j, hxt_path("layer_%d.pca95.noise", l)) <= 63);
        assert_true(e2e_number(j, hxt_path("layer_%d.pca95.all_tokens", l)) > pca); /* more states, more components */
        assert_true(nn > 1 && nn < e2e_number(j, hxt_path("layer_%d.two_nn.noise", l)));
    }
    /* a prototype in double precision has 45 to 46 of 64 states behind the last layer */
    assert_true(fabs(e2e_number(j, "layer_5.pca95.mean") - 45.5) < 2.5);
    assert_true(e2e_number(j, "layer_5.pca95.most") - e2e_number(j, "layer_5.pca95.least") <= 4);
    assert_true(e2e_number(j, "axioms.consistency") > e2e_number(j, "axioms.noise.consistency"));
    json_decref(j);
    p = phase(folder, "phase1_manifold.json");
    assert_int_equal(json_array_size(json_object_get(p, "cloud")), 64);
    assert_true(fabs(e2e_number(p, "intrinsic_dim") - 45.5) < 4);
    json_decref(p);
    p = phase(folder, "phase2_symmetry.json");
    assert_int_equal(json_array_size(json_object_get(p, "layers")), 6);
    json_decref(p);
    p = phase(folder, "phase3_curvature.json");
    assert_int_equal(json_array_size(json_object_get(p, "points")), 64);
    json_decref(p);
    p = phase(folder, "phase4_axioms.json");
    assert_int_equal((size_t)e2e_number(p, "candidates"), json_array_size(json_object_get(p, "axioms")));
    json_decref(p);
}

static void test_command_refuses_texts_that_are_too_short(void **state)
{
    const char *text = hxt_path("%s/short", hxt_tmpdir());

    (void)state;
    hxt_write_file(text, "a few words", 11);
    e2e_refused(hxt_path("subspace intrinsic -f %s", text), 1, "gives 0 states");
    e2e_refused("subspace intrinsic --tokens 256 --cloud 300", 1, "--cloud 300");
    e2e_refused("subspace intrinsic --tokens 256 --cloud 256 --samples 200", 1, "--samples 200, and as many others");
    e2e_refused("subspace intrinsic --samples 15", 2, "--samples");
}

/* --- the file of it */

#define SMALL "subspace intrinsic --tokens 256 --samples 16 --cloud 64 --seeds 2 --json"

/* What it says of the file; the rest has to be `want`. */
static void expect_state(const char *words, const char *state, const json_t *want)
{
    json_t *got = e2e_json(words);

    assert_string_equal(e2e_text(got, "geometry_file"), state);
    json_object_del(got, "geometry_file");
    if (!json_equal(got, want))
        fail_msg("%s: other figures than without a file", words);
    json_decref(got);
}

static void expect_rebuilt(const char *words, const char *part)
{
    struct hxt_result res;

    e2e_run(&res, words);
    assert_int_equal(res.exit_code, 0);
    assert_non_null(strstr(res.out, "\"geometry_file\": \"rebuilt\""));
    if (!strstr(res.err, part))
        fail_msg("'%s', not '%s'", res.err, part);
    hxt_result_free(&res);
}

static void test_a_file_has_it_for_the_next_start(void **state)
{
    const char *path = hxt_path("%s/ott_geometry.bin", hxt_tmpdir()), *words = hxt_path(SMALL " --geometry-file %s", path);
    json_t *want = e2e_json(SMALL);
    uint8_t *first, *again;
    size_t n = 0, n_again = 0;

    (void)state;
    expect_state(words, "built", want);
    first = hxt_read_file(path, &n);
    assert_memory_equal(first, "OTTGEO01", 8);
    expect_state(words, "hit", want);
    for (size_t at = 3; at < n; at += n / 2) { /* magic, body */
        again = hxt_read_file(path, &n_again);
        again[at] ^= 1;
        hxt_write_file(path, again, n);
        free(again);
        expect_rebuilt(words, at == 3 ? "is no geometry" : "is damaged");
        again = hxt_read_file(path, &n_again);
        assert_int_equal(n_again, n);
        hxt_same_bytes(again, first, n);
        free(again);
    }
    expect_rebuilt(hxt_path(SMALL " --seed 2 --geometry-file %s", path), "of other options");
    expect_rebuilt(hxt_path(SMALL " -m " MODEL_F16 " --geometry-file %s", path), "is of other weights");
    json_decref(want);
    free(first);
}

static void test_the_depth_sink_is_where_shares_stay(void **state)
{
    static const double stays[5] = {.2, .5, .7004, .6999, .7}, rises[3] = {.1, .2, .3}, comes_back[4] = {.7, .1, .7, .7};

    (void)state;
    assert_int_equal(hx_depth_sink(stays, 5), 2);
    assert_int_equal(hx_depth_sink(rises, 3), 2);
    assert_int_equal(hx_depth_sink(comes_back, 4), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_principal_components_of_a_subspace),
        cmocka_unit_test(test_axes_are_the_same_from_either_product),
        cmocka_unit_test(test_two_nn_of_a_subspace),
        cmocka_unit_test(test_curvature_of_spheres_and_of_nothing),
        cmocka_unit_test(test_similarity_is_one_of_turned_heads_and_none_of_others),
        cmocka_unit_test(test_a_resample_confirms_structure_and_not_noise),
        cmocka_unit_test(test_command_prints_noise_beside_states_and_writes_files),
        cmocka_unit_test(test_command_refuses_texts_that_are_too_short),
        cmocka_unit_test(test_a_file_has_it_for_the_next_start),
        cmocka_unit_test(test_the_depth_sink_is_where_shares_stay),
    };

    return HXT_RUN(tests);
}
