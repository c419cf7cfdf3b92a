/* Protects `hexrig serve`: bad requests are told what is wrong with them, and so are wrong options. */
#include "serve_client.h"

#define OPTIONS "--kv f32 --threads 1 --chat chatml"

static struct server server;

/* --- requests */

static const struct bad {
    const char *method, *path, *type, *body;
    int status;
    const char *param, *part; /* of the error object; param NULL: null */
} bads[] = {
#define POST(body, status, param, part)                                                            \
    {"POST", "/v1/completions", "application/json", body, status, param, part}
#define CHAT(body, status, param, part)                                                            \
    {"POST", "/v1/chat/completions", "application/json; charset=utf-8", body, status, param, part}
    {"GET", "/nothing", "", NULL, 404, NULL, "/nothing"},
    {"GET", "/v1/models/gpt-4", "", NULL, 404, "model", "gpt-4"},
    {"GET", "/v1/completions", "", NULL, 405, NULL, "POST"},
    {"POST", "/health", "", "{}", 405, NULL, "GET"},
    {"POST", "/metrics", "", "{}", 405, NULL, "GET"},
    {"POST", "/tokenize", "text/plain", "{}", 415, NULL, "application/json"},
#define TOKENS(path, body, param, part) {"POST", path, "application/json", body, 400, param, part}
    TOKENS("/tokenize", "{", NULL, "JSON"),
    TOKENS("/tokenize", "[]", NULL, "object"),
    TOKENS("/tokenize", "{\"content\": 1}", "content", "a string"),
    TOKENS("/tokenize", "{\"content\": \"x\", \"y\": 1}", "y", "unknown field"),
    TOKENS("/tokenize", "{\"content\": \"x\", \"add_special\": 1}", "add_special", "true and false"),
    TOKENS("/v1/embeddings", "{}", "input", "a string, an array of tokens"),
    TOKENS("/v1/embeddings", "{\"input\": []}", "input", "up to 256 of such"),
    TOKENS("/v1/embeddings", "{\"input\": \"\"}", "input", "empty"),
    TOKENS("/v1/embeddings", "{\"input\": [[1], []]}", "input", "empty"),
    TOKENS("/v1/embeddings", "{\"input\": [[1, 2048]]}", "input", "something that is none"),
    TOKENS("/v1/embeddings", "{\"input\": [1, \"x\"]}", "input", "something that is none"),
    TOKENS("/v1/embeddings", "{\"input\": [{}]}", "input", "a string"),
    TOKENS("/v1/embeddings", "{\"input\": \"x\", \"encoding_format\": \"hex\"}", "encoding_format", "float and base64"),
    TOKENS("/v1/embeddings", "{\"input\": \"x\", \"dimensions\": 64}", "dimensions", "the model's 256"),
    TOKENS("/v1/embeddings", "{\"input\": \"x\", \"prompt\": 1}", "prompt", "unknown field"),
    TOKENS("/detokenize", "{}", "tokens", "an array"),
    TOKENS("/detokenize", "{\"tokens\": [1, 2048]}", "tokens", "integers from 0 to 2047"),
    {"POST", "/v1/completions", "text/plain", "{\"prompt\": \"x\"}", 415, NULL, "application/json"},
    POST("", 400, NULL, "JSON"),
    POST("{\"prompt\": \"x\"", 400, NULL, "line 1, column"),
    POST("[1]", 400, NULL, "object"),
    POST("{\"prompt\": \"x\", \"prompt\": \"y\"}", 400, NULL, "duplicate"),
    POST("{\"prompt\": \"\xff\"}", 400, NULL, "decode byte 0xff"),
    POST("{}", 400, "prompt", "no prompt"),
    POST("{\"prompt\": \"\"}", 400, "prompt", "empty"),
    POST("{\"prompt\": [\"a\", \"b\"]}", 400, "prompt", "one string"),
    POST("{\"prompt\": [1, -1]}", 400, "prompt", "none"),
    POST("{\"prompt\": [1, 2048]}", 400, "prompt", "none"),
    POST("{\"prompt\": {}}", 400, "prompt", "string"),
    POST("{\"prompt\": \"x\", \"max_tokens\": 0}", 400, "max_tokens", "integers from 1"),
    POST("{\"prompt\": \"x\", \"max_tokens\": 1.5}", 400, "max_tokens", "integers"),
    POST("{\"prompt\": \"x\", \"max_tokens\": 1025}", 400, "prompt",
         "1 prompt tokens and 1025 new ones need 1025 positions, the context has 1024"),
    POST("{\"prompt\": \"x\", \"temperature\": 3}", 400, "temperature", "numbers from 0 to 2"),
    POST("{\"prompt\": \"x\", \"temperature\": \"hot\"}", 400, "temperature", "numbers"),
    POST("{\"prompt\": \"x\", \"top_p\": -1}", 400, "top_p", "numbers"),
    POST("{\"prompt\": \"x\", \"seed\": \"one\"}", 400, "seed", "integers"),
    POST("{\"prompt\": \"x\", \"stream\": 1}", 400, "stream", "true and false"),
    POST("{\"prompt\": \"x\", \"stop\": \"\"}", 400, "stop", "not empty"),
    POST("{\"prompt\": \"x\", \"stop\": [\"a\", \"b\", \"c\", \"d\", \"e\"]}", 400, "stop", "up to 4"),
    POST("{\"prompt\": \"x\", \"n\": 9}", 400, "n", "integers from 1 to 8"),
    POST("{\"prompt\": \"x\", \"best_of\": 2}", 400, "best_of", "1 choice"),
    POST("{\"prompt\": \"x\", \"logprobs\": 6}", 400, "logprobs", "integers from 0 to 5"),
    POST("{\"prompt\": \"x\", \"logprobs\": true}", 400, "logprobs", "integers from 0 to 5"),
    POST("{\"prompt\": \"x\", \"presence_penalty\": 2.5}", 400, "presence_penalty", "numbers from -2 to 2"),
    POST("{\"prompt\": \"x\", \"frequency_penalty\": \"1\"}", 400, "frequency_penalty", "numbers from -2 to 2"),
    POST("{\"prompt\": \"x\", \"logit_bias\": {\"1\": 5}}", 400, "logit_bias", "no such thing"),
    POST("{\"prompt\": \"x\", \"model\": \"gpt-4\"}", 404, "model", "gpt-4"),
    POST("{\"prompt\": \"x\", \"messages\": []}", 400, "messages", "unknown field"),
    CHAT("{}", 400, "messages", "no messages"),
#define ASK "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], "
#define FORMAT(json, part) CHAT(ASK "\"response_format\": " json "}", 400, "response_format", part)
    CHAT(ASK "\"logprobs\": 1}", 400, "logprobs", "true and false"),
    CHAT(ASK "\"logprobs\": true, \"top_logprobs\": 21}", 400, "top_logprobs", "integers from 0 to 20"),
    CHAT(ASK "\"top_logprobs\": 2}", 400, "top_logprobs", "logprobs has to be true"),
    FORMAT("\"json\"", "type is text, json_object or json_schema"),
    FORMAT("{\"type\": \"json_schema\"}", "an object with a schema"),
    FORMAT("{\"type\": \"json_schema\", \"json_schema\": {\"schema\": {}, \"x\": 1}}", "unknown field 'x'"),
    FORMAT(AS_SCHEMA("{\"properties\": {\"a\": {\"type\": \"string\", \"pattern\": \"x\"}}}"), "#/properties/a: 'pattern' is no keyword"),
    FORMAT(AS_SCHEMA("{\"maxItems\": 1000}"), "integers from 0 to 256"),
    CHAT(ASK "\"response_format\": " AS_SCHEMA(PERSON) ", \"max_tokens\": 10}", 400, "response_format",
         "19 bytes, and 10 tokens may be made"),
    CHAT(ASK "\"response_format\": {\"type\": \"json_object\"}, \"stop\": \"x\"}", 400, "stop", "cut the JSON"),
    CHAT(ASK "\"response_format\": {\"type\": \"json_object\"}, \"ignore_eos\": true}", 400, "ignore_eos", "has an end"),
    CHAT("{\"messages\": []}", 400, "messages", "at least one"),
    CHAT("{\"messages\": [{\"role\": \"tool\", \"content\": \"x\"}]}", 400, "messages", "role"),
    CHAT("{\"messages\": [{\"role\": \"user\", \"content\": 5}]}", 400, "messages", "content"),
    CHAT("{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"image_url\"}]}]}", 400, "messages",
         "text parts"),
    CHAT("{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"tools\": [{}]}", 400, "tools",
         "no such thing"),
};

static void check_refused(const struct bad *b)
{
    struct http_reply r = {0};
    const json_t *e;
    json_t *j;

    if (!http_receive(http_send(server.port, b->method, b->path, b->type, b->body), &r))
        fail_msg("%s %s %s: no reply", b->method, b->path, b->body);
    j = json_loads(r.body, 0, NULL);
    e = json_object_get(j, "error");
    if (r.status != b->status || !strstr(e2e_text(e, "message"), b->part) ||
        strcmp(e2e_text(e, "type"), "invalid_request_error") != 0 ||
        strcmp(e2e_text(e, "param"), b->param ? b->param : "") != 0)
        fail_msg("%s %s %s: want status %d, param %s, '%s', got %d %s", b->method, b->path, b->body,
                 b->status, b->param, b->part, r.status, r.body);
    json_decref(j);
    free(r.text);
}

static void test_bad_requests_are_told_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < HXT_LEN(bads); i++)
        check_refused(&bads[i]);
}

static void test_a_body_that_is_too_large_is_refused(void **state)
{
    enum { LARGE = (1 << 20) + 100 };
    static char body[LARGE + 1];
    struct http_reply r = {0};
    int fd;

    (void)state;
    memset(body, ' ', LARGE);
    if (http_receive(http_send(server.port, "POST", "/v1/completions", "application/json", body), &r))
        assert_int_equal(r.status, 413); /* or it was closed while we still wrote */
    free(r.text);
    /* only announced */
    fd = http_connect(server.port);
    static const char head[] = "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n";
    assert_true(http_write(fd, head, strlen(head)));
    assert_true(http_receive(fd, &r));
    assert_int_equal(r.status, 413);
    free(r.text);
    assert_true(health(&server, "active") == 0);
}

/* --- options */

static void test_wrong_options_are_refused(void **state)
{
    (void)state;
    e2e_refused("serve --port 65536", 2, "--port: unknown value '65536'");
    e2e_refused("serve --parallel 0", 2, "--parallel: unknown value '0'");
    e2e_refused("serve --kv f32 --ctx 4000", 1, "--ctx 4000: the model's context is 1024");
    e2e_refused("serve --kv f32 --chat telepathy", 1, "telepathy");
    e2e_refused("serve --calib x", 2, "--calib");
}

static void test_a_port_that_is_taken_is_named(void **state)
{
    struct hxt_result res;

    (void)state;
    e2e_run(&res, hxt_path("serve " OPTIONS " --port %d", server.port));
    assert_int_equal(res.exit_code, 1);
    assert_non_null(strstr(res.err, hxt_path("127.0.0.1, port %d: Address already in use", server.port)));
    hxt_result_free(&res);
}

static int start(void **state)
{
    (void)state;
    server_start(&server, OPTIONS, 800);
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
    cmocka_unit_test(test_bad_requests_are_told_what_is_wrong),
    cmocka_unit_test(test_a_body_that_is_too_large_is_refused),
    cmocka_unit_test(test_a_port_that_is_taken_is_named),
};

/* these look for whatever runs */
static const struct CMUnitTest alone[] = {
    cmocka_unit_test(test_wrong_options_are_refused),
};

int main(void)
{
    int rc = HXT_RUN(alone);

    return rc ? rc : HXT_RUN_FIXTURE(tests, start, stop);
}
