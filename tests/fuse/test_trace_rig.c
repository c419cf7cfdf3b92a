/* Protects `hexrig trace`: what a client's calls did on the DSP comes out as a file that viewers take: named tracks, slices that
 * nest, the same bytes in every run of a client with one thread. */
#include <pthread.h>

#include "e2e.h"
#include "remote.h"
#include "silicon.h"
#include "skel/hxt_skel.h"
#include "trace_json.h"

/* --- the clients, which `hexrig trace` runs: this program with an argument -------------------- */

enum { ROWS = 64, INNER = 1024, TOKENS = 2, THREADS = 4, CALLS = 8 };

/* A matmul whose weights come by DMA, on two HVX contexts.  Arguments lie in a message in the order of their addresses, on which figures
 * depend, so here the compiler has no say in it. */
static int matmul(remote_handle64 h)
{
    static const silicon_how how = {SILICON_RELEASE, SILICON_DMA, 2, 1};
    static struct {
        float y[TOKENS * ROWS], scale[ROWS];
        uint8_t w[ROWS * INNER];
        float x[TOKENS * INNER];
    } m;
    silicon_cycles t;

    for (int i = 0; i < TOKENS * INNER; i++)
        m.x[i] = (float)(i % 17);
    memset(m.w, 3, sizeof(m.w));
    for (int i = 0; i < ROWS; i++)
        m.scale[i] = 1;
    return silicon_matmul(h, &how, SILICON_ROW_SUMS, TOKENS, INNER, ROWS, m.x, HXT_LEN(m.x), m.w, sizeof(m.w), m.scale,
                          ROWS, m.y, HXT_LEN(m.y), &t);
}

static int echo(remote_handle64 h)
{
    static const silicon_how how = {SILICON_RELEASE, SILICON_DDR, 1, 0};
    struct {
        uint8_t data[1000], back[1000];
    } m = {.data = {1}};
    silicon_cycles t;

    return silicon_echo(h, &how, m.data, sizeof(m.data), m.back, sizeof(m.back), &t);
}

static int run_one(void)
{
    remote_handle64 h;
    int rc = silicon_open(silicon_URI "&_dom=cdsp", &h);

    for (int i = 0; i < 3 && !rc; i++)
        rc = matmul(h);
    if (!rc)
        rc = echo(h);
    return rc ? rc : silicon_close(h);
}

static void *echoes(void *handle)
{
    intptr_t rc = 0;

    for (int i = 0; i < CALLS && !rc; i++)
        rc = echo(*(remote_handle64 *)handle);
    return (void *)rc;
}

static int run_many(void)
{
    pthread_t t[THREADS];
    remote_handle64 h;
    int rc = silicon_open(silicon_URI "&_dom=cdsp", &h);

    if (rc)
        return rc;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, echoes, &h);
    for (int i = 0; i < THREADS; i++) {
        void *result;

        pthread_join(t[i], &result);
        rc |= result != NULL;
    }
    return rc ? rc : silicon_close(h);
}

static int client(const char *what)
{
    if (strcmp(what, "fail") == 0)
        return run_one() ? 1 : 7;
    return (strcmp(what, "one") == 0 ? run_one() : run_many()) ? 1 : 0;
}

/* --- the tests -------------------------------------------------------------------------------- */

static const char *self;

/* Runs `hexrig trace` with the client and returns the file's text. */
static char *trace(const char *options, const char *what, size_t *n)
{
    const char *file = hxt_path("%s/t.json", hxt_tmpdir());
    struct hxt_result res;
    char words[1024], *text;

    snprintf(words, sizeof(words), "trace -o %s %s -- %s %s", file, options, self, what);
    e2e_run(&res, words);
    if (res.exit_code != 0)
        fail_msg("hexrig %s: exit %d: %s", words, res.exit_code, res.err);
    hxt_result_free(&res);
    text = hxt_read_file(file, n);
    assert_non_null(text);
    e2e_clean();
    return text;
}

/* What happens on the DSP lies in the exec of one call; nothing here queues. */
static void lies_in_its_call(const struct trace_json *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct trace_slice *s = &t->slice[i];
        size_t in = 0;

        for (size_t j = 0; j < t->n; j++)
            in += strcmp(t->slice[j].name, "exec") == 0 && t->slice[j].ts <= s->ts + 1e-6 &&
                  s->ts + s->dur <= t->slice[j].ts + t->slice[j].dur + 1e-6;
        if (strcmp(s->track, "client calls") != 0 && in != 1)
            fail_msg("%s: '%s' at %.3f lies in no call", s->track, s->name, s->ts);
    }
}

static void test_threads_dma_and_contexts_of_a_call_have_tracks(void **state)
{
    size_t n;
    char *text = trace("", "one", &n);
    struct trace_json t;
    json_t *bytes;

    (void)state;
    trace_json_load(&t, text);
    assert_int_equal(trace_json_count(&t, "client calls", "remotectl1.open1", 0), 1);
    assert_int_equal(trace_json_count(&t, "client calls", "silicon.matmul", 0), 3);
    assert_int_equal(trace_json_count(&t, "client calls", "silicon.echo", 0), 1);
    assert_int_equal(trace_json_count(&t, "client calls", "remotectl1.close1", 0), 1);
    assert_string_equal(json_string_value(json_object_get(trace_json_find(&t, "client calls", "silicon.echo")->args, "result")), "0x0");
    assert_int_equal(trace_json_count(&t, "client calls", "dispatch", 0), 6);
    assert_int_equal(trace_json_count(&t, "DSP thread 0", "silicon.matmul", 0), 3);
    assert_int_equal(trace_json_count(&t, "DSP thread 0", "vrmpy_row_sums", 0), 3);
    assert_int_equal(trace_json_count(&t, "DSP thread 0", "wait for DMA", 0), 3);
    assert_true(trace_json_count(&t, "DSP thread 1", "worker", 0) >= 3);
    assert_true(trace_json_count(&t, "DSP thread 1", "vrmpy_rows", 0) >= 3);
    assert_int_equal(trace_json_count(&t, "DMA of DSP thread 0", "transfer", 0), 3);
    assert_true(trace_json_count(&t, "HVX context 0", "held", 0) >= 3);
    assert_true(trace_json_count(&t, "HVX context 1", "held", 0) >= 3);
    assert_true(trace_json_lost(&t) == 0);
    bytes = trace_json_find(&t, "DMA of DSP thread 0", "transfer")->args;
    assert_int_equal(trace_json_int(bytes, "bytes"), ROWS * INNER);
    lies_in_its_call(&t);
    trace_json_free(&t);
    free(text);
}

static void test_two_runs_write_the_same_bytes(void **state)
{
    size_t n, m;
    char *a = trace("", "one", &n), *b = trace("", "one", &m);

    (void)state;
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
}

/* What a client's calls, as they were traced, cost with these options; json_decref(). */
static json_t *replayed(const char *text, const char *options)
{
    const char *file = hxt_path("%s/replay.json", hxt_tmpdir());

    hxt_write_file(file, text, strlen(text));
    return e2e_json(hxt_path("trace --replay %s %s --json", file, options));
}

static void same_figures(const json_t *a, const char *of_a, const json_t *b, const char *of_b)
{
    static const char *const figures[] = {"calls", "dispatch_ms", "marshal_ms", "queue_ms", "exec_ms", "total_ms"};

    for (size_t i = 0; i < HXT_LEN(figures); i++) {
        const double x = e2e_number(a, hxt_path("total.%s.%s", of_a, figures[i]));
        const double y = e2e_number(b, hxt_path("total.%s.%s", of_b, figures[i]));

        if (fabs(x - y) > 1e-5)
            fail_msg("%s: %f %s, but %f %s", figures[i], x, of_a, y, of_b);
    }
}

/* With the recording's own profile, and with another one, as a rig that had it would have traced them. */
static void test_replayed_calls_cost_what_they_would_have_cost(void **state)
{
    size_t n;
    char *papers = trace("--events 0", "one", &n), *sync = trace("--events 100 --profile s22u-sync", "one", &n);
    json_t *same = replayed(sync, ""), *other = replayed(papers, "--profile s22u-sync"), *merged = replayed(sync, "--batch 3"),
           *packets = replayed(sync, "--profile dspqueue --transport packet");

    (void)state;
    same_figures(same, "after", same, "before");
    same_figures(other, "after", same, "before");
    assert_true(e2e_number(other, "total.before.total_ms") > 2 * e2e_number(other, "total.after.total_ms"));
    assert_true(e2e_number(merged, "total.after.calls") == 4); /* three products are one call */
    assert_true(e2e_number(packets, "total.after.dispatch_ms") < e2e_number(same, "total.after.dispatch_ms"));
    json_decref(same);
    json_decref(other);
    json_decref(merged);
    json_decref(packets);
    free(papers);
    free(sync);
    e2e_refused("trace --batch 2 -- true", 2, "--replay");
    e2e_refused("trace --replay /nonexistent -o x", 2, "--output");
    e2e_refused("trace --replay /nonexistent", 1, "/nonexistent");
    e2e_refused("trace --replay /nonexistent --transport pigeon", 2, "legal: invoke, packet");
}

static void test_calls_of_several_threads_stand_beside_each_other(void **state)
{
    size_t n, calls = 0;
    char *text = trace("--profile s22u-sync", "many", &n);
    struct trace_json t;

    (void)state;
    trace_json_load(&t, text); /* checks that nothing overlaps */
    for (size_t i = 0; i < t.n; i++)
        calls += strncmp(t.slice[i].track, "client calls", 12) == 0 && json_object_get(t.slice[i].args, "handle") != NULL;
    assert_int_equal(calls, 2 + THREADS * CALLS);
    trace_json_free(&t);
    free(text);
}

static void test_room_for_events_is_limited(void **state)
{
    size_t n;
    char *text = trace("--events 4", "one", &n);
    struct trace_json t;

    (void)state;
    trace_json_load(&t, text);
    assert_true(trace_json_lost(&t) > 0);
    trace_json_free(&t);
    free(text);
    text = trace("--events 0 --front-end socket", "one", &n);
    trace_json_load(&t, text);
    assert_true(trace_json_lost(&t) == 0);
    /* call, dispatch, marshal, exec, return of each; opening may execute for no modelled time */
    assert_true(t.n == 6 * 5 || t.n == 6 * 5 - 1);
    trace_json_free(&t);
    free(text);
}

static void test_the_commands_status_is_passed_on(void **state)
{
    struct hxt_result res;
    char words[1024];

    (void)state;
    snprintf(words, sizeof(words), "trace -o %s -- %s fail", hxt_path("%s/f.json", hxt_tmpdir()), self);
    e2e_run(&res, words);
    assert_int_equal(res.exit_code, 7);
    hxt_result_free(&res);
    snprintf(words, sizeof(words), "trace -o %s -- /bin/true", hxt_path("%s/f.json", hxt_tmpdir()));
    e2e_refused(words, 1, "no call reached this rig");
    e2e_refused("trace -o /nonexistent/x -- true", 2, "/nonexistent/x");
    e2e_refused("trace", 2, "no command");
    e2e_refused("trace --events 1048577 -- true", 2, "1048577");
    e2e_refused("trace --profile nope -- true", 2, "nope");
    e2e_refused("trace --front-end nope -- true", 2, "nope");
}

static void test_commands_of_hexrig_are_traced(void **state)
{
    const char *file = hxt_path("%s/t.json", hxt_tmpdir());
    struct hxt_result res;
    struct trace_json t;
    char words[1024], *text;

    (void)state;
    snprintf(words, sizeof(words), "trace -o %s run -p PROMPT -n 1 --kv spinor", file);
    e2e_run(&res, words);
    assert_int_equal(res.exit_code, 0);
    hxt_result_free(&res);
    text = hxt_read_file(file, NULL);
    trace_json_load(&t, text);
    assert_true(trace_json_count(&t, "client calls", "sp_hex.", 1) > 4);
    assert_true(trace_json_lost(&t) == 0); /* of its threads of a pool, too, which have waited since earlier calls */
    trace_json_free(&t);
    free(text);
    e2e_clean();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_dma_and_contexts_of_a_call_have_tracks),
        cmocka_unit_test(test_two_runs_write_the_same_bytes),
        cmocka_unit_test(test_replayed_calls_cost_what_they_would_have_cost),
        cmocka_unit_test(test_calls_of_several_threads_stand_beside_each_other),
        cmocka_unit_test(test_room_for_events_is_limited),
        cmocka_unit_test(test_the_commands_status_is_passed_on),
        cmocka_unit_test(test_commands_of_hexrig_are_traced),
    };

    self = argv[0];
    return argc > 1 ? client(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
