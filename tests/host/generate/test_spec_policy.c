/* Protects the policy of speculation (host/generate/spec.h), which needs no model: drawn tokens have the model's distribution, steps ask
 * for as many guesses as they should, and the law is what it says. */
#include <errno.h>
#include <math.h>

#include "generate/spec.h"
#include "hxt.h"

enum { SMALL = 12, DRAWS = 100000 };

/* These are asked for nothing: a test makes their guesses. */
static int never(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room, struct hx_draft_tree *out,
                 struct hx_error *err)
{
    (void)d;
    (void)ids;
    (void)n;
    (void)room;
    (void)out;
    return hx_error_set(err, -EIO, "asked for guesses");
}

static const struct hx_draft_ops chooser_ops = {.name = "chooser", .chooses = 1, .propose = never};
static const struct hx_draft_ops silent_ops = {.name = "silent", .propose = never};

/* One token as a step makes it: guessed with `q`, verified with `p`. */
static uint32_t guessed_token(struct hx_spec *spec, struct hx_sampler *s, const float *p, const float *q, int *right)
{
    struct hx_draft_room room = {.n = 1, .depth = 1, .vocab = SMALL};
    struct hx_draft_tree t = {.n = 0};
    float logits[SMALL];
    uint32_t id;

    assert_int_equal(hx_spec_room(spec, &room), 1);
    memcpy(logits, q, sizeof(logits));
    hx_draft_add_chosen(&t, &room, logits);
    hx_draft_prune(&t, room.thresh);
    if (t.n) {
        hx_sampler_distribution(s, p, hx_spec_scratch(spec));
        id = hx_sampler_verify(s, hx_spec_scratch(spec), hx_spec_drawn_from(spec, 0), t.id[0]);
        *right += id == t.id[0];
    } else {
        id = hx_sampler_pick(s, p);
    }
    return id;
}

/* Of the counts under the probabilities; *cells: with any. */
static double chi_square(const size_t *count, const float *p, size_t *cells)
{
    double sum = 0;

    *cells = 0;
    for (size_t i = 0; i < SMALL; i++) {
        const double want = (double)p[i] * DRAWS, off = (double)count[i] - want;

        if (!(p[i] > 0)) {
            assert_int_equal(count[i], 0);
            continue;
        }
        sum += off * off / want;
        ++*cells;
    }
    return sum;
}

/* Critical values of chi-square at p = 0.01 with 1, 2, ... degrees of freedom. */
static const double critical[] = {6.635, 9.210, 11.345, 13.277, 15.086, 16.812, 18.475, 20.090, 21.666, 23.209, 24.725};

static void check_distribution(const struct hx_sampler_cfg *cfg, float thresh)
{
    static const float p[SMALL] = {1.2f, -0.3f, 0.8f, 2.0f, -1.5f, 0.1f, 0.4f, -2.2f, 1.7f, 0.0f, -0.6f, 0.9f};
    static const float q[SMALL] = {2.1f, 0.3f, -0.8f, 1.0f, 0.5f, -1.1f, 0.4f, 1.2f, 1.6f, -0.4f, -2.6f, 0.2f};
    const struct hx_spec_cfg spec_cfg = {.batch = 1, .thresh = (double)thresh};
    struct hx_sampler *s = hx_sampler_open(cfg, SMALL);
    struct hx_draft draft = {.ops = &chooser_ops};
    const struct hx_spec_of of = {&draft, s, cfg, SMALL, 0, {0, 0}};
    size_t count[SMALL] = {0}, cells;
    struct hx_spec *spec;
    float want[SMALL];
    double chi;
    int right = 0;

    assert_int_equal(hx_spec_open(&spec, &spec_cfg, &of), 0);
    for (int i = 0; i < DRAWS; i++)
        count[guessed_token(spec, s, p, q, &right)]++;
    hx_sampler_distribution(s, p, want);
    chi = chi_square(count, want, &cells);
    if (chi > critical[cells - 2])
        fail_msg("temp %g, top-k %zu, top-p %g, threshold %g: chi-square %.2f of %zu cells, %.2f is the limit", cfg->temp, cfg->top_k,
                 cfg->top_p, (double)thresh, chi, cells, critical[cells - 2]);
    assert_true(right > DRAWS / 100 && right < DRAWS);
    hx_spec_close(spec);
    hx_sampler_close(s);
}

static void test_drawn_tokens_have_the_models_distribution(void **state)
{
    static const struct hx_sampler_cfg cfgs[] = {
        {.temp = 1, .top_p = 1, .seed = 1},
        {.temp = 0.7, .top_p = 1, .top_k = 6, .seed = 2},
        {.temp = 1.3, .top_p = 0.8, .seed = 3},
        {.temp = 1, .top_p = 0.95, .min_p = 0.1, .top_k = 9, .seed = 4},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cfgs); i++) {
        check_distribution(&cfgs[i], 0);
        check_distribution(&cfgs[i], 0.15f);
    }
}

/* --- the policy */

/* A step with so many guesses, of which so many were right. */
static size_t step(struct hx_spec *s, size_t proposed, size_t accepted)
{
    struct hx_draft_tree t = {.n = proposed};

    for (size_t i = 0; i < proposed; i++)
        t.parent[i] = (int)i - 1;
    hx_spec_drafted(s, 0.5, &t);
    hx_spec_stepped(s, 0.25, &t, accepted + 1);
    return hx_spec_stats(s)->final_batch;
}

static struct hx_spec *open_costly(const struct hx_spec_cfg *cfg, const struct hx_draft_ops *ops, struct hx_batch_cost cost)
{
    static const struct hx_sampler_cfg sampling = {.top_p = 1};
    struct hx_draft draft = {.ops = ops};
    const struct hx_spec_of of = {&draft, NULL, &sampling, SMALL, 0, cost};
    struct hx_spec *s;

    assert_int_equal(hx_spec_open(&s, cfg, &of), 0);
    return s;
}

static struct hx_spec *open_policy(const struct hx_spec_cfg *cfg)
{
    return open_costly(cfg, &silent_ops, (struct hx_batch_cost){0, 0});
}

static void test_the_batch_follows_what_was_right(void **state)
{
    struct hx_spec *s = open_policy(&(struct hx_spec_cfg){.batch = 4, .adapt = 1});

    (void)state;
    assert_int_equal(step(s, 4, 4), 5);
    assert_int_equal(step(s, 5, 3), 5); /* at least half */
    assert_int_equal(step(s, 0, 0), 5); /* there was none */
    assert_int_equal(step(s, 5, 2), 3);
    assert_int_equal(step(s, 3, 0), 1);
    assert_int_equal(step(s, 1, 1), 2);
    for (int i = 0; i < 20; i++)
        step(s, hx_spec_stats(s)->final_batch, hx_spec_stats(s)->final_batch);
    assert_int_equal(hx_spec_stats(s)->final_batch, HX_SPEC_ADAPT_MOST);
    hx_spec_close(s);
    s = open_policy(&(struct hx_spec_cfg){.batch = 4});
    assert_int_equal(step(s, 4, 4), 4);
    assert_int_equal(step(s, 4, 0), 4);
    assert_int_equal(hx_spec_stats(s)->proposed, 8);
    assert_int_equal(hx_spec_stats(s)->accepted, 4);
    assert_int_equal(hx_spec_stats(s)->emitted, 6);
    assert_int_equal(hx_spec_stats(s)->pass[4].n, 2);
    assert_int_equal(hx_spec_stats(s)->wrong, 1);
    hx_spec_close(s);
}

/* Of five guesses that were compared four were right, whatever stood behind the wrong one. */
static void test_the_law_takes_the_share_of_guesses_that_were_compared(void **state)
{
    struct hx_spec *s = open_policy(&(struct hx_spec_cfg){.batch = 4});
    const struct hx_spec_stats *n = hx_spec_stats(s);

    (void)state;
    assert_true(hx_spec_share_right(n) == 0 && hx_spec_law(n) == 0);
    step(s, 4, 3);
    step(s, 1, 1);
    step(s, 0, 0);
    assert_true(fabs(hx_spec_share_right(n) - 0.8) < 1e-12);
    assert_true(fabs(hx_spec_law(n) - (hx_spec_expected(0.8, 4) + hx_spec_expected(0.8, 1) + 1) / 3) < 1e-12);
    hx_spec_close(s);
}

static void test_the_law_is_a_sum_of_powers(void **state)
{
    (void)state;
    assert_true(fabs(hx_spec_expected(0.808, 4) - (1 - pow(0.808, 5)) / (1 - 0.808)) < 1e-12);
    assert_true(hx_spec_expected(1, 4) == 5);
    assert_true(hx_spec_expected(0, 4) == 1);
}

static void test_unlikely_guesses_and_what_follows_them_are_left_out(void **state)
{
    struct hx_draft_tree t = {.id = {1, 2, 3, 4, 5}, .parent = {-1, 0, -1, 2, 1}, .p = {0.5f, 0.2f, 0.4f, 0, 0.9f}, .n = 5};

    (void)state;
    hx_draft_prune(&t, 0.3f);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.id[1], 3);
    assert_int_equal(t.parent[1], -1);
    assert_int_equal(t.id[2], 4);
    assert_int_equal(t.parent[2], 1);
}

/* Of guesses of which each is worth its row, those that make most tokens in a pass's time; nothing but what a drafter says decides. */
static void test_guesses_that_cost_more_than_they_make_are_left_out(void **state)
{
    static const struct {
        struct hx_batch_cost cost;
        float p[4];
        int parent[4];
        size_t kept;
    } cases[] = {
        {{0.4f, 0.25f}, {0.39f}, {-1, 0, 1, 2}, 0},                     /* 1.39 tokens in 1.4 */
        {{0.4f, 0.25f}, {0.41f}, {-1, 0, 1, 2}, 1},
        {{0.4f, 0.25f}, {0.38f, 1, 1, 1}, {-1, 0, 1, 2}, 4},            /* 2.52 in 2.15; the first alone would not do */
        {{0.4f, 0.25f}, {0.8f, 0.8f, 0.3f, 0.2f}, {-1, 0, 1, 2}, 2},    /* 2.44 in 1.65, 2.63 in 1.9 */
        {{0.92f, 0.92f}, {0.9f, 0.9f, 0.9f, 0.9f}, {-1, 0, 1, 2}, 0},
        {{0.92f, 0.92f}, {0, 0, 0, 0}, {-1, 0, 1, 2}, 4},               /* the drafter does not say */
        {{0, 0}, {0.01f, 0.01f, 0.01f, 0.01f}, {-1, 0, 1, 2}, 4},       /* rows cost nothing */
        {{0.4f, 0.25f}, {0.5f, 0.3f, 0.1f, 0.1f}, {-1, -1, -1, 0}, 2},  /* a tree: 1.8 in 1.65, 1.9 in 1.9 */
        {{0.4f, 0.25f}, {0.5f, 0.3f, 0.9f, 0.9f}, {-1, -1, 0, 2}, 4},   /* 1 + .5 + .3 + .45 + .405 in 2.15 */
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_spec *s = open_costly(&(struct hx_spec_cfg){.batch = 4, .thresh = 0.01, .adapt = 1}, &silent_ops, cases[i].cost);
        struct hx_draft_tree t = {.id = {1, 2, 3, 4}, .n = cases[i].p[1] > 0 || cases[i].p[0] == 0 ? 4 : 1};

        memcpy(t.p, cases[i].p, sizeof(cases[i].p));
        memcpy(t.parent, cases[i].parent, sizeof(cases[i].parent));
        hx_spec_pay(s, &t);
        if (t.n != cases[i].kept)
            fail_msg("case %zu: %zu guesses stay, %zu pay", i, t.n, cases[i].kept);
        hx_spec_close(s);
    }
}

/* As many as were asked for where that was asked for; and who draws is not asked what he thinks of what he has drawn. */
static void test_dear_guesses_stay_where_a_step_is_to_have_them(void **state)
{
    static const struct hx_batch_cost dear = {0.92f, 0.92f};
    struct hx_spec *const s[] = {open_costly(&(struct hx_spec_cfg){.batch = 4, .thresh = 0.45}, &silent_ops, dear),
                                 open_costly(&(struct hx_spec_cfg){.batch = 4, .adapt = 1}, &silent_ops, dear),
                                 open_costly(&(struct hx_spec_cfg){.batch = 4, .thresh = 0.45, .adapt = 1, .alone = 1}, &silent_ops, dear),
                                 open_costly(&(struct hx_spec_cfg){.batch = 4, .thresh = 0.45, .adapt = 1}, &chooser_ops, dear)};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(s); i++) {
        struct hx_draft_tree t = {.id = {1, 2}, .parent = {-1, 0}, .p = {0.5f, 0.5f}, .n = 2};

        hx_spec_pay(s[i], &t);
        assert_int_equal(t.n, 2);
        hx_spec_close(s[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drawn_tokens_have_the_models_distribution),
        cmocka_unit_test(test_the_batch_follows_what_was_right),
        cmocka_unit_test(test_guesses_that_cost_more_than_they_make_are_left_out),
        cmocka_unit_test(test_dear_guesses_stay_where_a_step_is_to_have_them),
        cmocka_unit_test(test_the_law_takes_the_share_of_guesses_that_were_compared),
        cmocka_unit_test(test_the_law_is_a_sum_of_powers),
        cmocka_unit_test(test_unlikely_guesses_and_what_follows_them_are_left_out),
    };

    return HXT_RUN(tests);
}
