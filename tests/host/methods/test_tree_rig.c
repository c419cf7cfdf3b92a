/* Protects trees of guesses in every cache, here and on a real rig: the text is that without a drafter, a batch makes the calls of one
 * token, and what is kept of it is moved, not coded again.  Caches that take no trees say so. */
#include <errno.h>

#include "comb_draft.h"
#include "hx_rig.h"
#include "methods/spinor/kv_spinor.h"
#include "own_rig.h"
#include "spec_texts.h"

enum { N = 26 };

static struct spec_prompts prompts;

static int start(void **state)
{
    spec_prompts_read(&prompts);
    return own_rig_start(state);
}

static int stop(void **state)
{
    spec_prompts_free(&prompts);
    return own_rig_stop(state);
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

    return hx_rig_session_stats(&s) ? 0 : s.invokes + s.packets;
}

/* Of a text with the comb: steps behind the prompt, and what they sent. */
struct drafted {
    size_t steps;
    uint64_t sent;
};

static struct drafted make_text(struct hx_engine *e, struct comb_draft *comb, const struct hx_completion_cfg *cfg)
{
    struct drafted d = {0, 0};
    struct hx_completion c;
    struct hx_error err;
    int more;

    if (hx_completion_open(&c, e, cfg, &err))
        fail_msg("%s", err.text);
    while (!hx_completion_prefilled(&c))
        assert_int_equal(hx_completion_step(&c, &err), 1);
    d.sent = sent();
    while ((more = hx_completion_step(&c, &err)) > 0)
        ;
    if (more || *hx_spec_stats(c.g.spec)->off)
        fail_msg("%s", more ? err.text : hx_spec_stats(c.g.spec)->off);
    d.sent = sent() - d.sent;
    d.steps = c.steps;
    assert_memory_equal(c.ids, comb->text, comb->n * sizeof(*c.ids));
    hx_completion_close(&c);
    return d;
}

/* kv: settings of a cache.  The engine's own drafter makes room for trees; the comb takes its place. */
static struct drafted check_cache(const char *const *kv, size_t n, struct comb_draft *comb)
{
    const char *const more[] = {"draft=swarm:2", "ott-tokens=8", "spec-warmup=1", "spec-thresh=0", NULL};
    struct hx_engine *e = spec_engine(kv, NULL);
    const struct hx_completion_cfg cfg = greedy_cfg(1, n);
    static uint32_t ids[SPEC_CTX];
    struct spec_text want;
    struct hx_draft *own;
    struct drafted d;

    spec_text(&want, e, &cfg);
    hx_engine_close(e);
    memcpy(ids, cfg.prompt, cfg.n_prompt * sizeof(*ids));
    memcpy(ids + cfg.n_prompt, want.ids, n * sizeof(*ids));
    e = spec_engine(kv, more);
    *comb = (struct comb_draft){.draft = {&comb_ops}, .text = ids, .n = cfg.n_prompt + n, .vocab = e->model->vocab};
    own = e->draft;
    e->draft = &comb->draft;
    d = make_text(e, comb, &cfg);
    if (comb->moved < 2 || d.steps >= n * 2 / 3)
        fail_msg("%s %s: %zu paths were moved in %zu steps for %zu tokens", kv[0], kv[1] ? kv[1] : "", comb->moved, d.steps, n);
    e->draft = own;
    hx_engine_close(e);
    return d;
}

static void test_trees_here_leave_texts_as_they_are(void **state)
{
    static const char *const kvs[][3] = {{"kv=f32"}, {"kv=spinor-cpu"}, {"kv=spinor-cpu", "k-rope=post"}, {"kv=banded"}, {"kv=ntt"},
                                         {"kv=ntt", "attn=flash"}, {"kv=banded", "banded-v=f32"}};
    struct comb_draft comb;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(kvs); i++)
        check_cache(kvs[i], N, &comb);
}

/* Pages of 8 positions, so that trees lie on both sides of where one ends. */
static void test_trees_in_a_paged_cache(void **state)
{
    static const char *const kv[] = {"kv=spinor-cpu", "page-kv", "page-positions=8", NULL};
    struct comb_draft comb;

    (void)state;
    check_cache(kv, N, &comb);
}

static void test_a_tree_makes_the_calls_of_one_token_and_nothing_is_coded_again(void **state)
{
    static const struct {
        const char *set[3];
        uint64_t calls, keep; /* of one token behind others; of a path that is moved */
    } cases[] = {
        {{"kv=spinor", "density=batched"}, 12, 0}, {{"kv=spinor", "density=per-token"}, 2, 0}, {{"kv=spinor", "density=queue"}, 1, 0},
        {{"kv=spinor", "packets"}, 12, 0},         {{"kv=banded", "offload=kv"}, 12, 0},       {{"kv=ntt", "offload=kv"}, 12, 1},
        {{"kv=f32", "offload=linear"}, 25, 0},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct comb_draft comb;
        const struct drafted d = check_cache(cases[i].set, N, &comb);
        const uint64_t want = d.steps * cases[i].calls + comb.moved * cases[i].keep;

        if (d.sent != want)
            fail_msg("%s %s: %llu calls in %zu steps, not %llu", cases[i].set[0], cases[i].set[1], (unsigned long long)d.sent, d.steps,
                     (unsigned long long)want);
    }
}

/* Position by position, of which a tree has more than its path: an encode and a decode for each of its entries and layers. */
static void test_trees_at_densities_that_go_by_position(void **state)
{
    static const char *const kvs[][3] = {{"kv=spinor", "density=per-vector"}, {"kv=spinor", "density=per-layer"}};
    struct comb_draft comb;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(kvs); i++)
        check_cache(kvs[i], 10, &comb);
}

/* The DSP holds the first 10 positions: paths go from here to there. */
static void test_trees_of_which_the_dsp_holds_a_part(void **state)
{
    static const char *const kv[] = {"kv=ntt", "offload=kv", "ring-ddr=120", NULL};
    struct comb_draft comb;

    (void)state;
    check_cache(kv, N, &comb);
}

static void test_keys_on_the_dsp_are_transformed_once(void **state)
{
    static const char *const set[] = {"kv=ntt", "offload=kv", "draft=swarm:4", "spec-thresh=0", "ott-tokens=400", NULL};
    struct hx_engine *e = spec_engine(set, NULL);
    const struct hx_completion_cfg cfg = greedy_cfg(1, N);
    struct spec_text t;
    double keys;

    (void)state;
    spec_text(&t, e, &cfg);
    assert_true(t.stats.accepted > 0 && t.stats.verified > t.stats.proposed);
    keys = hxt_reported(e, "poly", "ntt_fwd") - hxt_reported(e, "poly", "q_ntt");
    assert_true(keys == hxt_reported(e, "poly", "tokens") * (double)(e->model->n_layer * e->model->n_kv));
    hx_engine_close(e);
}

static void test_caches_without_trees_refuse_them_by_name(void **state)
{
    static const char *const kvs[][3] = {{"kv=spinor", "offload=attn"}, {"kv=f32", "offload=layer"}};
    static const char *const names[] = {"spinor-attn", "layer"};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(kvs); i++) {
        const char *const more[] = {"draft=swarm:4", NULL};
        const struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .share = HXT_SRC "/host/data", .settings = spec_settings(kvs[i], more)};
        struct hx_engine *e;
        struct hx_error err = {""};

        assert_int_equal(hx_engine_open(&e, &cfg, &err), -EINVAL);
        assert_string_equal(err.text, hxt_path("draft swarm proposes trees of tokens, and kv %s takes tokens in a row only", names[i]));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_trees_here_leave_texts_as_they_are),
    cmocka_unit_test(test_trees_in_a_paged_cache),
    cmocka_unit_test(test_a_tree_makes_the_calls_of_one_token_and_nothing_is_coded_again),
    cmocka_unit_test(test_trees_at_densities_that_go_by_position),
    cmocka_unit_test(test_trees_of_which_the_dsp_holds_a_part),
    cmocka_unit_test(test_keys_on_the_dsp_are_transformed_once),
    cmocka_unit_test(test_caches_without_trees_refuse_them_by_name),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, start, stop);
}
