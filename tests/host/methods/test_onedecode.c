/* Protects OneDecode: the same table has the same bytes, and a damaged file, or one of another model or text, is refused and made anew;
 * texts with `onedecode` and `swarm` are those without, at every cache of this machine; a swarm is right at least as often as the
 * chain; what is reported was counted.  HEXRIG_SPEC_ALL=1: all 20 golden prompts, 64 tokens each, a whole table. */
#include <errno.h>
#include <unistd.h>

#include "methods/onedecode/ott_bake.h"
#include "methods/onedecode/ott_pairs.h"
#include "methods/onedecode/ott_readiness.h"
#include "spec_texts.h"
#include "text/text.h"

static struct spec_prompts prompts;

static int read_prompts(void **state)
{
    (void)state;
    spec_prompts_read(&prompts);
    return 0;
}

static int free_prompts(void **state)
{
    (void)state;
    spec_prompts_free(&prompts);
    return 0;
}

static struct hx_completion_cfg greedy_cfg(size_t prompt, size_t n)
{
    return (struct hx_completion_cfg){.prompt = prompts.at[prompt].ids, .n_prompt = prompts.at[prompt].n, .n_max = n,
                                      .sampling = {.top_p = 1}};
}

static void greedy(struct spec_text *t, struct hx_engine *e, size_t prompt, size_t n)
{
    const struct hx_completion_cfg cfg = greedy_cfg(prompt, n);

    spec_text(t, e, &cfg);
}

/* --- pairs and tables */

static void test_pairs_are_counted(void **state)
{
    static const uint32_t ids[] = {3, 1, 3, 2, 3, 1, 1, 3};
    struct hx_ott_pairs p;
    const struct hx_ott_pair *of;
    size_t n;

    (void)state;
    assert_int_equal(hx_ott_pairs_count(&p, ids, HXT_LEN(ids)), 0);
    assert_int_equal(p.n, 5);
    of = hx_ott_pairs_of(&p, 3, &n);
    assert_int_equal(n, 2);
    assert_true(of[0].next == 1 && of[0].count == 2 && of[1].next == 2 && of[1].count == 1);
    hx_ott_pairs_of(&p, 0, &n);
    assert_int_equal(n, 0);
    hx_ott_pairs_of(&p, 9, &n);
    assert_int_equal(n, 0);
    hx_ott_pairs_free(&p);
}

enum { SMALL_VOCAB = 50 };

/* Written to a file of this name; the caller frees its bytes. */
static char *small_table(const char *path, size_t *bytes)
{
    struct hx_ott *t = hx_ott_alloc(3, 2);
    struct hx_error err;

    t->model = 0x1234;
    t->made_of = 0x5678;
    t->flags = HX_OTT_STRAIGHT;
    for (size_t i = 0; i < t->n; i++)
        t->at[i] = (struct hx_ott_entry){(uint32_t)(7 * i), {(uint32_t)i, 0.5f}, {{(uint32_t)i + 1, 0.75f}, {(uint32_t)i + 2, 0.125f}}};
    if (hx_ott_write(t, path, &err))
        fail_msg("%s", err.text);
    hx_ott_free(t);
    return hxt_read_file(path, bytes);
}

static void test_a_table_comes_back_from_its_file(void **state)
{
    const char *path = hxt_path("%s/small.bin", hxt_tmpdir());
    struct hx_error err;
    struct hx_ott *t;
    size_t n;

    (void)state;
    free(small_table(path, &n));
    assert_int_equal(hx_ott_read(&t, path, SMALL_VOCAB, &err), 0);
    assert_true(t->n == 3 && t->candidates == 2 && t->model == 0x1234 && t->made_of == 0x5678 && t->flags == HX_OTT_STRAIGHT);
    assert_non_null(hx_ott_find(t, 7));
    assert_int_equal(hx_ott_find(t, 7)->best[1].id, 3);
    assert_null(hx_ott_find(t, 8));
    hx_ott_free(t);
    assert_int_equal(hx_ott_read(&t, path, 14, &err), -EINVAL); /* a vocabulary of 14 has no token 14 */
    assert_non_null(strstr(err.text, "entry 2, of token 14, is not legal with a vocabulary of 14"));
}

static void test_every_truncation_and_every_flipped_byte_is_refused(void **state)
{
    struct hx_error err;
    struct hx_ott *t;
    size_t n;
    char *bytes = small_table(hxt_path("%s/small.bin", hxt_tmpdir()), &n);

    (void)state;
    assert_int_equal(hx_ott_parse(&t, "whole", bytes, n, SMALL_VOCAB, &err), 0);
    hx_ott_free(t);
    for (size_t cut = 0; cut < n; cut++) {
        char *copy = malloc(cut + 1); /* so that a reader behind its end is seen */

        memcpy(copy, bytes, cut);
        assert_int_equal(hx_ott_parse(&t, "cut", copy, cut, SMALL_VOCAB, &err), -EINVAL);
        free(copy);
    }
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
            if (hx_ott_parse(&t, "flipped", bytes, n, SMALL_VOCAB, &err) != -EINVAL)
                fail_msg("byte %zu, bit %d", i, bit);
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
        }
    free(bytes);
}

/* --- baking */

/* Of a file in this program's scratch folder; lives as long as `path`, unlike hxt_path(). */
static const char *scratch(char path[256], const char *name)
{
    snprintf(path, 256, "%s/%s", hxt_tmpdir(), name);
    return path;
}

static const char *const f32_text[] = {"kv=f32", NULL};

/* An engine with a drafter, whose table is in this file. */
static struct hx_engine *open_with(const char *draft, const char *file, const char *tokens)
{
    return spec_engine(f32_text, HXT_SETTINGS(hxt_setting("draft", draft), hxt_setting("ott-tokens", tokens), "spec-thresh=0",
                                              "spec-adapt=off", hxt_setting("ott-file", file)));
}

static json_t *report(const struct hx_engine *e)
{
    json_t *all = json_object(), *own;

    assert_int_equal(hx_engine_report(e, all), 0);
    own = json_incref(json_object_get(all, "onedecode"));
    json_decref(all);
    assert_non_null(own);
    return own;
}

/* Opens one and says where its table came from, and what was wrong with the file. */
static void check_origin(const char *file, const char *tokens, const char *origin, const char *refused)
{
    struct hx_engine *e = open_with("onedecode", file, tokens);
    json_t *j = report(e);
    const char *why = json_string_value(json_object_get(j, "refused"));

    assert_string_equal(json_string_value(json_object_get(j, "origin")), origin);
    if (!refused != !why || (why && !strstr(why, refused)))
        fail_msg("refused: %s, not %s", why ? why : "nothing", refused ? refused : "nothing");
    json_decref(j);
    hx_engine_close(e);
}

static void test_baked_twice_a_table_has_the_same_bytes_and_bad_files_are_made_anew(void **state)
{
    char paths[2][256];
    const char *one = scratch(paths[0], "ott_one_decode.bin"), *two = scratch(paths[1], "again.bin");
    size_t n, m;
    char *bytes, *again;

    (void)state;
    check_origin(one, "40", "baked", NULL);
    check_origin(one, "40", "file", NULL);
    check_origin(two, "40", "baked", NULL);
    bytes = hxt_read_file(one, &n);
    again = hxt_read_file(two, &m);
    assert_int_equal(n, m);
    hxt_same_bytes(again, bytes, n);
    again[n / 2]++;
    hxt_write_file(two, again, n);
    free(again);
    check_origin(two, "40", "baked", "damaged: the CRC-32 does not match");
    again = hxt_read_file(two, &m);
    hxt_same_bytes(again, bytes, n);
    free(again);
    check_origin(two, "41", "baked", "of another text, step, or number of tokens");
    free(bytes);
}

static void test_a_table_of_another_model_is_made_anew(void **state)
{
    char path[256];
    const char *file = scratch(path, "foreign.bin");
    struct hx_error err;
    struct hx_ott *t;

    (void)state;
    check_origin(file, "30", "baked", NULL);
    assert_int_equal(hx_ott_read(&t, file, 2048, &err), 0);
    t->model++;
    assert_int_equal(hx_ott_write(t, file, &err), 0);
    hx_ott_free(t);
    check_origin(file, "30", "baked", "the table is of another model");
    check_origin(file, "30", "file", NULL);
}

/* Steps along the metric of the table's states: the same bytes, and a file of straight steps is another table. */
static struct hx_engine *open_geodesic(const char *file, const char *more)
{
    return spec_engine(f32_text, HXT_SETTINGS("draft=onedecode", "ott-tokens=100", "ott-step=geodesic", "spec-thresh=0",
                                              hxt_setting("ott-file", file), more));
}

static void check_geodesic(const char *file, const char *origin)
{
    struct hx_engine *e = open_geodesic(file, NULL);
    json_t *j = report(e), *ready = json_object_get(j, "readiness"), *steps = json_object_get(j, "geodesics");
    const double now = json_real_value(json_object_get(ready, "consistency"));
    const double baked = json_real_value(json_object_get(ready, "consistency_baked"));

    assert_string_equal(json_string_value(json_object_get(j, "origin")), origin);
    assert_string_equal(json_string_value(json_object_get(j, "step")), "geodesic");
    assert_true(json_integer_value(json_object_get(steps, "steps")) > 50);
    assert_true(json_real_value(json_object_get(steps, "drift")) < 1e-4);
    assert_true(json_real_value(json_object_get(steps, "turn")) > 0);
    assert_true(baked > 0 && baked < 1);
    assert_true(now == (strcmp(origin, "file") ? baked : 1)); /* what is reused counts as consistent */
    json_decref(j);
    hx_engine_close(e);
}

static void test_geodesic_steps_make_a_table_of_their_own(void **state)
{
    char paths[2][256];
    const char *one = scratch(paths[0], "geodesic.bin"), *two = scratch(paths[1], "geodesic2.bin");
    size_t n, m;
    char *bytes, *again;

    (void)state;
    check_origin(one, "100", "baked", NULL);
    check_geodesic(one, "baked"); /* straight steps are not taken for others */
    check_geodesic(one, "file");
    check_geodesic(two, "baked");
    bytes = hxt_read_file(one, &n);
    again = hxt_read_file(two, &m);
    assert_int_equal(n, m);
    hxt_same_bytes(again, bytes, n);
    free(bytes);
    free(again);
    check_origin(one, "100", "baked", "of another text, step, or number of tokens");
}

static void check_prompt_steps(const struct hx_model *m, const struct hx_completion_cfg *cfg)
{
    const struct hx_ott_how how = {100, 1};
    struct hx_ott *stepped, *plain;
    struct hx_ott_space space;
    struct hx_error err = {""};
    uint32_t *ids;
    size_t n;

    assert_int_equal(hx_text_encode(m->tok, HXT_SRC "/host/data/books-holdout.txt", &ids, &n, &err), 0);
    assert_int_equal(hx_ott_bake_space(&space, m, ids, n, &how, &err), 0);
    assert_int_equal(hx_ott_bake_prompt(&stepped, m, &space, cfg->prompt, cfg->n_prompt, &err), 0);
    assert_int_equal(hx_ott_bake_prompt(&plain, m, NULL, cfg->prompt, cfg->n_prompt, &err), 0);
    assert_true(stepped->geometry.geodesic > 0 && stepped->flags == 0);
    assert_true(plain->geometry.geodesic == 0 && plain->flags == HX_OTT_STRAIGHT);
    assert_true(hx_ott_find(stepped, cfg->prompt[0])->best[0].p != hx_ott_find(plain, cfg->prompt[0])->best[0].p);
    hx_ott_free(stepped);
    hx_ott_free(plain);
    hx_ott_space_free(&space);
    free(ids);
}

static void test_prompts_step_in_the_tables_space(void **state)
{
    const struct hx_completion_cfg cfg = greedy_cfg(0, 8);
    char path[256];
    const char *file = scratch(path, "space.bin");
    struct spec_text want, got;
    struct hx_engine *e = spec_engine(f32_text, NULL);

    (void)state;
    spec_text(&want, e, &cfg);
    check_prompt_steps(e->model, &cfg);
    hx_engine_close(e);
    for (int from_file = 0; from_file < 2; from_file++) {
        e = open_geodesic(file, "ott-prompt");
        spec_text(&got, e, &cfg);
        spec_same(&got, &want, "ott-prompt");
        hx_engine_close(e);
    }
}

/* --- texts */

static void test_greedy_texts_are_those_without_a_drafter(void **state)
{
    static const char *const caches[] = {"kv=f32", "kv=spinor-cpu", "kv=ntt", "kv=banded"};
    static const char *const drafters[] = {"draft=onedecode", "draft=swarm:4"};
    const int all = getenv("HEXRIG_SPEC_ALL") != NULL;
    const size_t n_texts = all ? prompts.n : 2, n = all ? 64 : 24;
    static struct spec_text want[32];
    struct spec_text got;
    char table[280];

    (void)state;
    snprintf(table, sizeof(table), "ott-file=%s/texts.bin", hxt_tmpdir());
    for (size_t k = 0; k < HXT_LEN(caches); k++) {
        struct hx_engine *e = spec_engine(HXT_SETTINGS(caches[k]), NULL);

        for (size_t i = 0; i < n_texts; i++)
            greedy(&want[i], e, i, n);
        hx_engine_close(e);
        for (size_t d = 0; d < HXT_LEN(drafters); d++) {
            uint64_t accepted = 0;

            e = spec_engine(HXT_SETTINGS(caches[k], drafters[d], table, all ? "ott-tokens=2048" : "ott-tokens=300", "spec-thresh=0"), NULL);
            for (size_t i = 0; i < n_texts; i++) {
                greedy(&got, e, i, n);
                spec_same(&got, &want[i], drafters[d]);
                accepted += got.stats.accepted;
            }
            assert_true(accepted > 0);
            hx_engine_close(e);
        }
    }
}

static void test_drawn_texts_are_those_without_a_drafter(void **state)
{
    struct hx_engine *plain = spec_engine(HXT_SETTINGS("kv=spinor-cpu"), NULL);
    struct hx_engine *e = spec_engine(HXT_SETTINGS("kv=spinor-cpu", "draft=swarm:8", "ott-tokens=300", "spec-thresh=0"), NULL);
    struct hx_completion_cfg cfg = greedy_cfg(2, 32);
    struct spec_text want, got;

    (void)state;
    cfg.sampling = (struct hx_sampler_cfg){.temp = 0.8, .top_k = 40, .top_p = 0.95, .seed = 5};
    spec_text(&want, plain, &cfg);
    spec_text(&got, e, &cfg);
    spec_same(&got, &want, "swarm:8");
    assert_true(got.stats.verified > got.stats.proposed && got.stats.accepted > 0);
    hx_engine_close(e);
    hx_engine_close(plain);
}

/* Tokens per step along the first texts. */
static double tokens_per_step(const char *draft, const char *file)
{
    struct hx_engine *e = open_with(draft, file, "300");
    uint64_t steps = 0, emitted = 0;

    for (size_t i = 0; i < 4; i++) {
        struct spec_text t;

        greedy(&t, e, i, 32);
        steps += t.stats.steps;
        emitted += t.stats.emitted;
    }
    hx_engine_close(e);
    return (double)emitted / (double)steps;
}

static void test_a_swarm_is_right_at_least_as_often_as_the_chain(void **state)
{
    char path[256];
    const char *file = scratch(path, "swarm.bin");
    const double chain = tokens_per_step("onedecode", file), one = tokens_per_step("swarm:1", file);
    const double four = tokens_per_step("swarm:4", file), eight = tokens_per_step("swarm:8", file);

    (void)state;
    assert_true(chain > 1);
    assert_true(one == chain);
    assert_true(four >= chain);
    assert_true(eight >= four);
}

/* --- prompts, and what is reported */

static void test_a_prompts_own_entries_are_from_its_states(void **state)
{
    const struct hx_completion_cfg cfg = greedy_cfg(0, 8);
    struct hx_engine *e = spec_engine(f32_text, NULL);
    const uint32_t last = cfg.prompt[cfg.n_prompt - 1];
    struct spec_text t;
    struct hx_error err;
    struct hx_ott *own;

    (void)state;
    spec_text(&t, e, &cfg);
    if (hx_ott_bake_prompt(&own, e->model, NULL, cfg.prompt, cfg.n_prompt, &err))
        fail_msg("%s", err.text);
    assert_non_null(hx_ott_find(own, last)); /* behind its last token comes what the model says */
    assert_int_equal(hx_ott_find(own, last)->best[0].id, t.ids[0]);
    assert_true(own->n <= cfg.n_prompt);
    hx_ott_free(own);
    hx_engine_close(e);
    e = spec_engine(f32_text, HXT_SETTINGS("draft=onedecode", "ott-prompt", "ott-tokens=1", "spec-thresh=0", "spec-warmup=0"));
    {
        struct spec_text got;

        spec_text(&got, e, &cfg);
        spec_same(&got, &t, "ott-prompt");
        assert_true(got.stats.accepted > 0); /* a table of one token would not have known */
    }
    hx_engine_close(e);
}

static void test_reports_count_what_was_made(void **state)
{
    struct hx_engine *e = open_with("swarm:4", NULL, "300");
    const struct hx_completion_cfg cfg = greedy_cfg(1, 32);
    struct spec_text t;
    json_t *j, *seen, *ready;

    (void)state;
    spec_text(&t, e, &cfg);
    j = report(e);
    seen = json_object_get(j, "seen");
    ready = json_object_get(j, "readiness");
    assert_int_equal(json_integer_value(json_object_get(j, "candidates")), 4);
    assert_true(json_real_value(json_object_get(seen, "one_of")) >= json_real_value(json_object_get(seen, "first")));
    assert_true(json_integer_value(json_object_get(seen, "with_entry")) <= json_integer_value(json_object_get(seen, "tokens")));
    assert_int_equal(json_integer_value(json_object_get(ready, "accepted")), t.stats.accepted);
    assert_string_equal(json_string_value(json_object_get(ready, "status")), "hybrid");
    assert_true(json_is_null(json_object_get(ready, "consistency")));
    json_decref(j);
    hx_engine_close(e);
}

static void test_readiness_goes_to_its_file_when_the_work_is_done(void **state)
{
    char path[256];
    struct hx_engine *e = spec_engine(f32_text, HXT_SETTINGS("draft=swarm:4", "ott-tokens=300", "spec-thresh=0",
                                                             hxt_setting("ott-readiness", scratch(path, "ready.json"))));
    struct hx_error err;
    struct spec_text t;
    json_t *j;

    (void)state;
    greedy(&t, e, 1, 32);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(hx_engine_finish(e, &err), 0);
    j = golden_json(path);
    assert_int_equal(json_integer_value(json_object_get(j, "accepted")), t.stats.accepted);
    assert_true(json_real_value(json_object_get(j, "runtime_share")) > 0);
    json_decref(j);
    hx_engine_close(e);
    e = spec_engine(f32_text, HXT_SETTINGS("draft=swarm:4", "ott-tokens=3", "ott-readiness=/nowhere/ready.json"));
    assert_int_equal(hx_engine_finish(e, &err), -EIO);
    assert_string_equal(err.text, "/nowhere/ready.json: cannot be written");
    hx_engine_close(e);
}

static void test_readiness_without_a_token_is_cold(void **state)
{
    struct hx_ott *t = hx_ott_alloc(1, 1);
    json_t *j = ott_readiness(&(struct ott_measured){.table = t, .emitted = 10});

    (void)state;
    assert_string_equal(json_string_value(json_object_get(j, "status")), "cold");
    assert_true(json_is_false(json_object_get(j, "hybrid_ready")) && json_is_false(json_object_get(j, "ready")));
    json_decref(j);
    hx_ott_free(t);
}

/* Consistent, and more so than noise: the gate. */
static void test_readiness_is_gated_by_consistency(void **state)
{
    static const struct {
        struct hx_ott_axioms of;
        int from_file;
        uint32_t flags;
        const char *status;
        double consistency;
    } cases[] = {
        {{40, 36, 40, 20}, 0, 0, "geodesic_ready", .9},
        {{40, 35, 40, 20}, 0, 0, "hybrid", .875},
        {{40, 36, 40, 37}, 0, 0, "hybrid", .9},
        {{40, 30, 40, 20}, 1, 0, "geodesic_ready", 1},
        {{40, 30, 40, 31}, 1, 0, "hybrid", 1},
        {{0, 0, 0, 0}, 1, HX_OTT_STRAIGHT, "hybrid", -1},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct hx_ott *t = hx_ott_alloc(1, 1);
        json_t *j, *c;

        t->geometry.axioms = cases[i].of;
        t->flags = cases[i].flags;
        j = ott_readiness(&(struct ott_measured){.table = t, .from_file = cases[i].from_file, .accepted = 1, .emitted = 4});
        c = json_object_get(j, "consistency");
        assert_string_equal(json_string_value(json_object_get(j, "status")), cases[i].status);
        assert_int_equal(json_is_true(json_object_get(j, "ready")), !strcmp(cases[i].status, "geodesic_ready"));
        assert_true(cases[i].consistency < 0 ? json_is_null(c) : json_real_value(c) == cases[i].consistency);
        json_decref(j);
        hx_ott_free(t);
    }
}

static void test_what_cannot_be_is_refused(void **state)
{
    static const struct { const char *set[3]; const char *says; } cases[] = {
        {{"draft=swarm:0"}, "K is an integer from 1 to 16"},
        {{"draft=swarm:17"}, "K is an integer from 1 to 16"},
        {{"draft=swarm"}, "K is missing: swarm:K"},
        {{"draft=onedecode:3"}, "takes nothing behind its name"},
        {{"draft=onedecode", "ott-prompt", "release-file"}, "ott-prompt runs the model's file with each prompt"},
        {{"draft=onedecode", "draft-text=/nowhere"}, "/nowhere"},
        {{"draft=onedecode", "ott-tokens=4", "ott-file=/nowhere/t.bin"}, "/nowhere/t.bin"},
        {{"draft=onedecode", "ott-tokens=65", "ott-step=geodesic"}, "65 entries; a metric of their states needs 66"},
        {{"draft=onedecode", "ott-step=bent"}, "ott-step"},
        {{"draft=lookup", "ott-tokens=4"}, "ott-tokens needs"},
    };

    (void)state;
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        const struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .share = HXT_SRC "/host/data",
                                          .settings = spec_settings(f32_text, (const char *const[]){cases[i].set[0], cases[i].set[1],
                                                                                                    cases[i].set[2], NULL})};
        struct hx_engine *e;
        struct hx_error err = {""};

        assert_true(hx_engine_open(&e, &cfg, &err) < 0);
        if (!strstr(err.text, cases[i].says))
            fail_msg("'%s' does not say '%s'", err.text, cases[i].says);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_pairs_are_counted),
    cmocka_unit_test(test_a_table_comes_back_from_its_file),
    cmocka_unit_test(test_every_truncation_and_every_flipped_byte_is_refused),
    cmocka_unit_test(test_baked_twice_a_table_has_the_same_bytes_and_bad_files_are_made_anew),
    cmocka_unit_test(test_a_table_of_another_model_is_made_anew),
    cmocka_unit_test(test_geodesic_steps_make_a_table_of_their_own),
    cmocka_unit_test(test_prompts_step_in_the_tables_space),
    cmocka_unit_test(test_greedy_texts_are_those_without_a_drafter),
    cmocka_unit_test(test_drawn_texts_are_those_without_a_drafter),
    cmocka_unit_test(test_a_swarm_is_right_at_least_as_often_as_the_chain),
    cmocka_unit_test(test_a_prompts_own_entries_are_from_its_states),
    cmocka_unit_test(test_reports_count_what_was_made),
    cmocka_unit_test(test_readiness_goes_to_its_file_when_the_work_is_done),
    cmocka_unit_test(test_readiness_without_a_token_is_cold),
    cmocka_unit_test(test_readiness_is_gated_by_consistency),
    cmocka_unit_test(test_what_cannot_be_is_refused),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, read_prompts, free_prompts);
}
