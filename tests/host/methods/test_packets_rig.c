/* Protects: with the option `packets` every method that makes DSP calls makes packets of them and computes the same bits; a call whose
 * arguments do not fit stays a call; packets for a skel (rpc/queue/hx_call_packet.h) that are wrong are refused and harm nothing.
 * Against a real rig. */
#include <stdlib.h>

#include "dsp/packets.h"
#include "dspqueue.h"
#include "golden.h"
#include "hx_call_packet.h"
#include "hx_rig.h"
#include "open_engine.h"
#include "own_rig.h"
#include "rpcmem.h"
#include "sp_hex.h"

enum { VOCAB = 2048, CTX = 32, BACK = 4 };

static const uint32_t prompt[] = {1066, 260, 579, 700, 49, 49};
static const uint32_t other[] = {17, 400, 260};

static struct hx_session_stats figures(void)
{
    struct hx_session_stats s;

    assert_int_equal(hx_rig_session_stats(&s), 0);
    return s;
}

/* --- methods */

struct counted {
    uint64_t calls, packets;
};

static struct counted since(const struct hx_session_stats *before)
{
    const struct hx_session_stats now = figures();

    return (struct counted){now.invokes - before->invokes, now.packets - before->packets};
}

/* A prompt, then some of it run again as other tokens, with the logits of both.  What opening made is not counted. */
static struct counted run_method(const char *const *settings, float (*logits)[VOCAB])
{
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0, .settings = settings, .share = HXT_SRC "/host/data", .n_ctx = CTX};
    struct hx_engine *e = hxt_engine_open(&cfg);
    const struct hx_session_stats before = figures();
    struct counted n;

    run(e, prompt, HXT_LEN(prompt), 0);
    assert_int_equal(hx_engine_logits(e, logits[0], NULL), 0);
    run(e, other, HXT_LEN(other), BACK);
    assert_int_equal(hx_engine_logits(e, logits[1], NULL), 0);
    n = since(&before);
    hx_engine_close(e);
    return n;
}

static void test_every_method_computes_the_same_by_packets(void **state)
{
    static const char *const methods[][3] = {
        {"kv=f32", "offload=linear"},
        {"kv=f32", "native-ok", "offload=linear=wq,gate"},
        {"kv=ntt", "offload=kv"},
        {"kv=banded", "offload=kv"},
        {"offload=attn", "density=per-vector"},
        {"offload=attn", "density=batched"},
        {"kv=spinor", "density=batched"},
        {"kv=spinor", "density=per-token"},
    };
    static float want[2][VOCAB], got[2][VOCAB];

    (void)state;
    for (size_t i = 0; i < HXT_LEN(methods); i++) {
        const struct counted calls = run_method(HXT_SETTINGS(methods[i][0], methods[i][1], methods[i][2]), want);
        const char *settings[] = {"packets", methods[i][0], methods[i][1], methods[i][2], NULL};
        const struct counted packets = run_method(settings, got);

        if (!calls.calls || calls.packets || packets.calls || packets.packets != calls.calls)
            fail_msg("%s %s: %llu calls and %llu packets, as packets %llu and %llu", methods[i][0], methods[i][1],
                     (unsigned long long)calls.calls, (unsigned long long)calls.packets, (unsigned long long)packets.calls,
                     (unsigned long long)packets.packets);
        hxt_same_bytes(got, want, sizeof(want));
    }
}

/* --- a skel of our own opening */

static struct hx_skel skel;

static int open_skel(void **state)
{
    struct hx_error err;

    (void)state;
    if (!hx_skel_open(&skel, "test", sp_hex_URI, &err) &&
        !hx_packets_open(&skel, "test", sp_hex_packets_attach, sp_hex_packets_detach, &err))
        return 0;
    print_error("%s\n", err.text);
    return -1;
}

static int close_skel(void **state)
{
    (void)state;
    hx_skel_close(&skel);
    return 0;
}

static void expect_echo(const uint8_t *data, uint8_t *back, size_t n, uint64_t calls, uint64_t packets)
{
    const struct hx_session_stats before = figures();
    struct counted made;

    memset(back, HXT_POISON, n);
    assert_int_equal(sp_hex_echo(skel.handle, data, (int)n, back, (int)n), 0);
    made = since(&before);
    hxt_same_bytes(back, data, n);
    assert_int_equal(made.calls, calls);
    assert_int_equal(made.packets, packets);
}

static void test_arguments_lie_in_messages_or_in_shared_memory(void **state)
{
    enum { LONG = 2 * HX_CALL_MESSAGE };
    uint8_t *shared = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, LONG), *plain = malloc(2 * LONG);
    struct hx_error err;

    (void)state;
    assert_non_null(shared);
    assert_non_null(plain);
    for (size_t i = 0; i < LONG; i++)
        plain[i] = (uint8_t)(i * 7 + i / 251);
    assert_int_equal(hx_packets_share(&skel, "test", shared, LONG, &err), 0);
    expect_echo(plain, plain + LONG, 0, 0, 1);
    expect_echo(plain, plain + LONG, 1, 0, 1);
    expect_echo(plain, plain + LONG, 1003, 0, 1);
    expect_echo(plain, shared + 1, 1003, 0, 1);
    expect_echo(plain, plain + LONG, HX_CALL_MESSAGE, 1, 0); /* with the rest of the message it is too long */
    memcpy(shared, plain, LONG);
    expect_echo(shared + 5, plain, 10000, 0, 1);
    expect_echo(shared, shared + LONG / 2, LONG / 2, 0, 1);
    hx_packets_unshare(&skel, shared);
    expect_echo(shared, shared + LONG / 2, LONG / 2, 1, 0);
    expect_echo(shared, plain, 100, 0, 1);
    rpcmem_free(shared);
    free(plain);
}

static void test_an_error_is_that_of_the_call(void **state)
{
    float x[3] = {1, 2, 3};

    (void)state;
    assert_int_equal(sp_hex_vht2_forward_f32(skel.handle, 13, x, 3, x, 3), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(sp_hex_null(skel.handle), 0);
}

static void test_several_skels_have_a_queue_each(void **state)
{
    const uint8_t data[] = {1, 2, 3};
    uint8_t back[sizeof(data)];
    struct hx_skel second = {0};
    struct hx_session_stats before;
    struct hx_error err;

    (void)state;
    assert_int_equal(hx_skel_open(&second, "test", sp_hex_URI, &err), 0);
    before = figures();
    assert_int_equal(sp_hex_echo(second.handle, data, 3, back, 3), 0); /* of no queue: a call */
    assert_int_equal(since(&before).calls, 1);
    assert_int_equal(hx_packets_open(&second, "test", sp_hex_packets_attach, sp_hex_packets_detach, &err), 0);
    before = figures();
    assert_int_equal(sp_hex_echo(second.handle, data, 3, back, 3), 0);
    assert_int_equal(since(&before).packets, 1);
    hx_skel_close(&second);
    expect_echo(data, back, sizeof(data), 0, 1);
}

/* --- packets that no stub makes */

static remote_handle64 h;
static dspqueue_t q;
static uint64_t id;

static int open_queue(void **state)
{
    (void)state;
    return sp_hex_open(sp_hex_URI CDSP_DOMAIN, &h) || dspqueue_create(CDSP_DOMAIN_ID, 0, 1 << 18, 1 << 18, NULL, NULL, NULL, &q) ||
           dspqueue_export(q, &id) || sp_hex_packets_attach(h, id);
}

static int close_queue(void **state)
{
    int rc = sp_hex_close(h);

    (void)state;
    return dspqueue_close(q) | rc; /* the handle has given it back */
}

static struct hx_call_answer ask(const void *message, uint32_t bytes, uint32_t n_buffers, struct dspqueue_buffer *b)
{
    static uint8_t room[HX_CALL_MESSAGE];
    struct hx_call_answer a = {-1, 0};
    uint32_t flags, n = 0, len = 0;

    assert_int_equal(dspqueue_write(q, 0, n_buffers, b, bytes, message, 1000000), 0);
    assert_int_equal(dspqueue_read(q, &flags, 0, &n, NULL, sizeof(room), &len, room, 20000000), 0);
    assert_true(len >= sizeof(a));
    memcpy(&a, room, sizeof(a));
    return a;
}

/* echo's message: scalars, three arguments, the lengths (data, back), data; back is in the answer. */
struct echo {
    struct hx_call_packet head;
    struct hx_call_arg arg[3];
    uint32_t lengths[2];
    uint8_t data[8];
};

static const struct echo good = {
    .head = {REMOTE_SCALARS_MAKE(sp_hex_METHOD_echo, 2, 1), 0},
    .arg = {{8, HX_CALL_INLINE}, {8, HX_CALL_INLINE}, {8, HX_CALL_INLINE}},
    .lengths = {8, 8},
    .data = "seven  ",
};

static void expect_served(void)
{
    assert_int_equal(ask(&good, sizeof(good), 0, NULL).code, 0);
}

static void test_packets_of_no_known_form_are_refused_and_harm_nothing(void **state)
{
    uint8_t *shared = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, 4096);
    static uint8_t junk[40000];
    struct dspqueue_buffer b[HX_CALL_ARGS + 1];
    const struct {
        struct echo echo;
        uint32_t bytes;
    } bad[] = {
        {good, 0}, {good, 7}, {good, 8}, {good, 31}, {good, 32}, {good, 44}, {good, 47},
        {{.head = {REMOTE_SCALARS_MAKE(sp_hex_METHOD_echo, 2, 200), 0}}, sizeof(good)},
        {{.head = {REMOTE_SCALARS_MAKEX(0, sp_hex_METHOD_open, 2, 0, 0, 1), 0}}, sizeof(good)},
        {{.head = {REMOTE_SCALARS_MAKEX(0, sp_hex_METHOD_close, 0, 0, 1, 0), 0}}, sizeof(good)},
        {{.head = good.head, .arg = {{8, 0}, {8, HX_CALL_INLINE}, {8, HX_CALL_INLINE}}}, sizeof(good)}, /* buffer 0 is 4096 bytes */
        {{.head = good.head, .arg = {{8, HX_CALL_INLINE}, {4096, 7}, {8, HX_CALL_INLINE}}}, sizeof(good)}, /* there is no 7 */
        {{.head = good.head, .arg = {{8, HX_CALL_INLINE}, {~0u, HX_CALL_INLINE}, {8, HX_CALL_INLINE}}}, sizeof(good)},
        {{.head = good.head, .arg = {{8, HX_CALL_INLINE}, {8, HX_CALL_INLINE}, {~0u - 100, HX_CALL_INLINE}}}, sizeof(good)},
        {{.head = good.head, .arg = {{8, HX_CALL_INLINE}, {8, HX_CALL_INLINE}, {HX_CALL_MESSAGE, HX_CALL_INLINE}}, .lengths = {8, 8}},
         sizeof(good)}, /* the answer would be too long */
    };

    (void)state;
    assert_non_null(shared);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(shared), shared, 0, 4096, FASTRPC_MAP_FD), 0);
    for (size_t i = 0; i < HXT_LEN(b); i++)
        b[i] = (struct dspqueue_buffer){.fd = (uint32_t)rpcmem_to_fd(shared), .size = 4096};
    for (size_t i = 0; i < HXT_LEN(bad); i++)
        if (ask(&bad[i].echo, bad[i].bytes, 1, b).code != AEE_DSP(AEE_EBADPARM))
            fail_msg("packet %zu was taken", i);
    assert_int_equal(ask(junk, sizeof(junk), 0, NULL).code, AEE_DSP(AEE_EBADPARM));
    assert_int_equal(ask(&good, sizeof(good), HXT_LEN(b), b).code, AEE_DSP(AEE_EBADPARM)); /* too many buffers */
    expect_served();
    assert_int_equal(fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(shared), shared, 4096), 0);
    rpcmem_free(shared);
}

/* It would wait for itself. */
static void test_a_queue_cannot_detach_itself(void **state)
{
    struct {
        struct hx_call_packet head;
        struct hx_call_arg arg[1];
        uint64_t in[2];
    } detach = {.head = {REMOTE_SCALARS_MAKE(sp_hex_METHOD_packets_detach, 1, 0), 0}, .arg = {{8, HX_CALL_INLINE}}, .in = {id}};

    (void)state;
    if (sp_hex_METHOD_packets_detach >= 31) { /* its number is in front of the value */
        detach.head.sc = REMOTE_SCALARS_MAKE(31, 1, 0);
        detach.arg[0].bytes = 16;
        detach.in[0] = sp_hex_METHOD_packets_detach;
        detach.in[1] = id;
    }
    assert_int_equal(ask(&detach, sizeof(detach), 0, NULL).code, AEE_DSP(AEE_EBADSTATE));
    expect_served();
}

static void test_a_queue_is_its_handles_own(void **state)
{
    remote_handle64 second;

    (void)state;
    assert_int_equal(sp_hex_open(sp_hex_URI CDSP_DOMAIN, &second), 0);
    assert_int_equal(sp_hex_packets_detach(second, id), AEE_DSP(AEE_ENOSUCH));
    assert_int_equal(sp_hex_packets_attach(second, id), AEE_DSP(AEE_EITEMBUSY));
    assert_int_equal(sp_hex_packets_attach(second, 0x7f01), AEE_DSP(AEE_ENOSUCH));
    assert_int_equal(sp_hex_close(second), 0);
    assert_int_equal(dspqueue_close(q), AEE_EBADPARM); /* attached */
    expect_served();
}

#define SKEL_TEST(f) cmocka_unit_test_setup_teardown(f, open_skel, close_skel)
#define QUEUE_TEST(f) cmocka_unit_test_setup_teardown(f, open_queue, close_queue)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_method_computes_the_same_by_packets),
        SKEL_TEST(test_arguments_lie_in_messages_or_in_shared_memory),
        SKEL_TEST(test_an_error_is_that_of_the_call),
        SKEL_TEST(test_several_skels_have_a_queue_each),
        QUEUE_TEST(test_packets_of_no_known_form_are_refused_and_harm_nothing),
        QUEUE_TEST(test_a_queue_cannot_detach_itself),
        QUEUE_TEST(test_a_queue_is_its_handles_own),
    };

    own_rig_front_end = "socket";
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}
