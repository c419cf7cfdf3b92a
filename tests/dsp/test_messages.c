/* Protects: what DSP code logs reaches a client that has asked for it, by the ring in the client's memory that the open library reads:
 * whole, in order, of the levels and files asked for, however often it goes round; what does not fit is counted; the client can neither
 * make the PD write elsewhere nor keep it waiting. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "HAP_farf.h"
#include "base/farf.h"
#include "base/machine.h"
#include "hxt.h"
#include "hxt_proc.h"
#include "pd/buffers.h"
#include "reverse/host_calls.h"
#include "reverse/messages.h"

enum { APPS_MEM = 9, MAP64 = 2, UNMAP64 = 3, ROOM = 1024, SMALL = 4096, ALL = 0x1f, LINE = 256 };

static const struct hx_profile profile = {.dispatch_us = 100, .clock_mhz = 1000, .hvx_contexts = 2, .hw_threads = 6,
                                         .cost = {.packet_pcycles = 1, .hvx_pcycles = 1}};

static int start(void **state)
{
    (void)state;
    return hx_machine_init(&profile);
}

/* --- the client: its listener, its memory ---------------------------------------------------------------------------- */

static struct {
    pthread_t thread;
    bool is_there, lies;
    char *va;      /* of the memory that it gave last, and that is still there */
    uint64_t bytes, dsp;
    int32_t id;
    int heap, given, taken_back;
    uint32_t flags, rflags;
} client;

static void give_memory(remote_arg *pra)
{
    struct {
        int32_t heap;
        uint32_t lflags, rflags, pad;
        uint64_t vin, bytes;
    } in;
    uint64_t out[2];
    const int fd = memfd_create("messages", MFD_CLOEXEC);

    assert_int_equal(pra[0].buf.nLen, sizeof(in));
    memcpy(&in, pra[0].buf.pv, sizeof(in));
    assert_int_equal(ftruncate(fd, (off_t)in.bytes), 0);
    client.heap = in.heap;
    client.flags = in.lflags;
    client.rflags = in.rflags;
    client.bytes = in.bytes;
    client.va = mmap(NULL, in.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    client.id++;
    client.given++;
    hx_buffers_apply(&(struct hx_ctl){.op = HX_CTL_MAP, .id = client.id, .size = in.bytes, .client_fd = fd,
                                      .seq = (uint32_t)client.id}, fd);
    client.dsp = (uintptr_t)hx_buffers_at(client.id, 0, in.bytes);
    out[0] = (uintptr_t)client.va;
    out[1] = client.lies ? client.dsp + in.bytes : client.dsp;
    memcpy(pra[1].buf.pv, out, sizeof(out));
}

static int serve(const struct hx_next_out *call, remote_arg *pra)
{
    static const uint32_t opened[2] = {APPS_MEM, 0};

    if (call->handle == HX_HOST_REMOTECTL) {
        memcpy(pra[2].buf.pv, opened, sizeof(opened));
        return 0;
    }
    assert_int_equal(call->handle, APPS_MEM);
    if (REMOTE_SCALARS_METHOD(call->sc) == MAP64) {
        give_memory(pra);
    } else {
        assert_int_equal(REMOTE_SCALARS_METHOD(call->sc), UNMAP64);
        client.taken_back++;
    }
    return 0;
}

static void *listen_to_dsp(void *unused)
{
    struct hx_next_in in = {.room = ROOM};
    uint8_t answer[ROOM] = {0}, request[ROOM];
    struct hx_next_out call;

    (void)unused;
    while (hx_host_next(&in, answer, &call, request) == AEE_SUCCESS) {
        remote_arg pra[8] = {{{0}}};
        size_t bytes;

        if (hx_reverse_unpack(request, call.request_bytes, call.sc, pra, &bytes) || bytes > ROOM)
            abort();
        memset(answer, 0, sizeof(answer));
        hx_reverse_place(answer, call.sc, pra);
        in = (struct hx_next_in){call.ctx, serve(&call, pra), (uint32_t)bytes, ROOM};
    }
    return NULL;
}

static void have_listener(void)
{
    if (!client.is_there)
        assert_int_equal(pthread_create(&client.thread, NULL, listen_to_dsp, NULL), 0);
    client.is_there = true;
}

static int ask(uint64_t bytes, uint32_t filter, uint64_t *at)
{
    return hx_messages_start(&(struct hx_messages_in){.heap = 3, .flags = 0x80000000, .filter = filter, .bytes = bytes}, at);
}

/* --- the reader, as the open library has it --------------------------------------------------------------------------- */

static uint32_t read_index, ring_bytes;
static char *ring;

static uint32_t next_index(void)
{
    return atomic_load_explicit((_Atomic uint32_t *)(ring + ring_bytes), memory_order_acquire);
}

static void begin(uint64_t bytes, uint32_t filter)
{
    uint64_t at;

    have_listener();
    hx_messages_stop();
    assert_int_equal(ask(bytes, filter, &at), AEE_SUCCESS);
    assert_int_equal(at, (uintptr_t)client.va);
    ring = client.va;
    ring_bytes = (uint32_t)bytes - 4;
    read_index = 0;
    assert_int_equal(next_index(), 0);
}

/* The next message into line; 0: there is none. */
static int read_line(char *line)
{
    uint32_t at = read_index >= ring_bytes ? 0 : read_index, n = 0;

    while (at != next_index() && !ring[at])
        at = (at + 1) % ring_bytes;
    for (; ring[at]; at = (at + 1) % ring_bytes) {
        assert_true(n < LINE - 1);
        line[n++] = ring[at];
    }
    line[n] = '\0';
    read_index = n ? at + 1 : at;
    return n > 0;
}

/* The text of a message behind file, line, thread and PD. */
static const char *text_of(const char *line)
{
    int at = 0;
    unsigned thread;
    int number, pd;

    assert_int_equal(sscanf(line, "test_messages.c:%d:0x%x:%d: %n", &number, &thread, &pd, &at), 3);
    assert_true(at > 0);
    return line + at;
}

static void expect_line(const char *text)
{
    char line[LINE];

    assert_true(read_line(line));
    assert_string_equal(text_of(line), text);
}

static void expect_no_line(void)
{
    char line[LINE];

    assert_false(read_line(line));
}

/* The messages are in the log, too. */
static int shown;
static void hide(void)
{
    fflush(stderr);
    shown = dup(STDERR_FILENO);
    if (!freopen("/dev/null", "w", stderr))
        abort();
}

static void show(void)
{
    fflush(stderr);
    dup2(shown, STDERR_FILENO);
    close(shown);
}

/* --- tests ------------------------------------------------------------------------------------------------------------- */

static void test_sizes_that_no_ring_has_are_refused(void **state)
{
    static const uint64_t sizes[] = {0, 4, SMALL - 4, SMALL + 2, HX_MESSAGES_BYTES_MAX + 4, UINT64_MAX - 3, 1ull << 63};

    (void)state;
    for (size_t i = 0; i < HXT_LEN(sizes); i++) {
        uint64_t at = 1;

        assert_int_equal(ask(sizes[i], ALL, &at), (int)AEE_DSP(AEE_EBADPARM));
        assert_int_equal(at, 0);
    }
}

static void test_who_has_no_listener_is_told_so(void **state)
{
    uint64_t at, bytes;

    (void)state;
    hx_host_call_ms = 50;
    assert_int_equal(ask(SMALL, ALL, &at), (int)AEE_DSP(AEE_EBADSTATE));
    assert_int_equal(hx_messages_wait(&bytes), (int)AEE_DSP(AEE_EBADSTATE));
    hx_host_call_ms = 10000;
}

struct asker {
    pthread_t thread;
    uint64_t at;
    int rc;
    _Atomic bool is_done;
};

static void *ask_once(void *arg)
{
    struct asker *a = arg;

    a->rc = ask(SMALL, ALL, &a->at);
    atomic_store(&a->is_done, true);
    return NULL;
}

static int one_is_done(void *arg)
{
    struct asker *a = arg;

    return atomic_load(&a[0].is_done) || atomic_load(&a[1].is_done);
}

/* The open library asks before its listener has begun.  Another one that asks meanwhile is told so, and nobody waits to stop. */
static void test_the_listener_may_come_later(void **state)
{
    struct asker two[2] = {{.rc = -1}, {.rc = -1}};
    int first;
    uint64_t at;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&two[i].thread, NULL, ask_once, &two[i]), 0);
    assert_true(hxt_until(one_is_done, two, 8));
    assert_int_equal(hx_messages_stop(), AEE_SUCCESS);
    first = !atomic_load(&two[0].is_done);
    assert_int_equal(two[first].rc, (int)AEE_DSP(AEE_EBADSTATE));
    assert_false(atomic_load(&two[!first].is_done));
    have_listener();
    for (int i = 0; i < 2; i++)
        pthread_join(two[i].thread, NULL);
    assert_int_equal(two[!first].rc, AEE_SUCCESS);
    at = two[!first].at;
    assert_int_equal(at, (uintptr_t)client.va);
    assert_int_equal(client.bytes, SMALL);
    assert_int_equal(client.heap, 3);
    assert_int_equal(client.flags, 0x80000000);
    assert_int_equal(client.rflags, 0);
    assert_int_equal(ask(SMALL, ALL, &at), AEE_SUCCESS); /* it runs: no second one */
    assert_int_equal(at, 0);
    assert_int_equal(client.given, 1);
}

static void test_only_levels_of_the_filter_pass(void **state)
{
    const char *files[] = {"other.c"};

    (void)state;
    hide();
    begin(SMALL, 1 << HAP_LEVEL_FATAL | 1 << HAP_LEVEL_HIGH);
    FARF(ERROR, "error");
    FARF(FATAL, "fatal %d\n", 1);
    FARF(ALWAYS, "always is high");
    FARF(MEDIUM, "not compiled in");
    FARF(RUNTIME_HIGH, "no mask yet");
    HAP_setFARFRuntimeLoggingParams(ALL, NULL, 0);
    FARF(RUNTIME_HIGH, "run-time");
    FARF(RUNTIME_ERROR, "of no level of the filter");
    HAP_setFARFRuntimeLoggingParams(ALL, files, 1);
    FARF(RUNTIME_HIGH, "of no file of the mask");
    HAP_setFARFRuntimeLoggingParams(0, NULL, 0);
    show();
    expect_line("fatal 1");
    expect_line("always is high");
    expect_line("run-time");
    expect_no_line();
}

enum { MANY = 800 };
static atomic_bool all_read;

/* MANY messages, about as fast as they are read, and then more until one of those has come: any may be lost. */
static void *log_many(void *unused)
{
    char text[400];
    struct hxt_rng rng;

    (void)unused;
    hxt_rng_init(&rng, 7);
    for (int i = 0; !all_read; i++) {
        const int n = (int)hxt_below(&rng, 380);

        memset(text, 'a' + i % 26, sizeof(text));
        FARF(ALWAYS, "%d %.*s", i, n, text);
        usleep(i < MANY ? (i % 8 == 7) * 200 : 10000);
    }
    return NULL;
}

/* Reads and waits as the open library does, until message MANY or one behind it has come; how many did. */
static int read_many(void)
{
    char line[LINE];
    int came = 0, i = -1;
    uint64_t bytes;

    while (i < MANY) {
        if (next_index() == read_index)
            assert_int_equal(hx_messages_wait(&bytes), AEE_SUCCESS);
        while (next_index() != read_index && read_line(line)) {
            const char *text;
            int was = i;

            if (strstr(line, "messages lost"))
                continue;
            text = text_of(line);
            i = atoi(text);
            assert_true(i > was);
            for (const char *p = strchr(text, ' ') + 1; *p; p++)
                assert_int_equal(*p, 'a' + i % 26);
            came++;
        }
    }
    return came;
}

/* Some 30 times round a ring of 4 KiB. */
static void test_messages_come_whole_and_in_order_round_the_ring(void **state)
{
    pthread_t logger;
    int came;

    (void)state;
    hide();
    begin(SMALL, ALL);
    assert_int_equal(pthread_create(&logger, NULL, log_many, NULL), 0);
    came = read_many();
    all_read = true;
    pthread_join(logger, NULL);
    show();
    assert_true(came > MANY / 20);
}

/* Message i, of one length. */
static void log_one(int i)
{
    FARF(ALWAYS, "%-200d", i);
}

enum { TOO_MANY = 200 };

/* A ring with as much as it takes of TOO_MANY messages; how many bytes that is. */
static uint64_t begin_full(void)
{
    uint64_t bytes;

    begin(SMALL, ALL);
    for (int i = 0; i < TOO_MANY; i++)
        log_one(i);
    assert_int_equal(hx_messages_wait(&bytes), AEE_SUCCESS);
    return bytes;
}

static void test_what_does_not_fit_is_lost_and_damages_nothing(void **state)
{
    char line[LINE];
    uint64_t bytes;
    int read = 0;

    (void)state;
    hide();
    bytes = begin_full();
    assert_true(bytes < SMALL && bytes > SMALL - LINE);
    while (read_line(line)) {
        assert_int_equal(atoi(text_of(line)), read);
        read++;
    }
    log_one(TOO_MANY); /* nobody has waited since */
    assert_false(read_line(line));
    hx_messages_stop(); /* a wait now would take its second */
    assert_int_equal(hx_messages_wait(&bytes), (int)AEE_DSP(AEE_EBADSTATE));
    show();
    assert_true(read > 8 && read < TOO_MANY);
}

static void test_the_loss_is_told_once_there_is_room(void **state)
{
    char line[LINE], want[64];
    uint64_t bytes;
    int read = 0;

    (void)state;
    hide();
    begin_full();
    while (read_line(line))
        read++;
    assert_int_equal(hx_messages_wait(&bytes), AEE_SUCCESS); /* after a second, with nothing new */
    assert_int_equal(bytes, 0);
    FARF(ALWAYS, "room again");
    show();
    snprintf(want, sizeof(want), "%d messages lost: the ring is full", TOO_MANY - read);
    assert_true(read_line(line));
    assert_non_null(strstr(line, want));
    expect_line("room again");
    expect_no_line();
}

struct waiter {
    pthread_t thread;
    uint64_t bytes;
    int rc;
    atomic_bool is_done;
};

static void *wait_once(void *arg)
{
    struct waiter *w = arg;

    do /* each ends after a second */
        w->rc = hx_messages_wait(&w->bytes);
    while (!w->rc);
    atomic_store(&w->is_done, true);
    return NULL;
}

static int one_waits_no_more(void *arg)
{
    struct waiter *two = arg;

    return atomic_load(&two[0].is_done) || atomic_load(&two[1].is_done);
}

static void test_a_newer_wait_and_stop_end_a_wait(void **state)
{
    struct waiter two[2] = {{.rc = -1}, {.rc = -1}};
    int older;

    (void)state;
    begin(SMALL, ALL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&two[i].thread, NULL, wait_once, &two[i]), 0);
    assert_true(hxt_until(one_waits_no_more, two, 8));
    hx_messages_stop();
    for (int i = 0; i < 2; i++)
        pthread_join(two[i].thread, NULL);
    older = two[0].rc != (int)AEE_DSP(AEE_EINTERRUPTED);
    assert_int_equal(two[older].rc, (int)AEE_DSP(AEE_EINTERRUPTED));
    assert_int_equal(two[!older].rc, (int)AEE_DSP(AEE_EBADSTATE));
}

static void test_the_same_size_has_the_same_memory_again(void **state)
{
    const int given = client.given, back = client.taken_back;

    (void)state;
    hide();
    begin(SMALL, ALL);
    FARF(ALWAYS, "first");
    begin(SMALL, ALL);
    expect_no_line();
    assert_int_equal(client.given, given);
    begin(2 * SMALL, ALL);
    FARF(ALWAYS, "second");
    show();
    expect_line("second");
    assert_int_equal(client.given, given + 1);
    assert_int_equal(client.taken_back, back + 1);
}

static void test_a_client_that_unmaps_its_memory_keeps_its_pd(void **state)
{
    (void)state;
    hide();
    begin(2 * SMALL, ALL);
    hx_buffers_apply(&(struct hx_ctl){.op = HX_CTL_UNMAP, .id = client.id, .seq = (uint32_t)client.id}, -1);
    FARF(ALWAYS, "still there");
    show();
    expect_line("still there");
}

/* The index is the DSP's alone: what the client writes there moves nothing. */
static void test_a_spoilt_ring_moves_nothing(void **state)
{
    (void)state;
    hide();
    begin(SMALL, ALL);
    atomic_store((_Atomic uint32_t *)(ring + ring_bytes), UINT32_MAX - 7);
    FARF(ALWAYS, "where it belongs");
    show();
    expect_line("where it belongs");
}

static void test_memory_that_is_no_buffer_is_refused(void **state)
{
    const int back = client.taken_back;
    uint64_t at;

    (void)state;
    hx_messages_stop();
    client.lies = true;
    assert_int_equal(ask(4 * SMALL, ALL, &at), (int)AEE_DSP(AEE_EFAILED));
    assert_int_equal(at, 0);
    client.lies = false;
    assert_int_equal(client.taken_back, back + 2); /* the ring of before, and this */
    begin(4 * SMALL, ALL);
}

/* Last: after goodbye there is nobody to ask. */
static void test_goodbye_ends_all(void **state)
{
    uint64_t at;

    (void)state;
    hx_host_end();
    hx_messages_stop();
    pthread_join(client.thread, NULL);
    assert_int_equal(ask(client.bytes, ALL, &at), (int)AEE_DSP(AEE_EBADSTATE)); /* of the memory that it has */
    assert_int_equal(ask(8 * SMALL, ALL, &at), (int)AEE_DSP(AEE_EBADSTATE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_that_no_ring_has_are_refused),
        cmocka_unit_test(test_who_has_no_listener_is_told_so),
        cmocka_unit_test(test_the_listener_may_come_later),
        cmocka_unit_test(test_only_levels_of_the_filter_pass),
        cmocka_unit_test(test_messages_come_whole_and_in_order_round_the_ring),
        cmocka_unit_test(test_what_does_not_fit_is_lost_and_damages_nothing),
        cmocka_unit_test(test_the_loss_is_told_once_there_is_room),
        cmocka_unit_test(test_a_newer_wait_and_stop_end_a_wait),
        cmocka_unit_test(test_the_same_size_has_the_same_memory_again),
        cmocka_unit_test(test_a_client_that_unmaps_its_memory_keeps_its_pd),
        cmocka_unit_test(test_a_spoilt_ring_moves_nothing),
        cmocka_unit_test(test_memory_that_is_no_buffer_is_refused),
        cmocka_unit_test(test_goodbye_ends_all),
    };
    return HXT_RUN_FIXTURE(tests, start, NULL);
}
