/* Protects the C API (hexrig.h): tokens and texts equal however they are asked for, contexts that share a model do not
 * disturb each other, errors are told, and no token takes memory. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/api.h"
#include "golden.h"
#include "api/hexrig.h"
#include "hxt.h"
#include "methods/capture/capture.h"

enum { CTX = 96, N = 24, MAX = 64 };

static struct hexrig_model *model;
static struct hexrig_error err;

/* --- allocations: counted where no sanitizer does */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t each);
extern void *__libc_realloc(void *p, size_t n);
static _Thread_local unsigned long allocations;

void *malloc(size_t n)
{
    allocations++;
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t each)
{
    allocations++;
    return __libc_calloc(n, each);
}

void *realloc(void *p, size_t n)
{
    allocations++;
    return __libc_realloc(p, n);
}
#endif

/* --- helpers */

static size_t tokens_of(const char *text, uint32_t *ids)
{
    long n = hexrig_tokenize(model, text, strlen(text), HEXRIG_BOS, ids, MAX, &err);

    assert_true(n > 0 && n <= MAX);
    return (size_t)n;
}

static struct hexrig_context *context(void)
{
    struct hexrig_context *c;

    if (hexrig_context_open(&c, model, CTX, &err))
        fail_msg("%s", err.text);
    return c;
}

struct text {
    char bytes[1024];
    size_t n, calls, limit; /* limit: calls after which it cancels, 0: none */
};

static int collect(void *arg, const char *text, size_t n)
{
    struct text *t = arg;

    memcpy(t->bytes + t->n, text, n);
    t->n += n;
    return ++t->calls == t->limit;
}

/* What a context of its own makes of the prompt, token by token. */
static void by_steps(const char *prompt, const struct hexrig_sampling *s, uint32_t *made)
{
    struct hexrig_context *c = context();
    uint32_t ids[MAX];

    if (s)
        assert_int_equal(hexrig_set_sampling(c, s, &err), 0);
    assert_int_equal(hexrig_feed(c, ids, tokens_of(prompt, ids), &err), 0);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(hexrig_sample(c, &made[i], &err), 0);
        assert_int_equal(hexrig_feed(c, &made[i], 1, &err), 0);
    }
    hexrig_context_close(c);
}

static const struct hexrig_sampling warm = {.temperature = 0.8, .top_k = 50, .top_p = 0.95, .min_p = 0.01,
                                            .repeat_penalty = 1.1, .repeat_last = 16, .seed = 5};

/* --- tests */

static void test_generation_is_feeding_and_sampling(void **state)
{
    const struct hexrig_sampling *const samplings[] = {NULL, &warm};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(samplings); i++) {
        struct hexrig_context *c = context();
        struct text text = {.n = 0};
        uint32_t ids[MAX], want[N];
        char want_text[1024];
        struct hexrig_generation g = {.prompt = ids, .n_prompt = tokens_of("The king was", ids),
                                      .max_tokens = N, .ignore_end = 1, .text = collect, .arg = &text};

        by_steps("The king was", samplings[i], want);
        if (samplings[i])
            assert_int_equal(hexrig_set_sampling(c, samplings[i], &err), 0);
        assert_int_equal(hexrig_generate(c, &g, &err), 0);
        assert_int_equal(g.finish, HEXRIG_LENGTH);
        assert_int_equal(g.n_made, N);
        assert_int_equal(hexrig_position(c), g.n_prompt + N);
        assert_int_equal(hexrig_detokenize(model, want, N, want_text, sizeof(want_text), &err), text.n);
        assert_memory_equal(text.bytes, want_text, text.n);
        hexrig_context_close(c);
    }
}

static void test_generation_goes_on_behind_what_the_context_holds(void **state)
{
    struct hexrig_context *c = context(), *whole = context();
    struct text a = {.n = 0}, b = {.n = 0};
    uint32_t ids[MAX];
    struct hexrig_generation g = {.prompt = ids, .n_prompt = tokens_of("The king was", ids),
                                  .max_tokens = N, .ignore_end = 1, .text = collect, .arg = &a};

    (void)state;
    assert_int_equal(hexrig_generate(whole, &g, &err), 0);
    g.arg = &b;
    g.max_tokens = N / 2;
    assert_int_equal(hexrig_generate(c, &g, &err), 0);
    g.n_prompt = 0;
    assert_int_equal(hexrig_generate(c, &g, &err), 0);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.bytes, b.bytes, a.n);
    /* and again from the prompt on */
    b.n = 0;
    assert_int_equal(hexrig_rewind(c, 3, &err), 0);
    g.max_tokens = N;
    assert_int_equal(hexrig_generate(c, &g, &err), 0);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.bytes, b.bytes, a.n);
    hexrig_context_close(whole);
    hexrig_context_close(c);
}

static void test_logits_are_those_of_the_last_token_held(void **state)
{
    const size_t vocab = hexrig_model_vocab(model);
    float *one = calloc(vocab, sizeof(*one)), *other = calloc(vocab, sizeof(*other));
    struct hexrig_context *c = context();
    uint32_t ids[MAX], id, best = 0;
    size_t n = tokens_of("In the beginning", ids);

    (void)state;
    assert_int_equal(hexrig_feed(c, ids, n, &err), 0);
    assert_int_equal(hexrig_logits(c, one, &err), 0);
    assert_int_equal(hexrig_sample(c, &id, &err), 0);
    for (uint32_t i = 0; i < vocab; i++)
        best = one[i] > one[best] ? i : best;
    assert_int_equal(id, best);
    assert_int_equal(hexrig_feed(c, &id, 1, &err), 0);
    assert_int_equal(hexrig_logits(c, other, &err), 0);
    assert_memory_not_equal(one, other, vocab * sizeof(*one));
    assert_int_equal(hexrig_rewind(c, n, &err), 0);
    assert_int_equal(hexrig_logits(c, other, &err), 0);
    hxt_same_bytes(other, one, vocab * sizeof(*one));
    hexrig_context_close(c);
    free(one);
    free(other);
}

struct thread {
    pthread_t id;
    const char *prompt;
    uint32_t made[N];
    int rc;
};

/* Without assertions: they are for the main thread. */
static void *generate_alone(void *arg)
{
    struct thread *t = arg;
    struct hexrig_context *c = NULL;
    struct hexrig_error e;
    uint32_t ids[MAX];
    long n = hexrig_tokenize(model, t->prompt, strlen(t->prompt), HEXRIG_BOS, ids, MAX, &e);

    t->rc = hexrig_context_open(&c, model, CTX, &e);
    if (!t->rc)
        t->rc = hexrig_feed(c, ids, (size_t)n, &e);
    for (size_t i = 0; !t->rc && i < N; i++) {
        t->rc = hexrig_sample(c, &t->made[i], &e);
        if (!t->rc)
            t->rc = hexrig_feed(c, &t->made[i], 1, &e);
    }
    hexrig_context_close(c);
    return NULL;
}

static void test_contexts_of_several_threads_do_not_disturb_each_other(void **state)
{
    static const char *const prompts[] = {"The king was", "In the beginning", "It is", "She said"};
    struct thread threads[HXT_LEN(prompts)];
    uint32_t want[N];

    (void)state;
    for (size_t i = 0; i < HXT_LEN(prompts); i++) {
        threads[i].prompt = prompts[i];
        assert_int_equal(pthread_create(&threads[i].id, NULL, generate_alone, &threads[i]), 0);
    }
    for (size_t i = 0; i < HXT_LEN(prompts); i++)
        pthread_join(threads[i].id, NULL);
    for (size_t i = 0; i < HXT_LEN(prompts); i++) {
        assert_int_equal(threads[i].rc, 0);
        by_steps(prompts[i], NULL, want);
        hxt_same_bytes(threads[i].made, want, sizeof(want));
    }
}

enum { TURNS = 500 };
static int in_turn;

static void *take_turns(void *arg)
{
    (void)arg;
    for (int i = 0; i < TURNS; i++) {
        hx_api_enter(model);
        int seen = in_turn;

        sched_yield(); /* whoever else is in has its chance */
        in_turn = seen + 1;
        hx_api_leave(model);
    }
    return NULL;
}

static void test_one_thread_at_a_time_runs_the_model(void **state)
{
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < HXT_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, NULL), 0);
    for (size_t i = 0; i < HXT_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(in_turn, TURNS * HXT_LEN(threads));
}

static void test_the_callback_can_cancel(void **state)
{
    struct hexrig_context *c = context();
    struct text text = {.limit = 3};
    uint32_t ids[MAX];
    struct hexrig_generation g = {.prompt = ids, .n_prompt = tokens_of("The king was", ids),
                                  .max_tokens = N, .ignore_end = 1, .text = collect, .arg = &text};

    (void)state;
    assert_int_equal(hexrig_generate(c, &g, &err), 0);
    assert_int_equal(g.finish, HEXRIG_CANCELLED);
    assert_int_equal(text.calls, 3);
    assert_true(g.n_made < N && hexrig_position(c) == g.n_prompt + g.n_made);
    hexrig_context_close(c);
}

static void test_stop_strings_end_the_text(void **state)
{
    const char *const stop[] = {"dom of"};
    struct hexrig_context *c = context();
    struct text text = {.n = 0};
    uint32_t ids[MAX];
    struct hexrig_generation g = {.prompt = ids, .n_prompt = tokens_of("The king was", ids),
                                  .max_tokens = N, .stop = stop, .n_stop = 1, .text = collect,
                                  .arg = &text};

    (void)state;
    assert_int_equal(hexrig_generate(c, &g, &err), 0);
    assert_int_equal(g.finish, HEXRIG_STOP);
    assert_int_equal(text.n, strlen(" a king"));
    assert_memory_equal(text.bytes, " a king", text.n);
    hexrig_context_close(c);
}

static void test_tokens_and_text_say_how_much_room_they_need(void **state)
{
    static const char text[] = "In the beginning God created";
    uint32_t ids[MAX], few[2];
    char back[64];
    long n = hexrig_tokenize(model, text, strlen(text), 0, ids, MAX, &err);

    (void)state;
    assert_int_equal(hexrig_tokenize(model, text, strlen(text), 0, few, 2, &err), n);
    assert_memory_equal(few, ids, sizeof(few));
    assert_int_equal(hexrig_tokenize(model, text, strlen(text), 0, NULL, 0, &err), n);
    assert_int_equal(hexrig_detokenize(model, ids, (size_t)n, back, sizeof(back), &err), strlen(text));
    assert_string_equal(back, text);
    assert_int_equal(hexrig_detokenize(model, ids, (size_t)n, back, 4, &err), strlen(text));
    assert_string_equal(back, "In ");
    assert_int_equal(hexrig_detokenize(model, ids, (size_t)n, NULL, 0, &err), strlen(text));
    assert_int_equal(hexrig_tokenize(model, text, 2, 64, ids, MAX, &err), -EINVAL);
}

static void test_a_chat_is_its_familys_text(void **state)
{
    const struct hexrig_message messages[] = {{"system", "Brief."}, {"user", "Who are you?"}};
    static const char want[] = "<|im_start|>system\nBrief.<|im_end|>\n<|im_start|>user\nWho are you?<|im_end|>\n"
                               "<|im_start|>assistant\n";
    uint32_t ids[MAX * 2], plain[MAX * 2];
    long n = hexrig_chat(model, "chatml", messages, 2, ids, HXT_LEN(ids), &err);

    (void)state;
    assert_int_equal(hexrig_tokenize(model, want, strlen(want), HEXRIG_SPECIAL, plain, HXT_LEN(plain), &err), n);
    assert_memory_equal(ids, plain, (size_t)n * sizeof(*ids));
    assert_int_equal(hexrig_chat(model, "telepathy", messages, 2, ids, MAX, &err), -EINVAL);
    assert_non_null(strstr(err.text, "telepathy"));
    assert_int_equal(hexrig_chat(model, "chatml", messages, 0, ids, MAX, &err), -EINVAL);
}

static void test_errors_name_what_is_wrong(void **state)
{
    struct hexrig_config cfg = HEXRIG_CONFIG_INIT;
    struct hexrig_sampling hot = {.temperature = -1};
    struct hexrig_generation g = {.max_tokens = 1};
    struct hexrig_model *m;
    struct hexrig_context *c;
    uint32_t ids[CTX + 1] = {0};

    (void)state;
    cfg.model = "/nonexistent.gguf";
    assert_int_equal(hexrig_model_open(&m, &cfg, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent.gguf"));
    assert_null(m);
    cfg.size = 1;
    assert_int_equal(hexrig_model_open(&m, &cfg, &err), -EINVAL);
    assert_int_equal(hexrig_context_open(&c, model, 100000, &err), -EINVAL);
    assert_string_equal(err.text, "a context of 100000; the model's is 1024");
    assert_null(c);
    c = context();
    assert_int_equal(hexrig_sample(c, ids, &err), -EINVAL);
    assert_int_equal(hexrig_generate(c, &g, &err), -EINVAL);
    assert_int_equal(hexrig_feed(c, ids, CTX + 1, &err), -E2BIG);
    assert_string_equal(err.text, "the context holds 0 tokens of 96; 97 and 0 more do not fit");
    ids[0] = 2048;
    assert_int_equal(hexrig_feed(c, ids, 1, &err), -EINVAL);
    assert_string_equal(err.text, "token 2048; the vocabulary has 2048");
    ids[0] = 1;
    g = (struct hexrig_generation){.prompt = ids, .n_prompt = 2, .max_tokens = CTX - 1};
    assert_int_equal(hexrig_generate(c, &g, &err), -E2BIG);
    assert_int_equal(hexrig_rewind(c, 1, &err), -EINVAL);
    assert_int_equal(hexrig_set_sampling(c, &hot, &err), -EINVAL);
    assert_int_equal(hexrig_position(c), 0);
    hexrig_context_close(c);
    hexrig_context_close(NULL);
    hexrig_model_close(NULL);
}

static void test_a_config_of_later_and_of_earlier_callers_is_understood(void **state)
{
    struct {
        struct hexrig_config cfg;
        const char *later;
    } big = {.cfg = {.size = sizeof(big), .model = MODEL_Q8_0, .kv = "f32"}};
    struct hexrig_model *m;

    (void)state;
    assert_int_equal(hexrig_model_open(&m, &big.cfg, &err), 0);
    hexrig_model_close(m);
    big.later = "x";
    assert_int_equal(hexrig_model_open(&m, &big.cfg, &err), -EINVAL);
    big.cfg.size = offsetof(struct hexrig_config, density);
    assert_int_equal(hexrig_model_open(&m, &big.cfg, &err), 0);
    hexrig_model_close(m);
}

static void test_a_model_lives_as_long_as_its_contexts(void **state)
{
    struct hexrig_config cfg = HEXRIG_CONFIG_INIT;
    struct hexrig_context *c;
    struct hexrig_model *m;
    uint32_t id = 505, next, want;

    (void)state;
    cfg.kv = "f32"; /* and the shipped model */
    assert_int_equal(hexrig_model_open(&m, &cfg, &err), 0);
    assert_int_equal(hexrig_context_open(&c, m, 8, &err), 0);
    hexrig_model_close(m);
    assert_int_equal(hexrig_feed(c, &id, 1, &err), 0);
    assert_int_equal(hexrig_sample(c, &next, &err), 0);
    hexrig_context_close(c);
    c = context();
    assert_int_equal(hexrig_feed(c, &id, 1, &err), 0);
    assert_int_equal(hexrig_sample(c, &want, &err), 0);
    assert_int_equal(next, want);
    hexrig_context_close(c);
}

/* Closing a context is all that a program does to say that it is done. */
static void test_a_capture_is_complete_when_its_context_is_closed(void **state)
{
    const char *path = hxt_path("%s/api.cap", hxt_tmpdir());
    const char *const options[] = {hxt_path("capture=%s", path), NULL};
    struct hexrig_config cfg = HEXRIG_CONFIG_INIT;
    struct hx_capture_reader *r = NULL;
    struct hexrig_context *c;
    struct hexrig_model *m;
    struct hx_error cause;
    const uint32_t id = 505;

    (void)state;
    cfg.model = MODEL_Q8_0;
    cfg.kv = "f32";
    cfg.options = options;
    assert_int_equal(hexrig_model_open(&m, &cfg, &err), 0);
    assert_int_equal(hexrig_context_open(&c, m, CTX, &err), 0);
    assert_int_equal(hexrig_feed(c, &id, 1, &err), 0);
    assert_int_equal(access(path, F_OK), -1);
    hexrig_context_close(c);
    assert_int_equal(hx_capture_read(&r, path, &cause), 0);
    assert_int_equal(hx_capture_header(r)->n_records, 6);
    hx_capture_read_close(r);
    assert_int_equal(hexrig_context_open(&c, m, CTX, &err), 0); /* runs nothing */
    hexrig_context_close(c);
    assert_int_equal(hx_capture_read(&r, path, &cause), 0);
    hx_capture_read_close(r);
    hexrig_model_close(m);
}

/* A text of 40 tokens and the token that would follow. */
static uint32_t forty(struct hexrig_context *c, struct text *text)
{
    uint32_t ids[MAX], next;
    struct hexrig_generation g = {.prompt = ids, .n_prompt = tokens_of("The king was", ids), .max_tokens = 40, .ignore_end = 1,
                                  .text = collect, .arg = text};

    *text = (struct text){.n = 0};
    assert_int_equal(hexrig_generate(c, &g, &err), 0);
    assert_int_equal(hexrig_position(c), g.n_prompt + 40);
    assert_int_equal(hexrig_sample(c, &next, &err), 0);
    return next;
}

/* Each context has a drafter of its own. */
static void test_drafters_change_no_text(void **state)
{
    static const char *const drafters[] = {"draft=lookup", "draft=perfect", "draft=model:" MODEL_F16};
    struct hexrig_context *c = context();
    struct text want, got;
    const uint32_t next = forty(c, &want);

    (void)state;
    hexrig_context_close(c);
    for (size_t i = 0; i < HXT_LEN(drafters); i++) {
        const char *const options[] = {drafters[i], "spec-thresh=0", NULL};
        struct hexrig_config cfg = HEXRIG_CONFIG_INIT;
        struct hexrig_context *two[2];
        struct hexrig_model *m;

        cfg.model = MODEL_Q8_0;
        cfg.kv = "f32";
        cfg.options = options;
        assert_int_equal(hexrig_model_open(&m, &cfg, &err), 0);
        for (int k = 0; k < 2; k++)
            assert_int_equal(hexrig_context_open(&two[k], m, CTX, &err), 0);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(forty(two[k], &got), next);
            assert_int_equal(got.n, want.n);
            assert_memory_equal(got.bytes, want.bytes, want.n);
        }
        for (int k = 0; k < 2; k++)
            hexrig_context_close(two[k]);
        hexrig_model_close(m);
    }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
struct counts {
    unsigned long first, last, calls;
};

static int count(void *arg, const char *text, size_t n)
{
    struct counts *c = arg;

    (void)text;
    (void)n;
    c->last = allocations;
    if (!c->calls++)
        c->first = c->last;
    return 0;
}

static void test_no_token_takes_memory(void **state)
{
    const struct hexrig_sampling *const samplings[] = {NULL, &warm};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(samplings); i++) {
        struct hexrig_context *c = context();
        struct counts counts = {0};
        uint32_t ids[MAX];
        struct hexrig_generation g = {.prompt = ids, .n_prompt = tokens_of("The king was", ids),
                                      .max_tokens = 60, .ignore_end = 1, .text = count, .arg = &counts};

        if (samplings[i])
            assert_int_equal(hexrig_set_sampling(c, samplings[i], &err), 0);
        assert_int_equal(hexrig_generate(c, &g, &err), 0);
        assert_true(counts.calls > 20 && counts.first > 0);
        assert_int_equal(counts.last - counts.first, 0);
        hexrig_context_close(c);
    }
}
#else
static void test_no_token_takes_memory(void **state)
{
    (void)state;
    hxt_skip_test("the sanitizer has its own malloc; the plain build counts");
}
#endif

static int open_model(void **state)
{
    struct hexrig_config cfg = HEXRIG_CONFIG_INIT;

    (void)state;
    cfg.model = MODEL_Q8_0;
    cfg.kv = "f32";
    if (hexrig_model_open(&model, &cfg, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int close_model(void **state)
{
    (void)state;
    hexrig_model_close(model);
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_generation_is_feeding_and_sampling),
    cmocka_unit_test(test_generation_goes_on_behind_what_the_context_holds),
    cmocka_unit_test(test_logits_are_those_of_the_last_token_held),
    cmocka_unit_test(test_contexts_of_several_threads_do_not_disturb_each_other),
    cmocka_unit_test(test_one_thread_at_a_time_runs_the_model),
    cmocka_unit_test(test_the_callback_can_cancel),
    cmocka_unit_test(test_stop_strings_end_the_text),
    cmocka_unit_test(test_tokens_and_text_say_how_much_room_they_need),
    cmocka_unit_test(test_a_chat_is_its_familys_text),
    cmocka_unit_test(test_errors_name_what_is_wrong),
    cmocka_unit_test(test_a_config_of_later_and_of_earlier_callers_is_understood),
    cmocka_unit_test(test_a_model_lives_as_long_as_its_contexts),
    cmocka_unit_test(test_a_capture_is_complete_when_its_context_is_closed),
    cmocka_unit_test(test_drafters_change_no_text),
    cmocka_unit_test(test_no_token_takes_memory),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, open_model, close_model);
}
