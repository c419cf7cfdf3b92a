/* Protects shared coordinates (host/methods/ugt): a basis is the states' right singular vectors, overlap knows spans and not vectors,
 * refinement turns zones apart and stays orthonormal, routing is by coordinates and says what is none, Procrustes finds a rotation, and
 * files come back bit by bit or are refused. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "hxt.h"
#include "methods/ugt/procrustes.h"
#include "methods/ugt/refine.h"
#include "methods/ugt/ugt_file.h"
#include "methods/ugt/zones.h"
#include "sealed_file.h"

enum { D = 24, N = 200, K = 6, ZONES = 4 };

static struct hxt_rng rng;

static int seed(void **state)
{
    (void)state;
    hxt_rng_init(&rng, 1);
    return 0;
}

static void fill(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = hxt_normal(&rng);
}

/* States with a mean, and a variance that falls along D random orthonormal axes: 1, 1/4, 1/9, ... */
static void make_states(double *h, double *axes)
{
    fill(axes, D * D);
    assert_int_equal(hx_ugt_orthonormal(axes, D, D, NULL), 0);
    for (size_t i = 0; i < N; i++)
        for (size_t x = 0; x < D; x++) {
            h[i * D + x] = 3;
            for (size_t a = 0; a < D && x == D - 1; a++) {
                const double z = hxt_normal(&rng) / (double)(a + 1);

                for (size_t k = 0; k < D; k++)
                    h[i * D + k] += z * axes[a * D + k];
            }
        }
}

static struct hx_ugt build(const double *h, size_t n, size_t k)
{
    struct hx_error err = {""};
    struct hx_ugt u;

    if (hx_ugt_build(&u, h, n, D, k, &err))
        fail_msg("%s", err.text);
    return u;
}

/* Directions without another's part are singular ones; that variances fall says that they are the first. */
static void test_a_basis_is_the_right_singular_vectors_of_centred_states(void **state)
{
    static double h[N * D], axes[D * D], z[N * K];
    struct hx_ugt u;
    double before = INFINITY;

    (void)state;
    make_states(h, axes);
    u = build(h, N, K);
    assert_true(hx_ugt_skew(u.basis, K, D) < 1e-12);
    hx_ugt_coordinates(&u, h, N, z);
    for (size_t a = 0; a < K; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0, mean = 0;

            for (size_t i = 0; i < N; i++) {
                sum += z[i * K + a] * z[i * K + b] / N;
                mean += z[i * K + a] / N;
            }
            assert_true(fabs(mean) < 1e-12);
            if (a != b)
                assert_true(fabs(sum) < 1e-12);
            else
                assert_true(sum <= before), before = sum;
        }
    assert_true(fabs(hx_ugt_held(&u, h, N) - u.held) < 1e-12 && u.held > .9 && u.held < 1);
    hx_ugt_free(&u);
    u = build(h, N, D);
    assert_true(fabs(u.held - 1) < 1e-12);
    hx_ugt_free(&u);
}

static void test_more_directions_than_states_differ_in_are_refused(void **state)
{
    static double h[N * D], axes[D * D];
    struct hx_error err = {""};
    struct hx_ugt u;

    (void)state;
    make_states(h, axes);
    assert_int_equal(hx_ugt_build(&u, h, 5, D, 5, &err), -EINVAL);
    assert_non_null(strstr(err.text, "k = 5; 5 states of 24 numbers have 1..4"));
    hx_ugt_free(&u);
    assert_int_equal(hx_ugt_build(&u, h, 5, D, 0, &err), -EINVAL);
    assert_int_equal(hx_ugt_build(&u, h, 1, D, 1, &err), -EINVAL);
    h[7] = NAN;
    assert_int_equal(hx_ugt_build(&u, h, 5, D, 2, &err), -EDOM);
    hx_ugt_free(&u);
}

/* Of random spans it is k / d on average; its standard deviation is far below a third of that. */
static void test_overlap_is_of_spans(void **state)
{
    static double h[N * D], axes[D * D], turn[K * K], turned[K * D];
    struct hx_ugt a, b, noise = {.d = D, .k = K};
    double sum = 0;

    (void)state;
    make_states(h, axes);
    a = build(h, N, K);
    assert_true(fabs(hx_ugt_overlap(&a, &a) - 1) < 1e-12);
    fill(turn, K * K);
    assert_int_equal(hx_ugt_orthonormal(turn, K, K, NULL), 0);
    for (size_t i = 0; i < K; i++)
        for (size_t x = 0; x < D; x++) {
            turned[i * D + x] = 0;
            for (size_t j = 0; j < K; j++)
                turned[i * D + x] += turn[i * K + j] * a.basis[j * D + x];
        }
    b = (struct hx_ugt){.d = D, .k = K, .basis = turned};
    assert_true(fabs(hx_ugt_overlap(&a, &b) - 1) < 1e-12);
    for (int i = 0; i < 20; i++) {
        fill(turned, K * D);
        assert_int_equal(hx_ugt_orthonormal(turned, K, D, NULL), 0);
        noise.basis = turned;
        sum += hx_ugt_overlap(&a, &noise) / 20;
    }
    assert_true(fabs(sum - (double)K / D) < .08);
    hx_ugt_free(&a);
}

static void test_qr_leaves_orthonormal_rows_as_they_are(void **state)
{
    double rows[K * D], was[K * D];

    (void)state;
    fill(rows, K * D);
    assert_int_equal(hx_ugt_orthonormal(rows, K, D, NULL), 0);
    assert_true(hx_ugt_skew(rows, K, D) < 1e-12);
    memcpy(was, rows, sizeof(was));
    assert_int_equal(hx_ugt_orthonormal(rows, K, D, NULL), 0);
    for (size_t i = 0; i < K * D; i++)
        assert_true(fabs(rows[i] - was[i]) < 1e-12);
}

/* --- refinement */

/* Also off the manifold, where the second term has a gradient. */
static void test_the_gradient_is_that_of_finite_differences(void **state)
{
    static double h[N * D], axes[D * D], centroids[ZONES * D], g[K * D];
    const double step = 1e-6;
    struct hx_ugt u;

    (void)state;
    make_states(h, axes);
    u = build(h, N, K);
    fill(centroids, ZONES * D);
    for (size_t i = 0; i < K * D; i++)
        u.basis[i] += .05 * hxt_normal(&rng);
    hx_ugt_loss(&u, centroids, ZONES, .7, g);
    for (size_t i = 0; i < K * D; i++) {
        const double was = u.basis[i];
        double up, down;

        u.basis[i] = was + step;
        up = hx_ugt_loss(&u, centroids, ZONES, .7, NULL);
        u.basis[i] = was - step;
        down = hx_ugt_loss(&u, centroids, ZONES, .7, NULL);
        u.basis[i] = was;
        if (!(fabs((up - down) / (2 * step) - g[i]) < 1e-7))
            fail_msg("%zu: %.12g, by differences %.12g", i, g[i], (up - down) / (2 * step));
    }
    hx_ugt_free(&u);
}

static void test_refinement_turns_zones_apart_and_stays_orthonormal(void **state)
{
    static double h[N * D], axes[D * D], centroids[ZONES * D];
    const struct hx_ugt_refine how = hx_ugt_refine_usual();
    struct hx_ugt_refined r;
    struct hx_ugt u;

    (void)state;
    make_states(h, axes);
    u = build(h, N, K);
    for (size_t i = 0; i < ZONES * D; i++) /* all of them near one point: cosines near 1 */
        centroids[i] = 3 + 2 * axes[i % D] + .3 * hxt_normal(&rng);
    assert_int_equal(hx_ugt_refine(&u, centroids, ZONES, &how, &r, NULL), 0);
    assert_true(r.best_step > 0 && r.cosine_after < r.cosine_before - .3 && r.loss_after < r.loss_before);
    assert_true(hx_ugt_skew(u.basis, K, D) < 1e-12);
    hx_ugt_free(&u);
}

static void test_no_step_leaves_the_basis_and_one_zone_is_refused(void **state)
{
    static double h[N * D], axes[D * D], centroids[ZONES * D];
    struct hx_ugt_refine how = hx_ugt_refine_usual();
    double was[K * D];
    struct hx_ugt_refined r;
    struct hx_ugt u;

    (void)state;
    make_states(h, axes);
    u = build(h, N, K);
    memcpy(was, u.basis, sizeof(was));
    fill(centroids, ZONES * D);
    how.steps = 0;
    assert_int_equal(hx_ugt_refine(&u, centroids, ZONES, &how, &r, NULL), 0);
    hxt_same_bytes(u.basis, was, sizeof(was));
    assert_true(r.loss_before == r.loss_after && r.best_step == 0);
    assert_int_equal(hx_ugt_refine(&u, centroids, 1, &how, &r, NULL), -EINVAL);
    memcpy(centroids, u.mean, D * sizeof(double));
    assert_int_equal(hx_ugt_refine(&u, centroids, ZONES, &how, &r, NULL), -EINVAL);
    hx_ugt_free(&u);
}

/* --- zones */

static void make_samples(double *z, size_t *zone, double apart)
{
    for (size_t i = 0; i < N; i++) {
        zone[i] = hxt_below(&rng, ZONES);
        for (size_t a = 0; a < K; a++)
            z[i * K + a] = hxt_normal(&rng) + (a == zone[i] ? apart : 0);
    }
}

static void test_zones_that_lie_apart_are_told_apart_and_noise_is_not(void **state)
{
    static double z[N * K];
    static size_t zone[N];
    const struct hx_ugt_samples s = {z, zone, N, K, ZONES};
    struct hx_ugt_routed r;

    (void)state;
    make_samples(z, zone, 8);
    assert_int_equal(hx_ugt_route(&s, 1, &r, NULL), 0);
    assert_true(r.without_id > .98 && r.with_id == 1 && r.shuffled < .5 && r.separation > .9);
    assert_true(r.routed > N / 3 && r.routed < N * 2 / 3 && r.largest < .5);
    make_samples(z, zone, 0);
    assert_int_equal(hx_ugt_route(&s, 1, &r, NULL), 0);
    assert_true(r.without_id < .5 && r.with_id == 1);
}

static void test_a_zone_of_one_sample_is_refused(void **state)
{
    static double z[N * K];
    static size_t zone[N];
    const struct hx_ugt_samples s = {z, zone, N, K, 2};
    struct hx_error err = {""};
    struct hx_ugt_routed r;

    (void)state;
    zone[5] = 1;
    assert_int_equal(hx_ugt_route(&s, 1, &r, &err), -EINVAL);
    assert_non_null(strstr(err.text, "zone 1 has 1 samples"));
}

/* --- maps */

static void test_procrustes_finds_a_rotation(void **state)
{
    static double x[N * D], y[N * D], turn[D * D], r[D * D];
    double residual;

    (void)state;
    fill(x, N * D);
    fill(turn, D * D);
    assert_int_equal(hx_ugt_orthonormal(turn, D, D, NULL), 0);
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a < D; a++) {
            y[i * D + a] = 0;
            for (size_t b = 0; b < D; b++)
                y[i * D + a] += turn[a * D + b] * x[i * D + b];
        }
    assert_int_equal(hx_procrustes(r, x, y, N, D, &residual, NULL), 0);
    for (size_t i = 0; i < D * D; i++)
        assert_true(fabs(r[i] - turn[i]) < 1e-10);
    assert_true(residual < 1e-12);
    for (size_t i = 0; i < N * D; i++)
        y[i] += .1 * hxt_normal(&rng);
    assert_int_equal(hx_procrustes(r, x, y, N, D, &residual, NULL), 0);
    assert_true(residual > .05 && residual < .15 && hx_ugt_skew(r, D, D) < 1e-12);
    y[3] = INFINITY;
    assert_int_equal(hx_procrustes(r, x, y, N, D, &residual, NULL), -EDOM);
}

/* --- files */

static void test_a_file_comes_back_and_one_of_another_model_is_refused(void **state)
{
    static double h[N * D], axes[D * D];
    const char *path = hxt_path("%s/a.ugt", hxt_tmpdir());
    struct hx_error err = {""};
    struct hx_ugt u, back;
    uint64_t found;

    (void)state;
    make_states(h, axes);
    u = build(h, N, K);
    assert_int_equal(hx_ugt_write(&u, 77, path, &err), 0);
    assert_int_equal(hx_ugt_read(&back, path, 0, &found, &err), 0);
    assert_true(found == 77 && back.d == D && back.k == K && back.held == u.held);
    hxt_same_bytes(back.basis, u.basis, K * D * sizeof(double));
    hxt_same_bytes(back.mean, u.mean, D * sizeof(double));
    hx_ugt_free(&back);
    assert_int_equal(hx_ugt_read(&back, path, 78, NULL, &err), -EINVAL);
    assert_non_null(strstr(err.text, "another model"));
    assert_int_equal(hx_ugt_read(&back, path, 77, NULL, &err), 0);
    hx_ugt_free(&back);
    hx_ugt_free(&u);
}

static void test_every_truncation_and_every_flipped_byte_is_refused(void **state)
{
    static double h[N * D], axes[D * D];
    const char *path = hxt_path("%s/b.ugt", hxt_tmpdir()), *bad = hxt_path("%s/bad.ugt", hxt_tmpdir());
    struct hx_error err;
    struct hx_ugt u, back;
    uint8_t *bytes;
    size_t n;

    (void)state;
    make_states(h, axes);
    u = build(h, N, 1);
    assert_int_equal(hx_ugt_write(&u, 77, path, NULL), 0);
    bytes = hxt_read_file(path, &n);
    for (size_t i = 0; i < n; i++) {
        hxt_write_file(bad, bytes, i);
        assert_int_equal(hx_ugt_read(&back, bad, 77, NULL, &err), -EINVAL);
        bytes[i] ^= 0x10;
        hxt_write_file(bad, bytes, n);
        assert_int_equal(hx_ugt_read(&back, bad, 77, NULL, &err), -EINVAL);
        bytes[i] ^= 0x10;
    }
    free(bytes);
    hx_ugt_free(&u);
}

static void test_content_that_cannot_be_is_refused_behind_a_right_checksum(void **state)
{
    enum { D_AT = 12, K_AT = 16, RESERVED_AT = 20, HELD_AT = 32, MEAN_AT = 40, BASIS_AT = MEAN_AT + 8 * D };
    struct wrong_field each[] = {
        {8, 4, {.u32 = 2}, "version 2"},
        {D_AT, 4, {.u32 = 0}, "are not those"},
        {K_AT, 4, {.u32 = 0}, "are not those"},
        {K_AT, 4, {.u32 = D + 1}, "are not those"},
        {RESERVED_AT, 4, {.u32 = 1}, "are not those"},
        {HELD_AT, 8, {.f64 = NAN}, "held = nan"},
        {HELD_AT, 8, {.f64 = 1.5}, "held = 1.5; a share is 0..1"},
        {MEAN_AT, 8, {.f64 = INFINITY}, "not finite"},
        {BASIS_AT, 8, {.f64 = NAN}, "not finite"},
        {BASIS_AT, 8, {.f64 = 2}, "not orthonormal"},
    };
    static double h[N * D], axes[D * D];
    const char *path = hxt_path("%s/content.ugt", hxt_tmpdir());
    struct hx_ugt u, back;
    uint8_t *bytes;
    size_t n;

    (void)state;
    make_states(h, axes);
    u = build(h, N, 2);
    assert_int_equal(hx_ugt_write(&u, 77, path, NULL), 0);
    bytes = hxt_read_file(path, &n);
    for (size_t i = 0; i < HXT_LEN(each); i++) {
        struct hx_error err = {""};

        swap_field(bytes, &each[i]);
        write_sealed(path, bytes, n);
        swap_field(bytes, &each[i]);
        assert_int_equal(hx_ugt_read(&back, path, 77, NULL, &err), -EINVAL);
        if (!strstr(err.text, each[i].words) || strchr(err.text, '\n'))
            fail_msg("'%s' does not say '%s'", err.text, each[i].words);
    }
    /* one direction twice */
    memcpy(bytes + BASIS_AT + 8 * D, bytes + BASIS_AT, 8 * D);
    write_sealed(path, bytes, n);
    assert_int_equal(hx_ugt_read(&back, path, 77, NULL, NULL), -EINVAL);
    free(bytes);
    hx_ugt_free(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_basis_is_the_right_singular_vectors_of_centred_states),
        cmocka_unit_test(test_more_directions_than_states_differ_in_are_refused),
        cmocka_unit_test(test_overlap_is_of_spans),
        cmocka_unit_test(test_qr_leaves_orthonormal_rows_as_they_are),
        cmocka_unit_test(test_the_gradient_is_that_of_finite_differences),
        cmocka_unit_test(test_refinement_turns_zones_apart_and_stays_orthonormal),
        cmocka_unit_test(test_no_step_leaves_the_basis_and_one_zone_is_refused),
        cmocka_unit_test(test_zones_that_lie_apart_are_told_apart_and_noise_is_not),
        cmocka_unit_test(test_a_zone_of_one_sample_is_refused),
        cmocka_unit_test(test_procrustes_finds_a_rotation),
        cmocka_unit_test(test_a_file_comes_back_and_one_of_another_model_is_refused),
        cmocka_unit_test(test_every_truncation_and_every_flipped_byte_is_refused),
        cmocka_unit_test(test_content_that_cannot_be_is_refused_behind_a_right_checksum),
    };

    return HXT_RUN_FIXTURE(tests, seed, NULL);
}
