/* Protects traces of calls: what DSP threads tell about themselves, and that the driver makes a good file of whatever stands
 * in the block that the DSP has written. */
#include "trace_json.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "cost/trace.h"
#include "filter/trace_dsp.h"
#include "cost/vtime.h"

enum { CAPACITY = 256 };

static struct hx_trace *new_block(uint32_t capacity)
{
    struct hx_trace *b = malloc(hx_trace_bytes(capacity) + 64);

    assert_non_null(b);
    memset(b, 0xa5, hx_trace_bytes(capacity) + 64);
    b->capacity = capacity;
    b->n = b->n_names = b->dropped = 0;
    return b;
}

/* --- the driver's side ------------------------------------------------------------------------ */

static const struct hx_trace_call call = {.session = 1, .name = "method 7", .start_ns = 5000, .pcycles = 1000,
                                          .clock_khz = 500000}; /* 2 ns per pcycle */

static void add(struct hx_trace *b, struct hx_trace_event e)
{
    b->event[b->n++] = e;
}

/* What the events of `n` calls become; returns how many were lost. */
static int64_t write_calls(const struct hx_trace_call *c, unsigned n, const struct hx_trace *b, uint32_t capacity,
                           struct trace_json *out)
{
    const char *path = hxt_path("%s/t.json", hxt_tmpdir());
    struct hx_trace_file f;
    int64_t lost = 0;
    char *text;

    assert_int_equal(hx_trace_file_open(&f, path), 0);
    hx_trace_file_session(&f, 1, 1);
    for (unsigned i = 0; i < n; i++)
        lost += hx_trace_dsp_write(&f, &c[i], b, capacity);
    assert_int_equal(hx_trace_file_close(&f, (uint64_t)lost), 0);
    text = hxt_read_file(path, NULL);
    assert_non_null(text);
    trace_json_load(out, text);
    free(text);
    return lost;
}

static void is_slice(const struct trace_json *t, const char *track, const char *name, double ts, double dur)
{
    const struct trace_slice *s = trace_json_find(t, track, name);

    if (!s || fabs(s->ts - ts) > 1e-9 || fabs(s->dur - dur) > 1e-9)
        fail_msg("%s: '%s' is at %.3f + %.3f, not %.3f + %.3f", track, name, s ? s->ts : -1, s ? s->dur : -1, ts, dur);
}

static void test_events_become_slices_on_the_clock_of_the_call(void **state)
{
    struct hx_trace *b = new_block(CAPACITY);
    struct trace_json t;

    (void)state;
    strcpy(b->name[b->n_names++], "axpby");
    strcpy(b->name[b->n_names++], "helper");
    add(b, (struct hx_trace_event){0, 1000, 60, 1, HX_TRACE_THREAD, 0, 0, 0});
    add(b, (struct hx_trace_event){0, 100, 10, 1, HX_TRACE_RUN, 0, 0, 0});
    add(b, (struct hx_trace_event){500, 800, 0, 1, HX_TRACE_THREAD, 3, 2, 0});
    add(b, (struct hx_trace_event){100, HX_TRACE_OPEN, 50, 7, HX_TRACE_CODE, 0, 1, 0});
    add(b, (struct hx_trace_event){300, 400, 0, 1, HX_TRACE_WAIT_DMA, 0, 0, 0});
    add(b, (struct hx_trace_event){200, 400, 4096, 1, HX_TRACE_DMA, 0, 0, 0});
    add(b, (struct hx_trace_event){50, HX_TRACE_OPEN, 3, 1, HX_TRACE_HVX, 1, 0, 0});
    assert_int_equal(write_calls(&call, 1, b, CAPACITY, &t), 0);
    assert_int_equal(t.n, 7);
    is_slice(&t, "DSP thread 0", "method 7", 5.0, 2.0);
    is_slice(&t, "DSP thread 0", "run", 5.0, 0.2);
    is_slice(&t, "DSP thread 0", "axpby", 5.2, 1.8);
    is_slice(&t, "DSP thread 0", "wait for DMA", 5.6, 0.2);
    is_slice(&t, "DSP thread 3", "helper", 6.0, 0.6);
    is_slice(&t, "DMA of DSP thread 0", "transfer", 5.4, 0.4);
    is_slice(&t, "HVX context 1", "held", 5.1, 1.9);
    assert_int_equal(trace_json_int(trace_json_find(&t, "DSP thread 0", "axpby")->args, "calls"), 7);
    assert_int_equal(trace_json_int(trace_json_find(&t, "DSP thread 0", "axpby")->args, "stall_pcycles"), 50);
    assert_int_equal(trace_json_int(trace_json_find(&t, "DMA of DSP thread 0", "transfer")->args, "bytes"), 4096);
    assert_int_equal(trace_json_int(trace_json_find(&t, "HVX context 1", "held")->args, "thread"), 3);
    trace_json_free(&t);
    free(b);
}

static void test_lies_are_cut_or_left_out(void **state)
{
    struct hx_trace *b = new_block(CAPACITY);
    struct trace_json t;

    (void)state;
    memset(b->name[0], 'x', sizeof(b->name[0]));
    memcpy(b->name[0], "a\"b\\c\n", 6);
    b->n_names = UINT32_MAX;
    b->dropped = 5;
    add(b, (struct hx_trace_event){0, 100, 0, 1, HX_TRACE_KINDS, 0, 0, 0});      /* lost: no such kind */
    add(b, (struct hx_trace_event){100, 50, 0, 1, HX_TRACE_RUN, 0, 0, 0});       /* lost: ends before it begins */
    add(b, (struct hx_trace_event){0, 100, 0, 1, HX_TRACE_RUN, 5000, 0, 0});     /* lost: no such lane */
    add(b, (struct hx_trace_event){100, 300, 0, 1, HX_TRACE_CODE, 0, 1, 0});     /* unterminated name */
    add(b, (struct hx_trace_event){200, 400, 0, 1, HX_TRACE_RUN, 0, 65535, 0});  /* sticks out; no such name */
    add(b, (struct hx_trace_event){2000, 3000, 0, 1, HX_TRACE_WAIT_DMA, 0, 0, 0}); /* after the call */
    add(b, (struct hx_trace_event){900, 3000, 0, 1, HX_TRACE_WAIT_HVX, 0, 0, 0});  /* half of it */
    assert_int_equal(write_calls(&call, 1, b, CAPACITY, &t), 3 + 5);
    assert_int_equal(t.n, 3);
    is_slice(&t, "DSP thread 0", "a?b?c?xxxxxxxxxxxxxxxxxxxxxxxxx", 5.2, 0.4);
    is_slice(&t, "DSP thread 0", "run", 5.4, 0.2);
    is_slice(&t, "DSP thread 0", "wait for an HVX context", 6.8, 0.2);
    assert_true(trace_json_lost(&t) == 8);
    trace_json_free(&t);
    free(b);
}

static void test_no_more_is_read_than_there_is_room_for(void **state)
{
    struct hx_trace *b = new_block(2);
    struct trace_json t;

    (void)state;
    add(b, (struct hx_trace_event){0, 10, 0, 1, HX_TRACE_RUN, 0, 0, 0});
    add(b, (struct hx_trace_event){20, 30, 0, 1, HX_TRACE_RUN, 0, 0, 0});
    b->n = UINT32_MAX;
    b->capacity = UINT32_MAX;
    assert_int_equal(write_calls(&call, 1, b, 2, &t), 0);
    assert_int_equal(t.n, 2);
    trace_json_free(&t);
    free(b);
}

static void test_calls_at_the_same_time_get_tracks_beside_each_other(void **state)
{
    struct hx_trace_call calls[3] = {call, call, call};
    struct hx_trace *b = new_block(CAPACITY);
    struct trace_json t;

    (void)state;
    calls[1].start_ns += 500;  /* the first one is still there */
    calls[2].start_ns += 2000; /* exactly when it ends */
    add(b, (struct hx_trace_event){0, 1000, 0, 1, HX_TRACE_RUN, 0, 0, 0});
    assert_int_equal(write_calls(calls, 3, b, CAPACITY, &t), 0);
    assert_int_equal(trace_json_count(&t, "DSP thread 0", "run", 0), 2);
    assert_int_equal(trace_json_count(&t, "DSP thread 0 (2)", "run", 0), 1);
    trace_json_free(&t);
    free(b);
}

static void test_deep_nesting_is_limited(void **state)
{
    struct hx_trace *b = new_block(CAPACITY);
    struct trace_json t;

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        add(b, (struct hx_trace_event){i, 1000 - i, 0, 1, HX_TRACE_CODE, 0, 0, 0});
    assert_int_equal(write_calls(&call, 1, b, CAPACITY, &t), 100 - 64);
    trace_json_free(&t);
    free(b);
}

static void test_random_blocks_give_files_that_nest(void **state)
{
    struct hx_trace *b = new_block(CAPACITY);
    struct trace_json t;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 7);
    for (int round = 0; round < 40; round++) {
        hxt_fill_bytes(&rng, b, sizeof(*b));
        b->n = CAPACITY;
        for (unsigned i = 0; i < CAPACITY; i++) {
            uint64_t start = hxt_below(&rng, 1100), longest = round % 2 ? 20 : 1100;

            b->event[i] = (struct hx_trace_event){
                start, hxt_below(&rng, 20) ? start + hxt_below(&rng, longest) : HX_TRACE_OPEN,
                (uint32_t)hxt_below(&rng, 1ull << 32), (uint32_t)hxt_below(&rng, 9), (uint16_t)hxt_below(&rng, 12),
                (uint16_t)hxt_below(&rng, 4), (uint16_t)hxt_below(&rng, 80), 0};
        }
        assert_true(write_calls(&call, 1, b, CAPACITY, &t) > 0);
        assert_true(t.n > 0);
        trace_json_free(&t);
    }
    free(b);
}

static void test_a_full_disk_is_told(void **state)
{
    struct hx_trace_file f;

    (void)state;
    assert_int_equal(hx_trace_file_open(&f, "/nonexistent/x"), -ENOENT);
    assert_int_equal(hx_trace_file_open(&f, "/dev/full"), 0);
    assert_int_equal(hx_trace_file_close(&f, 0), -ENOSPC);
}

/* --- the DSP's side --------------------------------------------------------------------------- */

/* A call of this thread, traced into `b`. */
static uint64_t begin_call(struct hx_trace *b)
{
    uint64_t key = hx_trace_open(9, b, hx_trace_bytes(b->capacity));

    hx_vt_call_begin(0, 0);
    hx_vt_trace(key);
    return key;
}

static void is_event(const struct hx_trace *b, unsigned i, enum hx_trace_kind kind, const char *name, uint64_t start,
                     uint64_t end)
{
    const struct hx_trace_event *e = &b->event[i];

    assert_true(i < b->n);
    if (e->kind != kind || e->start != start || e->end != end)
        fail_msg("event %u: kind %u, %llu to %llu", i, e->kind, (unsigned long long)e->start, (unsigned long long)e->end);
    assert_string_equal(e->name ? b->name[e->name - 1] : "", name);
}

static void test_a_threads_time_is_told_by_what_it_went_to(void **state)
{
    struct hx_trace *b = new_block(CAPACITY);
    uint64_t key = begin_call(b);

    (void)state;
    assert_int_not_equal(key, 0);
    hx_vt_spend(HX_VT_CODE, 10);
    hx_vt_spend(HX_VT_STALL, 5);
    hx_vt_spend(HX_VT_STALL, 0);
    hx_vt_spend(HX_VT_CODE, 5);
    hx_vt_spend(HX_VT_SYNC, 30);
    hx_vt_scope("outer");
    hx_vt_spend(HX_VT_CODE, 10);
    for (int i = 0; i < 3; i++) { /* one slice for the three */
        hx_vt_scope("inner");
        hx_vt_spend(HX_VT_STALL, 4);
        hx_vt_scope(NULL);
    }
    hx_vt_spend(HX_VT_DMA, 8);
    hx_vt_spend(HX_VT_DMA, 2); /* goes on */
    hx_vt_scope("inner");
    hx_vt_spend(HX_VT_CODE, 1);
    hx_vt_scope(NULL);
    hx_vt_scope(NULL);
    hx_vt_spend(HX_VT_CODE, 7);
    hx_vt_scope("open");
    hx_trace_close(key);

    assert_int_equal(b->n, 9);
    is_event(b, 0, HX_TRACE_THREAD, "", 0, 90);
    is_event(b, 1, HX_TRACE_RUN, "", 0, 20);
    is_event(b, 2, HX_TRACE_WAIT_SYNC, "", 20, 50);
    is_event(b, 3, HX_TRACE_CODE, "outer", 50, 83);
    is_event(b, 4, HX_TRACE_CODE, "inner", 60, 72);
    is_event(b, 5, HX_TRACE_WAIT_DMA, "", 72, 82);
    is_event(b, 6, HX_TRACE_CODE, "inner", 82, 83);
    is_event(b, 7, HX_TRACE_RUN, "", 83, 90);
    is_event(b, 8, HX_TRACE_CODE, "open", 90, HX_TRACE_OPEN);
    assert_int_equal(b->event[0].detail, 17);
    assert_int_equal(b->event[1].detail, 5);
    assert_int_equal(b->event[3].detail, 12);
    assert_int_equal(b->event[4].detail, 12);
    assert_int_equal(b->event[4].count, 3);
    assert_int_equal(b->dropped, 0);
    free(b);
}

struct helper {
    struct hx_vt_origin origin;
    pthread_barrier_t step;
};

static void *help(void *arg)
{
    struct helper *h = arg;

    hx_trace_name_thread(2, "helper");
    hx_vt_thread_begin(&h->origin);
    hx_trace_hvx(1, hx_vt_now());
    hx_vt_spend(HX_VT_CODE, 40);
    hx_trace_dma(hx_vt_now() - 10, hx_vt_now(), 512);
    hx_trace_hvx(-1, hx_vt_now());
    pthread_barrier_wait(&h->step);
    pthread_barrier_wait(&h->step); /* the call is over */
    hx_vt_spend(HX_VT_CODE, 100);
    hx_vt_scope("late");
    hx_trace_hvx(0, hx_vt_now());
    hx_trace_dma(hx_vt_now(), hx_vt_now() + 10, 512);
    return NULL;
}

static void test_threads_of_a_call_write_until_it_ends(void **state)
{
    struct hx_trace *b = new_block(CAPACITY), *after = malloc(hx_trace_bytes(CAPACITY));
    uint64_t key = begin_call(b);
    struct helper h;
    pthread_t t;

    (void)state;
    hx_vt_spend(HX_VT_CODE, 100);
    h.origin = hx_vt_origin();
    pthread_barrier_init(&h.step, NULL, 2);
    pthread_create(&t, NULL, help, &h);
    pthread_barrier_wait(&h.step);
    hx_trace_close(key);
    memcpy(after, b, hx_trace_bytes(CAPACITY));
    pthread_barrier_wait(&h.step);
    pthread_join(t, NULL);
    assert_memory_equal(b, after, hx_trace_bytes(CAPACITY));

    assert_int_equal(b->n, 6);
    is_event(b, 2, HX_TRACE_THREAD, "helper", 100, 140);
    is_event(b, 3, HX_TRACE_HVX, "", 100, 140);
    is_event(b, 4, HX_TRACE_RUN, "", 100, 140);
    is_event(b, 5, HX_TRACE_DMA, "", 130, 140);
    assert_int_equal(b->event[2].lane, 2);
    assert_int_equal(b->event[3].lane, 1);
    assert_int_equal(b->event[3].detail, 2);
    assert_int_equal(b->event[5].detail, 512);
    pthread_barrier_destroy(&h.step);
    free(b);
    free(after);
}

static void test_what_finds_no_room_is_counted(void **state)
{
    struct hx_trace *b = new_block(3);
    uint8_t guard[64];
    uint64_t key = begin_call(b);

    (void)state;
    memset(guard, 0xa5, sizeof(guard));
    for (int i = 0; i < 40; i++) {
        hx_vt_scope("deep");
        hx_vt_spend(HX_VT_CODE, 1);
    }
    for (int i = 0; i < 45; i++)
        hx_vt_scope(NULL);
    hx_vt_spend(HX_VT_CODE, 1);
    hx_trace_close(key);
    assert_int_equal(b->n, 3);
    is_event(b, 0, HX_TRACE_THREAD, "", 0, 41);
    is_event(b, 2, HX_TRACE_CODE, "deep", 1, 40);
    assert_int_equal(b->dropped, 38 + 1);
    assert_memory_equal(&b->event[3], guard, sizeof(guard));
    free(b);
}

static void test_blocks_that_are_not_what_they_say_are_refused(void **state)
{
    struct hx_trace *b = new_block(CAPACITY);
    uint64_t key;

    (void)state;
    assert_int_equal(hx_trace_open(1, b, hx_trace_bytes(CAPACITY) - 1), 0);
    assert_int_equal(hx_trace_open(1, b, 8), 0);
    assert_int_equal(hx_trace_open(256, b, hx_trace_bytes(CAPACITY)), 0);
    key = hx_trace_open(1, b, hx_trace_bytes(CAPACITY));
    assert_int_not_equal(key, 0);
    assert_int_equal(hx_trace_open(1, b, hx_trace_bytes(CAPACITY)), 0); /* still open */
    hx_trace_close(key);
    assert_int_not_equal(hx_trace_open(1, b, hx_trace_bytes(CAPACITY)), key);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_become_slices_on_the_clock_of_the_call),
        cmocka_unit_test(test_lies_are_cut_or_left_out),
        cmocka_unit_test(test_no_more_is_read_than_there_is_room_for),
        cmocka_unit_test(test_calls_at_the_same_time_get_tracks_beside_each_other),
        cmocka_unit_test(test_deep_nesting_is_limited),
        cmocka_unit_test(test_random_blocks_give_files_that_nest),
        cmocka_unit_test(test_a_full_disk_is_told),
        cmocka_unit_test(test_a_threads_time_is_told_by_what_it_went_to),
        cmocka_unit_test(test_threads_of_a_call_write_until_it_ends),
        cmocka_unit_test(test_what_finds_no_room_is_counted),
        cmocka_unit_test(test_blocks_that_are_not_what_they_say_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
