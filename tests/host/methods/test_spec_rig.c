/* Protects speculation against a real rig: caches on the DSP take guesses back at every density and keep the bits of a text without
 * guesses; a step makes the calls of one token, whatever it verifies; a DSP that dies in the middle of one costs an error and no
 * wrong token; calls and modelled time per token of the text go down as the law says.  HEXRIG_SPEC_ALL=1: all 20 golden prompts, 64
 * tokens each. */
#include <errno.h>
#include <math.h>
#include <signal.h>

#include "hx_rig.h"
#include "hxt_each.h"
#include "methods/spinor/kv_spinor.h"
#include "own_rig.h"
#include "spec_texts.h"

static struct spec_prompts prompts;

static int start(void **state)
{
    spec_prompts_read(&prompts);
    own_rig_profile = "s22u-577";
    return own_rig_start(state);
}

static int stop(void **state)
{
    spec_prompts_free(&prompts);
    return own_rig_stop(state);
}

static int all_of_them(void)
{
    return getenv("HEXRIG_SPEC_ALL") != NULL;
}

static struct hx_completion_cfg greedy_cfg(size_t prompt, size_t n)
{
    return (struct hx_completion_cfg){.prompt = prompts.at[prompt].ids, .n_prompt = prompts.at[prompt].n, .n_max = n,
                                      .sampling = {.top_p = 1}};
}

/* Calls and packets together. */
static uint64_t sent(void)
{
    struct hx_session_stats s;

    assert_int_equal(hx_rig_session_stats(&s), 0);
    return s.invokes + s.packets;
}

/* --- texts */

static const char *const drafters[] = {"draft=bigram", "draft=lookup", "draft=perfect"};

static void check_cache(const char *const *kv, size_t n_texts, size_t n)
{
    static struct spec_text want[32];
    struct hx_engine *e = spec_engine(kv, NULL);

    for (size_t i = 0; i < n_texts; i++) {
        const struct hx_completion_cfg cfg = greedy_cfg(i, n);

        spec_text(&want[i], e, &cfg);
    }
    hx_engine_close(e);
    for (size_t d = 0; d < (all_of_them() ? HXT_LEN(drafters) : 1); d++) {
        const char *const more[] = {drafters[d], "spec-thresh=0", "spec-warmup=1", "spec-adapt=off", NULL};
        size_t proposed = 0;
        char what[192];

        snprintf(what, sizeof(what), "%s %s %s", kv[0], kv[1] ? kv[1] : "", drafters[d]); /* kv is of hxt_path(), which lives so long */
        e = spec_engine(kv, more);
        for (size_t i = 0; i < n_texts; i++) {
            const struct hx_completion_cfg cfg = greedy_cfg(i, n);
            struct spec_text got;

            spec_text(&got, e, &cfg);
            spec_same(&got, &want[i], what);
            proposed += got.stats.proposed;
        }
        assert_true(proposed >= n);
        hx_engine_close(e);
    }
}

static void test_every_density_takes_guesses_back(void **state)
{
    (void)state;
    for (size_t i = 0; hx_kv_spinor_densities[i]; i++) {
        const int by_piece = strcmp(hx_kv_spinor_densities[i], "per-vector") == 0 || strcmp(hx_kv_spinor_densities[i], "per-layer") == 0;

        check_cache(HXT_SETTINGS("kv=spinor", hxt_setting("density", hx_kv_spinor_densities[i])), all_of_them() ? prompts.n : 1,
                    all_of_them() ? 64 : by_piece ? 12 : 24);
    }
}

static void test_other_caches_on_the_dsp_take_guesses_back(void **state)
{
    static const char *const kvs[][3] = {{"kv=ntt", "offload=kv"}, {"kv=spinor", "offload=attn"}, {"kv=banded", "offload=kv"},
                                         {"kv=f32", "offload=argmax"}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(kvs); i++)
        check_cache(kvs[i], all_of_them() ? prompts.n : 1, all_of_them() ? 64 : 16);
}

/* --- calls */

static void test_a_step_makes_the_calls_of_one_token(void **state)
{
    static const struct {
        const char *set[3];
        uint64_t calls; /* of one token behind others */
    } cases[] = {
        {{"kv=spinor", "density=batched"}, 12},   {{"kv=spinor", "density=per-token"}, 2}, {{"kv=spinor", "density=queue"}, 1},
        {{"kv=spinor", "offload=attn"}, 6},       {{"kv=ntt", "offload=kv"}, 12},          {{"kv=f32", "offload=linear"}, 25},
        {{"kv=f32", "offload=argmax"}, 1},        {{"kv=f32", "offload=layer"}, 6},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        const char *const more[] = {"draft=bigram", "spec-thresh=0", NULL};
        struct hx_engine *e = spec_engine(cases[i].set, more);
        const struct hx_completion_cfg cfg = greedy_cfg(1, 20);
        struct hx_completion c;
        struct hx_error err;
        uint64_t before, steps;

        assert_int_equal(hx_completion_open(&c, e, &cfg, &err), 0);
        while (!hx_completion_prefilled(&c))
            assert_int_equal(hx_completion_step(&c, &err), 1);
        before = sent();
        while (hx_completion_step(&c, &err) > 0)
            ;
        assert_int_equal(c.finish, HX_FINISH_LENGTH);
        assert_true(hx_engine_batch_cost(e).second == 0); /* so no guess is left out for its row */
        steps = c.steps;
        if (sent() - before != steps * cases[i].calls)
            fail_msg("%s %s: %llu calls in %llu steps, %llu each are one token's", cases[i].set[0], cases[i].set[1],
                     (unsigned long long)(sent() - before), (unsigned long long)steps, (unsigned long long)cases[i].calls);
        assert_true(hx_spec_stats(c.g.spec)->accepted > 0 && steps < cfg.n_max);
        hx_completion_close(&c);
        hx_engine_close(e);
    }
}

/* --- the law */

/* It knows the text, and each of its guesses is right with probability `right`, whatever became of the others. */
struct known {
    struct hx_draft draft; /* first */
    const struct spec_text *text;
    size_t n_prompt;
    double right;
    uint64_t state; /* of a linear congruence, Knuth's MMIX */
};

static int guess(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room, struct hx_draft_tree *t,
                 struct hx_error *err)
{
    struct known *k = (struct known *)d;
    int more = 1;

    (void)ids;
    (void)err;
    for (size_t i = n - k->n_prompt; more && i < k->text->n; i++) {
        k->state = k->state * 6364136223846793005u + 1442695040888963407u;
        more = hx_draft_add(t, room, (double)(k->state >> 40) < k->right * 0x1p24 ? k->text->ids[i] : k->text->ids[i] ^ 1, 0);
    }
    return 0;
}

/* What texts cost, all of them together. */
struct bill {
    double calls, us;
};

static void pay(struct bill *b, double sign)
{
    struct hx_session_stats s;

    assert_int_equal(hx_rig_session_stats(&s), 0);
    b->calls += sign * (double)s.invokes;
    b->us += sign * 1e-3 * (double)(s.dispatch_ns + s.marshal_ns + s.queue_ns + s.exec_ns);
}

/* The text of a prompt; its own tokens are not on the bill. */
static void buy(struct hx_engine *e, size_t prompt, struct spec_text *t, struct bill *b)
{
    const struct hx_completion_cfg cfg = greedy_cfg(prompt, SPEC_MOST);
    struct hx_completion c;
    struct hx_error err = {""};
    int more = 1;

    assert_int_equal(hx_completion_open(&c, e, &cfg, &err), 0);
    while (more > 0 && !hx_completion_prefilled(&c))
        more = hx_completion_step(&c, &err);
    pay(b, -1);
    while (more > 0)
        more = hx_completion_step(&c, &err);
    pay(b, 1);
    if (more < 0)
        fail_msg("%s", err.text);
    *t = (struct spec_text){.n = c.n_made, .steps = c.steps};
    memcpy(t->ids, c.ids + cfg.n_prompt, c.n_made * sizeof(*t->ids));
    if (c.g.spec)
        t->stats = *hx_spec_stats(c.g.spec);
    hx_completion_close(&c);
}

enum { LAW_TEXTS = 8, LAW_GUESSES = 4 };

static void check_law(const char *density, double right)
{
    static const struct hx_draft_ops ops = {.name = "known", .propose = guess};
    static const char *const more[] = {"draft=lookup", "spec-thresh=0", "spec-warmup=0", "spec-adapt=off", "spec-batch=4", NULL};
    struct hx_engine *e[2] = {spec_engine(HXT_SETTINGS("kv=spinor", density), NULL), spec_engine(HXT_SETTINGS("kv=spinor", density), more)};
    struct hx_draft *own = e[1]->draft;
    struct hx_spec_stats sum = {0};
    struct known k = {.draft = {&ops}, .right = right, .state = 19};
    struct bill plain = {0, 0}, drafted = {0, 0};
    double tokens;

    e[1]->draft = &k.draft;
    for (size_t i = 0; i < LAW_TEXTS; i++) {
        struct spec_text want, got;

        buy(e[0], i, &want, &plain);
        k.text = &want;
        k.n_prompt = prompts.at[i].n;
        buy(e[1], i, &got, &drafted);
        spec_same(&got, &want, "known");
        sum.accepted += got.stats.accepted;
        sum.wrong += got.stats.wrong;
    }
    tokens = hx_spec_expected(hx_spec_share_right(&sum), LAW_GUESSES);
    print_message("%s: %.3f of guesses right; %.3f tokens a step by the law, %.3f by calls, %.3f by modelled time\n", density,
                  hx_spec_share_right(&sum), tokens, plain.calls / drafted.calls, plain.us / drafted.us);
    assert_true(plain.calls > 0 && plain.us > 0);
    assert_true(fabs(plain.calls / drafted.calls / tokens - 1) < 0.05);
    assert_true(fabs(plain.us / drafted.us / tokens - 1) < 0.10);
    e[1]->draft = own;
    hx_engine_close(e[1]);
    hx_engine_close(e[0]);
}

/* Under the profile with 577 calls a second, at which a batch costs what a token does. */
static void test_calls_and_time_per_token_follow_the_law(void **state)
{
    (void)state;
    if (HXT_ALL_ROWS)
        check_law("density=batched", 0.8);
    check_law("density=per-token", 0.6);
}

/* --- a DSP that dies */

/* Kills it once, in the middle of a batch with guesses. */
struct killer {
    struct hx_tap tap;
    int done;
};

static int kill_dsp(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err)
{
    struct killer *k = (struct killer *)t;

    (void)rows;
    (void)err;
    if (k->done || at->n < 2 || at->layer != 2 || at->pos[0] < 8)
        return 0;
    k->done = 1;
    assert_true(own_rig_dsp() > 1);
    return kill(own_rig_dsp(), SIGKILL);
}

static int let_go(struct hx_tap *t, struct hx_error *err)
{
    (void)t;
    (void)err;
    return 0;
}

static int opens(void *arg)
{
    struct hx_engine **e = arg;
    static struct hx_error err;
    const int rc = hx_engine_open(e, &(struct hx_engine_cfg){.model = MODEL_Q8_0, .share = HXT_SRC "/host/data", .n_ctx = SPEC_CTX,
                                                     .settings = HXT_SETTINGS("kv=spinor", "draft=bigram", "spec-thresh=0")},
                          &err);

    if (rc)
        print_message("%s\n", err.text);
    return rc == 0;
}

static void test_a_dsp_that_dies_while_guesses_are_verified_emits_nothing_wrong(void **state)
{
    static const struct hx_tap_ops ops = {.name = "killer", .at = kill_dsp, .close = let_go};
    struct killer k = {.tap = {&ops, 1u << HX_TAP_AFTER_FFN}};
    struct hx_tap *const taps[] = {&k.tap, NULL};
    struct hx_engine *e = spec_engine(HXT_SETTINGS("kv=spinor"), NULL);
    struct hx_completion_cfg cfg = greedy_cfg(1, 32);
    struct spec_text want, got, rest;
    struct hx_error err = {""};
    uint32_t ids[64];

    (void)state;
    spec_text(&want, e, &cfg);
    hx_engine_close(e);
    assert_int_equal(opens(&e), 1);
    assert_int_equal(hx_forward_use(e->forward, &(struct hx_forward_parts){.matrices = &e->core->matrices, .kernels = e->core->kernels,
                                                                           .taps = taps}, &err), 0);
    assert_int_equal(spec_make(&got, e, &cfg, &err), -EIO);
    assert_int_equal(k.done, 1);
    assert_non_null(strstr(err.text, "kv spinor"));
    assert_true(got.n > 0 && got.n < want.n);
    assert_memory_equal(got.ids, want.ids, got.n * sizeof(*want.ids));
    hx_engine_close(e);

    if (!hxt_until(opens, &e, 60)) /* the text goes on where it was */
        fail_msg("no new session");
    memcpy(ids, cfg.prompt, cfg.n_prompt * sizeof(*ids));
    memcpy(ids + cfg.n_prompt, got.ids, got.n * sizeof(*ids));
    cfg.prompt = ids;
    cfg.n_prompt += got.n;
    cfg.n_max -= got.n;
    spec_text(&rest, e, &cfg);
    assert_memory_equal(rest.ids, want.ids + got.n, rest.n * sizeof(*want.ids));
    assert_int_equal(rest.n + got.n, want.n);
    hx_engine_close(e);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_density_takes_guesses_back),
    cmocka_unit_test(test_other_caches_on_the_dsp_take_guesses_back),
    cmocka_unit_test(test_a_step_makes_the_calls_of_one_token),
    cmocka_unit_test(test_calls_and_time_per_token_follow_the_law),
    cmocka_unit_test(test_a_dsp_that_dies_while_guesses_are_verified_emits_nothing_wrong),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, start, stop);
}
