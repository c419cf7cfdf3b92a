/* Protects learned ranks (host/methods/adaptive/learned.h): the gradient, with the energy's part of it, is the loss's by finite
 * differences; training makes the loss fall and ends where it can fall no further; a dearer unit of rank makes ranks smaller; what it costs
 * is the mean of what was seen. */
#include <math.h>
#include <stdlib.h>

#include "hxt.h"
#include "methods/adaptive/learned.h"

enum { LAYERS = 3 };

struct problem {
    double harm[LAYERS * HX_LEVELS], theta[LAYERS * HX_LEVELS];
    struct hx_learned l;
};

/* The first layer needs its rank most. */
static void make(struct problem *p, double price)
{
    static const double need[LAYERS] = {300, 100, 30};

    for (size_t i = 0; i < LAYERS; i++)
        for (size_t r = 0; r < HX_LEVELS; r++) {
            p->harm[i * HX_LEVELS + r] = 2 * exp(-4 * hx_level_ranks[r] / need[i]);
            p->theta[i * HX_LEVELS + r] = .5 * sin((double)(i * HX_LEVELS + r));
        }
    p->l = (struct hx_learned){LAYERS, HX_LEVELS, p->harm, price, p->theta};
}

/* Within 1e-4 of the largest component; with no harm it is the published energy term alone, lambda c p (R - sum p R). */
static void test_the_gradient_is_that_of_finite_differences(void **state)
{
    const double h = 1e-5;

    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        struct problem p;
        double gradient[LAYERS * HX_LEVELS], most = 0;

        make(&p, .001);
        if (alone)
            memset(p.harm, 0, sizeof(p.harm));
        hx_learned_loss(&p.l, NULL, gradient);
        for (size_t i = 0; i < HXT_LEN(gradient); i++)
            most = fmax(most, fabs(gradient[i]));
        assert_true(most > 1e-4);
        for (size_t i = 0; i < HXT_LEN(gradient); i++) {
            const double was = p.theta[i];
            double up, got;

            p.theta[i] = was + h;
            up = hx_learned_loss(&p.l, NULL, NULL);
            p.theta[i] = was - h;
            got = (up - hx_learned_loss(&p.l, NULL, NULL)) / (2 * h);
            p.theta[i] = was;
            if (fabs(got - gradient[i]) > 1e-4 * most)
                fail_msg("%zu: %.12g by differences, %.12g", i, got, gradient[i]);
        }
    }
}

static double trained(double price, double *soft, struct hx_learned_told *told)
{
    struct problem p;

    make(&p, price);
    assert_int_equal(hx_learned_train(&p.l, 10, 20000, told, NULL), 0);
    return hx_learned_loss(&p.l, soft, NULL);
}

static void test_training_lowers_the_loss_to_where_each_layer_has_its_cheapest_level(void **state)
{
    struct hx_learned_told told;
    struct problem p;
    double soft[LAYERS], best = 0, loss = trained(.001, soft, &told);

    (void)state;
    make(&p, .001);
    for (size_t i = 0; i < LAYERS; i++) {
        double least = 1e9;

        for (size_t r = 0; r < HX_LEVELS; r++)
            least = fmin(least, p.harm[i * HX_LEVELS + r] + .001 * hx_level_ranks[r]);
        best += least;
    }
    print_message("loss %g, %g after %zu steps, %g is least; ranks %.1f %.1f %.1f\n", told.first, told.last, told.steps, best, soft[0],
                  soft[1], soft[2]);
    assert_true(loss == told.last && told.last < told.first);
    assert_true(loss < 1.02 * best);
    assert_true(soft[0] > soft[1] && soft[1] > soft[2]);
}

static void test_each_step_lowers_the_loss(void **state)
{
    struct hx_learned_told told;
    struct problem p;
    double last;

    (void)state;
    make(&p, .001);
    last = hx_learned_loss(&p.l, NULL, NULL);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(hx_learned_train(&p.l, 1000, 1, &told, NULL), 0); /* so large a rate overshoots at times */
        assert_true(told.first == last && told.last <= told.first);
        last = told.last;
    }
}

static void test_a_dearer_unit_of_rank_makes_ranks_smaller(void **state)
{
    struct hx_learned_told told;
    double last = 1e9;

    (void)state;
    for (double price = 1e-5; price < .1; price *= 10) {
        double soft[LAYERS], sum = 0;

        trained(price, soft, &told);
        for (size_t i = 0; i < LAYERS; i++)
            sum += soft[i];
        assert_true(sum < last);
        last = sum;
    }
}

static void test_a_unit_of_rank_costs_what_tokens_took(void **state)
{
    struct hx_tpj t = {.n = 0};

    (void)state;
    assert_true(hx_tpj_per_rank(&t, 6.4, 10) == .64 / 128); /* an estimate */
    for (int i = 0; i < 3; i++)
        hx_tpj_observe(&t, 2, 4);
    assert_true(hx_tpj_per_rank(&t, 6.4, 10) == .64 / 128);
    hx_tpj_observe(&t, 2, 4);
    assert_true(hx_tpj_per_rank(&t, 6.4, 10) == .5 / 128);
    for (int i = 0; i < HX_TPJ_WINDOW; i++)
        hx_tpj_observe(&t, 4, 4); /* older ones are forgotten */
    assert_true(hx_tpj_per_rank(&t, 6.4, 10) == 1. / 128);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_the_gradient_is_that_of_finite_differences),
    cmocka_unit_test(test_training_lowers_the_loss_to_where_each_layer_has_its_cheapest_level),
    cmocka_unit_test(test_each_step_lowers_the_loss),
    cmocka_unit_test(test_a_dearer_unit_of_rank_makes_ranks_smaller),
    cmocka_unit_test(test_a_unit_of_rank_costs_what_tokens_took),
};

int main(void)
{
    return HXT_RUN(tests);
}
