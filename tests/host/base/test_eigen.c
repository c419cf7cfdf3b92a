/* Protects eigenvectors by LAPACK and by subspace iteration (host/base/eigen.c): orthonormal, with signs that are always the same, and of a
 * falling spectrum the same by both; and the digest of bytes. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/blas.h"
#include "base/digest.h"
#include "base/eigen.h"
#include "hxt.h"

enum { N = 96, K = 24 };

/* A = sum over i of .7^i u_i u_i^T with random vectors. */
static void fill(double *a)
{
    struct hxt_rng rng;
    double u[N];

    hxt_rng_init(&rng, 1);
    memset(a, 0, N * N * sizeof(*a));
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < N; k++)
            u[k] = hxt_normal(&rng);
        for (size_t r = 0; r < N; r++)
            for (size_t c = 0; c < N; c++)
                a[r * N + c] += pow(.7, (double)i) * u[r] * u[c];
    }
}

static double dot(const double *a, const double *b)
{
    double sum = 0;

    for (size_t i = 0; i < N; i++)
        sum += a[i] * b[i];
    return sum;
}

static void times(void *arg, const double *in, double *out, size_t m)
{
    const double *a = arg;

    for (size_t v = 0; v < m; v++)
        for (size_t r = 0; r < N; r++)
            out[v * N + r] = dot(a + r * N, in + v * N);
}

static void assert_orthonormal(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++)
            assert_true(fabs(dot(v + i * N, v + k * N) - (i == k)) < 1e-10);
}

static void test_both_ways_find_the_same_eigenvectors(void **state)
{
    static double a[N * N], whole[N * N], values[N], some[K * N], some_values[K], alone[N * N], alone_values[N];
    const struct hx_eigen_op op = {times, a, N};

    (void)state;
    fill(a);
    memcpy(whole, a, sizeof(a));
    memcpy(alone, a, sizeof(a));
    assert_int_equal(hx_eigen_symmetric(whole, N, values, NULL), 0);
    assert_int_equal(hx_eigen_values(alone, N, alone_values, NULL), 0);
    assert_int_equal(hx_eigen_top(&op, K, 8, some, some_values, NULL), 0);
    assert_orthonormal(whole, N);
    assert_orthonormal(some, K);
    for (size_t i = 0; i < K; i++) {
        assert_true(i == 0 || values[i] <= values[i - 1]);
        assert_true(fabs(alone_values[i] / values[i] - 1) < 1e-9);
        assert_true(fabs(some_values[i] / values[i] - 1) < 1e-6);
        assert_true(dot(some + i * N, whole + i * N) > 1 - 1e-5); /* the sign, too */
    }
}

static void test_a_subspace_as_large_as_the_matrix_is_exact(void **state)
{
    static double a[N * N], v[N * N], values[N], av[N];
    const struct hx_eigen_op op = {times, a, N};

    (void)state;
    fill(a);
    assert_int_equal(hx_eigen_top(&op, N, 1, v, values, NULL), 0);
    assert_orthonormal(v, N);
    for (size_t i = 0; i < N; i++) {
        times(a, v + i * N, av, 1);
        for (size_t k = 0; k < N; k++)
            assert_true(fabs(av[k] - values[i] * v[i * N + k]) < 1e-8 * values[0]);
    }
}

static void test_what_is_not_finite_is_refused(void **state)
{
    double a[4] = {1, NAN, NAN, 1}, values[2];
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_eigen_symmetric(a, 2, values, &err), -EDOM);
    assert_string_equal(err.text, "a covariance is not finite");
}

static void test_a_digest_changes_with_every_byte_and_the_length(void **state)
{
    uint8_t bytes[200] = {0};
    const uint64_t h = hx_digest(0, bytes, sizeof(bytes));

    (void)state;
    assert_int_equal(hx_digest(0, bytes, sizeof(bytes)), h);
    assert_int_not_equal(hx_digest(1, bytes, sizeof(bytes)), h);
    for (size_t n = 0; n < sizeof(bytes); n++)
        assert_int_not_equal(hx_digest(0, bytes, n), h);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = 1;
        assert_int_not_equal(hx_digest(0, bytes, sizeof(bytes)), h);
        bytes[i] = 0;
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_both_ways_find_the_same_eigenvectors),
    cmocka_unit_test(test_a_subspace_as_large_as_the_matrix_is_exact),
    cmocka_unit_test(test_what_is_not_finite_is_refused),
    cmocka_unit_test(test_a_digest_changes_with_every_byte_and_the_length),
};

int main(void)
{
    return HXT_RUN(tests);
}
