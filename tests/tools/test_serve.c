/* Protects `hexrig serve`: every client gets the text that `hexrig run` makes, whoever else asks; a client that goes away
 * ends its generation; memory does not grow; SIGTERM ends it. */
#include "serve_client.h"

#define OPTIONS "--kv f32 --threads 1 --chat chatml"

enum { CLIENTS = 8, TOKENS = 24 };

static struct server server;

static const char *const prompts[CLIENTS] = {
    "The king was", "In the beginning", "Once upon a time", "It is", "She said", "1 2 3", "God", "A ship",
};

/* --- the same text as hexrig run's */

struct client {
    pthread_t thread;
    int port;
    const char *path;
    char body[512];
    char *got;
};

static void *ask(void *arg)
{
    struct client *c = arg;

    c->got = http_text(c->port, c->path, c->body);
    return NULL;
}

/* All at once; each has to get want[i]. */
static void ask_all(struct client *clients, size_t n, char *const *want)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(pthread_create(&clients[i].thread, NULL, ask, &clients[i]), 0);
    for (size_t i = 0; i < n; i++)
        pthread_join(clients[i].thread, NULL);
    for (size_t i = 0; i < n; i++) {
        if (!clients[i].got)
            fail_msg("client %zu got no reply to %s", i, clients[i].body);
        assert_string_equal(clients[i].got, want[i]);
        free(clients[i].got);
    }
}

static char *text_of(json_t *j)
{
    char *text = strdup(e2e_text(j, "text"));

    json_decref(j);
    return text;
}

static void check_clients(const struct server *s, size_t n, const char *options, const char *fields)
{
    struct client clients[CLIENTS];
    char *want[CLIENTS] = {NULL};

    for (size_t i = 0; i < n; i++) {
        want[i] = text_of(run_json(hxt_path("-n %d %s", TOKENS, options), prompts[i]));
        clients[i] = (struct client){.port = s->port, .path = "/v1/completions"};
        snprintf(clients[i].body, sizeof(clients[i].body), "{\"prompt\": \"%s\", \"max_tokens\": %d, "
                 "\"ignore_eos\": true, \"stream\": %s, %s}", prompts[i], TOKENS,
                 i % 2 ? "true" : "false", fields);
    }
    ask_all(clients, n, want);
    for (size_t i = 0; i < n; i++)
        free(want[i]);
}

static void test_eight_clients_at_once_get_the_texts_of_hexrig_run(void **state)
{
    (void)state;
    check_clients(&server, CLIENTS, "--temp 0 --kv f32", "\"temperature\": 0");
}

static void test_sampled_texts_are_those_of_hexrig_run_with_the_same_seed(void **state)
{
    (void)state;
    check_clients(&server, CLIENTS,
                  "--kv f32 --temp 0.9 --top-p 0.95 --min-p 0.01 --repeat-penalty 1.1 --presence-penalty 0.5 --frequency-penalty -0.2 "
                  "--seed 7",
                  "\"temperature\": 0.9, \"top_p\": 0.95, \"min_p\": 0.01, \"repeat_penalty\": 1.1, "
                  "\"presence_penalty\": 0.5, \"frequency_penalty\": -0.2, \"seed\": 7");
}

static void test_chats_get_the_reply_of_hexrig_run(void **state)
{
    struct client clients[2] = {{.port = server.port}, {.port = server.port}};
    char *text = text_of(run_json("--temp 0 --kv f32 -n 16 --chat=chatml --system Brief.", "Who are you?"));
    char *want[2] = {text, text};

    (void)state;
    for (int i = 0; i < 2; i++) {
        clients[i].path = "/v1/chat/completions";
        snprintf(clients[i].body, sizeof(clients[i].body), "{\"messages\": [{\"role\": \"system\", "
                 "\"content\": \"Brief.\"}, {\"role\": \"user\", \"content\": [{\"type\": \"text\", "
                 "\"text\": \"Who are \"}, {\"type\": \"text\", \"text\": \"you?\"}]}], "
                 "\"max_completion_tokens\": 16, \"temperature\": 0, \"stream\": %s}",
                 i ? "true" : "false");
    }
    ask_all(clients, 2, want);
    free(text);
}

/* Both keep what their caches hold from turn to turn. */
static void test_a_conversation_is_a_chat_of_all_its_messages(void **state)
{
    static const char first[] = "Tell me of the king", second[] = "And of the queen";
    char *one = text_of(run_json("--temp 0 --kv f32 -n 8 --chat=chatml", first)), *two;
    struct hxt_result res;
    struct e2e_run r;
    json_t *body;
    char *text;

    (void)state;
    e2e_command(&r, "run --chat=chatml --temp 0 --kv f32 -n 8");
    r.cmd.input = hxt_path("%s\n%s\n", first, second);
    assert_int_equal(hxt_run(&res, &r.cmd), 0);
    body = json_pack("{s:[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}], s:i, s:i}", "messages", "role", "user",
                     "content", first, "role", "assistant", "content", one, "role", "user", "content",
                     second, "max_tokens", 8, "temperature", 0);
    text = json_dumps(body, 0);
    two = http_text(server.port, "/v1/chat/completions", text);
    assert_non_null(two);
    assert_string_equal(res.out, hxt_path("%s\n%s\n", one, two));
    hxt_result_free(&res);
    json_decref(body);
    free(text);
    free(two);
    free(one);
}

/* --- prompt cache */

/* The reply to the messages so far, which becomes one of them. */
static json_t *next_turn(json_t *messages, int turn)
{
    json_t *body, *reply;
    char *text;

    json_array_append_new(messages, chat_message("user", hxt_path("Question %d: what of it?", turn)));
    body = json_pack("{s:O, s:i, s:i}", "messages", messages, "max_tokens", 8, "temperature", 0);
    text = json_dumps(body, 0);
    reply = http_json(server.port, "POST", "/v1/chat/completions", text, NULL);
    assert_non_null(choice_text(reply, "content"));
    json_array_append_new(messages, chat_message("assistant", choice_text(reply, "content")));
    json_decref(body);
    free(text);
    return reply;
}

#define CACHED "usage.prompt_tokens_details.cached_tokens"

static void test_a_turn_of_a_chat_runs_no_prompt_of_the_turns_before(void **state)
{
    json_t *messages = json_array();
    double before = 0;

    (void)state;
    json_array_append_new(messages, chat_message("system", "Answer briefly."));
    for (int i = 0; i < 10; i++) {
        json_t *reply = next_turn(messages, i);

        if (e2e_number(reply, CACHED) < before)
            fail_msg("turn %d: %g of %g prompt tokens cached; the turn before had %g", i, e2e_number(reply, CACHED),
                     e2e_number(reply, "usage.prompt_tokens"), before);
        before = e2e_number(reply, "usage.prompt_tokens");
        json_decref(reply);
    }
    json_decref(messages);
}

/* Other prompts take the caches that were not used for longest. */
static void test_a_chat_keeps_its_cache_beside_others(void **state)
{
    json_t *messages = json_array(), *reply;
    double first;

    (void)state;
    reply = next_turn(messages, 100);
    first = e2e_number(reply, "usage.prompt_tokens");
    json_decref(reply);
    for (int i = 0; i < 2; i++) /* of three engines */
        json_decref(http_json(server.port, "POST", "/v1/completions",
                              i ? "{\"prompt\": \"A ship sailed to\", \"max_tokens\": 2}"
                                : "{\"prompt\": \"Once upon a time\", \"max_tokens\": 2}", NULL));
    reply = next_turn(messages, 101);
    assert_true(e2e_number(reply, CACHED) >= first);
    json_decref(reply);
    json_decref(messages);
}

static void test_the_blocks_of_every_client_are_its_own(void **state)
{
    struct server s;

    (void)state;
    server_start(&s, "--kv spinor --threads 1 --parallel 2", E2E_TIMEOUT_S);
    check_clients(&s, 4, "--temp 0 --kv spinor", "\"temperature\": 0");
    check_clients(&s, 4, "--temp 0 --kv spinor", "\"temperature\": 0"); /* behind what is cached */
    server_stop(&s);
}

static void test_drafters_change_no_text_whoever_else_asks(void **state)
{
    struct server s;
    struct http_reply r;

    (void)state;
    server_start(&s, "--kv f32 --threads 1 --parallel 2 --draft lookup --spec-thresh 0", E2E_TIMEOUT_S);
    check_clients(&s, 6, "--temp 0 --kv f32", "\"temperature\": 0");
    check_clients(&s, 6, "--kv f32 --temp 0.9 --seed 7", "\"temperature\": 0.9, \"seed\": 7"); /* behind what is cached */
    assert_true(http_receive(http_send(s.port, "GET", "/metrics", "", NULL), &r));
    assert_non_null(strstr(r.body, "\nhexrig_draft_proposed_total "));
    assert_null(strstr(r.body, "\nhexrig_draft_accepted_total 0\n"));
    free(r.text);
    server_stop(&s);
}

/* --- what a reply says */

static void test_a_stop_string_ends_the_text_in_front_of_it(void **state)
{
    json_t *run = run_json("--temp 0 --kv f32 -n 24", prompts[0]), *j;
    const char *all = e2e_text(run, "text"), *stop = all + strlen(all) - 4;
    char body[256];

    (void)state;
    snprintf(body, sizeof(body), "{\"prompt\": \"%s\", \"max_tokens\": 200, \"temperature\": 0, "
             "\"stop\": [\"no such text\", \"%s\"]}", prompts[0], stop);
    j = http_json(server.port, "POST", "/v1/completions", body, NULL);
    assert_non_null(choice_text(j, "text"));
    assert_int_equal(strlen(choice_text(j, "text")), strstr(all, stop) - all);
    assert_memory_equal(choice_text(j, "text"), all, strlen(choice_text(j, "text")));
    assert_string_equal(choice_text(j, "finish_reason"), "stop");
    json_decref(j);
    json_decref(run);
}

static void test_usage_counts_tokens(void **state)
{
    struct http_reply r = {0};
    json_t *j = http_json(server.port, "POST", "/v1/completions",
                          "{\"prompt\": [505, 1560, 351], \"max_tokens\": 5, \"temperature\": 0}", NULL);

    (void)state;
    assert_true(e2e_number(j, "usage.prompt_tokens") == 3);
    assert_true(e2e_number(j, "usage.completion_tokens") == 5);
    assert_true(e2e_number(j, "usage.total_tokens") == 8);
    assert_string_equal(choice_text(j, "finish_reason"), "length");
    json_decref(j);
    assert_true(http_receive(http_send(server.port, "POST", "/v1/completions", "application/json",
                                       "{\"prompt\": \"x\", \"max_tokens\": 2, \"stream\": true, "
                                       "\"stream_options\": {\"include_usage\": true}}"), &r));
    assert_non_null(strstr(r.body, "\"choices\":[],\"usage\":{\"prompt_tokens\":1,"
                           "\"completion_tokens\":2,\"total_tokens\":3,"
                           "\"prompt_tokens_details\":{\"cached_tokens\":0}}}\n\ndata: [DONE]\n\n"));
    free(r.text);
}

static void test_the_model_is_listed(void **state)
{
    json_t *j = http_json(server.port, "GET", "/v1/models", NULL, NULL), *one;
    const json_t *first = json_array_get(json_object_get(j, "data"), 0);

    (void)state;
    assert_string_equal(e2e_text(j, "object"), "list");
    assert_string_equal(e2e_text(first, "id"), "hexrig-tiny-q8_0");
    one = http_json(server.port, "GET", "/v1/models/hexrig-tiny-q8_0", NULL, NULL);
    assert_true(json_equal(one, first));
    json_decref(one);
    json_decref(j);
}

/* --- clients that go, and those that wait */

#define LONG "{\"prompt\": \"It is\", \"max_tokens\": 1000, \"temperature\": 0, \"ignore_eos\": true, \"stream\": true}"

static int long_stream(const struct server *s)
{
    int fd = http_send(s->port, "POST", "/v1/completions", "application/json", LONG);

    assert_true(fd >= 0);
    return fd;
}

struct wait {
    const struct server *s;
    const char *field;
    double value;
};

static int reached(void *arg)
{
    const struct wait *w = arg;

    return health(w->s, w->field) == w->value;
}

static void wait_until(const struct server *s, const char *field, double value)
{
    struct wait w = {s, field, value};

    if (!hxt_until(reached, &w, 60))
        fail_msg("%s is %g, not %g", field, health(s, field), value);
}

static void test_a_client_that_goes_away_ends_its_generation(void **state)
{
    const double tokens = health(&server, "tokens"), cancelled = health(&server, "cancelled");
    const char *whole = "{\"prompt\": \"It is\", \"max_tokens\": 1000, \"ignore_eos\": true}";
    int fd = long_stream(&server);

    (void)state;
    assert_true(http_wait_for(fd, "data: "));
    close(fd);
    wait_until(&server, "cancelled", cancelled + 1);
    assert_true(health(&server, "tokens") - tokens < 900);
    /* one that waits for its text in one piece, too */
    fd = http_send(server.port, "POST", "/v1/completions", "application/json", whole);
    wait_until(&server, "active", 1);
    close(fd);
    wait_until(&server, "cancelled", cancelled + 2);
    assert_true(health(&server, "tokens") - tokens < 1800);
    assert_true(health(&server, "active") == 0);
}

static void test_a_full_queue_refuses_and_queued_clients_may_go(void **state)
{
    struct server s;
    int fd[2], status = 0;
    json_t *j;

    (void)state;
    server_start(&s, OPTIONS " --parallel 1 --queue 1", E2E_TIMEOUT_S);
    fd[0] = long_stream(&s);
    assert_true(http_wait_for(fd[0], "data: "));
    fd[1] = long_stream(&s);
    wait_until(&s, "queued", 1);
    j = http_json(s.port, "POST", "/v1/completions", "{\"prompt\": \"x\"}", &status);
    assert_int_equal(status, 503);
    assert_string_equal(e2e_text(json_object_get(j, "error"), "code"), "server_overloaded");
    json_decref(j);
    close(fd[1]);
    wait_until(&s, "queued", 0);
    close(fd[0]);
    wait_until(&s, "active", 0);
    assert_true(health(&s, "cancelled") == 2 && health(&s, "refused") == 1);
    j = http_json(s.port, "POST", "/v1/completions", "{\"prompt\": \"x\", \"n\": 3}", &status); /* more than can ever be taken */
    assert_int_equal(status, 400);
    assert_string_equal(e2e_text(json_object_get(j, "error"), "param"), "n");
    json_decref(j);
    server_stop(&s);
}

static void test_sigterm_ends_a_server_at_work(void **state)
{
    struct server s;
    int fd[3];

    (void)state;
    server_start(&s, OPTIONS " --parallel 2", E2E_TIMEOUT_S);
    for (int i = 0; i < 3; i++)
        fd[i] = long_stream(&s);
    assert_true(http_wait_for(fd[0], "data: "));
    server_stop(&s);
    for (int i = 0; i < 3; i++)
        close(fd[i]);
}

/* --- memory */

static void short_requests(int n)
{
    for (int i = 0; i < n; i++) {
        char *text = http_text(server.port, "/v1/completions",
                               i % 2 ? "{\"prompt\": \"It is\", \"max_tokens\": 2}"
                                     : "{\"prompt\": \"It is\", \"max_tokens\": 2, \"stream\": true}");

        assert_non_null(text);
        free(text);
    }
}

static void test_memory_does_not_grow(void **state)
{
    enum { WARM_UP = 100, REQUESTS = 300, GROWTH_KIB = 128 };
    long before, after;
    int fds, threads;

    (void)state;
    short_requests(WARM_UP);
    before = server_rss_kib(&server);
    fds = server_entries(&server, "fd");
    threads = server_entries(&server, "task");
    short_requests(REQUESTS);
    after = server_rss_kib(&server);
    print_message("rss_kib=%ld, %ld after %d requests more\n", before, after, REQUESTS);
    assert_true(server_entries(&server, "fd") <= fds + 1 && server_entries(&server, "task") <= threads + 1);
    /* a sanitizer's allocator keeps what was freed; ASan finds leaks itself, when the server ends */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(before > 0 && after <= before + GROWTH_KIB);
#endif
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
    cmocka_unit_test(test_eight_clients_at_once_get_the_texts_of_hexrig_run),
    cmocka_unit_test(test_sampled_texts_are_those_of_hexrig_run_with_the_same_seed),
    cmocka_unit_test(test_chats_get_the_reply_of_hexrig_run),
    cmocka_unit_test(test_a_conversation_is_a_chat_of_all_its_messages),
    cmocka_unit_test(test_a_turn_of_a_chat_runs_no_prompt_of_the_turns_before),
    cmocka_unit_test(test_a_chat_keeps_its_cache_beside_others),
    cmocka_unit_test(test_the_blocks_of_every_client_are_its_own),
    cmocka_unit_test(test_drafters_change_no_text_whoever_else_asks),
    cmocka_unit_test(test_a_stop_string_ends_the_text_in_front_of_it),
    cmocka_unit_test(test_usage_counts_tokens),
    cmocka_unit_test(test_the_model_is_listed),
    cmocka_unit_test(test_a_client_that_goes_away_ends_its_generation),
    cmocka_unit_test(test_a_full_queue_refuses_and_queued_clients_may_go),
    cmocka_unit_test(test_sigterm_ends_a_server_at_work),
    cmocka_unit_test(test_memory_does_not_grow),
};

int main(void)
{
    return HXT_RUN_FIXTURE(tests, start, stop);
}
