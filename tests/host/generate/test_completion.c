/* Protects what ends a text and when it may be shown: stop strings across tokens, whole characters, end tokens, the context's
 * limit; and the windows of llama-perplexity. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "generate/completion.h"
#include "golden.h"
#include "open_engine.h"
#include "generate/ppl.h"
#include "base/unicode.h"

static struct hx_engine *engine;

static uint32_t *encode(const char *text, size_t *n)
{
    uint32_t *ids;

    assert_int_equal(hx_tokenizer_encode(engine->model->tok, text, strlen(text), &ids, n), 0);
    return ids;
}

/* --- stream */

/* Streams the tokens of `text`; at no time may anything be shown that `want` does not begin with. */
static void stream(const char *text, const char *const *stops, size_t n_stops, const char *want,
                   int stopped)
{
    size_t n, shown = 0;
    uint32_t *ids = encode(text, &n);
    struct hx_stream s;

    assert_true(n > 1);
    assert_int_equal(hx_stream_open(&s, engine->model->tok, 0, stops, n_stops, 1), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(hx_stream_push(&s, ids[i]), 0);
        assert_true(s.ready >= shown && s.ready <= s.n);
        if (s.ready > strlen(want) || memcmp(s.text, want, s.ready) != 0)
            fail_msg("'%s' after token %zu: %.*s", text, i, (int)s.ready, s.text);
        assert_int_equal(hx_utf8_whole(s.text, s.ready), s.ready);
        shown = s.ready;
    }
    assert_int_equal(hx_stream_end(&s), 0);
    assert_int_equal(s.ready, s.n);
    assert_string_equal(s.text, want);
    assert_int_equal(s.stopped, stopped);
    hx_stream_close(&s);
    free(ids);
}

static void test_a_stop_string_is_found_wherever_tokens_begin(void **state)
{
    static const char text[] = "The kingdom of heaven is like unto treasure hid in a field";
    char stop[8];

    (void)state;
    for (size_t at = 0; at + 5 < strlen(text); at++) {
        const char *const stops[] = {"not there", stop};
        char want[sizeof(text)];

        snprintf(stop, sizeof(stop), "%.5s", text + at);
        snprintf(want, sizeof(want), "%.*s", (int)(strstr(text, stop) - text), text);
        stream(text, stops, 2, want, 1);
    }
}

static void test_the_stop_string_that_starts_first_counts(void **state)
{
    const char *const stops[] = {"dom", "king", "kingdom of heaven"};

    (void)state;
    stream("The kingdom of heaven", stops, 3, "The ", 1);
}

static void test_the_beginning_of_a_stop_string_waits_and_is_text_in_the_end(void **state)
{
    const char *const stops[] = {"heavenly", "aaab"};

    (void)state;
    stream("The kingdom of heaven", stops, 2, "The kingdom of heaven", 0);
    stream("aaaaaa", stops, 2, "aaaaaa", 0);
    stream("aaaaaab", stops, 2, "aaa", 1);
}

static void test_characters_are_shown_whole(void **state)
{
    (void)state;
    stream("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x99\x82\xf0\x9f\x99\x82!", NULL, 0,
           "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x99\x82\xf0\x9f\x99\x82!", 0);
}

/* --- completion */

static struct hx_completion_cfg king(uint32_t **ids, size_t n_max)
{
    struct hx_completion_cfg cfg = {.n_max = n_max, .sampling = {.top_p = 1}};

    *ids = encode("The king was", &cfg.n_prompt);
    cfg.prompt = *ids;
    return cfg;
}

static void finish(struct hx_completion *c)
{
    struct hx_error err = {""};
    int more;

    while ((more = hx_completion_step(c, &err)) > 0)
        ;
    if (more)
        fail_msg("%s", err.text);
    assert_int_equal(hx_completion_step(c, &err), 0); /* it stays so */
}

static void test_a_completion_is_that_of_the_loop(void **state)
{
    enum { N = 20 };
    struct hx_sampler *s = hx_sampler_open(&(struct hx_sampler_cfg){.top_p = 1}, engine->model->vocab);
    const struct hx_generate g = {.e = engine, .s = s};
    struct hx_completion c;
    struct hx_error err;
    uint32_t *ids, want[64];
    struct hx_completion_cfg cfg = king(&ids, N);
    size_t steps;

    (void)state;
    memcpy(want, ids, cfg.n_prompt * sizeof(*ids));
    assert_int_equal(hx_generate_prefill(&g, want, cfg.n_prompt, &err), 0);
    assert_int_equal(hx_generate_run(&g, want, cfg.n_prompt, N, &steps, &err), 0);
    hx_sampler_close(s);
    assert_int_equal(hx_completion_open(&c, engine, &cfg, &err), 0);
    finish(&c);
    assert_int_equal(c.finish, HX_FINISH_LENGTH);
    assert_int_equal(c.n_made, N);
    assert_int_equal(c.steps, N);
    hxt_same_bytes(c.ids, want, (cfg.n_prompt + N) * sizeof(*want));
    hx_completion_close(&c);
    free(ids);
}

static void test_what_the_cache_holds_is_not_run_again(void **state)
{
    struct hx_completion a, b;
    struct hx_error err;
    uint32_t *ids;
    struct hx_completion_cfg cfg = king(&ids, 6);

    (void)state;
    assert_int_equal(hx_completion_open(&a, engine, &cfg, &err), 0);
    finish(&a);
    assert_int_equal(a.n_run, cfg.n_prompt + 5);
    cfg.prompt = a.ids; /* goes on where the first three ended */
    cfg.n_prompt += 3;
    cfg.n_cached = a.n_run;
    cfg.n_max = 3;
    assert_int_equal(hx_completion_open(&b, engine, &cfg, &err), 0);
    assert_true(hx_completion_prefilled(&b));
    finish(&b);
    hxt_same_bytes(b.ids, a.ids, (cfg.n_prompt + 3) * sizeof(*ids));
    hx_completion_close(&b);
    hx_completion_close(&a);
    free(ids);
}

static void refused(struct hx_completion_cfg cfg, int rc, const char *part)
{
    struct hx_completion c;
    struct hx_error err = {""};

    assert_int_equal(hx_completion_open(&c, engine, &cfg, &err), rc);
    if (!strstr(err.text, part))
        fail_msg("want '%s', got '%s'", part, err.text);
    hx_completion_close(&c);
}

static void test_what_does_not_fit_is_refused_before_anything_is_run(void **state)
{
    uint32_t *ids;
    const size_t n_ctx = engine->kv->n_ctx;
    struct hx_completion_cfg cfg = king(&ids, n_ctx - 2), most = cfg; /* the last token needs no position */
    struct hx_completion c;
    struct hx_error err;
    char want[128];

    (void)state;
    assert_int_equal(hx_completion_open(&c, engine, &most, &err), 0);
    hx_completion_close(&c);
    cfg.n_max = n_ctx - 1;
    snprintf(want, sizeof(want), "3 prompt tokens and %zu new ones need %zu positions, the context has %zu",
             n_ctx - 1, n_ctx + 1, n_ctx);
    refused(cfg, -E2BIG, want);
    cfg.n_max = SIZE_MAX;
    refused(cfg, -E2BIG, "the context has");
    cfg.n_max = 1;
    cfg.n_prompt = 0;
    refused(cfg, -EINVAL, "empty");
    cfg.n_prompt = 3;
    ids[1] = (uint32_t)engine->model->vocab;
    refused(cfg, -EINVAL, "token 2048; the vocabulary has 2048");
    free(ids);
}

/* A copy of the model in which the token `end` is the end of a text. */
static char *model_with_end(uint32_t end)
{
    static const char key[] = "tokenizer.ggml.eos_token_id";
    size_t n;
    char *file = hxt_read_file(MODEL_Q8_0, &n);
    char *at = file ? memmem(file, n, key, strlen(key)) : NULL, *path;

    assert_non_null(at);
    memcpy(at + strlen(key) + 4, &end, sizeof(end)); /* behind the value's type */
    path = strdup(hxt_path("%s/end.gguf", hxt_tmpdir()));
    hxt_write_file(path, file, n);
    free(file);
    return path;
}

static void test_an_end_token_ends_the_text_where_it_is_asked_for(void **state)
{
    struct hx_engine *all = engine;
    struct hx_completion c;
    struct hx_error err;
    uint32_t *ids;
    struct hx_completion_cfg cfg = king(&ids, 5);
    char *path;

    (void)state;
    assert_int_equal(hx_completion_open(&c, engine, &cfg, &err), 0);
    finish(&c);
    path = model_with_end(c.ids[cfg.n_prompt + 1]);
    hx_completion_close(&c);
    engine = hxt_engine_open(&(struct hx_engine_cfg){.model = path, .settings = HXT_SETTINGS("kv=f32", HXT_REF), .n_ctx = 64});
    for (cfg.at_end_token = 0; cfg.at_end_token < 2; cfg.at_end_token++) {
        assert_int_equal(hx_completion_open(&c, engine, &cfg, &err), 0);
        finish(&c);
        assert_int_equal(c.finish, cfg.at_end_token ? HX_FINISH_END : HX_FINISH_LENGTH);
        assert_int_equal(c.n_made, cfg.at_end_token ? 2 : 5);
        if (cfg.at_end_token)
            assert_string_equal(c.text.text, " a");
        hx_completion_close(&c);
    }
    hx_engine_close(engine);
    engine = all;
    free(path);
    free(ids);
}

/* The end of a former turn is in the prompt: a penalty for it would keep the next reply from ending.  Here the prompt's " king", which
 * greedy choices repeat, is such an end. */
static void test_ends_in_the_prompt_have_no_penalty(void **state)
{
    struct hx_completion_cfg cfg = {.n_max = 1, .sampling = {.top_p = 1}};
    struct hx_engine *all = engine;
    struct hx_completion c;
    struct hx_error err;
    uint32_t *ids = encode("the king, the queen, the", &cfg.n_prompt), end;
    char *path;

    (void)state;
    cfg.prompt = ids;
    assert_int_equal(hx_completion_open(&c, engine, &cfg, &err), 0);
    finish(&c);
    end = c.ids[cfg.n_prompt];
    assert_string_equal(c.text.text, " king");
    hx_completion_close(&c);
    path = model_with_end(end);
    engine = hxt_engine_open(&(struct hx_engine_cfg){.model = path, .settings = HXT_SETTINGS("kv=f32", HXT_REF), .n_ctx = 64});
    cfg.sampling.repeat_penalty = 1000;
    cfg.sampling.repeat_last = 64;
    for (cfg.at_end_token = 0; cfg.at_end_token < 2; cfg.at_end_token++) {
        assert_int_equal(hx_completion_open(&c, engine, &cfg, &err), 0);
        finish(&c);
        assert_int_equal(c.finish, cfg.at_end_token ? HX_FINISH_END : HX_FINISH_LENGTH);
        assert_int_equal(c.ids[cfg.n_prompt] == end, cfg.at_end_token);
        hx_completion_close(&c);
    }
    hx_engine_close(engine);
    engine = all;
    free(path);
    free(ids);
}

/* --- perplexity as llama-perplexity counts it */

/* -log softmax(logits)[want] after ids [n] in a fresh context. */
static double nll(const uint32_t *ids, size_t n, uint32_t want, float *logits)
{
    struct hx_error err;
    double sum = 0;

    run(engine, ids, n, 0);
    assert_int_equal(hx_engine_logits(engine, logits, &err), 0);
    for (size_t i = 0; i < engine->model->vocab; i++)
        sum += exp((double)logits[i]);
    return log(sum) - (double)logits[want];
}

static void test_llama_windows_score_their_second_half(void **state)
{
    enum { CTX = 8, BOS = 7 };
    static const char text[] = "And the king said unto her, What wilt thou, queen Esther? and what is thy "
                               "request? it shall be even given thee to the half of the kingdom.";
    float *logits = calloc(engine->model->vocab, sizeof(*logits));
    struct hx_ppl_cfg cfg = {.ctx = CTX, .llama = 1, .bos = BOS};
    struct hx_ppl got;
    struct hx_error err;
    double want = 0;
    size_t n, count = 0;
    uint32_t *ids = encode(text, &n), window[CTX];

    (void)state;
    for (size_t w = 0; w < n / CTX; w++) {
        memcpy(window, ids + w * CTX, sizeof(window));
        window[0] = BOS;
        for (size_t i = CTX / 2; i + 1 < CTX; i++, count++)
            want += nll(window, i + 1, window[i + 1], logits);
    }
    assert_true(n / CTX > 2 && n % CTX);
    assert_int_equal(hx_ppl_windows(engine->model, engine->forward, ids, n, &cfg, &got, &err), 0);
    assert_int_equal(got.chunks, n / CTX);
    assert_int_equal(got.tokens, count);
    assert_true(fabs(got.nll - want / (double)count) < 1e-5);
    cfg.chunks = 2;
    assert_int_equal(hx_ppl_windows(engine->model, engine->forward, ids, n, &cfg, &got, &err), 0);
    assert_int_equal(got.tokens, 2 * (CTX - 1 - CTX / 2));
    assert_int_equal(hx_ppl_windows(engine->model, engine->forward, ids, 2 * CTX - 1, &cfg, &got, &err),
                     -EINVAL);
    assert_non_null(strstr(err.text, "the text has 15 tokens; two windows need 16"));
    cfg.ctx = 3;
    assert_int_equal(hx_ppl_windows(engine->model, engine->forward, ids, n, &cfg, &got, &err), -EINVAL);
    free(logits);
    free(ids);
}

static int open_engine(void **state)
{
    (void)state;
    engine = hxt_engine_open(&(struct hx_engine_cfg){.model = MODEL_Q8_0, .settings = HXT_SETTINGS("kv=f32", HXT_REF),
                                                     .n_ctx = 64, .threads = 1});
    return 0;
}

static int close_engine(void **state)
{
    (void)state;
    hx_engine_close(engine);
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_stop_string_is_found_wherever_tokens_begin),
    cmocka_unit_test(test_the_stop_string_that_starts_first_counts),
    cmocka_unit_test(test_the_beginning_of_a_stop_string_waits_and_is_text_in_the_end),
    cmocka_unit_test(test_characters_are_shown_whole),
    cmocka_unit_test(test_a_completion_is_that_of_the_loop),
    cmocka_unit_test(test_what_the_cache_holds_is_not_run_again),
    cmocka_unit_test(test_what_does_not_fit_is_refused_before_anything_is_run),
    cmocka_unit_test(test_an_end_token_ends_the_text_where_it_is_asked_for),
    cmocka_unit_test(test_ends_in_the_prompt_have_no_penalty),
    cmocka_unit_test(test_llama_windows_score_their_second_half),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, open_engine, close_engine);
}
