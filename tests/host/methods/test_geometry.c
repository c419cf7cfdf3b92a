/* Protects the geometry of states (host/methods/geometry) on spaces whose geometry is known: flat space, the unit sphere by stereographic
 * projection, the hyperbolic ball. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hxt.h"
#include "methods/geometry/curvature.h"
#include "methods/geometry/jacobi.h"
#include "methods/geometry/space_form.h"
#include "methods/geometry/star.h"
#include "methods/geometry/trajectory.h"

enum { MOST = HX_METRIC_MOST };

static const double somewhere[MOST] = {.3, -.2, .1, .25, -.1, .2, .05, -.15};
static const double upwards[MOST] = {.2, .5, -.3, .4, .1, -.2, .3, .1};

static void near(double got, double want, double within, const char *what)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%s: %.17g, %.17g within %g expected", what, got, want, within);
}

/* --- symbols */

/* Of g = e^{2f} I: Gamma^k_ij = d_i f delta_kj + d_j f delta_ki - d_k f delta_ij. */
static void test_symbols_of_spheres_are_those_of_the_closed_form(void **state)
{
    const struct hx_space_form s = {1, 4};

    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        const struct hx_metric m = hx_space_form_metric(&s, exact);
        struct hx_error err = {""};
        hx_symbols c;
        double q = 1;

        assert_int_equal(hx_metric_symbols(&m, somewhere, c, &err), 0);
        for (size_t i = 0; i < s.n; i++)
            q += somewhere[i] * somewhere[i];
        for (size_t k = 0; k < s.n; k++)
            for (size_t i = 0; i < s.n; i++)
                for (size_t j = 0; j < s.n; j++) {
                    const double f = -2 / q, want = f * ((k == j) * somewhere[i] + (k == i) * somewhere[j] - (i == j) * somewhere[k]);

                    near(c[k][i][j], want, exact ? 1e-14 : 1e-3, "a symbol");
                    assert_true(c[k][i][j] == c[k][j][i]);
                }
    }
}

/* --- curvature */

static void test_spaces_of_constant_curvature_have_it(void **state)
{
    (void)state;
    for (size_t n = 2; n <= MOST; n += 2)
        for (int k = -1; k <= 1; k++)
            for (int exact = 0; exact < 2; exact++) {
                const struct hx_space_form s = {k, n};
                const struct hx_metric m = hx_space_form_metric(&s, exact);
                struct hx_error err = {""};
                struct hx_curved got;
                double section;

                assert_int_equal(hx_curved_at(&m, somewhere, &got, &err), 0);
                assert_int_equal(hx_curved_section(&m, somewhere, upwards, somewhere, &section, &err), 0);
                near(got.scalar, (double)(k * (int)(n * (n - 1))), .02 * (double)(n * (n - 1)) + 1e-12, "scalar curvature");
                near(section, k, k ? .02 : 1e-15, "sectional curvature");
            }
}

/* --- geodesics */

/* Of the unit sphere, from stereographic coordinates to the space around it. */
static void onto_sphere(const double *x, size_t n, double *to)
{
    double q = 1;

    for (size_t i = 0; i < n; i++)
        q += x[i] * x[i];
    for (size_t i = 0; i < n; i++)
        to[i] = 2 * x[i] / q;
    to[n] = 1 - 2 / q;
}

/* p, and the velocity u of it, on the sphere: the great circle's point after time t. */
static void great_circle(const double *p, const double *u, size_t n, double t, double *to)
{
    double speed = 0;

    for (size_t i = 0; i < n; i++)
        speed += u[i] * u[i];
    speed = sqrt(speed);
    for (size_t i = 0; i < n; i++)
        to[i] = cos(speed * t) * p[i] + sin(speed * t) / speed * u[i];
}

/* d/dt of onto_sphere() along v. */
static void push(const double *x, const double *v, size_t n, double *to)
{
    double q = 1, dq = 0;

    for (size_t i = 0; i < n; i++) {
        q += x[i] * x[i];
        dq += 2 * x[i] * v[i];
    }
    for (size_t i = 0; i < n; i++)
        to[i] = 2 * v[i] / q - 2 * x[i] * dq / (q * q);
    to[n] = 2 * dq / (q * q);
}

static void test_geodesics_of_the_sphere_are_great_circles(void **state)
{
    const struct hx_space_form s = {1, 4};
    const struct hx_metric m = hx_space_form_metric(&s, 1);
    struct hx_geodesic g = {.carried = 0};
    struct hx_error err = {""};
    double p[MOST + 1], u[MOST + 1], want[MOST + 1], got[MOST + 1], path[25 * 4], drift;

    (void)state;
    memcpy(g.x, somewhere, sizeof(g.x));
    memcpy(g.v, upwards, sizeof(g.v));
    onto_sphere(g.x, s.n, p);
    push(g.x, g.v, s.n, u);
    assert_int_equal(hx_geodesic_run(&m, &g, .05, 24, path, &drift, &err), 0);
    for (size_t i = 0; i <= 24; i++) {
        great_circle(p, u, s.n + 1, .05 * (double)i, want);
        onto_sphere(path + i * s.n, s.n, got);
        for (size_t k = 0; k <= s.n; k++)
            near(got[k], want[k], 1e-5, "a great circle");
    }
    near(drift, 0, 1e-4, "drift of the speed");
    assert_memory_equal(path + 24 * s.n, g.x, s.n * sizeof(*path));
}

static void test_carried_vectors_stay_orthonormal(void **state)
{
    const struct hx_space_form s = {1, 4};
    const struct hx_metric m = hx_space_form_metric(&s, 1);
    struct hx_geodesic g = {.carried = 0};
    struct hx_error err = {""};

    (void)state;
    memcpy(g.x, somewhere, sizeof(g.x));
    memcpy(g.v, upwards, sizeof(g.v));
    assert_int_equal(hx_geodesic_frame(&m, &g, &err), 0);
    assert_int_equal(g.carried, s.n);
    assert_int_equal(hx_geodesic_run(&m, &g, .05, 24, NULL, NULL, &err), 0);
    for (size_t i = 0; i < s.n; i++)
        for (size_t j = 0; j < s.n; j++) {
            double got;

            assert_int_equal(hx_metric_product(&m, g.x, g.frame[i], g.frame[j], &got, &err), 0);
            near(got, i == j, 1e-5, "a product of carried vectors");
        }
}

/* On a geodesic of constant curvature the aim's end is wrong to third order only. */
static void test_aim_is_right_to_second_order(void **state)
{
    const struct hx_space_form s = {1, 4};
    const struct hx_metric m = hx_space_form_metric(&s, 1);
    double off[2];

    (void)state;
    for (int half = 0; half < 2; half++) {
        struct hx_geodesic g = {.carried = 0};
        struct hx_error err = {""};
        double to[MOST], sum = 0;

        memcpy(g.x, somewhere, sizeof(g.x));
        for (size_t i = 0; i < s.n; i++)
            to[i] = g.x[i] + upwards[i] * (half ? .1 : .2);
        assert_int_equal(hx_geodesic_aim(&m, g.x, to, 1, g.v, &err), 0);
        assert_int_equal(hx_geodesic_run(&m, &g, .05, 20, NULL, NULL, &err), 0);
        for (size_t i = 0; i < s.n; i++)
            sum += pow(g.x[i] - to[i], 2);
        off[half] = sqrt(sum);
    }
    if (!(off[0] / off[1] > 6 && off[0] / off[1] < 10))
        fail_msg("twice as far: %g times as wrong; 8 expected", off[0] / off[1]);
}

/* --- propagators */

static void test_flat_space_is_exact(void **state)
{
    const struct hx_space_form s = {0, 8};
    const struct hx_metric m = hx_space_form_metric(&s, 1);
    struct hx_error err = {""};
    struct hx_jacobi j;
    double of_start[MOST * MOST];

    (void)state;
    assert_int_equal(hx_jacobi_run(&m, somewhere, upwards, .05, 16, &j, &err), 0);
    for (size_t i = 0; i < 16; i++)
        for (size_t k = 0; k < 16; k++)
            near(j.phi[i * 16 + k], i == k ? 1 : k == i + 8 ? .05 * 16 : 0, 1e-15, "Phi of flat space");
    assert_int_equal(hx_jacobi_of_start(&m, &j, of_start, &err), 0);
    for (size_t i = 0; i < 64; i++)
        near(of_start[i], i % 9 == 0, 1e-15, "a displacement in flat space");
    assert_true(isinf(hx_jacobi_reach(&j)));
}

/* Along the velocity J = 1 and t, across it cos and sin, or cosh and sinh, of speed times t. */
static void test_fields_of_sphere_and_hyperbolic_space(void **state)
{
    (void)state;
    for (int k = -1; k <= 1; k += 2) {
        const struct hx_space_form s = {k, 4};
        const struct hx_metric m = hx_space_form_metric(&s, 1);
        const size_t n = s.n, steps = 20;
        struct hx_error err = {""};
        struct hx_jacobi j;
        double v[MOST] = {0}, speed2, t = .05 * (double)steps;

        v[0] = .45; /* the frame's first vector is along it */
        assert_int_equal(hx_jacobi_run(&m, somewhere, v, .05, steps, &j, &err), 0);
        assert_int_equal(hx_metric_product(&m, somewhere, v, v, &speed2, &err), 0);
        const double w = sqrt(speed2), c = k > 0 ? cos(w * t) : cosh(w * t), sn = (k > 0 ? sin(w * t) : sinh(w * t)) / w;

        for (size_t i = 0; i < n; i++)
            for (size_t l = 0; l < n; l++) {
                near(j.phi[i * 2 * n + l], i == l ? (i ? c : 1) : 0, 1e-3, "J of a displacement");
                near(j.phi[i * 2 * n + n + l], i == l ? (i ? sn : t) : 0, 1e-3, "J of a turn");
            }
        near(k > 0 ? hx_jacobi_reach(&j) : 3.14159, 3.14159, .02 * 3.14159, "distance of the conjugate point");
    }
}

static void through(const struct hx_jacobi *j, const double *in, double *out)
{
    const size_t m = 2 * j->n;

    for (size_t i = 0; i < m; i++) {
        out[i] = 0;
        for (size_t k = 0; k < m; k++)
            out[i] += j->phi[i * m + k] * in[k];
    }
}

static void test_propagators_are_linear(void **state)
{
    const struct hx_space_form s = {1, 4};
    const struct hx_metric m = hx_space_form_metric(&s, 1);
    struct hx_error err = {""};
    struct hx_jacobi j;
    double a[8], b[8], sum[8], of_a[8], of_b[8], of_sum[8];

    (void)state;
    assert_int_equal(hx_jacobi_run(&m, somewhere, upwards, .05, 16, &j, &err), 0);
    for (size_t i = 0; i < 8; i++) {
        a[i] = sin((double)i + 1);
        b[i] = cos(3 * (double)i);
        sum[i] = 2 * a[i] + b[i];
    }
    through(&j, a, of_a);
    through(&j, b, of_b);
    through(&j, sum, of_sum);
    for (size_t i = 0; i < 8; i++)
        near(of_sum[i], 2 * of_a[i] + of_b[i], 1e-12, "a sum of fields");
}

/* What a propagator says of a neighbour beside the neighbour's own geodesic: wrong to second order, so twice as far is four times as
 * wrong. */
static void test_corrections_are_right_to_first_order(void **state)
{
    (void)state;
    for (int k = -1; k <= 1; k += 2) {
        const struct hx_space_form s = {k, 4};
        const struct hx_metric m = hx_space_form_metric(&s, 1);
        const double along[4] = {.5, -.5, .5, .5};
        double relative, off[2];
        struct hx_error err = {""};
        struct hx_trajectory t;

        assert_int_equal(hx_trajectory_make(&m, somewhere, upwards, .05, 16, &t, &err), 0);
        for (int twice = 0; twice < 2; twice++) {
            assert_int_equal(hx_trajectory_error(&m, &t, .05, 16, along, twice ? .04 : .02, &relative, &off[twice], &err), 0);
            assert_true(relative < .1);
        }
        if (!(off[1] / off[0] >= 3.2 && off[1] / off[0] <= 4.8))
            fail_msg("curvature %d: twice as far is %g times as wrong", k, off[1] / off[0]);
    }
}

/* However many: whole vectors, a last one that overlaps, fewer than one; nothing behind the last is written. */
static void check_together(const struct hx_trajectory *t, size_t many)
{
    enum { MOST_MANY = 41 };
    double x[MOST * MOST_MANY], all[MOST * MOST_MANY + 1], one[MOST] = {0}, got[MOST];

    for (size_t i = 0; i < t->n * many; i++)
        x[i] = somewhere[i / many] + .1 * sin((double)i);
    all[t->n * many] = 7;
    hx_trajectory_correct_all(t, x, many, all);
    for (size_t b = 0; b < many; b++) {
        for (size_t l = 0; l < t->n; l++)
            one[l] = x[l * many + b];
        hx_trajectory_correct(t, one, got);
        for (size_t i = 0; i < t->n; i++)
            assert_memory_equal(&got[i], &all[i * many + b], sizeof(*got));
    }
    assert_true(all[t->n * many] == 7);
}

static void test_any_number_of_corrections_has_the_bits_of_single_ones(void **state)
{
    static const size_t axes[] = {1, 3, 8};

    (void)state;
    for (size_t k = 0; k < HXT_LEN(axes); k++) {
        const struct hx_space_form s = {1, axes[k]};
        const struct hx_metric m = hx_space_form_metric(&s, 1);
        struct hx_error err = {""};
        struct hx_trajectory t;

        assert_int_equal(hx_trajectory_make(&m, somewhere, upwards, .05, 16, &t, &err), 0);
        for (size_t many = 1; many <= 41; many++)
            check_together(&t, many);
    }
}

static void test_corrections_are_the_same_one_by_one_and_together(void **state)
{
    enum { MANY = 37 };
    const struct hx_space_form s = {1, 5};
    const struct hx_metric m = hx_space_form_metric(&s, 1);
    struct hx_error err = {""};
    struct hx_trajectory t;
    double x[5 * MANY], all[5 * MANY], one[5], got[5], of_m, of_change;

    (void)state;
    assert_int_equal(hx_trajectory_make(&m, somewhere, upwards, .05, 16, &t, &err), 0);
    for (size_t i = 0; i < 5 * MANY; i++)
        x[i] = somewhere[i / MANY] + .1 * sin((double)i);
    hx_trajectory_correct_all(&t, x, MANY, all);
    for (size_t b = 0; b < MANY; b++) {
        for (size_t l = 0; l < 5; l++)
            one[l] = x[l * MANY + b];
        hx_trajectory_correct(&t, one, got);
        for (size_t i = 0; i < 5; i++)
            assert_true(got[i] == all[i * MANY + b]);
    }
    hx_trajectory_correct(&t, t.q, got);
    assert_memory_equal(got, t.end, 5 * sizeof(*got)); /* the start itself */
    assert_memory_equal(t.way[0], t.q, 5 * sizeof(*got));
    assert_memory_equal(t.way[16], t.end, 5 * sizeof(*got));
    assert_int_equal(hx_trajectory_rank_error(&t, 5, &of_m, &of_change, &err), 0);
    assert_true(of_m == 0 && of_change == 0);
    assert_int_equal(hx_trajectory_rank_error(&t, 3, &of_m, &of_change, &err), 0);
    assert_true(of_m > .2 && of_change < .7); /* M is near 1, which no rank below its own holds */
}

/* --- rays */

struct round { /* a region between two distances from a point, along the unit sphere or in flat space */
    size_t n;
    const double *from;
    double least, most;
    int on_sphere;
};

static int is_in_round(const void *arg, const double *x)
{
    const struct round *r = arg;
    double p[MOST + 1], q[MOST + 1], along = 0, square = 0, far;

    onto_sphere(x, r->n, p);
    onto_sphere(r->from, r->n, q);
    for (size_t i = 0; i <= r->n; i++)
        along += p[i] * q[i];
    for (size_t i = 0; i < r->n; i++)
        square += pow(x[i] - r->from[i], 2);
    far = r->on_sphere ? acos(fmax(fmin(along, 1), -1)) : sqrt(square);
    return far >= r->least && far <= r->most;
}

static struct hx_star_ray follow(double k, const struct round *r, const double *p, const double *v, double step, size_t steps)
{
    const struct hx_space_form s = {k, r->n};
    const struct hx_metric m = hx_space_form_metric(&s, 1);
    const struct hx_star_region region = {is_in_round, r};
    struct hx_error err = {""};
    struct hx_star_ray ray;

    if (hx_star_follow(&m, &region, p, v, step, steps, &ray, &err))
        fail_msg("%s", err.text);
    return ray;
}

/* In a dimension where a conjugate point changes the sign of a determinant, and in one where it does not. */
static void test_rays_of_known_regions(void **state)
{
    static const double zero[MOST] = {0}, aside[MOST] = {1.2}, back[MOST] = {-1, .1}, away[MOST] = {1, .1};

    (void)state;
    for (size_t n = 2; n <= 5; n++) {
        const struct round ball = {n, zero, 0, 1, 0}, ring = {n, zero, 1, 3, 0}, cap = {n, somewhere, 0, 3, 1};
        const struct round beyond = {n, somewhere, 0, 3.3, 1}, hyperbolic = {n, zero, 0, .9, 0};
        struct hx_star_ray ray = follow(0, &ball, zero, away, .05, 100);

        assert_int_equal(ray.verdict, HX_STAR_LEFT);
        near(ray.length, 1, .051, "up to the edge");
        assert_int_equal(follow(0, &ball, zero, away, .05, 10).verdict, HX_STAR_INSIDE);
        assert_int_equal(follow(0, &ring, aside, away, .05, 100).verdict, HX_STAR_LEFT);
        assert_int_equal(follow(0, &ring, aside, back, .05, 100).verdict, HX_STAR_RETURNS);
        ray = follow(1, &cap, somewhere, upwards, .05, 130); /* it would come back behind the antipode */
        assert_int_equal(ray.verdict, HX_STAR_LEFT);
        near(ray.length, 3, .051, "up to the cap's edge");
        ray = follow(1, &beyond, somewhere, upwards, .05, 130);
        assert_int_equal(ray.verdict, HX_STAR_CONJUGATE);
        near(ray.length, 3.14159, .051, "up to the antipode");
        assert_int_equal(follow(-1, &hyperbolic, zero, away, .05, 130).verdict, HX_STAR_LEFT);
        assert_int_equal(follow(-1, &hyperbolic, zero, away, 2, 3).verdict, HX_STAR_LOST); /* steps too long to keep the speed */
    }
}

static void test_rays_need_a_start_inside_and_a_direction(void **state)
{
    static const double zero[MOST] = {0}, aside[MOST] = {1.2};
    static const struct round ball = {2, zero, 0, 1, 0};
    const struct hx_space_form s = {0, 2};
    const struct hx_metric m = hx_space_form_metric(&s, 1);
    const struct hx_star_region region = {is_in_round, &ball};
    struct hx_error err = {""};
    struct hx_star_ray ray;

    (void)state;
    assert_int_equal(hx_star_follow(&m, &region, aside, aside, .1, 10, &ray, &err), -EINVAL);
    assert_string_equal(err.text, "rays start outside of the region");
    assert_int_equal(hx_star_follow(&m, &region, zero, zero, .1, 10, &ray, &err), -EINVAL);
    assert_string_equal(err.text, "a ray without a direction");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols_of_spheres_are_those_of_the_closed_form),
        cmocka_unit_test(test_spaces_of_constant_curvature_have_it),
        cmocka_unit_test(test_geodesics_of_the_sphere_are_great_circles),
        cmocka_unit_test(test_carried_vectors_stay_orthonormal),
        cmocka_unit_test(test_aim_is_right_to_second_order),
        cmocka_unit_test(test_flat_space_is_exact),
        cmocka_unit_test(test_fields_of_sphere_and_hyperbolic_space),
        cmocka_unit_test(test_propagators_are_linear),
        cmocka_unit_test(test_corrections_are_right_to_first_order),
        cmocka_unit_test(test_corrections_are_the_same_one_by_one_and_together),
        cmocka_unit_test(test_any_number_of_corrections_has_the_bits_of_single_ones),
        cmocka_unit_test(test_rays_of_known_regions),
        cmocka_unit_test(test_rays_need_a_start_inside_and_a_direction),
    };

    return HXT_RUN(tests);
}
