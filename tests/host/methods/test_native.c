/* Protects matrices in k dimensions (host/methods/native): counts are the published ones; gradients are those of finite differences; the
 * optimum of a k has the Eckart-Young loss and nothing has less; a retraction leaves the matrix what it is; growth leaves old columns bit
 * by bit, and the loss never rises; on the project's model fits reach the bound but for two hundredths. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/blas.h"
#include "engine/arch/arch.h"
#include "golden.h"
#include "methods/native/native_fit.h"
#include "methods/native/product.h"
#include "model/matrix.h"

enum { ROWS = 24, COLS = 40, K = 7 };

static struct hx_error err;
static struct hx_model *model;

static int open_model(void **state)
{
    (void)state;
    return hx_model_open(&model, MODEL_F16, hx_archs, &err) || !hx_blas(&err);
}

static int close_model(void **state)
{
    (void)state;
    hx_model_close(model);
    return 0;
}

/* --- targets */

struct target {
    struct hx_native_target t;
    double *w, *m;
};

static double *normals(size_t n, uint64_t key)
{
    double *x = malloc(n * sizeof(*x));

    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = hx_product_normal(key, i);
    return x;
}

/* weighted: with the moments of vectors whose entries differ in size. */
static void open_random(struct target *t, size_t rows, size_t cols, int weighted)
{
    double *x = normals(3 * cols * cols, 99);

    *t = (struct target){.w = normals(rows * cols, 5), .m = weighted ? malloc(cols * cols * sizeof(*t->m)) : NULL};
    for (size_t i = 0; i < 3 * cols * cols; i++)
        x[i] *= 1 + (double)(i % cols % 5);
    if (weighted)
        hx_product("TN", cols, cols, 3 * cols, x, x, t->m);
    free(x);
    assert_int_equal(hx_native_target_open(&t->t, rows, cols, t->w, t->m, &err), 0);
}

static void open_matrix(struct target *t, size_t layer, enum hx_matrix which)
{
    const struct hx_linear *w = hx_layer_matrix(&model->layers[layer], which);
    float *row = malloc(w->cols * sizeof(*row));

    *t = (struct target){.w = malloc(w->rows * w->cols * sizeof(*t->w))};
    assert_non_null(row);
    for (size_t r = 0; r < w->rows; r++) {
        hx_linear_row(w, r, row);
        for (size_t i = 0; i < w->cols; i++)
            t->w[r * w->cols + i] = row[i];
    }
    free(row);
    assert_int_equal(hx_native_target_open(&t->t, w->rows, w->cols, t->w, NULL, &err), 0);
}

static void close_target(struct target *t)
{
    hx_native_target_close(&t->t);
    free(t->w);
    free(t->m);
}

static struct hx_native started(const struct hx_native_target *t, size_t k, size_t room)
{
    struct hx_native n;

    assert_int_equal(hx_native_alloc(&n, t->rows, t->cols, k, room, &err), 0);
    assert_int_equal(hx_native_start(&n, 3, &err), 0);
    return n;
}

/* The loss by its definition: W_n is formed. */
static double plain_loss(const struct hx_native *n, const struct target *t)
{
    const size_t size = n->rows * n->cols;
    double *a = calloc(n->k * n->cols, sizeof(*a)), *e = calloc(size, sizeof(*e)), *em = calloc(size, sizeof(*em)), loss;

    hx_product("NN", n->k, n->cols, n->k, n->core, n->in, a);
    hx_product("TN", n->rows, n->cols, n->k, n->out, a, e);
    for (size_t i = 0; i < size; i++)
        e[i] -= t->w[i];
    if (t->m)
        hx_product("NN", n->rows, n->cols, n->cols, e, t->m, em);
    loss = hx_product_inner(t->m ? em : e, e, size) / t->t.norm2;
    free(a);
    free(e);
    free(em);
    return loss;
}

/* --- counts */

static void test_counts_of_parameters_are_the_published_ones(void **state)
{
    static const struct {
        size_t k;
        uint64_t params;
    } published[] = {{32, 336896}, {64, 675840}, {96, 1016832}, {128, 1359872}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(published); i++)
        assert_int_equal(hx_native_params(8960, 1536, published[i].k), published[i].params);
    assert_true(fabs((double)hx_native_params(8960, 1536, 128) / (8960.0 * 1536) - 0.099) < 5e-4);
    assert_true(fabs((double)hx_native_params_square(1536, 128) / (1536.0 * 1536) - 0.090) < 5e-4);
    assert_true(fabs((double)hx_native_params_square(1536, 256) / (1536.0 * 1536) - 0.194) < 5e-4);
    assert_true(fabs(hx_native_k_star(36) - 1536) < 2); /* published as 1536 and 2048 */
    assert_true(fabs(hx_native_k_star(48) - 2048) < 2);
}

static void test_k_fit_is_the_largest_that_fits(void **state)
{
    (void)state;
    for (size_t numbers = 0; numbers < 5000; numbers += 7) {
        const size_t k = hx_native_k_fit(2, 30, (double)numbers);

        if (k * (2 * k + 30) > numbers || (k + 1) * (2 * k + 32) <= numbers)
            fail_msg("%zu numbers: k %zu", numbers, k);
    }
    assert_int_equal(hx_native_k_fit(1, 8960 + 1536, 8388608), 746); /* 8 MiB of int8 */
}

/* --- loss and gradients */

static void check_gradient(struct hx_native *n, const struct target *t, struct hx_native_work *w, double *x, const double *g, size_t count)
{
    static const double h = 1e-5;

    for (size_t i = 0; i < count; i++) {
        const double was = x[i];
        double more, less;

        x[i] = was + h;
        more = hx_native_loss(n, &t->t, w, NULL);
        x[i] = was - h;
        less = hx_native_loss(n, &t->t, w, NULL);
        x[i] = was;
        if (fabs((more - less) / (2 * h) - g[i]) > 1e-7 * (1 + fabs(g[i])))
            fail_msg("entry %zu of %zu: %g by differences, %g by formula", i, count, (more - less) / (2 * h), g[i]);
    }
}

/* Also where bases are not orthonormal. */
static void test_gradients_are_those_of_finite_differences(void **state)
{
    (void)state;
    for (int c = 0; c < 4; c++) {
        struct target t;
        struct hx_native n, g;
        struct hx_native_work w;
        double *noise = normals(ROWS * COLS, 11);

        open_random(&t, c & 1 ? COLS : ROWS, c & 1 ? ROWS : COLS, c & 2);
        n = started(&t.t, K, K);
        assert_int_equal(hx_native_alloc(&g, n.rows, n.cols, K, K, &err), 0);
        assert_int_equal(hx_native_work_open(&w, &n, &err), 0);
        for (size_t i = 0; i < K * n.rows; i++)
            n.out[i] += 0.1 * noise[i];
        for (size_t i = 0; i < K * K; i++)
            n.core[i] = noise[500 + i];
        assert_true(fabs(hx_native_loss(&n, &t.t, &w, &g) - plain_loss(&n, &t)) < 1e-12 * (1 + plain_loss(&n, &t)));
        check_gradient(&n, &t, &w, n.out, g.out, K * n.rows);
        check_gradient(&n, &t, &w, n.core, g.core, K * K);
        check_gradient(&n, &t, &w, n.in, g.in, K * n.cols);
        hx_native_work_close(&w);
        hx_native_free(&g);
        hx_native_free(&n);
        free(noise);
        close_target(&t);
    }
}

/* --- the best of a k */

static void test_the_optimum_has_the_loss_of_the_bound_and_the_best_core(void **state)
{
    (void)state;
    for (int c = 0; c < 4; c++) {
        struct target t;
        double bounds[ROWS];
        size_t k = 0;

        open_random(&t, c & 1 ? COLS : ROWS, c & 1 ? ROWS : COLS, c & 2);
        assert_int_equal(hx_native_bounds(&t.t, bounds, &err), 0);
        for (k = 1; k <= ROWS; k += 5) {
            struct hx_native n;
            struct hx_native_work w;
            double loss, solved, bound;

            assert_int_equal(hx_native_alloc(&n, t.t.rows, t.t.cols, k, k, &err), 0);
            assert_int_equal(hx_native_work_open(&w, &n, &err), 0);
            assert_int_equal(hx_native_optimum(&n, &t.t, &bound, &err), 0);
            loss = plain_loss(&n, &t);
            assert_true(hx_native_skew(&n, &w) < 1e-12);
            assert_int_equal(hx_native_solve(&n, &t.t, &w, &err), 0);
            solved = plain_loss(&n, &t);
            if (!(fabs(loss - bounds[k - 1]) < 1e-9 && fabs(bound - bounds[k - 1]) < 1e-12 && fabs(solved - loss) < 1e-9))
                fail_msg("case %d, k %zu: %.12f; the bound %.12f; with C* %.12f", c, k, loss, bounds[k - 1], solved);
            hx_native_work_close(&w);
            hx_native_free(&n);
        }
        close_target(&t);
    }
}

/* No other core is better, and one that is off is worse. */
static void test_the_solved_core_has_no_gradient(void **state)
{
    (void)state;
    for (int weighted = 0; weighted < 2; weighted++) {
        struct target t;
        struct hx_native n, g;
        struct hx_native_work w;
        double most = 0, before;

        open_random(&t, ROWS, COLS, weighted);
        n = started(&t.t, K, K);
        assert_int_equal(hx_native_alloc(&g, ROWS, COLS, K, K, &err), 0);
        assert_int_equal(hx_native_work_open(&w, &n, &err), 0);
        before = hx_native_loss(&n, &t.t, &w, NULL);
        assert_int_equal(hx_native_solve(&n, &t.t, &w, &err), 0);
        assert_true(hx_native_loss(&n, &t.t, &w, &g) < before);
        for (size_t i = 0; i < K * K; i++)
            most = fmax(most, fabs(g.core[i]));
        assert_true(most < 1e-12);
        hx_native_work_close(&w);
        hx_native_free(&g);
        hx_native_free(&n);
        close_target(&t);
    }
}

/* --- steps */

static void test_a_retraction_makes_bases_orthonormal_and_leaves_the_matrix(void **state)
{
    struct target t;
    struct hx_native n;
    struct hx_native_work w;
    double *noise = normals(K * COLS, 17), before;

    (void)state;
    open_random(&t, ROWS, COLS, 0);
    n = started(&t.t, K, K);
    assert_int_equal(hx_native_work_open(&w, &n, &err), 0);
    for (size_t i = 0; i < K * COLS; i++)
        n.in[i] = 0.3 * noise[i] - n.in[i];
    for (size_t i = 0; i < K * K; i++)
        n.core[i] = noise[i];
    before = plain_loss(&n, &t);
    assert_true(hx_native_skew(&n, &w) > 0.1);
    assert_int_equal(hx_native_retract(&n, &w, &err), 0);
    assert_true(hx_native_skew(&n, &w) < 1e-12);
    assert_true(fabs(plain_loss(&n, &t) - before) < 1e-11 * before);

    /* R's diagonal is positive: what is orthonormal already stays where it is */
    memcpy(noise, n.in, K * COLS * sizeof(*noise));
    assert_int_equal(hx_native_retract(&n, &w, &err), 0);
    for (size_t i = 0; i < K * COLS; i++)
        assert_true(fabs(n.in[i] - noise[i]) < 1e-12);
    hx_native_work_close(&w);
    hx_native_free(&n);
    free(noise);
    close_target(&t);
}

static void test_a_tangent_turns_a_basis_without_stretching_it(void **state)
{
    struct target t;
    struct hx_native n, g;
    struct hx_native_work w;
    double s[K * K];

    (void)state;
    open_random(&t, ROWS, COLS, 0);
    n = started(&t.t, K, K);
    assert_int_equal(hx_native_alloc(&g, ROWS, COLS, K, K, &err), 0);
    assert_int_equal(hx_native_work_open(&w, &n, &err), 0);
    for (size_t i = 0; i < K * COLS; i++)
        g.in[i] = hx_product_normal(23, i);
    hx_native_tangent(&n, &g, &w);
    hx_product("NT", K, K, COLS, g.in, n.in, s);
    for (size_t i = 0; i < K * K; i++)
        assert_true(fabs(s[i] + s[i % K * K + i / K]) < 1e-12);
    hx_native_work_close(&w);
    hx_native_free(&g);
    hx_native_free(&n);
    close_target(&t);
}

static void test_growth_leaves_old_columns_bit_by_bit(void **state)
{
    struct target t;
    struct hx_native n, old;
    struct hx_native_work w;
    double before;

    (void)state;
    open_random(&t, ROWS, COLS, 0);
    n = started(&t.t, K, 2 * K);
    assert_int_equal(hx_native_alloc(&old, ROWS, COLS, K, 2 * K, &err), 0);
    assert_int_equal(hx_native_work_open(&w, &n, &err), 0);
    assert_int_equal(hx_native_solve(&n, &t.t, &w, &err), 0);
    hx_native_copy(&old, &n);
    before = plain_loss(&n, &t);
    assert_int_equal(hx_native_grow(&n, K, 31, &err), 0);
    assert_int_equal(n.k, 2 * K);
    assert_memory_equal(n.out, old.out, K * ROWS * sizeof(*n.out));
    assert_memory_equal(n.in, old.in, K * COLS * sizeof(*n.in));
    for (size_t i = 0; i < K * K; i++)
        assert_true(n.core[i / K * 2 * K + i % K] == old.core[i]);
    assert_true(hx_native_skew(&n, &w) < 1e-12);
    assert_true(plain_loss(&n, &t) == before);
    assert_int_equal(hx_native_grow(&n, 1, 31, &err), -EINVAL);
    hx_native_work_close(&w);
    hx_native_free(&n);
    hx_native_free(&old);
    close_target(&t);
}

/* --- fits, on the model */

/* Of k 64: energy kept, as a share of what Eckart and Young leave. */
static double share_of(const struct target *t, const struct hx_native_how *how, const double *bounds)
{
    struct hx_native n = started(&t->t, 64, 64);
    struct hx_native_course c;
    double loss;

    assert_int_equal(hx_native_fit(&n, &t->t, how, &c, &err), 0);
    assert_int_equal(c.n, 1);
    assert_true(c.stage[0].skew < 1e-5);
    loss = plain_loss(&n, t);
    assert_true(fabs(loss - c.stage[0].after) < 1e-9);
    assert_true(loss > bounds[63] - 1e-12);
    hx_native_free(&n);
    return (1 - loss) / (1 - bounds[63]);
}

static void test_fits_reach_the_ceiling_with_and_without_solving_for_the_core(void **state)
{
    static const struct {
        enum hx_matrix which;
        double ceiling; /* by a prototype in double precision */
    } cases[] = {{HX_WQ, 0.642}, {HX_DOWN, 0.507}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        double bounds[256];
        struct target t;

        open_matrix(&t, 3, cases[i].which);
        assert_int_equal(hx_native_bounds(&t.t, bounds, &err), 0);
        assert_true(fabs(1 - bounds[63] - cases[i].ceiling) < 5e-4);
        for (int solve = 0; solve < 2; solve++) {
            struct hx_native_how how = hx_native_usual;
            double share;

            how.grow = 0;
            how.solve = solve;
            share = share_of(&t, &how, bounds);
            if (!(share >= 0.98 && share <= 1 + 1e-9))
                fail_msg("%s: %.4f of the ceiling", hx_matrix_names[cases[i].which], share);
        }
        close_target(&t);
    }
}

/* With moments whose eigenvalues differ by four orders of magnitude. */
static void test_a_weighted_fit_reaches_its_ceiling_too(void **state)
{
    struct hx_native_how how = hx_native_usual;
    struct hx_native_course c;
    struct hx_native_work w;
    struct hx_native n;
    struct target t;
    double bounds[ROWS], *turn = normals(COLS * COLS, 41), loss;

    (void)state;
    open_random(&t, ROWS, COLS, 1);
    for (size_t i = 0; i < COLS; i++)
        for (size_t x = 0; x < COLS; x++)
            turn[i * COLS + x] *= exp(-4.6 * (double)i / COLS);
    hx_product("TN", COLS, COLS, COLS, turn, turn, t.m);
    hx_native_target_close(&t.t);
    assert_int_equal(hx_native_target_open(&t.t, ROWS, COLS, t.w, t.m, &err), 0);
    assert_int_equal(hx_native_bounds(&t.t, bounds, &err), 0);
    how.k_most = 12;
    how.grow = 6;
    n = started(&t.t, 6, 12);
    assert_int_equal(hx_native_fit(&n, &t.t, &how, &c, &err), 0);
    assert_int_equal(n.k, 12);
    assert_int_equal(hx_native_work_open(&w, &n, &err), 0);
    assert_true(hx_native_skew(&n, &w) < 1e-9);
    loss = plain_loss(&n, &t);
    assert_true(fabs(loss - c.stage[1].after) < 1e-9);
    if (!(loss > bounds[11] - 1e-12 && 1 - loss >= 0.98 * (1 - bounds[11])))
        fail_msg("loss %.6f, bound %.6f", loss, bounds[11]);
    hx_native_work_close(&w);
    hx_native_free(&n);
    free(turn);
    close_target(&t);
}

static void test_the_loss_never_rises_while_k_grows_and_it_stops_at_the_most(void **state)
{
    struct hx_native_how how = hx_native_usual;
    struct hx_native_course c;
    struct hx_native n;
    struct target t;
    double bounds[256];

    (void)state;
    how.k_most = 112;
    open_matrix(&t, 2, HX_WQ);
    assert_int_equal(hx_native_bounds(&t.t, bounds, &err), 0);
    n = started(&t.t, 32, 112);
    assert_int_equal(hx_native_fit(&n, &t.t, &how, &c, &err), 0);
    assert_int_equal(c.n, 4);
    assert_int_equal(n.k, 112);
    for (size_t i = 0; i < c.n; i++) {
        const struct hx_native_stage *s = &c.stage[i];

        assert_int_equal(s->k, i == 3 ? 112 : 32 * (i + 1));
        if (!(s->after <= s->before && (!i || s->before <= s[-1].after) && (1 - s->after) >= 0.98 * (1 - bounds[s->k - 1])))
            fail_msg("k %zu: %.6f to %.6f, the bound %.6f", s->k, s->before, s->after, bounds[s->k - 1]);
    }
    hx_native_free(&n);
    close_target(&t);
}

/* --- what cannot be */

static void test_a_matrix_that_is_zero_or_not_finite_is_refused(void **state)
{
    double w[6] = {0};
    struct hx_native_target t;

    (void)state;
    assert_int_equal(hx_native_target_open(&t, 2, 3, w, NULL, &err), -EDOM);
    hx_native_target_close(&t);
    w[4] = NAN;
    assert_int_equal(hx_native_target_open(&t, 2, 3, w, NULL, &err), -EDOM);
    hx_native_target_close(&t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_counts_of_parameters_are_the_published_ones),
    cmocka_unit_test(test_k_fit_is_the_largest_that_fits),
    cmocka_unit_test(test_gradients_are_those_of_finite_differences),
    cmocka_unit_test(test_the_optimum_has_the_loss_of_the_bound_and_the_best_core),
    cmocka_unit_test(test_the_solved_core_has_no_gradient),
    cmocka_unit_test(test_a_retraction_makes_bases_orthonormal_and_leaves_the_matrix),
    cmocka_unit_test(test_a_tangent_turns_a_basis_without_stretching_it),
    cmocka_unit_test(test_growth_leaves_old_columns_bit_by_bit),
    cmocka_unit_test(test_fits_reach_the_ceiling_with_and_without_solving_for_the_core),
    cmocka_unit_test(test_a_weighted_fit_reaches_its_ceiling_too),
    cmocka_unit_test(test_the_loss_never_rises_while_k_grows_and_it_stops_at_the_most),
    cmocka_unit_test(test_a_matrix_that_is_zero_or_not_finite_is_refused),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, open_model, close_model);
}
