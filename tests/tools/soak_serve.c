/* Protects a server that runs for days: eight clients at a time ask, read, and go away in the middle; all texts are right,
 * and afterwards the server holds the memory, descriptors and threads that it held before.
 *
 * SOAK_S (600): seconds.  The first fifth warms up; then is "before". */
#include <time.h>

#include "serve_client.h"

enum { CLIENTS = 8, TEXTS = 32, TOKENS = 20, GROWTH_KIB = 2048 };

static struct server server;

/* A request and the text that it has alone. */
static struct text {
    char body[256];
    char *want;
} texts[TEXTS];

struct client {
    pthread_t thread;
    unsigned number;
    double end; /* as now() */
    unsigned long done, left, wrong, broken; /* requests */
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Reads a little of a long stream, and goes. */
static int go_away(struct hxt_rng *rng)
{
    int fd = http_send(server.port, "POST", "/v1/completions", "application/json",
                       "{\"prompt\": \"It is\", \"max_tokens\": 900, \"stream\": true, \"ignore_eos\": true}");
    int fine = fd >= 0 && (hxt_below(rng, 2) || http_wait_for(fd, "data: "));

    if (fd >= 0)
        close(fd);
    return fine;
}

static void *client(void *arg)
{
    struct client *c = arg;
    struct hxt_rng rng;

    hxt_rng_init(&rng, 100 + c->number);
    while (now() < c->end) {
        const struct text *t = &texts[hxt_below(&rng, TEXTS)];
        char *got;

        if (hxt_below(&rng, 10) == 0) {
            c->broken += !go_away(&rng);
            c->left++;
            continue;
        }
        got = http_text(server.port, "/v1/completions", t->body);
        c->broken += !got;
        c->wrong += got && strcmp(got, t->want) != 0;
        c->done++;
        free(got);
    }
    return NULL;
}

static void clients(double seconds)
{
    struct client c[CLIENTS];
    struct client sum = {0};

    for (unsigned i = 0; i < CLIENTS; i++) {
        c[i] = (struct client){.number = i, .end = now() + seconds};
        assert_int_equal(pthread_create(&c[i].thread, NULL, client, &c[i]), 0);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        pthread_join(c[i].thread, NULL);
        sum.done += c[i].done;
        sum.left += c[i].left;
        sum.wrong += c[i].wrong;
        sum.broken += c[i].broken;
    }
    print_message("done=%lu left=%lu wrong=%lu broken=%lu\n", sum.done, sum.left, sum.wrong, sum.broken);
    assert_int_equal(sum.wrong, 0);
    assert_int_equal(sum.broken, 0);
    assert_true(sum.done > 0);
}

/* Each alone. */
static void learn_texts(void)
{
    static const char *const prompts[] = {"The king was", "In the beginning", "Once upon a time", "It is",
                                          "She said", "1 2 3", "God", "A ship"};

    for (size_t i = 0; i < TEXTS; i++) {
        snprintf(texts[i].body, sizeof(texts[i].body), "{\"prompt\": \"%s\", \"max_tokens\": %d, \"temperature\": "
                 "%s, \"seed\": %zu, \"ignore_eos\": true, \"stream\": %s}", prompts[i % HXT_LEN(prompts)],
                 TOKENS, i < TEXTS / 2 ? "0" : "0.8", i, i % 3 ? "false" : "true");
        texts[i].want = http_text(server.port, "/v1/completions", texts[i].body);
        assert_non_null(texts[i].want);
    }
}

struct holdings {
    long rss_kib;
    int fds, threads;
};

static int nobody(void *unused)
{
    (void)unused;
    return health(&server, "active") == 0 && health(&server, "queued") == 0;
}

static struct holdings look(void)
{
    struct holdings h;

    assert_true(hxt_until(nobody, NULL, 60));
    h = (struct holdings){server_rss_kib(&server), server_entries(&server, "fd"),
                          server_entries(&server, "task")};
    print_message("rss_kib=%ld fds=%d threads=%d cancelled=%g failed=%g tokens=%g\n", h.rss_kib, h.fds,
                  h.threads, health(&server, "cancelled"), health(&server, "failed"), health(&server, "tokens"));
    return h;
}

static void test_clients_at_once_for_a_long_time_leave_nothing(void **state)
{
    const double seconds = getenv("SOAK_S") ? atof(getenv("SOAK_S")) : 600;
    struct holdings before, after;

    (void)state;
    server_start(&server, "--kv f32 --parallel 4", seconds + 600);
    learn_texts();
    clients(seconds / 5);
    before = look();
    clients(seconds * 4 / 5);
    after = look();
    assert_true(health(&server, "failed") == 0);
    assert_true(after.fds <= before.fds + 1 && after.threads <= before.threads + 1);
    assert_true(after.rss_kib > 0 && after.rss_kib <= before.rss_kib + GROWTH_KIB);
    server_stop(&server);
    e2e_clean();
    for (size_t i = 0; i < TEXTS; i++)
        free(texts[i].want);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_clients_at_once_for_a_long_time_leave_nothing),
};

int main(void)
{
    return HXT_RUN(tests);
}
