/* Protects speculation (host/generate/spec.h) with models: greedy texts are those without a drafter, whatever drafter and cache; a
 * drafter that fails costs no text; what is not verified is called so.  HEXRIG_SPEC_ALL=1: all 20 golden prompts, 64 tokens each. */
#include <errno.h>
#include <math.h>

#include "gen_model.h"
#include "generate/spec_along.h"
#include "hxt_each.h"
#include "spec_texts.h"

static struct spec_prompts prompts;

static int read_prompts(void **state)
{
    (void)state;
    spec_prompts_read(&prompts);
    return setenv("XDG_CACHE_HOME", hxt_tmpdir(), 1); /* of gp's thin matrices */
}

static int free_prompts(void **state)
{
    (void)state;
    spec_prompts_free(&prompts);
    return 0;
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

/* --- greedy texts */

#define DRAFT_F16 "draft=model:" MODEL_F16
static const char *const drafters[] = {"draft=lookup", "draft=bigram", "draft=perfect", DRAFT_F16, "draft=gp:128"};
static const char *const caches[] = {"kv=f32", "kv=spinor-cpu", "kv=ntt", "kv=banded"};

static void check_drafter(const char *kv, const char *draft, const struct spec_text *want, size_t n_texts, size_t n)
{
    const char *const base[] = {kv, draft, "spec-thresh=0.1", NULL};
    struct hx_engine *e = spec_engine(base, NULL);
    uint64_t proposed = 0, accepted = 0;

    for (size_t i = 0; i < n_texts; i++) {
        const struct hx_completion_cfg cfg = greedy_cfg(i, n);
        struct spec_text got;

        spec_text(&got, e, &cfg);
        spec_same(&got, &want[i], draft);
        assert_int_equal(got.stats.emitted, n);
        assert_int_equal(got.stats.steps, got.steps);
        assert_int_equal(got.stats.emitted, got.steps + got.stats.accepted); /* each step has one token of the model's own */
        assert_string_equal(got.stats.off, "");
        proposed += got.stats.proposed;
        accepted += got.stats.accepted;
    }
    if (!accepted || accepted > proposed)
        fail_msg("%s %s: %llu of %llu guesses", kv, draft, (unsigned long long)accepted, (unsigned long long)proposed);
    if (strstr(draft, "perfect"))
        assert_int_equal(accepted, proposed);
    hx_engine_close(e);
}

static void test_greedy_texts_are_those_without_a_drafter(void **state)
{
    const size_t n_texts = all_of_them() ? prompts.n : 2, n = all_of_them() ? 64 : 28;
    static struct spec_text want[32];

    (void)state;
    for (size_t k = 0; k < HXT_LEN(caches); k++) {
        struct hx_engine *e = spec_engine(HXT_SETTINGS(caches[k]), NULL);

        for (size_t i = 0; i < n_texts; i++) {
            const struct hx_completion_cfg cfg = greedy_cfg(i, n);

            spec_text(&want[i], e, &cfg);
        }
        hx_engine_close(e);
        for (size_t d = 0; d < HXT_LEN(drafters); d += HXT_EACH)
            check_drafter(caches[k], drafters[d], want, n_texts, n);
    }
}

/* Penalties are part of a choice, and a drafter that chooses has them, too. */
static void test_a_twin_guesses_right_with_penalties(void **state)
{
    struct hx_engine *plain = spec_engine(HXT_SETTINGS("kv=f32", "attnres"), NULL); /* nor does a tap that changes states matter */
    struct hx_engine *e = spec_engine(HXT_SETTINGS("kv=f32", "attnres", "draft=perfect"), NULL);
    struct hx_completion_cfg cfg = greedy_cfg(0, 40);
    struct spec_text want, got;

    (void)state;
    cfg.sampling.repeat_penalty = 1.1;
    cfg.sampling.repeat_last = 64;
    cfg.sampling.presence_penalty = 0.3;
    spec_text(&want, plain, &cfg);
    spec_text(&got, e, &cfg);
    spec_same(&got, &want, "perfect");
    assert_int_equal(got.stats.accepted, got.stats.proposed);
    assert_true(got.steps < 12);
    hx_engine_close(e);
    hx_engine_close(plain);
}

/* --- drawn texts */

static void test_who_does_not_draw_leaves_drawn_texts_as_they_are(void **state)
{
    struct hx_engine *plain = spec_engine(HXT_SETTINGS("kv=f32"), NULL);
    struct hx_engine *e = spec_engine(HXT_SETTINGS("kv=f32", "draft=bigram", "spec-thresh=0"), NULL);
    struct hx_completion_cfg cfg = greedy_cfg(1, 48);
    struct spec_text want, got;

    (void)state;
    cfg.sampling = (struct hx_sampler_cfg){.temp = 0.8, .top_k = 40, .top_p = 0.95, .seed = 5};
    spec_text(&want, plain, &cfg);
    spec_text(&got, e, &cfg);
    spec_same(&got, &want, "bigram");
    assert_true(got.stats.proposed > 0);
    hx_engine_close(e);
    hx_engine_close(plain);
}

static void test_a_twin_that_draws_is_always_right_and_equal_seeds_give_equal_texts(void **state)
{
    struct hx_engine *e = spec_engine(HXT_SETTINGS("kv=f32", "draft=perfect"), NULL);
    struct hx_completion_cfg cfg = greedy_cfg(2, 48);
    struct spec_text first, again, other;

    (void)state;
    cfg.sampling = (struct hx_sampler_cfg){.temp = 0.9, .top_k = 50, .top_p = 0.9, .seed = 7};
    spec_text(&first, e, &cfg);
    spec_text(&again, e, &cfg);
    cfg.sampling.seed = 8;
    spec_text(&other, e, &cfg);
    spec_same(&again, &first, "perfect");
    assert_true(memcmp(other.ids, first.ids, sizeof(first.ids)) != 0);
    assert_true(first.stats.proposed > 20);
    assert_int_equal(first.stats.accepted, first.stats.proposed);
    hx_engine_close(e);
}

static void test_warm_up_tokens_are_the_models_and_batches_as_long_as_asked(void **state)
{
    struct hx_engine *e = spec_engine(HXT_SETTINGS("kv=f32", "draft=perfect", "spec-warmup=3", "spec-batch=6", "spec-adapt=off"), NULL);
    const struct hx_completion_cfg cfg = greedy_cfg(0, 3 + 2 * 7);
    struct spec_text t;

    (void)state;
    spec_text(&t, e, &cfg);
    assert_int_equal(t.stats.pass[0].n, 3);
    assert_int_equal(t.stats.pass[6].n, 2);
    assert_int_equal(t.steps, 5);
    hx_engine_close(e);
}

/* Guesses are held against that: nobody knows it of the reference, and a guess that is lost costs this CPU a row. */
static void test_rows_of_a_batch_cost_the_cpu_something(void **state)
{
    struct hx_engine *cpu = spec_engine(HXT_SETTINGS("kv=f32"), NULL), *ref = spec_engine(HXT_SETTINGS("kv=f32", "linear=ref"), NULL);
    const struct hx_batch_cost c = hx_engine_batch_cost(cpu), none = hx_engine_batch_cost(ref);

    (void)state;
    assert_true(c.second > 0.1f && c.second <= 1 && c.more > 0.1f && c.more <= 1);
    assert_true(none.second == 0 && none.more == 0);
    hx_engine_close(ref);
    hx_engine_close(cpu);
}

/* --- drafters that fail, or nobody verifies */

static int fail_later(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room, struct hx_draft_tree *out,
                      struct hx_error *err)
{
    (void)d;
    if (n > 12)
        return hx_error_set(err, -EIO, "draft fails: no more guesses");
    hx_draft_add(out, room, ids[n - 1], 0);
    return 0;
}

static int propose_no_token(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room,
                            struct hx_draft_tree *out, struct hx_error *err)
{
    (void)d;
    (void)ids;
    (void)n;
    (void)err;
    hx_draft_add(out, room, 1u << 30, 0);
    return 0;
}

static void test_a_drafter_that_fails_is_switched_off_and_the_text_goes_on(void **state)
{
    static const struct hx_draft_ops failing[] = {{.name = "fails", .propose = fail_later}, {.name = "raves", .propose = propose_no_token}};
    static const char *const says[] = {"draft fails: no more guesses", "draft raves: guess 0 is token 1073741824"};
    struct hx_engine *e = spec_engine(HXT_SETTINGS("kv=f32"), NULL);
    const struct hx_completion_cfg cfg = greedy_cfg(0, 30);
    struct hx_draft *own = e->draft;
    struct spec_text want, got;

    (void)state;
    spec_text(&want, e, &cfg);
    for (size_t i = 0; i < HXT_LEN(failing); i++) {
        struct hx_draft draft = {.ops = &failing[i]};

        e->draft = &draft;
        spec_text(&got, e, &cfg);
        spec_same(&got, &want, failing[i].name);
        assert_ptr_equal(strstr(got.stats.off, says[i]), got.stats.off);
    }
    e->draft = own;
    hx_engine_close(e);
}

static void test_without_a_verifier_the_guesses_are_the_text(void **state)
{
    struct hx_engine *plain = spec_engine(HXT_SETTINGS("kv=f32"), NULL);
    struct hx_engine *twin = spec_engine(HXT_SETTINGS("kv=f32", "draft=perfect", "no-verifier"), NULL);
    struct hx_engine *table = spec_engine(HXT_SETTINGS("kv=f32", "draft=bigram", "no-verifier"), NULL);
    struct hx_engine *mute = spec_engine(HXT_SETTINGS("kv=f32", "draft=lookup", "no-verifier"), NULL);
    struct hx_completion_cfg cfg = greedy_cfg(0, 30);
    struct spec_text want, got;
    struct hx_error err;

    (void)state;
    spec_text(&want, plain, &cfg);
    spec_text(&got, twin, &cfg);
    spec_same(&got, &want, "perfect");
    assert_int_equal(got.stats.accepted, 30);
    assert_int_equal(got.stats.pass[0].n + got.stats.pass[4].n, 0);
    spec_text(&got, table, &cfg);
    assert_int_equal(got.n, 30);
    assert_true(memcmp(got.ids, want.ids, sizeof(want.ids)) != 0);
    assert_int_equal(spec_make(&got, mute, &cfg, &err), -ENODATA);
    assert_string_equal(err.text, "draft lookup has no guess behind 3 tokens, and nobody verifies");
    hx_engine_close(mute);
    hx_engine_close(table);
    hx_engine_close(twin);
    hx_engine_close(plain);
}

/* --- ends */

/* A copy of the model with another number behind a key. */
static const char *edited_model(const char *key, uint32_t value)
{
    const char *path = hxt_path("%s/edited.gguf", hxt_tmpdir());
    size_t n;
    char *file = hxt_read_file(MODEL_Q8_0, &n);
    char *at = file ? memmem(file, n, key, strlen(key)) : NULL;

    assert_non_null(at);
    memcpy(at + strlen(key) + 4, &value, sizeof(value)); /* behind the value's type */
    hxt_write_file(path, file, n);
    free(file);
    return path;
}

static void text_with_end(struct spec_text *t, const char *model, const char *const *settings, const struct hx_completion_cfg *cfg)
{
    struct hx_engine *e = hxt_engine_open(&(struct hx_engine_cfg){.model = model, .share = HXT_SRC "/host/data", .n_ctx = SPEC_CTX,
                                                                  .settings = settings});

    spec_text(t, e, cfg);
    hx_engine_close(e);
}

/* Off: nothing but the end.  On: four tokens at least, with a drafter the same, and no pass more than tokens. */
static void test_the_guard_keeps_a_text_from_ending_at_once(void **state)
{
    struct hx_engine *plain = spec_engine(HXT_SETTINGS("kv=f32"), NULL);
    struct hx_completion_cfg cfg = greedy_cfg(0, 24);
    struct spec_text t, guarded, drafted;
    const char *model;

    (void)state;
    spec_text(&t, plain, &cfg);
    hx_engine_close(plain);
    model = edited_model("tokenizer.ggml.eos_token_id", t.ids[0]);
    cfg.at_end_token = 1;
    text_with_end(&t, model, HXT_SETTINGS("kv=f32"), &cfg);
    assert_int_equal(t.n, 1); /* the end token alone */
    text_with_end(&guarded, model, HXT_SETTINGS("kv=f32", "eos-guard"), &cfg);
    assert_true(guarded.n >= HX_SPEC_GUARDED);
    assert_int_equal(guarded.steps, guarded.n);
    for (size_t i = 0; i < HX_SPEC_GUARDED; i++)
        assert_int_not_equal(guarded.ids[i], t.ids[0]);
    for (size_t d = 0; d < HXT_LEN(drafters); d += HXT_EACH) {
        text_with_end(&drafted, model, HXT_SETTINGS("kv=f32", "eos-guard", drafters[d], "spec-warmup=0", "spec-thresh=0"), &cfg);
        spec_same(&drafted, &guarded, drafters[d]);
        assert_true(drafted.steps <= guarded.steps);
        text_with_end(&drafted, model, HXT_SETTINGS("kv=f32", drafters[d], "spec-warmup=0", "spec-thresh=0"), &cfg);
        spec_same(&drafted, &t, drafters[d]);
    }
}

/* --- several texts */

static void test_engines_side_by_side_do_not_share_a_drafter(void **state)
{
    const struct hx_completion_cfg cfgs[2] = {greedy_cfg(3, 32), greedy_cfg(4, 32)};

    (void)state;
    for (size_t d = 0; d < HXT_LEN(drafters); d += HXT_EACH) {
        struct hx_engine *first = spec_engine(HXT_SETTINGS("kv=f32", drafters[d], "spec-thresh=0"), NULL);
        struct hx_engine *e[2] = {first, hxt_engine_open(&(struct hx_engine_cfg){
                                             .share_with = first, .share = HXT_SRC "/host/data", .n_ctx = SPEC_CTX,
                                             .settings = HXT_SETTINGS("kv=f32", drafters[d], "spec-thresh=0")})};
        struct hx_completion c[2];
        struct spec_text alone[2];
        struct hx_error err;

        for (int i = 0; i < 2; i++) {
            spec_text(&alone[i], first, &cfgs[i]);
            assert_int_equal(hx_completion_open(&c[i], e[i], &cfgs[i], &err), 0);
        }
        for (int more = 1; more;) {
            more = hx_completion_step(&c[0], &err);
            assert_true(more >= 0);
            more |= hx_completion_step(&c[1], &err);
        }
        for (int i = 0; i < 2; i++) {
            assert_memory_equal(c[i].ids + c[i].n_prompt, alone[i].ids, 32 * sizeof(uint32_t));
            assert_int_equal(c[i].steps, alone[i].steps); /* guesses are as good as alone */
            hx_completion_close(&c[i]);
        }
        hx_engine_close(e[1]);
        hx_engine_close(first);
    }
}

/* A text, then another one that begins like it: what the cache holds is not run again. */
static void test_a_prompt_that_goes_on_a_text_uses_its_cache(void **state)
{
    static const char *const kvs[] = {"kv=f32", "kv=spinor-cpu", "kv=ntt"};

    (void)state;
    for (size_t k = 0; k < HXT_LEN(kvs); k++) {
        struct hx_engine *e = spec_engine(HXT_SETTINGS(kvs[k], "draft=bigram", "spec-thresh=0"), NULL);
        struct hx_completion_cfg cfg = greedy_cfg(5, 21);
        struct hx_completion c;
        struct spec_text want, got;
        struct hx_error err;
        uint32_t ids[64];

        assert_int_equal(hx_completion_open(&c, e, &cfg, &err), 0);
        while (hx_completion_step(&c, &err) > 0)
            ;
        cfg.n_cached = c.n_run;
        memcpy(ids, c.ids, (c.n_prompt + c.n_made) * sizeof(*ids));
        ids[c.n_prompt + c.n_made] = 17;
        cfg.prompt = ids;
        cfg.n_prompt = c.n_prompt + c.n_made + 1;
        hx_completion_close(&c);
        spec_text(&got, e, &cfg);
        cfg.n_cached = 0;
        spec_text(&want, e, &cfg);
        spec_same(&got, &want, kvs[k]);
        hx_engine_close(e);
    }
}

/* --- figures */

/* The mean over texts of a text's tokens per step, and that along texts that are given: four guesses a step whatever the drafter
 * thinks of them. */
static double tokens_per_step(struct hx_engine *e, size_t n_texts, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n_texts; i++) {
        const struct hx_completion_cfg cfg = greedy_cfg(i, n);
        struct spec_text t;

        spec_text(&t, e, &cfg);
        sum += (double)t.stats.emitted / (double)t.stats.steps;
    }
    return sum / (double)n_texts;
}

static double tokens_per_step_along(struct hx_engine *e, size_t n_windows)
{
    const struct hx_spec_cfg cfg = hx_spec_cfg_of(e->plan);
    const struct hx_sampler_cfg sampling = {.top_p = 1};
    struct hx_sampler *s = hx_sampler_open(&sampling, e->model->vocab);
    const struct hx_spec_of of = {e->draft, s, &sampling, e->model->vocab, hx_forward_trees(e->forward), {0, 0}};
    size_t bytes;
    uint16_t *windows = hxt_read_file(GOLDEN "wikitext2-windows.u16", &bytes);
    struct hx_generate g = {.e = e, .s = s};
    uint32_t ids[SPEC_CTX];
    struct hx_error err;
    double mean;

    assert_int_equal(hx_spec_open(&g.spec, &cfg, &of), 0);
    for (size_t w = 0; w < n_windows; w++) {
        for (size_t i = 0; i < SPEC_CTX; i++)
            ids[i] = windows[w * (SPEC_CTX + 1) + i];
        if (hx_spec_along(&g, ids, SPEC_CTX - cfg.batch, 16, &err))
            fail_msg("%s", err.text);
    }
    mean = (double)hx_spec_stats(g.spec)->emitted / (double)hx_spec_stats(g.spec)->steps;
    hx_spec_close(g.spec);
    hx_sampler_close(s);
    free(windows);
    return mean;
}

/* On the F16 model, as docs/speculation.md has them. */
static void test_tokens_per_step_are_those_of_the_page(void **state)
{
    static const struct {
        const char *draft;
        double greedy, along;
    } cases[] = {
        {"draft=lookup", 1.92, 1.20}, {"draft=bigram", 1.28, 1.13}, {"draft=perfect", 4.92, 5}, {"draft=model:" MODEL_Q8_0, 4.78, 4.91},
        {"draft=gp:96", 2.92, 3.07}, {"draft=gp:128", 3.64, 3.64},
    };
    const size_t n_texts = all_of_them() ? prompts.n : 1, n_windows = all_of_them() ? 24 : 1;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_engine *e = hxt_engine_open(&(struct hx_engine_cfg){
            .model = MODEL_F16, .share = HXT_SRC "/host/data", .threads = 2, .n_ctx = SPEC_CTX,
            .settings = HXT_SETTINGS("kv=f32", cases[i].draft, "spec-thresh=0", "spec-adapt=off", "spec-warmup=0")});
        const double greedy = tokens_per_step(e, n_texts, 64), along = tokens_per_step_along(e, n_windows);

        print_message("%s: %.3f, along a text %.3f\n", cases[i].draft, greedy, along);
        if (all_of_them())
            assert_true(fabs(greedy - cases[i].greedy) < 0.05 && fabs(along - cases[i].along) < 0.05);
        assert_true(greedy > 1 && greedy <= 5 && along > 1 && along <= 5);
        hx_engine_close(e);
    }
}

/* --- what cannot be */

static void refused(const char *const *settings, const char *says)
{
    struct hx_engine *e = NULL;
    struct hx_error err = {""};

    assert_int_equal(hx_engine_open(&e, &(struct hx_engine_cfg){.model = MODEL_Q8_0, .share = HXT_SRC "/host/data", .n_ctx = SPEC_CTX,
                                                                .settings = settings}, &err), -EINVAL);
    if (!strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
}

static void test_models_that_do_not_fit_are_refused(void **state)
{
    const char *path = hxt_path("%s/other.gguf", hxt_tmpdir());
    struct gen_model g;

    (void)state;
    gen_init(&g, "llama");
    gen_build(&g);
    hxt_write_file(path, g.file, g.n_file);
    gen_free(&g);
    refused(HXT_SETTINGS("kv=f32", hxt_path("draft=model:%s", path)), "other.gguf has a vocabulary of 258 tokens, the model one of 2048");
    refused(HXT_SETTINGS("kv=f32", hxt_path("draft=model:%s", edited_model(".context_length", SPEC_CTX / 2))),
            "edited.gguf has a context of 64, and the text has 128 positions");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_greedy_texts_are_those_without_a_drafter),
    cmocka_unit_test(test_a_twin_guesses_right_with_penalties),
    cmocka_unit_test(test_who_does_not_draw_leaves_drawn_texts_as_they_are),
    cmocka_unit_test(test_a_twin_that_draws_is_always_right_and_equal_seeds_give_equal_texts),
    cmocka_unit_test(test_warm_up_tokens_are_the_models_and_batches_as_long_as_asked),
    cmocka_unit_test(test_rows_of_a_batch_cost_the_cpu_something),
    cmocka_unit_test(test_a_drafter_that_fails_is_switched_off_and_the_text_goes_on),
    cmocka_unit_test(test_without_a_verifier_the_guesses_are_the_text),
    cmocka_unit_test(test_the_guard_keeps_a_text_from_ending_at_once),
    cmocka_unit_test(test_engines_side_by_side_do_not_share_a_drafter),
    cmocka_unit_test(test_a_prompt_that_goes_on_a_text_uses_its_cache),
    cmocka_unit_test(test_tokens_per_step_are_those_of_the_page),
    cmocka_unit_test(test_models_that_do_not_fit_are_refused),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, read_prompts, free_prompts);
}
