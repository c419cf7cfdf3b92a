/* Protects: the forward pass with f32 activations against an fp64 reference (tests/data/golden), batches that change no
 * bit, perplexity, and the engine's refusals. */
#include <errno.h>
#include <math.h>

#include "engine/engine.h"
#include "generate/generate.h"
#include "golden.h"
#include "open_engine.h"
#include "ppl_window.h"
#include "text/text.h"

enum { VOCAB = 2048, LOGIT_ROWS = 28, KV_POSITIONS = 160, DH = 128, LAYERS = 6, PROMPTS = 20 };

/* A sanitizer's build is four times as slow, and it is there for what memory is touched: no prompt and no window of a text touches
 * other memory than the first ones.  All of the numbers are the plain build's to hold. */
#ifdef __SANITIZE_ADDRESS__
enum { GREEDY_PROMPTS = 2 };
#define WHOLE_TEXTS() hxt_skip_test("24 windows are the plain build's; this one has those whose logits are known")
#else
enum { GREEDY_PROMPTS = PROMPTS };
#define WHOLE_TEXTS() ((void)0)
#endif

static const struct {
    const char *name, *path;
} models[] = {{"f16", MODEL_F16}, {"q8_0", MODEL_Q8_0}};

static struct hx_engine *open_f32(const char *path, size_t n_ctx, size_t max_batch)
{
    struct hx_engine_cfg cfg = {.model = path, .settings = HXT_SETTINGS("kv=f32", HXT_REF), .n_ctx = n_ctx,
                                .max_batch = max_batch};

    return hxt_engine_open(&cfg);
}

/* Greedy continuation of `prompt` equals `want` for the first n_want tokens. */
static void check_greedy(struct hx_engine *e, struct hx_sampler *s, const uint32_t *prompt,
                         size_t n_prompt, const uint32_t *want, size_t n_want)
{
    const struct hx_generate g = {.e = e, .s = s};
    uint32_t *ids = malloc((n_prompt + n_want) * sizeof(*ids));
    struct hx_error err;
    size_t steps;

    memcpy(ids, prompt, n_prompt * sizeof(*ids));
    assert_int_equal(hx_generate_prefill(&g, ids, n_prompt, &err), 0);
    assert_int_equal(hx_generate_run(&g, ids, n_prompt, n_want, &steps, &err), 0);
    assert_int_equal(steps, n_want);
    for (size_t i = 0; i < n_want; i++)
        if (ids[n_prompt + i] != want[i])
            fail_msg("token %zu is %u, want %u", i, ids[n_prompt + i], want[i]);
    free(ids);
}

static void check_prompt(struct hx_engine *e, struct hx_sampler *s, const json_t *one)
{
    const json_t *close_call = json_object_get(one, "first_close_call");
    const char *text = json_string_value(json_object_get(one, "prompt"));
    size_t n_prompt, n_ids, n_want;
    uint32_t *prompt = golden_ids(json_object_get(one, "prompt_tokens"), &n_prompt), *ids;
    uint32_t *want = golden_ids(json_object_get(one, "tokens"), &n_want);

    assert_int_equal(hx_tokenizer_encode(e->model->tok, text, strlen(text), &ids, &n_ids), 0);
    assert_int_equal(n_ids, n_prompt);
    assert_memory_equal(ids, prompt, n_ids * sizeof(*ids));
    if (json_is_integer(close_call))
        n_want = (size_t)json_integer_value(close_call);
    check_greedy(e, s, prompt, n_prompt, want, n_want);
    free(prompt);
    free(ids);
    free(want);
}

static void test_greedy_tokens_equal_the_reference(void **state)
{
    struct hx_sampler *s = hx_sampler_open(&(struct hx_sampler_cfg){.top_p = 1}, VOCAB);

    (void)state;
    for (size_t i = 0; i < HXT_LEN(models); i++) {
        struct hx_engine *e = open_f32(models[i].path, 0, 0);
        json_t *all = golden_json(hxt_path("%sreference-%s.json", GOLDEN, models[i].name));
        const json_t *greedy = json_object_get(all, "greedy");

        assert_int_equal(json_array_size(greedy), PROMPTS);
        for (size_t p = 0; p < GREEDY_PROMPTS; p++)
            check_prompt(e, s, json_array_get(greedy, p));
        json_decref(all);
        hx_engine_close(e);
    }
    hx_sampler_close(s);
}

static void test_logits_are_within_2e_3_of_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(models); i++) {
        struct hx_engine *e = open_f32(models[i].path, LOGIT_ROWS, LOGIT_ROWS);
        json_t *seqs = golden_json(hxt_path("%slogits-%s.tokens.json", GOLDEN, models[i].name));
        size_t n_seq = json_array_size(seqs);
        float *want = golden_f32(hxt_path("%slogits-%s.f32", GOLDEN, models[i].name),
                                 n_seq * LOGIT_ROWS * VOCAB);
        float *got = malloc(LOGIT_ROWS * VOCAB * sizeof(*got));

        assert_true(n_seq >= 4);
        for (size_t s = 0; s < n_seq; s++) {
            size_t n;
            uint32_t *ids = golden_ids(json_array_get(seqs, s), &n);

            assert_int_equal(n, LOGIT_ROWS);
            run(e, ids, n, 0);
            assert_int_equal(hx_forward_logits(e->forward, 0, LOGIT_ROWS, got, NULL), 0);
            hxt_near_f32_abs(got, want + s * LOGIT_ROWS * VOCAB, LOGIT_ROWS * VOCAB, 0, 2e-3);
            free(ids);
        }
        free(got);
        free(want);
        json_decref(seqs);
        hx_engine_close(e);
    }
}

static void test_k_after_rope_and_v_equal_the_reference(void **state)
{
    struct hx_engine *e = open_f32(MODEL_F16, KV_POSITIONS, KV_POSITIONS);
    json_t *tokens = golden_json(GOLDEN "kv-f16.tokens.json");
    float *want = golden_f32(GOLDEN "kv-f16.f32", LAYERS * 2 * KV_POSITIONS * DH);
    struct hx_kv_view view;
    struct hx_error err;
    size_t n;
    uint32_t *ids = golden_ids(tokens, &n);

    (void)state;
    assert_int_equal(n, KV_POSITIONS);
    run(e, ids, n, 0);
    for (size_t layer = 0; layer < LAYERS; layer++) {
        const float *k = want + layer * 2 * KV_POSITIONS * DH, *v = k + KV_POSITIONS * DH;

        assert_int_equal(e->kv->ops->rows(e->kv, layer, n, &view, &err), 0);
        assert_int_equal(view.stride, DH);
        hxt_near_f32_abs(view.k, k, n * DH, 0, 1e-3);
        hxt_near_f32_abs(view.v, v, n * DH, 0, 1e-3);
    }
    free(ids);
    free(want);
    json_decref(tokens);
    hx_engine_close(e);
}

static void test_batches_change_no_bit(void **state)
{
    static const size_t cuts[] = {1, 2, 3, 5, 7, 28};
    json_t *seqs = golden_json(GOLDEN "logits-q8_0.tokens.json");
    float want[VOCAB], got[VOCAB];
    size_t n;
    uint32_t *ids = golden_ids(json_array_get(seqs, 1), &n);

    (void)state;
    for (size_t c = 0; c < HXT_LEN(cuts); c++) {
        struct hx_engine *e = open_f32(MODEL_Q8_0, 64, cuts[c]);

        run(e, ids, n, 0);
        assert_int_equal(hx_engine_logits(e, c ? got : want, NULL), 0);
        if (c)
            hxt_same_bytes(got, want, sizeof(want));
        hx_engine_close(e);
    }
    free(ids);
    json_decref(seqs);
}

/* Knows the text and guesses it, with every fifth guess wrong. */
struct knowing {
    struct hx_draft draft;
    const uint32_t *text;
    size_t proposed;
};

static int propose_known(struct hx_draft *d, const uint32_t *ids, size_t n, const struct hx_draft_room *room,
                         struct hx_draft_tree *out, struct hx_error *err)
{
    struct knowing *k = (struct knowing *)d;

    (void)ids;
    (void)err;
    out->n = room->n < room->depth ? room->n : room->depth;
    for (size_t i = 0; i < out->n; i++) {
        out->id[i] = (n + i) % 5 ? k->text[n + i] : (k->text[n + i] + 1) % VOCAB;
        out->parent[i] = (int)i - 1;
    }
    k->proposed += out->n;
    return 0;
}

static void test_a_drafter_changes_steps_but_no_token(void **state)
{
    enum { N_PROMPT = 3, N = 40 };
    static const struct hx_draft_ops ops = {.name = "knowing", .propose = propose_known};
    struct hx_engine *e = open_f32(MODEL_Q8_0, 64, 64);
    uint32_t want[N_PROMPT + N] = {505, 1560, 351}, got[N_PROMPT + N] = {505, 1560, 351};
    struct knowing k = {.draft = {.ops = &ops}, .text = want};
    struct hx_error err;
    size_t steps;

    (void)state;
    for (int drafted = 0; drafted < 2; drafted++) {
        struct hx_sampler *s = hx_sampler_open(
            &(struct hx_sampler_cfg){.temp = 0.8, .top_p = 1, .seed = 11}, VOCAB);
        const struct hx_generate g = {.e = e, .s = s, .draft = drafted ? &k.draft : NULL};
        uint32_t *ids = drafted ? got : want;

        assert_int_equal(hx_generate_prefill(&g, ids, N_PROMPT, &err), 0);
        assert_int_equal(hx_generate_run(&g, ids, N_PROMPT, N, &steps, &err), 0);
        hx_sampler_close(s);
    }
    assert_true(k.proposed > 0);
    assert_true(steps < N / 3);
    assert_memory_equal(got, want, sizeof(want));
    hx_engine_close(e);
}

static double golden_ppl(const char *model, const char *key)
{
    json_t *all = golden_json(hxt_path("%sreference-%s.json", GOLDEN, model));
    const json_t *one = json_object_get(json_object_get(all, "ppl"), key);
    double ppl = json_real_value(json_object_get(one, "ppl"));

    json_decref(all);
    assert_true(ppl > 1);
    return ppl;
}

static void check_ppl(double got, double want)
{
    if (!(fabs(got / want - 1) < 1e-3))
        fail_msg("perplexity %.6f, want %.6f within 0.1 %%", got, want);
}

/* -ln of the probability that the logits give to `id`. */
static double nll_of(const float *logits, uint32_t id)
{
    double sum = 0;

    for (size_t i = 0; i < VOCAB; i++)
        sum += exp((double)logits[i] - logits[id]);
    return log(sum);
}

static void test_perplexity_is_that_of_the_references_logits(void **state)
{
    enum { CTX = LOGIT_ROWS - 1 };
    struct hx_error err;

    (void)state;
    for (size_t i = 0; i < HXT_LEN(models); i++) {
        struct hx_engine *e = open_f32(models[i].path, CTX, CTX);
        json_t *seqs = golden_json(hxt_path("%slogits-%s.tokens.json", GOLDEN, models[i].name));
        size_t n_seq = json_array_size(seqs), n;
        float *logits = golden_f32(hxt_path("%slogits-%s.f32", GOLDEN, models[i].name), n_seq * LOGIT_ROWS * VOCAB);
        double got = 0, want = 0;

        for (size_t s = 0; s < n_seq; s++) {
            uint32_t *ids = golden_ids(json_array_get(seqs, s), &n);

            assert_int_equal(n, LOGIT_ROWS);
            for (size_t t = 0; t < CTX; t++)
                want += nll_of(logits + (s * LOGIT_ROWS + t) * VOCAB, ids[t + 1]);
            assert_int_equal(hxt_ppl_window(e->model, e->forward, ids, CTX, &got, &err), 0);
            free(ids);
        }
        check_ppl(exp(got / (double)(n_seq * CTX)), exp(want / (double)(n_seq * CTX)));
        free(logits);
        json_decref(seqs);
        hx_engine_close(e);
    }
}

static void test_wikitext_perplexity_equals_the_reference(void **state)
{
    enum { CTX = 128, CHUNKS = 24 };
    size_t bytes;
    uint16_t *windows;
    struct hx_error err;

    (void)state;
    WHOLE_TEXTS();
    windows = hxt_read_file(GOLDEN "wikitext2-windows.u16", &bytes);
    assert_non_null(windows);
    assert_int_equal(bytes, CHUNKS * (CTX + 1) * 2);
    for (size_t i = 0; i < HXT_LEN(models); i++) {
        struct hx_engine *e = open_f32(models[i].path, CTX, CTX);
        double sum = 0;

        for (size_t w = 0; w < CHUNKS; w++) {
            uint32_t ids[CTX + 1];

            for (size_t t = 0; t <= CTX; t++)
                ids[t] = windows[w * (CTX + 1) + t];
            assert_int_equal(hxt_ppl_window(e->model, e->forward, ids, CTX, &sum, &err), 0);
        }
        check_ppl(exp(sum / (CTX * CHUNKS)),
                  golden_ppl(models[i].name, "wikitext2-test ctx=128 chunks=24"));
        hx_engine_close(e);
    }
    free(windows);
}

static void test_holdout_perplexity_equals_the_reference(void **state)
{
    (void)state;
    WHOLE_TEXTS();
    for (size_t i = 0; i < HXT_LEN(models); i++) {
        struct hx_engine *e = open_f32(models[i].path, 128, 128);
        struct hx_ppl got;
        struct hx_error err;
        uint32_t *ids;
        size_t n;

        assert_int_equal(hx_text_encode(e->model->tok, HOLDOUT, &ids, &n, &err), 0);
        assert_int_equal(hxt_ppl_run(e->model, e->forward, ids, n, 128, 24, &got, &err), 0);
        assert_int_equal(got.tokens, 128 * 24);
        check_ppl(got.ppl, golden_ppl(models[i].name, "books-holdout ctx=128 chunks=24"));
        free(ids);
        hx_engine_close(e);
    }
}

static void test_windows_lie_where_the_definition_says(void **state)
{
    (void)state;
    assert_int_equal(hx_ppl_window(440465, 128, 24, 0), 0);
    assert_int_equal(hx_ppl_window(440465, 128, 24, 23), 421988);
    assert_int_equal(hx_ppl_window(129, 128, 1, 0), 0);
}

static void test_a_text_shorter_than_a_window_is_refused(void **state)
{
    struct hx_engine *e = open_f32(MODEL_Q8_0, 128, 128);
    uint32_t ids[128] = {0};
    struct hx_ppl got;
    struct hx_error err;

    (void)state;
    assert_int_equal(hxt_ppl_run(e->model, e->forward, ids, 128, 128, 1, &got, &err), -EINVAL);
    assert_non_null(strstr(err.text, "has 128 tokens; a window needs 129"));
    hx_engine_close(e);
}

static void test_windows_that_would_repeat_are_refused(void **state)
{
    struct hx_engine *e = open_f32(MODEL_Q8_0, 4, 4);
    uint32_t ids[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    struct hx_ppl got;
    struct hx_error err;

    (void)state;
    assert_int_equal(hxt_ppl_run(e->model, e->forward, ids, 12, 4, 7, &got, &err), 0);
    for (size_t i = 1; i < 7; i++)
        assert_true(hx_ppl_window(12, 4, 7, i) > hx_ppl_window(12, 4, 7, i - 1));
    assert_int_equal(hx_ppl_window(12, 4, 8, 1), hx_ppl_window(12, 4, 8, 0));
    assert_int_equal(hxt_ppl_run(e->model, e->forward, ids, 12, 4, 8, &got, &err), -EINVAL);
    assert_string_equal(err.text, "8 windows of 5 tokens in a text of 12 tokens: at most 7 start at "
                                  "different places");
    assert_int_equal(hxt_ppl_run(e->model, e->forward, ids, 5, 4, 1, &got, &err), 0);
    assert_int_equal(hxt_ppl_run(e->model, e->forward, ids, 5, 4, 2, &got, &err), -EINVAL);
    hx_engine_close(e);
}

/* A cache whose past is poisoned from position 3 of layer 2 on. */
static const struct hx_kv_ops *real_ops;

static int poisoned_past(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view,
                         struct hx_error *err)
{
    int rc = real_ops->rows(kv, layer, n, view, err);

    if (!rc && layer == 2 && n > 2)
        ((float *)view->v)[2 * view->stride] = NAN;
    return rc;
}

static void test_a_nan_is_an_error_that_names_position_and_layer(void **state)
{
    const uint32_t ids[] = {505, 1560, 351, 12, 7};
    struct hx_engine *e = open_f32(MODEL_Q8_0, 8, 8);
    struct hx_kv_ops ops = *e->kv->ops;
    struct hx_error err = {""};

    (void)state;
    real_ops = e->kv->ops;
    ops.rows = poisoned_past;
    e->kv->ops = &ops;
    assert_int_equal(hx_engine_run(e, ids, HXT_LEN(ids), 0, &err), -EDOM);
    assert_non_null(strstr(err.text, "position 3: the output of layer 2 holds NaN at index 0"));
    e->kv->ops = real_ops;
    assert_int_equal(hx_engine_run(e, ids, HXT_LEN(ids), 0, &err), 0);
    hx_engine_close(e);
}

static void test_unknown_kv_names_the_legal_ones(void **state)
{
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .settings = HXT_SETTINGS("kv=f64")};
    struct hx_engine *e;
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_engine_open(&e, &cfg, &err), -EINVAL);
    assert_string_equal(err.text,
                        "kv: unknown value 'f64'; legal: spinor, spinor-attn, spinor-cpu, f32, ntt, banded, proj, proj-attn, layer");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_greedy_tokens_equal_the_reference),
    cmocka_unit_test(test_logits_are_within_2e_3_of_the_reference),
    cmocka_unit_test(test_k_after_rope_and_v_equal_the_reference),
    cmocka_unit_test(test_batches_change_no_bit),
    cmocka_unit_test(test_a_drafter_changes_steps_but_no_token),
    cmocka_unit_test(test_perplexity_is_that_of_the_references_logits),
    cmocka_unit_test(test_wikitext_perplexity_equals_the_reference),
    cmocka_unit_test(test_holdout_perplexity_equals_the_reference),
    cmocka_unit_test(test_windows_lie_where_the_definition_says),
    cmocka_unit_test(test_a_text_shorter_than_a_window_is_refused),
    cmocka_unit_test(test_windows_that_would_repeat_are_refused),
    cmocka_unit_test(test_a_nan_is_an_error_that_names_position_and_layer),
    cmocka_unit_test(test_unknown_kv_names_the_legal_ones),
};

int main(void)
{
    return HXT_RUN(tests);
}
