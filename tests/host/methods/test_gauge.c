/* Protects gains of the stream (host/methods/adaptive/gauge.h): the gradient is the tail's by finite differences, steps make the tail fall
 * and end with mean 0, threads change no digit, gains without a tail stay what they are; and by Eckart and Young, that they make the
 * matrices' own error no smaller. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "hxt.h"
#include "methods/adaptive/gauge.h"
#include "methods/lowrank/factorize.h"
#include "quant/quant.h"

enum { WIDTH = 24, OTHER = 40, N = 4, RANK = 7 };

struct problem {
    float data[N][WIDTH * OTHER];
    struct hx_linear w[N];
    struct hx_gauge_matrix at[N];
    struct hx_gauge g;
};

/* About normal, and the same in every run: where two singular values at the rank are nearly equal, tails have no derivative, and steps may
 * end early. */
static double number(size_t m, size_t i)
{
    double sum = 0;

    for (size_t k = 0; k < 4; k++) {
        const double x = sin((double)(4 * (1000 * m + i) + k + 1) * 12.9898) * 43758.5453;

        sum += x - floor(x) - .5;
    }
    return sum * sqrt(3);
}

/* Two that read the stream, one of them with fewer rows than columns, and two that write it; values of it have different sizes. */
static void make(struct problem *p, struct hx_pool *pool)
{
    static const size_t rows[N] = {OTHER, WIDTH / 2, WIDTH, WIDTH}, cols[N] = {WIDTH, WIDTH, OTHER, WIDTH / 2};

    for (size_t m = 0; m < N; m++) {
        const int writes = m >= 2;

        for (size_t i = 0; i < rows[m] * cols[m]; i++)
            p->data[m][i] = (float)(number(m, i) * exp(.1 * (double)(writes ? i / cols[m] : i % cols[m])));
        p->w[m] = (struct hx_linear){.ops = &hx_linear_ref, .type = HX_QUANT_F32, .w = (const void *)p->data[m], .rows = rows[m],
                                     .cols = cols[m]};
        p->at[m] = (struct hx_gauge_matrix){&p->w[m], RANK, writes};
    }
    p->g = (struct hx_gauge){p->at, N, WIDTH, pool};
}

static double tail_of(const struct problem *p, const double *log_gain)
{
    double reads[WIDTH], writes[WIDTH], tail;
    struct hx_error err = {""};

    if (hx_gauge_tail(&p->g, log_gain, &tail, reads, writes, &err))
        fail_msg("%s", err.text);
    return tail;
}

/* Within 1e-6 of the tail itself, to which a unit step of one gain's logarithm is compared. */
static void test_the_gradient_is_that_of_finite_differences(void **state)
{
    static struct problem p;
    const double h = 1e-4;
    double at[WIDTH], reads[WIDTH], writes[WIDTH], tail;

    (void)state;
    make(&p, NULL);
    for (size_t i = 0; i < WIDTH; i++)
        at[i] = .3 * sin((double)i);
    assert_int_equal(hx_gauge_tail(&p.g, at, &tail, reads, writes, NULL), 0);
    for (size_t i = 0; i < WIDTH; i++) {
        const double was = at[i], want = 2 * (writes[i] - reads[i]);
        double up, got;

        at[i] = was + h;
        up = tail_of(&p, at);
        at[i] = was - h;
        got = (up - tail_of(&p, at)) / (2 * h);
        at[i] = was;
        if (fabs(got - want) > 1e-6 * tail)
            fail_msg("value %zu: %.12g by differences, %.12g; tail %g", i, got, want, tail);
    }
}

static void test_steps_make_the_tail_fall_and_leave_the_mean(void **state)
{
    static struct problem p;
    struct hx_gauge_told told;
    double log_gain[WIDTH], zero[WIDTH] = {0}, mean = 0;

    (void)state;
    make(&p, NULL);
    assert_int_equal(hx_gauge_find(&p.g, 10, log_gain, &told, NULL), 0);
    for (size_t i = 0; i < WIDTH; i++)
        mean += log_gain[i] / WIDTH;
    print_message("tail %g, %g after %zu steps\n", told.before, told.after, told.steps);
    assert_true(fabs(mean) < 1e-12);
    assert_true(told.steps > 0 && told.after < .95 * told.before);
    assert_true(told.before == tail_of(&p, zero) && told.after == tail_of(&p, log_gain));
}

static void test_threads_change_no_digit(void **state)
{
    static struct problem one, four;
    struct hx_pool *pool;
    struct hx_gauge_told told;
    double a[WIDTH], b[WIDTH];

    (void)state;
    assert_int_equal(hx_pool_open(&pool, 4, NULL), 0);
    make(&one, NULL);
    make(&four, pool);
    assert_int_equal(hx_gauge_find(&one.g, 5, a, &told, NULL), 0);
    assert_int_equal(hx_gauge_find(&four.g, 5, b, &told, NULL), 0);
    hxt_same_bytes(b, a, sizeof(a));
    hx_pool_close(pool);
}

static void test_what_leaves_no_tail_has_no_gains(void **state)
{
    static struct problem p;
    struct hx_gauge_told told;
    double log_gain[WIDTH];

    (void)state;
    make(&p, NULL);
    for (size_t m = 0; m < N; m++)
        p.at[m].rank = WIDTH;
    assert_int_equal(hx_gauge_find(&p.g, 10, log_gain, &told, NULL), 0);
    assert_true(told.before == 0 && told.after == 0);
    for (size_t i = 0; i < WIDTH; i++)
        assert_true(log_gain[i] == 0);
}

static void test_weights_that_are_no_numbers_are_refused(void **state)
{
    static struct problem p;
    struct hx_gauge_told told;
    struct hx_error err = {""};
    double log_gain[WIDTH];

    (void)state;
    make(&p, NULL);
    p.data[2][17] = NAN;
    assert_int_equal(hx_gauge_find(&p.g, 10, log_gain, &told, &err), -EDOM);
    assert_true(*err.text != '\0');
}

/* |W - up down|^2 / |W|^2 of the first matrix by itself. */
static double error_with(const struct problem *p, const double *gain)
{
    struct hx_linear w = p->w[0];
    struct hx_linear_set set = {.at = calloc(1, sizeof(*set.at)), .n = 1};
    const struct hx_lowrank_shape shape = {.rank = RANK, .matrices = HX_LAYER_MATRICES, .per_slot = 1, .format = HX_QUANT_F32};
    const struct hx_lowrank_how how = {.gain = gain};
    struct hx_lowrank_factors f = {0};
    struct hx_error err = {""};
    void *block;
    double error;

    set.at[0].w = &w;
    set.at[0].which = HX_GATE;
    if (hx_lowrank_lay_out(&f, &set, &shape, &err))
        fail_msg("%s", err.text);
    block = aligned_alloc(64, (f.bytes + 63) / 64 * 64);
    hx_lowrank_place(&f, block);
    if (hx_lowrank_factorize(&f, &f.bases[0], &how, NULL, &err))
        fail_msg("%s", err.text);
    error = f.parts[0].rel_f2;
    assert_true(error >= f.parts[0].eckart_young - 1e-9);
    hx_lowrank_free(&f);
    free(block);
    free(set.at);
    return error;
}

static void test_a_smaller_tail_is_no_smaller_error(void **state)
{
    static struct problem p;
    struct hx_gauge_told told;
    double log_gain[WIDTH], gain[WIDTH];

    (void)state;
    make(&p, NULL);
    assert_int_equal(hx_gauge_find(&p.g, 10, log_gain, &told, NULL), 0);
    for (size_t i = 0; i < WIDTH; i++)
        gain[i] = exp(log_gain[i]);
    print_message("tail %.3f of what it was, error %.3f times\n", told.after / told.before, error_with(&p, gain) / error_with(&p, NULL));
    assert_true(error_with(&p, gain) > 1.0001 * error_with(&p, NULL));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_the_gradient_is_that_of_finite_differences),
    cmocka_unit_test(test_steps_make_the_tail_fall_and_leave_the_mean),
    cmocka_unit_test(test_threads_change_no_digit),
    cmocka_unit_test(test_what_leaves_no_tail_has_no_gains),
    cmocka_unit_test(test_weights_that_are_no_numbers_are_refused),
    cmocka_unit_test(test_a_smaller_tail_is_no_smaller_error),
};

int main(void)
{
    return HXT_RUN(tests);
}
