/* Protects `hexrig serve` from clients that send slowly, from more of them than it has room for, and from the death of its DSP:
 * others are served meanwhile, /health answers always and says what is the matter, and nobody has to start the server anew. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "serve_client.h"

#define SHORT "{\"prompt\": \"It is\", \"max_tokens\": 4, \"temperature\": 0, \"ignore_eos\": true}"
#define LONG "{\"prompt\": \"It is\", \"max_tokens\": 200, \"temperature\": 0, \"ignore_eos\": true, \"stream\": true}"

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int short_status(const struct server *s)
{
    int status = 0;

    json_t *reply = http_json(s->port, "POST", "/v1/completions", SHORT, &status);

    if (status != 200) {
        print_message("status %d: %s\n", status, json_string_value(json_object_get(json_object_get(reply, "error"), "message")));
        e2e_tell_log();
    }
    json_decref(reply);
    return status;
}

static int health_status(const struct server *s)
{
    int status = 0;

    json_decref(http_json(s->port, "GET", "/health", NULL, &status));
    return status;
}

/* --- slow clients */

enum { SLOW = 100 };

/* Each sends one more byte of `text`; those that the server has closed connect again. */
static void trickle(const struct server *s, int *fd, const char *text, size_t *at, int *closed)
{
    for (int i = 0; i < SLOW; i++) {
        char scrap[512];

        if (fd[i] >= 0 && (recv(fd[i], scrap, sizeof(scrap), MSG_DONTWAIT) >= 0 || errno != EAGAIN)) {
            close(fd[i]);
            fd[i] = -1;
            ++*closed;
        }
        if (fd[i] < 0) {
            fd[i] = http_connect(s->port);
            at[i] = 0;
        }
        if (fd[i] >= 0 && send(fd[i], text + at[i], at[i] ? 1 : strlen(text) - 40, MSG_NOSIGNAL) > 0)
            at[i] += at[i] ? 1 : strlen(text) - 40;
    }
}

static void others_are_served(const char *text)
{
    struct server s;
    int fd[SLOW], closed = 0, served = 0, healthy = 0, rounds = 0;
    size_t at[SLOW] = {0};
    double start, last = 0;

    server_start(&s, "--kv f32 --threads 1 --chat chatml --parallel 1 --queue 2", 200);
    memset(fd, 0xff, sizeof(fd));
    for (start = now_s(); rounds <= 5 || now_s() - start < 5; rounds++) {
        if (now_s() - last >= 1) {
            last = now_s();
            trickle(&s, fd, text, at, &closed);
        }
        served += short_status(&s) == 200;
        healthy += health_status(&s) == 200;
        poll(NULL, 0, 100);
    }
    print_message("%d slow clients: %d of %d requests served, /health %d times, %d closed\n", SLOW, served,
                  rounds, healthy, closed);
    assert_int_equal(served, rounds);
    assert_int_equal(healthy, rounds);
    for (int i = 0; i < SLOW; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    server_stop(&s);
}

static void test_slow_heads_keep_nobody_out(void **state)
{
    (void)state;
    others_are_served("GET /health HTTP/1.1\r\nHost: hexrig\r\nX-Padding: 0123456789012345678901234567890123456789");
}

static void test_slow_bodies_keep_nobody_out(void **state)
{
    (void)state;
    others_are_served("POST /v1/completions HTTP/1.1\r\nHost: hexrig\r\nContent-Type: application/json\r\n"
                      "Content-Length: 1000\r\n\r\n{\"prompt\": \"01234567890123456789012345678");
}

static void test_a_head_has_a_deadline(void **state)
{
    static const char head[] = "GET /health HTTP/1.1\r\nX-Padding: 0123456789012345678901234567890123456789";
    struct server s;
    double start = now_s(), spent = 0;
    char reply[512] = "";
    size_t at = 0;
    int fd;

    (void)state;
    server_start(&s, "--kv f32 --threads 1 --chat chatml", 200);
    fd = http_connect(s.port);
    while (recv(fd, reply, sizeof(reply) - 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) {
        assert_true(at < sizeof(head) - 1); /* 20 s */
        assert_int_equal(send(fd, head + at++, 1, MSG_NOSIGNAL), 1);
        poll(NULL, 0, 300);
        spent = now_s() - start;
    }
    assert_true(spent > 8);
    assert_int_equal(strncmp(reply, "HTTP/1.1 408 ", 13), 0);
    close(fd);
    server_stop(&s);
}

/* Twice as many requests as there is room for: each gets a reply, none a reset. */
static void test_too_many_requests_are_told_so(void **state)
{
    enum { MANY = 90 };
    struct server s;
    int fd[MANY], refused = 0, fine = 0, broken = 0;

    (void)state;
    server_start(&s, "--kv f32 --threads 1 --chat chatml --parallel 1 --queue 2", 200);
    for (int i = 0; i < MANY; i++)
        fd[i] = http_send(s.port, "POST", "/v1/completions", "application/json",
                          "{\"prompt\": \"It is\", \"max_tokens\": 60, \"ignore_eos\": true}");
    assert_int_equal(health_status(&s), 200);
    for (int i = 0; i < MANY; i++) {
        struct http_reply r = {0};

        http_receive(fd[i], &r);
        refused += r.status == 503;
        fine += r.status == 200;
        broken += r.status != 503 && r.status != 200;
        free(r.text);
    }
    print_message("%d requests: %d served, %d refused, %d broken\n", MANY, fine, refused, broken);
    assert_true(fine >= 3);
    assert_int_equal(broken, 0);
    server_stop(&s);
}

/* --- the death of the DSP */

struct watcher {
    pthread_t thread;
    const struct server *s;
    _Atomic int over;
    int failing, fine_again, unanswered;
};

static void *watch(void *arg)
{
    struct watcher *w = arg;

    while (!atomic_load(&w->over)) {
        const int status = health_status(w->s);

        w->unanswered += status != 200 && status != 503;
        w->failing += status == 503;
        w->fine_again += status == 200 && w->failing;
        poll(NULL, 0, 5);
    }
    return NULL;
}

struct wait {
    const struct server *s;
    double restarts;
};

static int came_back(void *arg)
{
    const struct wait *w = arg;

    return health(w->s, "restarts") >= w->restarts && health_status(w->s) == 200;
}

static void kill_dsp(void)
{
    const pid_t dsp = e2e_find("hexrig-dsp");

    assert_true(dsp > 1);
    assert_int_equal(kill(dsp, SIGKILL), 0);
}

static void test_a_dead_dsp_fails_what_it_was_doing_and_nothing_else(void **state)
{
    struct server s;
    struct watcher w = {.s = &s};
    struct wait wait = {&s, 0};
    char *want, *got;

    (void)state;
    server_start(&s, "--threads 1 --chat chatml --parallel 2", 300);
    want = http_text(s.port, "/v1/completions", SHORT);
    assert_non_null(want);
    assert_int_equal(pthread_create(&w.thread, NULL, watch, &w), 0);
    for (int round = 1; round <= 3; round++) {
        struct http_reply r = {0};
        int fd = http_send(s.port, "POST", "/v1/completions", "application/json", LONG);

        assert_true(http_wait_for(fd, "data: ")); /* it has got text: it cannot begin again */
        kill_dsp();
        assert_int_equal(http_receive(fd, &r), 0); /* the stream is broken off */
        free(r.text);
        wait.restarts = round;
        if (!hxt_until(came_back, &wait, 20))
            fail_msg("round %d: restarts %g, status %d", round, health(&s, "restarts"), health_status(&s));
        got = http_text(s.port, "/v1/completions", SHORT);
        assert_non_null(got);
        assert_string_equal(got, want);
        free(got);
    }
    atomic_store(&w.over, 1);
    pthread_join(w.thread, NULL);
    print_message("/health: failing %d times, unanswered %d\n", w.failing, w.unanswered);
    assert_true(w.failing > 0 && w.fine_again > 0);
    assert_int_equal(w.unanswered, 0);
    assert_true(health(&s, "failed") == 3);
    free(want);
    server_stop(&s);
}

static int makes_text(void *arg)
{
    const struct wait *w = arg;

    return health(w->s, "tokens") > 10;
}

/* What is sent as a whole begins again: its client has seen nothing of what is lost. */
static void test_a_dead_dsp_does_not_fail_what_is_sent_as_a_whole(void **state)
{
    static const char whole[] = "{\"prompt\": \"It is\", \"max_tokens\": 300, \"temperature\": 0, \"ignore_eos\": true}";
    struct server s;
    struct wait wait = {&s, 1};
    struct http_reply r = {0};
    json_t *got, *want;
    int fd;

    (void)state;
    server_start(&s, "--threads 1 --chat chatml --parallel 2", 300);
    fd = http_send(s.port, "POST", "/v1/completions", "application/json", whole);
    assert_true(hxt_until(makes_text, &wait, 20));
    kill_dsp();
    assert_int_equal(http_receive(fd, &r), 1);
    assert_int_equal(r.status, 200);
    assert_true(health(&s, "restarts") == 1);
    assert_true(health(&s, "failed") == 0);
    got = json_loads(r.body, 0, NULL);
    want = http_json(s.port, "POST", "/v1/completions", whole, NULL);
    assert_non_null(got);
    assert_non_null(want);
    assert_string_equal(choice_text(got, "text"), choice_text(want, "text"));
    assert_true(e2e_number(got, "usage.completion_tokens") == 300);
    json_decref(got);
    json_decref(want);
    free(r.text);
    server_stop(&s);
}

/* A request is served, whether the DSP still lives, is dying or is made anew. */
static int has_restarted(void *arg)
{
    const struct wait *w = arg;

    assert_int_equal(short_status(w->s), 200);
    return health(w->s, "restarts") >= w->restarts;
}

/* Nothing was under way, so nobody notices. */
static void test_a_dsp_that_dies_between_requests_fails_none(void **state)
{
    struct server s;
    struct wait wait = {&s, 0};

    (void)state;
    server_start(&s, "--threads 1 --chat chatml --parallel 2", 300);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(short_status(&s), 200);
        kill_dsp();
        wait.restarts = i + 1;
        assert_true(hxt_until(has_restarted, &wait, 20));
        assert_true(health(&s, "restarts") == i + 1);
        poll(NULL, 0, 2100); /* deaths in a row would keep it down */
    }
    assert_true(health(&s, "failed") == 0);
    server_stop(&s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_heads_keep_nobody_out),
        cmocka_unit_test(test_slow_bodies_keep_nobody_out),
        cmocka_unit_test(test_a_head_has_a_deadline),
        cmocka_unit_test(test_too_many_requests_are_told_so),
        cmocka_unit_test(test_a_dead_dsp_fails_what_it_was_doing_and_nothing_else),
        cmocka_unit_test(test_a_dead_dsp_does_not_fail_what_is_sent_as_a_whole),
        cmocka_unit_test(test_a_dsp_that_dies_between_requests_fails_none),
    };
    int rc = HXT_RUN(tests);

    e2e_clean();
    return rc;
}
