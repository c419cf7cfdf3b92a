/* Protects the store of trajectories (host/methods/geometry/store.h): what a killed writer leaves is read, what was altered is not; and the
 * library that serves them: look-ups are those of a scan, the record that served longest ago goes first, and many may ask beside one that
 * adds. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hxt.h"
#include "methods/geometry/library.h"

enum { N = 8, WIDTH = 32, CANDIDATES = 4 };

static double at(size_t i, size_t k)
{
    return sin((double)(i * 37 + k * 11 + 1)) * 3;
}

/* Values that f32 has. */
static void make_record(struct hx_store_record *r, size_t i, float *state)
{
    memset(r, 0, sizeof(*r));
    r->t.n = N;
    for (size_t k = 0; k < N; k++) {
        r->t.q[k] = (float)at(i, k);
        r->t.v[k] = (float)at(i, k + 20);
        r->t.end[k] = (float)at(i, k + 40);
        for (size_t l = 0; l < N; l++) {
            r->t.correct[k * N + l] = (k == l) + (float)at(i, k * N + l) / 16;
            r->t.g[k * N + l] = k == l ? 1 + (float)((i + k) % 5) : 0;
        }
        for (size_t p = 0; p < HX_TRAJECTORY_POINTS; p++)
            r->t.way[p][k] = .25 * (double)((i + p + k) % 64);
    }
    r->rho = .5;
    r->t.reach = INFINITY;
    r->token = (uint32_t)i;
    for (size_t c = 0; c < CANDIDATES; c++) {
        r->best[c].id = (uint32_t)(i + c);
        r->best[c].logit = (float)c;
    }
    r->state = state;
    for (size_t k = 0; k < WIDTH; k++)
        state[k] = .5f * (float)((i + k) % 16);
}

static struct hx_store_frame make_frame(void)
{
    static double mean[WIDTH], axes[N * WIDTH], deviation[N];

    for (size_t i = 0; i < N; i++)
        deviation[i] = 1 + (double)i;
    for (size_t i = 0; i < N * WIDTH; i++)
        axes[i] = i % (WIDTH + 1) == 0;
    return (struct hx_store_frame){.steps = 16, .step = .0625, .neighbours = 8, .candidates = CANDIDATES, .model = 7, .text = 9,
                                   .w = {.n = N, .width = WIDTH, .mean = mean, .axes = axes, .deviation = deviation}};
}

static char path[256];

static void append(size_t first, size_t n)
{
    struct hx_store_writer *w = NULL;
    struct hx_error err = {""};
    size_t there;

    if (hx_store_append_open(&w, path, 7, &there, &err))
        fail_msg("%s", err.text);
    for (size_t i = first; i < first + n; i++) {
        struct hx_store_record r;
        float state[WIDTH];

        make_record(&r, i, state);
        assert_int_equal(hx_store_append(w, &r, &err), 0);
    }
    assert_int_equal(hx_store_append_close(w, &err), 0);
}

static void create(const char *name, size_t n)
{
    const struct hx_store_frame f = make_frame();
    struct hx_error err = {""};

    snprintf(path, sizeof(path), "%s/%s", hxt_tmpdir(), name);
    unlink(path);
    if (hx_store_create(path, &f, &err))
        fail_msg("%s", err.text);
    append(0, n);
}

static struct hx_store *read_store(void)
{
    struct hx_store *s = NULL;
    struct hx_error err = {""};

    if (hx_store_read(&s, path, 7, &err))
        fail_msg("%s", err.text);
    return s;
}

static void refused(uint64_t model, const char *why)
{
    struct hx_store *s = NULL;
    struct hx_error err = {""};

    assert_int_equal(hx_store_read(&s, path, model, &err), -EINVAL);
    if (!strstr(err.text, why))
        fail_msg("'%s', not '%s'", err.text, why);
}

static size_t size_now(void)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

/* --- files */

static void test_records_come_back_as_they_were(void **state)
{
    const struct hx_store_frame f = make_frame();
    struct hx_store *s;
    struct hx_error err = {""};

    (void)state;
    create("back", 5);
    assert_int_equal(hx_store_create(path, &f, &err), -EEXIST);
    s = read_store();
    assert_int_equal(s->n, 5);
    assert_int_equal(s->torn, 0);
    assert_memory_equal(s->frame.w.deviation, f.w.deviation, N * sizeof(double));
    assert_true(s->frame.step == f.step && s->frame.steps == f.steps && s->frame.text == f.text);
    for (size_t i = 0; i < 5; i++) {
        struct hx_store_record want;
        float of_want[WIDTH];

        make_record(&want, i, of_want);
        assert_memory_equal(&s->at[i].t, &want.t, sizeof(want.t));
        assert_memory_equal(s->at[i].state, of_want, sizeof(of_want));
        assert_memory_equal(s->at[i].best, want.best, CANDIDATES * sizeof(want.best[0]));
        assert_int_equal(s->at[i].token, i);
    }
    assert_true(hx_store_record_bytes(&s->frame) < 50 * 1024);
    hx_store_close(s);
}

static void test_a_writer_that_was_killed_costs_the_record_it_wrote_alone(void **state)
{
    size_t whole, each;

    (void)state;
    create("torn", 3);
    whole = size_now();
    append(3, 1);
    each = size_now() - whole;
    for (size_t k = 1; k < each; k += k < 9 || k > each - 9 ? 1 : 37) {
        struct hx_store *s;

        assert_int_equal(truncate(path, (off_t)(whole + k)), 0);
        s = read_store();
        assert_int_equal(s->n, 3);
        assert_int_equal(s->torn, k);
        hx_store_close(s);
        append(3, 1); /* where the part was */
        assert_int_equal(size_now(), whole + each);
        s = read_store();
        assert_int_equal(s->n, 4);
        assert_int_equal(s->at[3].token, 3);
        hx_store_close(s);
    }
}

static void test_a_store_survives_kill_9(void **state)
{
    enum { ROUNDS = 12 };
    size_t last = 0;

    (void)state;
    create("killed", 0);
    for (size_t round = 0; round < ROUNDS; round++) {
        struct hx_store *s;
        const pid_t pid = fork();

        if (pid == 0) { /* without end */
            for (size_t i = last;; i++)
                append(i, 1);
        }
        assert_true(pid > 0);
        usleep((useconds_t)(1000 + 700 * round));
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        append(1000000, 0); /* what a part of a record needs */
        s = read_store();
        assert_true(s->n >= last && s->torn == 0);
        for (size_t i = 0; i < s->n; i++)
            assert_int_equal(s->at[i].token, i);
        last = s->n;
        hx_store_close(s);
    }
    print_message("%zu records\n", last);
    assert_true(last > 0);
}

static void test_what_was_altered_is_refused(void **state)
{
    size_t whole, head;
    FILE *f;

    (void)state;
    create("altered", 0);
    head = size_now();
    append(0, 3);
    whole = size_now();
    refused(8, "the store is of another model");
    for (size_t k = 0; k < whole; k += 41) {
        int was;

        f = fopen(path, "r+b");
        fseek(f, (long)k, SEEK_SET);
        was = fgetc(f);
        fseek(f, (long)k, SEEK_SET);
        fputc(was ^ 16, f);
        fclose(f);
        refused(7, k < head ? "" : hxt_path("record %zu: the checksum does not match", (k - head) / ((whole - head) / 3)));
        f = fopen(path, "r+b");
        fseek(f, (long)k, SEEK_SET);
        fputc(was, f);
        fclose(f);
    }
    assert_int_equal(truncate(path, (off_t)head - 1), 0);
    refused(7, "truncated");
    assert_int_equal(truncate(path, 3), 0);
    refused(7, "not a store of trajectories");
}

static void test_one_writer_at_a_time(void **state)
{
    struct hx_store_writer *w = NULL, *other = NULL;
    struct hx_error err = {""};
    size_t n;

    (void)state;
    create("two", 2);
    assert_int_equal(hx_store_append_open(&w, path, 7, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_int_equal(hx_store_append_open(&other, path, 7, &n, &err), -EBUSY);
    hx_store_close(read_store()); /* readers do not wait */
    assert_int_equal(hx_store_append_close(w, &err), 0);
    assert_int_equal(hx_store_append_open(&other, path, 8, &n, &err), -EINVAL);
}

static void test_evicted_records_are_not_served(void **state)
{
    struct hx_store_writer *w = NULL;
    struct hx_error err = {""};
    struct hx_store *s;
    size_t n;

    (void)state;
    create("evict", 4);
    assert_int_equal(hx_store_append_open(&w, path, 7, &n, &err), 0);
    assert_int_equal(hx_store_evict(w, 1, &err), 0);
    assert_int_equal(hx_store_append_close(w, &err), 0);
    append(9, 1);
    s = read_store();
    assert_int_equal(s->n, 4);
    assert_int_equal(s->dropped, 2);
    assert_int_equal(s->at[1].token, 2);
    assert_int_equal(s->at[3].token, 9);
    hx_store_close(s);
}

/* --- the library */

static struct hx_library *open_library(size_t capacity, double eps)
{
    const struct hx_library_cfg cfg = {.n = N, .width = WIDTH, .capacity = capacity, .eps = eps};
    struct hx_library *l = NULL;
    struct hx_error err = {""};

    assert_int_equal(hx_library_open(&l, &cfg, &err), 0);
    return l;
}

static long add(struct hx_library *l, size_t i, size_t *gone)
{
    struct hx_store_record r;
    struct hx_error err = {""};
    float state[WIDTH];

    make_record(&r, i, state);
    return hx_library_add(l, &r, gone, &err);
}

static void test_look_ups_are_those_of_a_scan(void **state)
{
    struct hx_library *l = open_library(700, 3);

    (void)state;
    for (size_t i = 0; i < 1500; i++) { /* beyond its capacity, and beyond what is scanned */
        double x[N];

        assert_true(add(l, i, NULL) >= 0);
        if (i % 7)
            continue;
        for (size_t k = 0; k < N; k++)
            x[k] = at(3 * i, k) * .8;
        const struct hx_library_found a = hx_library_ask(l, x), b = hx_library_scan(l, x, 0);

        if (a.which != b.which || a.verdict != b.verdict || a.g_distance != b.g_distance)
            fail_msg("after %zu: record %zu, %zu by a scan", i, a.which, b.which);
    }
    assert_int_equal(hx_library_size(l), 700);
    hx_library_close(l);
}

static void test_hits_corrections_and_misses(void **state)
{
    struct hx_library *l = open_library(4, 2);
    struct hx_library_found f;
    struct hx_store_record r = {.state = NULL};
    double x[N];

    (void)state;
    for (size_t k = 0; k < N; k++)
        x[k] = (float)at(0, k);
    f = hx_library_ask(l, x);
    assert_true(f.verdict == HX_LIBRARY_MISS && f.which == SIZE_MAX);
    assert_int_equal(add(l, 0, NULL), 0);
    assert_int_equal(hx_library_ask(l, x).verdict, HX_LIBRARY_CORRECT);
    x[0] += .4;
    assert_int_equal(hx_library_ask(l, x).verdict, HX_LIBRARY_CORRECT);
    x[0] += .2; /* rho is .5 */
    assert_int_equal(hx_library_ask(l, x).verdict, HX_LIBRARY_HIT);
    x[0] += 1.5; /* eps is 2 */
    f = hx_library_ask(l, x);
    assert_true(f.verdict == HX_LIBRARY_MISS && f.which == 0 && fabs(f.distance - 2.1) < 1e-6);
    hx_library_get(l, 0, &r);
    assert_int_equal(r.token, 0);
    hx_library_close(l);
}

static void test_what_served_longest_ago_goes(void **state)
{
    struct hx_library *l = open_library(3, 1);
    double x[N];
    size_t gone;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        add(l, i, &gone);
    assert_int_equal(gone, SIZE_MAX);
    for (size_t k = 0; k < N; k++)
        x[k] = (float)at(0, k);
    assert_int_equal(hx_library_ask(l, x).which, 0); /* now 1 is the oldest */
    assert_int_equal(add(l, 3, &gone), 1);
    assert_int_equal(gone, 1);
    assert_int_equal(hx_library_ask(l, x).which, 0);
    hx_library_close(l);
}

static struct hx_library *shared;
static _Atomic int stop;

static void *reader(void *arg)
{
    size_t *asked = arg;

    for (size_t i = 0; !stop; i++, ++*asked) {
        double x[N];

        for (size_t k = 0; k < N; k++)
            x[k] = at(i % 400, k) * .9;
        const struct hx_library_found f = hx_library_ask(shared, x);

        if (f.which != SIZE_MAX && !(isfinite(f.g_distance) && f.which < 400))
            return (void *)1;
    }
    return NULL;
}

static void test_many_ask_while_one_adds(void **state)
{
    pthread_t thread[3];
    size_t asked[3] = {0};

    (void)state;
    shared = open_library(400, 3);
    stop = 0;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, reader, &asked[i]), 0);
    for (size_t i = 0; i < 1200; i++)
        add(shared, i, NULL);
    stop = 1;
    for (size_t i = 0; i < 3; i++) {
        void *wrong;

        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    hx_library_close(shared);
}

static void test_a_store_fills_a_library(void **state)
{
    struct hx_library *l = open_library(50, 3), *small = open_library(10, 3);
    struct hx_error err = {""};
    struct hx_store *s;
    double x[N];

    (void)state;
    create("fill", 50);
    s = read_store();
    assert_int_equal(hx_library_fill(small, s, &err), -EINVAL);
    assert_int_equal(hx_library_fill(l, s, &err), 0);
    for (size_t i = 0; i < 50; i++) {
        for (size_t k = 0; k < N; k++)
            x[k] = (float)at(i, k);
        assert_int_equal(hx_library_ask(l, x).which, i);
    }
    hx_store_close(s);
    hx_library_close(l);
    hx_library_close(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_come_back_as_they_were),
        cmocka_unit_test(test_a_writer_that_was_killed_costs_the_record_it_wrote_alone),
        cmocka_unit_test(test_a_store_survives_kill_9),
        cmocka_unit_test(test_what_was_altered_is_refused),
        cmocka_unit_test(test_one_writer_at_a_time),
        cmocka_unit_test(test_evicted_records_are_not_served),
        cmocka_unit_test(test_look_ups_are_those_of_a_scan),
        cmocka_unit_test(test_hits_corrections_and_misses),
        cmocka_unit_test(test_what_served_longest_ago_goes),
        cmocka_unit_test(test_many_ask_while_one_adds),
        cmocka_unit_test(test_a_store_fills_a_library),
    };

    return HXT_RUN(tests);
}
