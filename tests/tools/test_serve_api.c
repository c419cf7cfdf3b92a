/* Protects what `hexrig serve` knows beside text: tokens, metrics, other origins, embeddings, several choices, log-probabilities, and
 * replies that are JSON. */
#include "serve_client.h"

#define OPTIONS "--kv f32 --threads 1 --chat chatml"

static struct server server;

/* --- tokens, metrics, other origins */

static void test_tokens_are_what_a_prompt_is_read_as(void **state)
{
    json_t *j = http_json(server.port, "POST", "/tokenize", "{\"content\": \"The king was\", \"add_special\": false}", NULL), *back;
    json_t *run = run_json("--kv f32 -n 1", "The king was");
    json_t *pieces = http_json(server.port, "POST", "/tokenize", "{\"content\": \"The king was\", \"with_pieces\": true}", NULL);
    char *body;

    (void)state;
    assert_true(json_equal(json_object_get(j, "tokens"), json_object_get(run, "prompt_tokens")));
    assert_string_equal(e2e_text(json_array_get(json_object_get(pieces, "tokens"), 1), "piece"), " king");
    body = json_dumps(j, 0);
    back = http_json(server.port, "POST", "/detokenize", body, NULL);
    assert_string_equal(e2e_text(back, "content"), "The king was");
    free(body);
    json_decref(back);
    json_decref(pieces);
    json_decref(run);
    json_decref(j);
}

/* The value of a metric. */
static double metric(const char *name)
{
    struct http_reply r = {0};
    double v = -1;
    const char *at;

    assert_true(http_receive(http_send(server.port, "GET", "/metrics", "", NULL), &r));
    assert_non_null(strcasestr(r.text, "\r\nContent-Type: text/plain; version=0.0.4"));
    at = strstr(r.body, hxt_path("\n%s ", name));
    if (!at || sscanf(at + strlen(name) + 2, "%lf", &v) != 1)
        fail_msg("no %s in %s", name, r.body);
    free(r.text);
    return v;
}

static void test_metrics_are_those_of_health(void **state)
{
    const double made = metric("hexrig_generated_tokens_total"), prompt = metric("hexrig_prompt_tokens_total");
    const double cached = metric("hexrig_cached_prompt_tokens_total");

    (void)state;
    for (int i = 0; i < 2; i++)
        json_decref(http_json(server.port, "POST", "/v1/completions", "{\"prompt\": [505, 1560, 351, 7], \"max_tokens\": 5}", NULL));
    assert_true(metric("hexrig_generated_tokens_total") == made + 10);
    assert_true(metric("hexrig_prompt_tokens_total") == prompt + 8);
    assert_true(metric("hexrig_cached_prompt_tokens_total") >= cached + 3);
    assert_true(metric("hexrig_requests_total{result=\"done\"}") == health(&server, "done"));
    assert_true(metric("hexrig_up") == 1);
}

/* The head of the reply to a request with an Origin; malloc'ed. */
static char *head_for(const struct server *s, const char *request)
{
    struct http_reply r = {0};
    int fd = http_connect(s->port);

    assert_true(http_write(fd, request, strlen(request)));
    assert_true(http_receive(fd, &r));
    return r.text; /* it ends where the body begins */
}

#define ORIGIN "Host: h\r\nConnection: close\r\nOrigin: http://a.example\r\n"

static void test_pages_of_an_origin_may_ask_when_told_so(void **state)
{
    static const char get[] = "GET /v1/models HTTP/1.1\r\n" ORIGIN "\r\n";
    static const char options[] = "OPTIONS /v1/chat/completions HTTP/1.1\r\n" ORIGIN "Access-Control-Request-Method: POST\r\n"
                                  "Access-Control-Request-Headers: authorization,content-type,x-own\r\n\r\n";
    static const struct { const char *cors, *allowed; } cases[] = {
        {"--cors *", "\r\nAccess-Control-Allow-Origin: *"},
        {"--cors http://a.example", "\r\nAccess-Control-Allow-Origin: http://a.example"},
        {"--cors http://b.example", NULL},
    };
    char *head = head_for(&server, get);

    (void)state;
    assert_null(strcasestr(head, "Access-Control"));
    free(head);
    head = head_for(&server, options);
    assert_memory_equal(head, "HTTP/1.1 405", 12);
    free(head);
    for (size_t i = 0; i < HXT_LEN(cases); i++) {
        struct server s;

        server_start(&s, hxt_path(OPTIONS " --parallel 1 %s", cases[i].cors), E2E_TIMEOUT_S);
        head = head_for(&s, get);
        assert_true(!strstr(head, "Access-Control-Allow-Origin") == !cases[i].allowed);
        assert_true(!cases[i].allowed || strstr(head, cases[i].allowed));
        free(head);
        head = head_for(&s, options);
        assert_memory_equal(head, "HTTP/1.1 204", 12);
        assert_non_null(strstr(head, "Access-Control-Allow-Headers: authorization,content-type,x-own"));
        assert_true(!strstr(head, "Access-Control-Allow-Origin") == !cases[i].allowed);
        free(head);
        server_stop(&s);
    }
}

/* --- embeddings */

static json_t *embed(const char *input, const char *more)
{
    return http_json(server.port, "POST", "/v1/embeddings", hxt_path("{\"input\": %s%s}", input, more), NULL);
}

static const json_t *vector(const json_t *reply, size_t i)
{
    const json_t *one = json_array_get(json_object_get(reply, "data"), i);

    assert_true(e2e_number(one, "index") == (double)i);
    return json_object_get(one, "embedding");
}

static double product(const json_t *a, const json_t *b)
{
    double sum = 0;

    for (size_t i = 0; i < json_array_size(a); i++)
        sum += json_real_value(json_array_get(a, i)) * json_real_value(json_array_get(b, i));
    return sum;
}

static void test_embeddings_are_of_unit_length_and_near_for_near_texts(void **state)
{
    json_t *j = embed("[\"The king was in the castle\", \"The king was in his castle\", \"1 2 3 4 5\"]", "");
    json_t *one = embed("\"The king was in his castle\"", "");
    json_t *ids = embed("[505, 1560, 351]", ""), *text = embed("[\"The king was\"]", "");

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(json_array_size(vector(j, i)), 256);
        assert_true(fabs(product(vector(j, i), vector(j, i)) - 1) < 1e-5);
    }
    assert_true(product(vector(j, 0), vector(j, 1)) > product(vector(j, 0), vector(j, 2)));
    assert_true(json_equal(vector(j, 1), vector(one, 0))); /* whatever else is asked for */
    assert_true(json_equal(vector(ids, 0), vector(text, 0)));
    assert_true(e2e_number(ids, "usage.prompt_tokens") == 3 && e2e_number(ids, "usage.total_tokens") == 3);
    json_decref(text);
    json_decref(ids);
    json_decref(one);
    json_decref(j);
}

/* What the bytes of a base64 text are; OpenAI's clients ask for it. */
static void decode64(const char *text, uint8_t *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (uint32_t bits = 0, n = 0; *text && *text != '='; text++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, *text) - digits);
        n += 6;
        if (n >= 8)
            *to++ = (uint8_t)(bits >> (n -= 8));
    }
}

static void test_embeddings_in_base64_are_the_same_floats(void **state)
{
    json_t *plain = embed("\"It is\"", ""), *coded = embed("\"It is\"", ", \"encoding_format\": \"base64\", \"dimensions\": 256");
    const char *text = json_string_value(vector(coded, 0));
    float v[256 + 1];

    (void)state;
    assert_int_equal(strlen(text), (256 * 4 + 2) / 3 * 4);
    decode64(text, (uint8_t *)v);
    for (size_t i = 0; i < 256; i++)
        assert_true((double)v[i] == json_real_value(json_array_get(vector(plain, 0), i)));
    json_decref(coded);
    json_decref(plain);
}

/* An embedding runs over what a cache holds, and nobody takes it for a prompt's. */
static void test_embeddings_spoil_no_cache(void **state)
{
    static const char body[] = "{\"prompt\": \"Once upon a time there was\", \"max_tokens\": 12, \"temperature\": 0}";
    char *before, *after;
    struct server s;

    (void)state;
    server_start(&s, OPTIONS " --parallel 1", E2E_TIMEOUT_S);
    before = http_text(s.port, "/v1/completions", body);
    json_decref(http_json(s.port, "POST", "/v1/embeddings", "{\"input\": \"and the sea and the sky and the sea\"}", NULL));
    after = http_text(s.port, "/v1/completions", body);
    assert_string_equal(before, after);
    free(before);
    free(after);
    server_stop(&s);
}

/* --- several choices */

/* Each is what the same request alone makes with its seed. */
static void test_choices_differ_by_their_seeds(void **state)
{
    static const char body[] = "{\"prompt\": \"It is\", \"max_tokens\": 8, \"temperature\": 1, \"seed\": %d, \"n\": %d}";
    json_t *all = http_json(server.port, "POST", "/v1/completions", hxt_path(body, 5, 4), NULL); /* three engines */

    (void)state;
    assert_int_equal(json_array_size(json_object_get(all, "choices")), 4);
    assert_true(e2e_number(all, "usage.completion_tokens") == 4 * 8);
    for (int i = 0; i < 4; i++) {
        const json_t *choice = json_array_get(json_object_get(all, "choices"), (size_t)i);
        char *alone = http_text(server.port, "/v1/completions", hxt_path(body, 5 + i, 1));

        assert_true(e2e_number(choice, "index") == i);
        assert_string_equal(e2e_text(choice, "text"), alone);
        free(alone);
    }
    json_decref(all);
}

static void test_choices_of_a_stream_have_their_indices(void **state)
{
    struct http_reply r = {0};
    int roles[2] = {0, 0}, ends[2] = {0, 0};

    (void)state;
    assert_true(http_receive(http_send(server.port, "POST", "/v1/chat/completions", "application/json",
                                       "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"max_tokens\": 4, \"stream\": true, "
                                       "\"ignore_eos\": true, \"n\": 2, \"stream_options\": {\"include_usage\": true}}"), &r));
    for (const char *at = r.body, *end; (end = strstr(at, "\n\n")); at = end + 2) {
        json_t *j = json_loadb(at + 6, (size_t)(end - at - 6), 0, NULL);
        const json_t *choice = json_array_get(json_object_get(j, "choices"), 0);

        if (choice) {
            roles[(int)e2e_number(choice, "index")] += choice_text(j, "role") != NULL;
            ends[(int)e2e_number(choice, "index")] += choice_text(j, "finish_reason") != NULL;
        }
        json_decref(j);
    }
    assert_true(roles[0] == 1 && roles[1] == 1 && ends[0] == 1 && ends[1] == 1);
    assert_non_null(strstr(r.body, "\"choices\":[],\"usage\":{\"prompt_tokens\":"));
    assert_non_null(strstr(r.body, "\"completion_tokens\":8,"));
    free(r.text);
}

/* --- log-probabilities */

/* The tokens' texts joined, which have to be `text`; the first of the best is the token, as the text is greedy. */
static void check_chat_logprobs(const json_t *content, const char *text)
{
    char joined[512] = "";

    for (size_t i = 0; i < json_array_size(content); i++) {
        const json_t *t = json_array_get(content, i), *best = json_array_get(json_object_get(t, "top_logprobs"), 0);

        strcat(joined, e2e_text(t, "token"));
        assert_int_equal(json_array_size(json_object_get(t, "top_logprobs")), 2);
        assert_int_equal(json_array_size(json_object_get(t, "bytes")), strlen(e2e_text(t, "token")));
        assert_true(e2e_number(t, "logprob") <= 0 && e2e_number(t, "logprob") == e2e_number(best, "logprob"));
        assert_string_equal(e2e_text(best, "token"), e2e_text(t, "token"));
    }
    assert_string_equal(joined + (joined[0] == ' ' && text[0] != ' '), text);
}

static const char *const told_chat = "{\"messages\": [{\"role\": \"user\", \"content\": \"The king was\"}], \"max_tokens\": 12, "
                                     "\"temperature\": 0, \"logprobs\": true, \"top_logprobs\": 2, \"stream\": %s}";

/* All that the events of a stream say of tokens, and their text. */
static json_t *streamed_logprobs(const char *body, char *text)
{
    json_t *all = json_array();

    for (const char *end; (end = strstr(body, "\n\n")); body = end + 2) {
        json_t *j = json_loadb(body + 6, (size_t)(end - body - 6), 0, NULL);
        const json_t *choice = json_array_get(json_object_get(j, "choices"), 0);
        const char *more = choice_text(j, "content");

        strcat(text, more ? more : "");
        json_array_extend(all, json_object_get(json_object_get(choice, "logprobs"), "content"));
        json_decref(j);
    }
    return all;
}

static void test_logprobs_of_a_chat_are_those_of_its_tokens(void **state)
{
    json_t *whole = http_json(server.port, "POST", "/v1/chat/completions", hxt_path(told_chat, "false"), NULL), *streamed;
    const json_t *content = json_object_get(json_object_get(json_array_get(json_object_get(whole, "choices"), 0), "logprobs"), "content");
    struct http_reply r = {0};
    char text[512] = "";

    (void)state;
    assert_int_equal(json_array_size(content), 12);
    check_chat_logprobs(content, choice_text(whole, "content"));
    assert_true(http_receive(http_send(server.port, "POST", "/v1/chat/completions", "application/json", hxt_path(told_chat, "true")), &r));
    streamed = streamed_logprobs(r.body, text);
    assert_string_equal(text, choice_text(whole, "content"));
    assert_true(json_equal(streamed, content));
    json_decref(streamed);
    json_decref(whole);
    free(r.text);
}

static void test_logprobs_of_a_completion_are_lists(void **state)
{
    json_t *j = http_json(server.port, "POST", "/v1/completions",
                          "{\"prompt\": \"The king was\", \"max_tokens\": 8, \"temperature\": 0, \"logprobs\": 3}", NULL);
    const json_t *l = json_object_get(json_array_get(json_object_get(j, "choices"), 0), "logprobs");
    const json_t *tokens = json_object_get(l, "tokens");

    (void)state;
    assert_int_equal(json_array_size(tokens), 8);
    for (size_t i = 0; i < 8; i++) {
        const char *token = json_string_value(json_array_get(tokens, i));
        const json_t *top = json_array_get(json_object_get(l, "top_logprobs"), i);
        const json_int_t at = json_integer_value(json_array_get(json_object_get(l, "text_offset"), i));

        assert_int_equal(json_object_size(top), 3);
        assert_true(json_equal(json_object_get(top, token), json_array_get(json_object_get(l, "token_logprobs"), i)));
        assert_memory_equal(choice_text(j, "text") + at, token, strlen(token));
    }
    json_decref(j);
}

/* --- JSON */

/* The reply's content to a prompt in a format, parsed; max_tokens: how many it may have. */
static json_t *reply_in(const char *format, double temperature, int max_tokens)
{
    json_t *wanted = json_loads(format, 0, NULL), *body, *reply, *j;
    char *text;

    assert_non_null(wanted);
    body = json_pack("{s:[o], s:i, s:f, s:o}", "messages", chat_message("user", "A person, please."), "max_tokens", max_tokens,
                     "temperature", temperature, "response_format", wanted);
    text = json_dumps(body, 0);
    reply = http_json(server.port, "POST", "/v1/chat/completions", text, NULL);
    if (!choice_text(reply, "content"))
        fail_msg("%s: no reply", text);
    j = json_loads(choice_text(reply, "content"), 0, NULL);
    if (!j || strcmp(choice_text(reply, "finish_reason"), "stop") != 0)
        fail_msg("%s in %d tokens: %s", format, max_tokens, choice_text(reply, "content"));
    json_decref(reply);
    json_decref(body);
    free(text);
    return j;
}

static void test_json_parses_and_keeps_to_its_schema(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const double temperature = i % 2 ? 1.5 : 0;
        json_t *any = reply_in("{\"type\": \"json_object\"}", temperature, 2 + 15 * i);
        json_t *person = reply_in(AS_SCHEMA(PERSON), temperature, 20 + 8 * i);

        assert_true(json_is_object(any));
        assert_true(json_is_string(json_object_get(person, "name")) && json_is_integer(json_object_get(person, "age")));
        assert_int_equal(json_object_size(person), 2);
        json_decref(person);
        json_decref(any);
    }
}

static int start(void **state)
{
    (void)state;
    server_start(&server, OPTIONS " --parallel 3", 800);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    server_stop(&server);
    e2e_clean();
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_embeddings_are_of_unit_length_and_near_for_near_texts),
    cmocka_unit_test(test_embeddings_in_base64_are_the_same_floats),
    cmocka_unit_test(test_embeddings_spoil_no_cache),
    cmocka_unit_test(test_tokens_are_what_a_prompt_is_read_as),
    cmocka_unit_test(test_metrics_are_those_of_health),
    cmocka_unit_test(test_pages_of_an_origin_may_ask_when_told_so),
    cmocka_unit_test(test_choices_differ_by_their_seeds),
    cmocka_unit_test(test_choices_of_a_stream_have_their_indices),
    cmocka_unit_test(test_logprobs_of_a_chat_are_those_of_its_tokens),
    cmocka_unit_test(test_logprobs_of_a_completion_are_lists),
    cmocka_unit_test(test_json_parses_and_keeps_to_its_schema),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, start, stop);
}
