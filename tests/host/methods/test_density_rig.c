/* Protects: every density of the spinor cache returns the same bits, also when positions are run again; packets for sp_hex
 * (rpc/block/hx_sp_packet.h) do what calls do, refuse what is wrong, and are in the client's figures.  Against a real rig. */
#include <stdlib.h>

#include "dspqueue.h"
#include "methods/spinor/geometry.h"
#include "golden.h"
#include "hx_rig.h"
#include "hx_sp_packet.h"
#include "methods/spinor/kv_spinor.h"
#include "open_engine.h"
#include "own_rig.h"
#include "rpcmem.h"
#include "sp_hex.h"

enum { VOCAB = 2048, CTX = 32 };

static const uint32_t prompt[] = {1066, 260, 579, 700, 49, 49, 260, 959, 1711, 273};
static const uint32_t other[] = {17, 400, 260, 33, 12};
enum { BACK = 4 }; /* where the other tokens go */

static struct hx_engine *open_density(const char *density)
{
    struct hx_engine_cfg cfg = {.model = MODEL_Q8_0,
                                .settings = HXT_SETTINGS(HXT_REF, "kv=spinor", hxt_setting("density", density)),
                                .share = HXT_SRC "/host/data", .n_ctx = CTX};

    return hxt_engine_open(&cfg);
}

static void logits_after_going_back(const char *density, float *first, float *second)
{
    struct hx_engine *e = open_density(density);

    run(e, prompt, HXT_LEN(prompt), 0);
    assert_int_equal(hx_engine_logits(e, first, NULL), 0);
    run(e, other, HXT_LEN(other), BACK);
    assert_int_equal(hx_engine_logits(e, second, NULL), 0);
    hx_engine_close(e);
}

static void test_every_density_gives_the_same_bits(void **state)
{
    float want[2][VOCAB], got[2][VOCAB];

    (void)state;
    logits_after_going_back(hx_kv_spinor_densities[0], want[0], want[1]);
    assert_true(memcmp(want[0], want[1], sizeof(want[0])) != 0);
    for (size_t i = 1; hx_kv_spinor_densities[i]; i++) {
        logits_after_going_back(hx_kv_spinor_densities[i], got[0], got[1]);
        hxt_same_bytes(got, want, sizeof(want));
    }
}

static void test_going_back_is_as_if_one_had_never_been_further(void **state)
{
    float want[VOCAB], got[VOCAB], unused[VOCAB];

    (void)state;
    for (size_t i = 0; hx_kv_spinor_densities[i]; i++) {
        struct hx_engine *e = open_density(hx_kv_spinor_densities[i]);

        run(e, prompt, BACK, 0);
        run(e, other, HXT_LEN(other), BACK);
        assert_int_equal(hx_engine_logits(e, want, NULL), 0);
        hx_engine_close(e);
        logits_after_going_back(hx_kv_spinor_densities[i], unused, got);
        hxt_same_bytes(got, want, sizeof(want));
    }
}

/* --- packets */

enum { POSITIONS = 3, X_BYTES = POSITIONS * 4 * 128 * 4, BLOCK_BYTES = POSITIONS * 4 * 64 };
static const struct hx_geometry tiny = {.name = "tiny", .n_layer = 2, .n_kv = 1, .dh = 128, .rope_base = 1e4f};

/* A handle with tables of 4 slots, a queue, buffers x and blocks of POSITIONS positions. */
struct client {
    remote_handle64 h;
    dspqueue_t q;
    uint64_t id;
    float *x;
    uint8_t *blocks;
};

static void *shared(size_t bytes)
{
    void *p = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes);

    assert_non_null(p);
    assert_int_equal(fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(p), p, 0, bytes, FASTRPC_MAP_FD), 0);
    return p;
}

static int open_client(void **state)
{
    struct client *c = *state = calloc(1, sizeof(*c));
    const struct hx_cal_cfg want = {.basis = HX_BASIS_VHT2};
    struct hxt_rng rng;
    struct hx_cal *cal;
    uint32_t crc;

    if (!c || hx_geometry_cal(&cal, &tiny, &want, NULL) ||
        sp_hex_open(sp_hex_URI CDSP_DOMAIN, &c->h))
        return -1;
    if (sp_hex_calibrate(c->h, 128, HX_BASIS_VHT2, cal->tables, (int)(4 * cal->table_bytes), &crc,
                         HX_CODE_SIGN) ||
        dspqueue_create(CDSP_DOMAIN_ID, 0, 1 << 18, 0, NULL, NULL, NULL, &c->q) ||
        dspqueue_export(c->q, &c->id) || sp_hex_queue_attach(c->h, c->id))
        return -1;
    hx_cal_free(cal);
    c->x = shared(X_BYTES);
    c->blocks = shared(BLOCK_BYTES);
    hxt_rng_init(&rng, 1);
    hxt_fill_f32(&rng, c->x, X_BYTES / 4, HXT_NORMAL);
    return 0;
}

static int close_client(void **state)
{
    struct client *c = *state;
    int rc = c->q ? sp_hex_queue_detach(c->h, c->id) | dspqueue_close(c->q) : 0;

    rpcmem_free(c->x);
    rpcmem_free(c->blocks);
    rc |= sp_hex_close(c->h);
    free(c);
    return rc;
}

static struct dspqueue_buffer part(void *p, uint32_t bytes)
{
    return (struct dspqueue_buffer){.fd = (uint32_t)rpcmem_to_fd(p), .size = bytes};
}

#define ALL(c) part((c)->x, X_BYTES), part((c)->blocks, BLOCK_BYTES)

static struct hx_sp_answer read_answer(struct client *c)
{
    struct dspqueue_buffer back[HX_SP_WORKS];
    struct hx_sp_answer a = {-1, ~0u};
    uint32_t flags, n = 0, len = 0;

    assert_int_equal(dspqueue_read(c->q, &flags, HX_SP_WORKS, &n, back, sizeof(a), &len,
                                   (uint8_t *)&a, 20000000), 0);
    assert_int_equal(len, sizeof(a));
    if (a.code)
        assert_int_equal(n, 0);
    return a;
}

static struct hx_sp_answer ask(struct client *c, const void *message, uint32_t bytes,
                               uint32_t n_buffers, struct dspqueue_buffer *b)
{
    assert_int_equal(dspqueue_write(c->q, 0, n_buffers, b, bytes, message, 1000000), 0);
    return read_answer(c);
}

/* Encode all, then decode into x what was made. */
static struct hx_sp_answer encode_and_decode(struct client *c)
{
    const struct hx_sp_work work[] = {{HX_SP_ENCODE, 0, 4, POSITIONS},
                                      {HX_SP_DECODE, 0, 4, POSITIONS}};
    struct dspqueue_buffer b[] = {ALL(c), ALL(c)};

    return ask(c, work, sizeof(work), 4, b);
}

static void test_a_packet_does_what_calls_do(void **state)
{
    struct client *c = *state;
    static float x[X_BYTES / 4], want[X_BYTES / 4];
    static uint8_t blocks[BLOCK_BYTES];
    struct hx_sp_answer a;

    memcpy(x, c->x, sizeof(x));
    assert_int_equal(sp_hex_hier_encode_batch_f32(c->h, 0, 4, POSITIONS, x, X_BYTES / 4, blocks,
                                                  BLOCK_BYTES), 0);
    assert_int_equal(sp_hex_hier_decode_batch_f32(c->h, 0, 4, POSITIONS, blocks, BLOCK_BYTES, want,
                                                  X_BYTES / 4), 0);
    a = encode_and_decode(c);
    assert_int_equal(a.code, 0);
    assert_int_equal(a.work, 2);
    hxt_same_bytes(c->blocks, blocks, sizeof(blocks));
    hxt_same_bytes(c->x, want, sizeof(want));
}

static void test_the_work_that_fails_is_named_and_ends_the_packet(void **state)
{
    struct client *c = *state;
    const struct hx_sp_work work[] = {{HX_SP_ENCODE, 0, 4, POSITIONS},
                                      {HX_SP_DECODE, 1, 4, POSITIONS}, /* beyond the last slot */
                                      {HX_SP_DECODE, 0, 4, POSITIONS}};
    struct dspqueue_buffer b[] = {ALL(c), ALL(c), ALL(c)};
    static float before[X_BYTES / 4];
    struct hx_sp_answer a;

    memcpy(before, c->x, sizeof(before));
    a = ask(c, work, sizeof(work), 6, b);
    assert_int_equal(a.code, AEE_DSP(AEE_EBADPARM));
    assert_int_equal(a.work, 1);
    hxt_same_bytes(c->x, before, sizeof(before)); /* the third was not done */
    assert_int_equal(encode_and_decode(c).code, 0); /* and the queue is served on */
}

static void test_packets_of_no_known_form_are_refused_and_harm_nothing(void **state)
{
    struct client *c = *state;
    struct hx_sp_work work[HX_SP_WORKS] = {{HX_SP_ENCODE, 0, 4, POSITIONS}};
    struct dspqueue_buffer b[] = {ALL(c), ALL(c)};
    static uint8_t junk[40000];
    const struct {
        const void *message;
        uint32_t bytes, n_buffers, op;
    } bad[] = {{work, 16, 1, HX_SP_ENCODE}, {work, 16, 3, HX_SP_ENCODE},
               {work, 15, 2, HX_SP_ENCODE}, {work, 32, 2, HX_SP_ENCODE},
               {work, 0, 2, HX_SP_ENCODE},  {work, 16, 2, HX_SP_OPS},
               {junk, sizeof(junk), 2, 0}};

    for (size_t i = 0; i < HXT_LEN(bad); i++) {
        work[0].op = bad[i].op;
        if (ask(c, bad[i].message, bad[i].bytes, bad[i].n_buffers, b).code != AEE_DSP(AEE_EBADPARM))
            fail_msg("packet %zu was taken", i);
    }
    work[0].op = HX_SP_ENCODE;
    b[1].size = 64; /* too short for what the work says */
    assert_int_equal(ask(c, work, 16, 2, b).code, AEE_DSP(AEE_EBADPARM));
    assert_int_equal(encode_and_decode(c).code, 0);
}

static void test_an_unknown_queue_is_refused(void **state)
{
    struct client *c = *state;

    assert_int_equal(sp_hex_queue_attach(c->h, 0x7f01), AEE_DSP(AEE_ENOSUCH));
    assert_int_equal(sp_hex_queue_attach(c->h, c->id), AEE_DSP(AEE_EITEMBUSY));
    assert_int_equal(sp_hex_queue_detach(c->h, 0x7f01), AEE_DSP(AEE_ENOSUCH));
    assert_int_equal(dspqueue_close(c->q), AEE_EBADPARM); /* attached */
}

static void test_closing_the_handle_gives_its_queues_back(void **state)
{
    struct client *c = *state;
    remote_handle64 second;

    assert_int_equal(sp_hex_open(sp_hex_URI CDSP_DOMAIN, &second), 0);
    assert_int_equal(sp_hex_queue_detach(second, c->id), AEE_DSP(AEE_ENOSUCH)); /* not its own */
    assert_int_equal(sp_hex_close(c->h), 0);
    assert_int_equal(dspqueue_close(c->q), 0);
    c->h = second;
    c->q = NULL;
}

static struct hx_session_stats figures(void)
{
    struct hx_session_stats s;

    assert_int_equal(hx_rig_session_stats(&s), 0);
    return s;
}

/* A packet is in the figures as soon as its answer was read: half a call, its bytes, what it executed. */
static void test_packets_are_in_the_figures(void **state)
{
    enum { N = 5 };
    struct hx_session_stats a = figures(), b;
    char *text = NULL;
    const uint64_t messages = 2 * sizeof(struct hx_sp_work) + sizeof(struct hx_sp_answer);

    for (int i = 0; i < N; i++)
        assert_int_equal(encode_and_decode(*state).code, 0);
    b = figures();
    assert_int_equal(b.invokes, a.invokes);
    assert_int_equal(b.packets - a.packets, N);
    assert_int_equal(b.bytes_copied - a.bytes_copied, N * messages);
    assert_int_equal(b.bytes_shared - a.bytes_shared, N * 2 * (X_BYTES + BLOCK_BYTES));
    assert_int_equal(b.dispatch_ns - a.dispatch_ns, N * 116600); /* packet_us of s22u-577 */
    assert_true(b.hvx_ops > a.hvx_ops);
    assert_true(b.exec_ns > a.exec_ns);
    assert_int_equal(hx_rig_read(NULL, "stats", &text), 0);
    if (!strstr(text, hxt_path(" errors=%llu packets=%llu ", (unsigned long long)b.errors,
                               (unsigned long long)b.packets)))
        fail_msg("no packets=%llu in '%s'", (unsigned long long)b.packets, text);
    free(text);
    assert_int_equal(b.clock_ns - a.clock_ns,
                     b.dispatch_ns - a.dispatch_ns + (b.marshal_ns - a.marshal_ns) +
                         (b.queue_ns - a.queue_ns) + (b.exec_ns - a.exec_ns));
}

/* One callback may find many packets; each costs what it costs alone. */
static void test_a_burst_costs_what_single_packets_do(void **state)
{
    enum { N = 6 };
    const struct hx_sp_work work = {HX_SP_DECODE, 0, 4, POSITIONS};
    struct client *c = *state;
    struct hx_session_stats before, single, burst;
    struct dspqueue_buffer b[] = {ALL(c)};

    assert_int_equal(encode_and_decode(c).code, 0);
    before = figures();
    assert_int_equal(ask(c, &work, sizeof(work), 2, b).code, 0);
    single = figures();
    assert_true(single.exec_ns > before.exec_ns);
    for (int i = 0; i < N; i++)
        assert_int_equal(dspqueue_write(c->q, 0, 2, b, sizeof(work), (const uint8_t *)&work,
                                        1000000), 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(read_answer(c).code, 0);
    }
    burst = figures();
    assert_int_equal(burst.packets - single.packets, N);
    hxt_near_f32(&(float){(float)(burst.exec_ns - single.exec_ns)},
                 &(float){(float)(N * (single.exec_ns - before.exec_ns))}, 1, 100000 /* 1 % */);
}

#define CLIENT_TEST(f) cmocka_unit_test_setup_teardown(f, open_client, close_client)

static int run_all(const char *front_end)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_density_gives_the_same_bits),
        cmocka_unit_test(test_going_back_is_as_if_one_had_never_been_further),
        CLIENT_TEST(test_a_packet_does_what_calls_do),
        CLIENT_TEST(test_the_work_that_fails_is_named_and_ends_the_packet),
        CLIENT_TEST(test_packets_of_no_known_form_are_refused_and_harm_nothing),
        CLIENT_TEST(test_an_unknown_queue_is_refused),
        CLIENT_TEST(test_closing_the_handle_gives_its_queues_back),
        CLIENT_TEST(test_packets_are_in_the_figures),
        CLIENT_TEST(test_a_burst_costs_what_single_packets_do),
    };

    own_rig_front_end = front_end;
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}

int main(void)
{
    return own_rig_run_both(run_all);
}
