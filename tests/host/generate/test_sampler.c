/* Protects: which token is drawn, repeatability per seed, the cuts of top-k, top-p and min-p, the penalties, and what is told of
 * tokens' probabilities. */
#include <math.h>

#include "hxt.h"
#include "generate/logprobs.h"
#include "generate/sampler.h"

enum { VOCAB = 8 };

static uint32_t pick_once(struct hx_sampler_cfg cfg, const float *logits)
{
    struct hx_sampler *s = hx_sampler_open(&cfg, VOCAB);
    uint32_t id;

    assert_non_null(s);
    id = hx_sampler_pick(s, logits);
    hx_sampler_close(s);
    return id;
}

/* How often each id is drawn in n draws. */
static void histogram(struct hx_sampler_cfg cfg, const float *logits, size_t n, size_t *count)
{
    struct hx_sampler *s = hx_sampler_open(&cfg, VOCAB);

    assert_non_null(s);
    memset(count, 0, VOCAB * sizeof(*count));
    for (size_t i = 0; i < n; i++)
        count[hx_sampler_pick(s, logits)]++;
    hx_sampler_close(s);
}

static void test_greedy_takes_the_lowest_id_among_equals(void **state)
{
    const float logits[VOCAB] = {-1, 2, 5, 5, 5, 1, NAN, -INFINITY};

    (void)state;
    assert_int_equal(pick_once((struct hx_sampler_cfg){.top_p = 1}, logits), 2);
}

static void test_top_1_is_greedy_at_any_temperature(void **state)
{
    const float logits[VOCAB] = {0, 3, 3, 1, 0, 0, 0, 0};

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++)
        assert_int_equal(pick_once((struct hx_sampler_cfg){.temp = 10, .top_k = 1, .top_p = 1,
                                                           .seed = seed}, logits), 1);
}

static void test_equal_seeds_give_equal_tokens(void **state)
{
    const float logits[VOCAB] = {1, 1, 1, 1, 1, 1, 1, 1};
    size_t distinct = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct hx_sampler_cfg cfg = {.temp = 1, .top_p = 1, .seed = seed};
        uint32_t id = pick_once(cfg, logits);

        assert_int_equal(pick_once(cfg, logits), id);
        distinct |= (size_t)1 << id;
    }
    assert_int_equal(distinct, (1 << VOCAB) - 1);
}

/* splitmix64 with state 0 gives e220a8397b1dcdaf first (its published test vector): u = 0.8833..., of 8 equal
 * candidates the one at index floor(8u) = 7. */
static void test_the_generator_is_the_documented_one(void **state)
{
    const float logits[VOCAB] = {0};

    (void)state;
    assert_int_equal(pick_once((struct hx_sampler_cfg){.temp = 1, .top_p = 1}, logits), 7);
}

static void test_frequencies_follow_the_softmax(void **state)
{
    const float logits[VOCAB] = {0, 1, 2, 3, -9, -9, -9, -9};
    const double temp = 2;
    size_t n = 40000, count[VOCAB];
    double sum = 0;

    (void)state;
    histogram((struct hx_sampler_cfg){.temp = temp, .top_p = 1, .seed = 7}, logits, n, count);
    for (size_t i = 0; i < VOCAB; i++)
        sum += exp((double)logits[i] / temp);
    for (size_t i = 0; i < VOCAB; i++) {
        double p = exp((double)logits[i] / temp) / sum, sigma = sqrt(p * (1 - p) / (double)n);

        if (fabs((double)count[i] / (double)n - p) > 5 * sigma)
            fail_msg("id %zu: %zu of %zu, want %g", i, count[i], n, p);
    }
}

static void test_top_k_keeps_the_k_best(void **state)
{
    const float logits[VOCAB] = {0, 1, 2, 3, 4, 5, 6, 7};
    size_t count[VOCAB];

    (void)state;
    histogram((struct hx_sampler_cfg){.temp = 5, .top_k = 3, .top_p = 1}, logits, 2000, count);
    for (size_t i = 0; i < VOCAB; i++)
        assert_true((count[i] > 0) == (i >= 5));
}

static void test_top_p_keeps_the_shortest_sufficient_prefix(void **state)
{
    /* probabilities 1/2, 1/4, 1/8, 1/16, ... at temperature 1 */
    float logits[VOCAB];
    size_t count[VOCAB];

    (void)state;
    for (size_t i = 0; i < VOCAB; i++)
        logits[i] = -(float)i * logf(2);
    histogram((struct hx_sampler_cfg){.temp = 1, .top_p = 0.7}, logits, 2000, count);
    for (size_t i = 0; i < VOCAB; i++)
        assert_true((count[i] > 0) == (i < 2));
    histogram((struct hx_sampler_cfg){.temp = 1, .top_p = 1e-9}, logits, 100, count);
    assert_int_equal(count[0], 100);
}

static void test_min_p_keeps_what_is_likely_enough_beside_the_best(void **state)
{
    float logits[VOCAB]; /* probabilities 1, 1/2, 1/4, ... of the first one's */
    size_t count[VOCAB];

    (void)state;
    for (size_t i = 0; i < VOCAB; i++)
        logits[i] = -(float)i * logf(2);
    histogram((struct hx_sampler_cfg){.temp = 1, .top_p = 1, .min_p = 0.2}, logits, 2000, count);
    for (size_t i = 0; i < VOCAB; i++)
        assert_true((count[i] > 0) == (i < 3));
    histogram((struct hx_sampler_cfg){.temp = 1, .top_p = 1, .min_p = 1}, logits, 100, count);
    assert_int_equal(count[0], 100);
    /* at temperature 2 they are 1, 0.71, 0.5, 0.35, 0.25, 0.18 of it */
    histogram((struct hx_sampler_cfg){.temp = 2, .top_p = 1, .min_p = 0.2}, logits, 2000, count);
    for (size_t i = 0; i < VOCAB; i++)
        assert_true((count[i] > 0) == (i < 5));
}

/* The list is a heap; a large vocabulary with many equal logits comes out in the order of a sorted one. */
static void test_candidates_of_a_large_vocabulary_are_in_order(void **state)
{
    enum { N = 5000, K = 40 };
    struct hx_sampler_cfg cfg = {.temp = 1, .top_k = K, .top_p = 1};
    static float logits[N];
    struct hxt_rng rng;
    uint32_t best[K];

    (void)state;
    hxt_rng_init(&rng, 1);
    for (size_t i = 0; i < N; i++)
        logits[i] = (float)hxt_below(&rng, 50) - 100 * (float)(i % 3 == 0);
    for (size_t i = 0, k = 0; k < K; i++) { /* 49 is the largest; there are about N / 75 of them */
        assert_true(i < N);
        if (logits[i] == 49)
            best[k++] = (uint32_t)i;
    }
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct hx_sampler *s;
        size_t k = 0;
        uint32_t id;

        cfg.seed = seed;
        s = hx_sampler_open(&cfg, N);
        assert_non_null(s);
        id = hx_sampler_pick(s, logits);
        while (k < K && best[k] != id)
            k++;
        if (k == K)
            fail_msg("seed %d: id %u is not among the first %d", (int)seed, id, K);
        hx_sampler_close(s);
    }
}

static uint32_t pick_after(struct hx_sampler_cfg cfg, const uint32_t *prompt, size_t n,
                           const float *logits)
{
    struct hx_sampler *s = hx_sampler_open(&cfg, VOCAB);
    uint32_t id;

    assert_non_null(s);
    hx_sampler_saw(s, prompt, n);
    id = hx_sampler_pick(s, logits);
    hx_sampler_close(s);
    return id;
}

static void test_repeat_penalty_divides_positive_logits_once_and_multiplies_negative_ones(void **state)
{
    const float high[VOCAB] = {4, 3, 1, 0, 0, 0, 0, 0};
    const float low[VOCAB] = {-1, -1.5f, -9, -9, -9, -9, -9, -9};
    const uint32_t seen[] = {0, 0, 0};
    struct hx_sampler_cfg cfg = {.top_p = 1, .repeat_penalty = 1.25, .repeat_last = 8};

    (void)state;
    assert_int_equal(pick_after(cfg, seen, 3, high), 0); /* 4 / 1.25 > 3: once, not thrice */
    cfg.repeat_penalty = 1.5;
    assert_int_equal(pick_after(cfg, seen, 3, high), 1);
    assert_int_equal(pick_after(cfg, seen, 0, high), 0);
    cfg.repeat_penalty = 2;
    assert_int_equal(pick_after(cfg, seen, 1, low), 1);
    cfg.repeat_penalty = 1;
    assert_int_equal(pick_after(cfg, seen, 1, low), 0);
    assert_true(hx_sampler_is_greedy(&cfg));
}

static void test_repeat_penalty_forgets_what_is_further_back(void **state)
{
    const float logits[VOCAB] = {9, 8, 7, 6, 5, 4, 3, 2};
    struct hx_sampler_cfg cfg = {.top_p = 1, .repeat_penalty = 100, .repeat_last = 3};
    struct hx_sampler *s = hx_sampler_open(&cfg, VOCAB);

    (void)state;
    assert_non_null(s);
    assert_false(hx_sampler_is_greedy(&cfg));
    for (uint32_t i = 0; i < 9; i++) /* its own picks are remembered: 0 1 2 3, then 0 is far enough */
        assert_int_equal(hx_sampler_pick(s, logits), i % 4);
    hx_sampler_close(s);
}

/* A token that was picked c times loses presence + c * frequency; the prompt's lose nothing. */
static void test_presence_and_frequency_lower_what_was_picked(void **state)
{
    const struct hx_sampler_cfg cfg = {.top_p = 1, .presence_penalty = 1, .frequency_penalty = 0.75};
    const float logits[VOCAB] = {0, 8, 6.6f, 0, 0, 5.6f, 0, 0};
    static const uint32_t prompt[] = {1, 1, 1}, want[] = {1, 2, 1, 5, 1, 2};
    struct hx_sampler *s = hx_sampler_open(&cfg, VOCAB);

    (void)state;
    assert_non_null(s);
    assert_false(hx_sampler_is_greedy(&cfg));
    for (int round = 0; round < 2; round++) {
        hx_sampler_saw(s, prompt, 3);
        for (size_t i = 0; i < HXT_LEN(want); i++) /* of 1: 8 6.25 5.5 4.75, of 2: 6.6 4.85, of 5: 5.6 3.85 */
            assert_int_equal(hx_sampler_pick(s, logits), want[i]);
        hx_sampler_forget(s);
    }
    hx_sampler_close(s);
}

static void test_logprobs_are_those_of_the_softmax_best_first(void **state)
{
    const float logits[VOCAB] = {1, 5, -INFINITY, 5, NAN, 4, 0, 4.5f};
    static const uint32_t order[] = {1, 3, 7, 5, 0};
    double sum = 0;
    struct hx_logprobs p;

    (void)state;
    for (size_t i = 0; i < VOCAB; i++)
        sum += isnan(logits[i]) ? 0 : exp(logits[i]);
    assert_int_equal(hx_logprobs_open(&p, 2, HXT_LEN(order)), 0);
    for (size_t token = 0; token < 3; token++) { /* one more than there is room for */
        hx_logprobs_look(&p, logits, VOCAB);
        hx_logprobs_made(&p, 2, logits[2]);
    }
    assert_int_equal(p.n, 2);
    for (size_t token = 0; token < 2; token++) {
        assert_true(p.made[token].id == 2 && isinf(p.made[token].logprob));
        for (size_t i = 0; i < HXT_LEN(order); i++) {
            const struct hx_logprob *best = &p.best[token * HXT_LEN(order) + i];

            assert_int_equal(best->id, order[i]);
            assert_true(fabs(best->logprob - (logits[order[i]] - log(sum))) < 1e-5);
        }
    }
    hx_logprobs_close(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_logprobs_are_those_of_the_softmax_best_first),
    cmocka_unit_test(test_presence_and_frequency_lower_what_was_picked),
    cmocka_unit_test(test_greedy_takes_the_lowest_id_among_equals),
    cmocka_unit_test(test_top_1_is_greedy_at_any_temperature),
    cmocka_unit_test(test_equal_seeds_give_equal_tokens),
    cmocka_unit_test(test_the_generator_is_the_documented_one),
    cmocka_unit_test(test_frequencies_follow_the_softmax),
    cmocka_unit_test(test_top_k_keeps_the_k_best),
    cmocka_unit_test(test_top_p_keeps_the_shortest_sufficient_prefix),
    cmocka_unit_test(test_min_p_keeps_what_is_likely_enough_beside_the_best),
    cmocka_unit_test(test_candidates_of_a_large_vocabulary_are_in_order),
    cmocka_unit_test(test_repeat_penalty_divides_positive_logits_once_and_multiplies_negative_ones),
    cmocka_unit_test(test_repeat_penalty_forgets_what_is_further_back),
};

int main(void)
{
    return HXT_RUN(tests);
}
