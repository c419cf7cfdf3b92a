/* Protects: calls of a PD to its host, and the listener's side of them: requests of any size come whole and in order, answers that are
 * none are refused, and whoever calls gets an error, never a hang, when nobody listens, the listener is slow, is interrupted or ends. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "cost/vtime.h"
#include "hxt.h"
#include "hxt_proc.h"
#include "reverse/host_calls.h"

enum { HANDLE = 7, ROOM = 64, SOON = 200 };

static const struct hx_profile profile = {.dispatch_us = 100, .clock_mhz = 1000, .hvx_contexts = 2, .hw_threads = 6,
                                         .cost = {.packet_pcycles = 1, .hvx_pcycles = 1}};

static int start(void **state)
{
    (void)state;
    return hx_machine_init(&profile);
}

/* Calls the host with `text` and room for an answer of as many bytes, from a thread of its own. */
struct caller {
    char text[300], answer[300];
    int result;
    pthread_t thread;
};

static void *run_caller(void *arg)
{
    struct caller *c = arg;
    uint32_t n = (uint32_t)strlen(c->text);
    remote_arg pra[] = {{.buf = {&n, sizeof(n)}}, {.buf = {c->text, n}}, {.buf = {c->answer, n}}};

    c->result = hx_host_call(HANDLE, REMOTE_SCALARS_MAKE(3, 2, 1), pra);
    return NULL;
}

static void call(struct caller *c, const char *text)
{
    memset(c, 0, sizeof(*c));
    snprintf(c->text, sizeof(c->text), "%s", text);
    assert_int_equal(pthread_create(&c->thread, NULL, run_caller, c), 0);
}

static void expect_result(struct caller *c, int result)
{
    pthread_join(c->thread, NULL);
    assert_int_equal(c->result, result);
}

/* A next2 of the listener's, in a thread of its own, with the result of the call before. */
struct poll {
    struct hx_next_in in;
    uint8_t answer[400], request[ROOM];
    struct hx_next_out out;
    int rc;
    _Atomic bool is_done;
    pthread_t thread;
};

/* The poll that a listener is left in, until its next one takes its place. */
static struct poll idle;
static bool is_idle;

static void *run_poll(void *arg)
{
    struct poll *p = arg;

    p->rc = hx_host_next(&p->in, p->answer, &p->out, p->request);
    p->is_done = true;
    return NULL;
}

static void fill(struct poll *p, uint32_t ctx, int result, const char *text)
{
    const uint32_t n = (uint32_t)strlen(text);

    memset(p, 0, sizeof(*p));
    memcpy(p->answer, &n, sizeof(n));
    memcpy(p->answer + 8, text, n);
    p->in = (struct hx_next_in){ctx, result, n ? 8 + n : 4, ROOM};
}

static void end_poll(struct poll *p, int rc)
{
    pthread_join(p->thread, NULL);
    assert_int_equal(p->rc, rc);
}

static void start_poll(struct poll *p)
{
    assert_int_equal(pthread_create(&p->thread, NULL, run_poll, p), 0);
    if (is_idle)
        end_poll(&idle, (int)AEE_DSP(AEE_EINTERRUPTED));
    is_idle = false;
}

static void begin_poll(struct poll *p, uint32_t ctx, int result, const char *text)
{
    fill(p, ctx, result, text);
    start_poll(p);
}

/* The poll has got a call. */
static void take(struct poll *p)
{
    end_poll(p, AEE_SUCCESS);
    assert_int_equal(p->out.handle, HANDLE);
    assert_int_equal(p->out.sc, REMOTE_SCALARS_MAKE(3, 2, 1));
    assert_true(p->out.ctx != 0);
}

/* The listener brings the result of call ctx, whose caller then has `want`, and waits for the next call. */
static void deliver(const struct hx_next_in *in, const uint8_t *answer, struct caller *c, int want)
{
    assert_false(is_idle);
    memset(&idle, 0, sizeof(idle));
    idle.in = *in;
    memcpy(idle.answer, answer, in->answer_bytes);
    start_poll(&idle);
    is_idle = true;
    expect_result(c, want);
}

static void answer(uint32_t ctx, int result, const char *text, struct caller *c, int want)
{
    struct poll p;

    fill(&p, ctx, result, text);
    deliver(&p.in, p.answer, c, want);
}

/* A call and the poll that has got it. */
static void call_and_take(struct caller *c, const char *text, struct poll *p)
{
    begin_poll(p, 0, -1, "");
    call(c, text);
    take(p);
}

static void test_without_a_listener_there_is_nobody(void **state)
{
    const uint64_t before = hx_vt_now();
    struct caller c = {.text = "anybody?"};

    (void)state;
    hx_host_listens_when_asked(true);
    assert_false(hx_host_listens());
    assert_true(hx_host_must_be_asked());
    run_caller(&c);
    assert_int_equal(c.result, (int)AEE_DSP(AEE_EBADSTATE));
    assert_int_equal(hx_vt_now(), before); /* a call that is not made takes no time */
    assert_int_equal(hx_host_listen(), AEE_SUCCESS);
    assert_true(hx_host_listens());
    assert_false(hx_host_must_be_asked());
}

static void test_an_answer_reaches_who_called(void **state)
{
    struct caller c, d;
    struct poll p, q;

    (void)state;
    call_and_take(&c, "hello", &p);
    assert_memory_equal(p.request + 16, "hello", 5); /* at 0 and 12 the lengths, at 8 the number */
    call(&d, "world");
    begin_poll(&q, p.out.ctx, 0, "HELLO");
    take(&q);
    expect_result(&c, AEE_SUCCESS);
    assert_string_equal(c.answer, "HELLO");
    answer(q.out.ctx, 2, "", &d, 2); /* an error of the host's own */
    assert_string_equal(d.answer, "");
    call_and_take(&c, "", &p);
    answer(p.out.ctx, 0, "", &c, AEE_SUCCESS);
}

static int has_polled(void *times)
{
    return hx_host_polls() == *(unsigned *)times;
}

static void test_a_newer_poll_takes_the_place_of_an_older_one(void **state)
{
    const unsigned polls = hx_host_polls() + 1;
    struct caller c;
    struct poll p, q;

    (void)state;
    begin_poll(&p, 0, -1, "");
    assert_true(hxt_until(has_polled, &(unsigned){polls}, 20));
    begin_poll(&q, 0, -1, "");
    end_poll(&p, (int)AEE_DSP(AEE_EINTERRUPTED));
    call(&c, "for the newer");
    take(&q);
    answer(q.out.ctx, 0, "FOR THE NEWER", &c, AEE_SUCCESS);
}

/* Its next2 was interrupted when it had got the call: nobody has read it. */
static void test_a_call_that_an_interrupted_poll_has_is_handed_out_again(void **state)
{
    struct caller c;
    struct poll p, q;

    (void)state;
    call_and_take(&c, "twice", &p);
    begin_poll(&q, 0, -1, "");
    take(&q);
    assert_int_equal(q.out.ctx, p.out.ctx);
    answer(q.out.ctx, 0, "TWICE", &c, AEE_SUCCESS);
    assert_string_equal(c.answer, "TWICE");
}

static void test_a_large_request_is_fetched_in_pieces(void **state)
{
    struct hx_in_bufs_in in;
    uint8_t rest[512];
    char text[300];
    struct caller c;
    struct poll p;
    uint32_t bytes = 0;

    (void)state;
    memset(text, 'a', sizeof(text));
    text[150] = 'b';
    text[299] = '\0';
    call_and_take(&c, text, &p);
    assert_true(p.out.request_bytes > ROOM);
    in = (struct hx_in_bufs_in){p.out.ctx, ROOM, sizeof(rest)};
    assert_int_equal(hx_host_get_in_bufs(&in, &bytes, rest), AEE_SUCCESS);
    assert_int_equal(bytes, p.out.request_bytes);
    assert_memory_equal(p.request + 16, text, ROOM - 16);
    assert_memory_equal(rest, text + ROOM - 16, 299 - (ROOM - 16));
    in.offset = bytes + 1; /* nothing is there */
    assert_int_equal(hx_host_get_in_bufs(&in, &bytes, rest), AEE_SUCCESS);
    in.ctx++;
    assert_int_equal(hx_host_get_in_bufs(&in, &bytes, rest), (int)AEE_DSP(AEE_EBADPARM));
    answer(p.out.ctx, 1, "", &c, 1);
}

/* A slow host: the caller gives up, and what comes then is dropped. */
static void test_a_late_answer_is_nobodys(void **state)
{
    struct caller slow, next;
    struct poll p, q;

    (void)state;
    hx_host_call_ms = SOON;
    begin_poll(&p, 0, -1, "");
    do { /* on a busy machine it may end before the poll has it */
        call(&slow, "slow");
        expect_result(&slow, (int)AEE_DSP(AEE_EEXPIRED));
    } while (!p.is_done);
    take(&p);
    hx_host_call_ms = 10000;
    begin_poll(&q, p.out.ctx, 0, "SLOW");
    call(&next, "next");
    take(&q);
    assert_string_equal(slow.answer, "");
    answer(q.out.ctx, 0, "NEXT", &next, AEE_SUCCESS);
    assert_string_equal(next.answer, "NEXT");
}

static void test_a_call_that_nobody_takes_expires(void **state)
{
    struct caller c, d;
    struct poll p;

    (void)state;
    call_and_take(&c, "is served", &p);
    hx_host_call_ms = SOON;
    call(&d, "waits behind it");
    expect_result(&d, (int)AEE_DSP(AEE_EEXPIRED));
    hx_host_call_ms = 10000;
    answer(p.out.ctx, 6, "", &c, 6);
}

static void test_answers_of_another_shape_are_refused(void **state)
{
    static const struct {
        uint32_t length, bytes;
    } answers[] = {{4, 12}, {6, 14}, {0, 4}, {5, 0}, {5, 3}, {5, 12}, {0xffffffff, 13}};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(answers); i++) {
        uint8_t bytes[16] = {0};
        struct hx_next_in in = {.answer_bytes = answers[i].bytes, .room = ROOM};
        struct caller c;
        struct poll p;

        call_and_take(&c, "12345", &p);
        in.ctx = p.out.ctx;
        memcpy(bytes, &answers[i].length, sizeof(answers[i].length));
        deliver(&in, bytes, &c, (int)AEE_DSP(AEE_EBADPARM));
    }
}

static void test_handles_do_not_go_that_way(void **state)
{
    remote_arg pra[1] = {{.h64 = 1}};

    (void)state;
    assert_int_equal(hx_host_call(HANDLE, REMOTE_SCALARS_MAKEX(0, 0, 0, 0, 1, 0), pra), (int)AEE_DSP(AEE_EBADPARM));
}

/* A thousand blocks that were bent a little are read within their bounds, which a sanitizer sees. */
static void test_bent_requests_are_read_within_their_bounds(void **state)
{
    const uint32_t sc = REMOTE_SCALARS_MAKE(0, 3, 2);
    char a[] = "a", b[] = "twenty-two bytes long";
    remote_arg pra[5] = {{.buf = {a, 1}}, {.buf = {b, sizeof(b)}}, {.buf = {NULL, 0}}, {.buf = {a, 1}}, {.buf = {b, 22}}};
    const size_t bytes = hx_reverse_pack(NULL, sc, pra);
    unsigned whole = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint8_t *block = malloc(bytes), *to;
        const size_t n = i % 3 ? bytes : (size_t)i % (bytes + 1);
        remote_arg got[5];
        size_t answer_bytes;

        hx_reverse_pack(block, sc, pra);
        block[(size_t)i * 7 % bytes] ^= (uint8_t)(i >> 3);
        block = realloc(block, n ? n : 1);
        if (!hx_reverse_unpack(block, n, sc, got, &answer_bytes) && answer_bytes < 1000) {
            whole++;
            for (int k = 0; k < 3; k++)
                for (size_t j = 0; j < got[k].buf.nLen; j++)
                    whole += ((uint8_t *)got[k].buf.pv)[j] == 0xff;
            to = malloc(answer_bytes + 1);
            hx_reverse_place(to, sc, got);
            for (int k = 3; k < 5; k++)
                if (got[k].buf.nLen)
                    memset(got[k].buf.pv, k, got[k].buf.nLen);
            assert_int_equal(hx_reverse_take(to, answer_bytes, sc, got), 0);
            free(to);
        }
        free(block);
    }
    assert_true(whole > 50);
}

static int call_waits(void *unused)
{
    (void)unused;
    return hx_host_waiting() == 1;
}

static void test_the_end_ends_everything(void **state)
{
    struct caller c, d;
    struct poll p, q;

    (void)state;
    call_and_take(&c, "taken", &p);
    call(&d, "waits");
    assert_true(hxt_until(call_waits, NULL, 20));
    hx_host_end();
    expect_result(&c, (int)AEE_DSP(AEE_EBADSTATE));
    expect_result(&d, (int)AEE_DSP(AEE_EBADSTATE));
    begin_poll(&q, p.out.ctx, 0, "TAKEN");
    end_poll(&q, (int)AEE_DSP(AEE_EBADSTATE));
    assert_false(hx_host_listens());
    assert_false(hx_host_must_be_asked());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_listener_there_is_nobody),
        cmocka_unit_test(test_an_answer_reaches_who_called),
        cmocka_unit_test(test_a_newer_poll_takes_the_place_of_an_older_one),
        cmocka_unit_test(test_a_call_that_an_interrupted_poll_has_is_handed_out_again),
        cmocka_unit_test(test_a_large_request_is_fetched_in_pieces),
        cmocka_unit_test(test_a_late_answer_is_nobodys),
        cmocka_unit_test(test_a_call_that_nobody_takes_expires),
        cmocka_unit_test(test_answers_of_another_shape_are_refused),
        cmocka_unit_test(test_handles_do_not_go_that_way),
        cmocka_unit_test(test_bent_requests_are_read_within_their_bounds),
        cmocka_unit_test(test_the_end_ends_everything),
    };

    return HXT_RUN_FIXTURE(tests, start, NULL);
}
