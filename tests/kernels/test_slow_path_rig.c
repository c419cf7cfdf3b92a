/* Protects the figure slow_path_calls: calls whose shared buffers are not aligned give the same results, take longer on the modelled
 * DSP and are counted, once each; aligned ones, and whatever the driver copies, are not. */
#include <stdlib.h>

#include "hx_rig.h"
#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"
#include "sp_hex.h"
#include "spinor_rig.h"

enum { DH = 128, SLOTS = 2, POSITIONS = 40, VECTORS = SLOTS * POSITIONS, FLOATS = VECTORS * DH, BLOCK_BYTES = VECTORS * HX_BLOCK_SLOT };

static remote_handle64 skel;
static struct spinor_rig tables;
static uint8_t *x, *blocks; /* rpcmem, with room for an offset */
static float source[FLOATS];

static int open_skel(void **state)
{
    struct hxt_rng rng;
    unsigned int crc;

    (void)state;
    hxt_rng_init(&rng, 3);
    open_spinor_rig(&tables, DH, HX_BASIS_KLT, SLOTS, 3);
    hxt_fill_f32(&rng, source, FLOATS, HXT_NORMAL);
    x = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, sizeof(source) + 128);
    blocks = rpcmem_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, BLOCK_BYTES + 128);
    return !x || !blocks || sp_hex_open(sp_hex_URI "&_dom=cdsp", &skel) ||
           sp_hex_calibrate(skel, DH, HX_BASIS_KLT, tables.tables, (int)(SLOTS * tables.table_bytes), &crc, HX_CODE_SIGN);
}

static int close_skel(void **state)
{
    (void)state;
    rpcmem_free(x);
    rpcmem_free(blocks);
    close_spinor_rig(&tables);
    return sp_hex_close(skel);
}

struct spent {
    uint64_t slow, exec_ns;
};

static struct spent spent(void)
{
    struct hx_session_stats s;

    assert_int_equal(hx_rig_session_stats(&s), 0);
    return (struct spent){s.slow_path_calls, s.exec_ns};
}

static struct spent since(struct spent before)
{
    const struct spent now = spent();

    return (struct spent){now.slow - before.slow, now.exec_ns - before.exec_ns};
}

static int encode(const float *from, uint8_t *to)
{
    return sp_hex_hier_encode_batch_f32(skel, 0, SLOTS, POSITIONS, from, FLOATS, to, BLOCK_BYTES);
}

static int decode(const uint8_t *from, float *to)
{
    return sp_hex_hier_decode_batch_f32(skel, 0, SLOTS, POSITIONS, from, BLOCK_BYTES, to, FLOATS);
}

/* source -> blocks -> out, with x and blocks so many bytes behind a page's begin. */
static struct spent round_trip(size_t x_at, size_t blocks_at, uint8_t *block_bytes, float *out)
{
    const struct spent before = spent();

    memcpy(x + x_at, source, sizeof(source));
    memset(blocks, HXT_POISON, BLOCK_BYTES + 128);
    assert_int_equal(encode((const float *)(x + x_at), blocks + blocks_at), AEE_SUCCESS);
    memset(x, HXT_POISON, sizeof(source) + 128);
    assert_int_equal(decode(blocks + blocks_at, (float *)(x + x_at)), AEE_SUCCESS);
    memcpy(block_bytes, blocks + blocks_at, BLOCK_BYTES);
    memcpy(out, x + x_at, sizeof(source));
    for (size_t i = 0; i < 128; i++) { /* what lies around stays as it was */
        assert_int_equal(x[i < x_at ? i : sizeof(source) + i], HXT_POISON);
        assert_int_equal(blocks[i < blocks_at ? i : BLOCK_BYTES + i], HXT_POISON);
    }
    return since(before);
}

static void test_misaligned_buffers_give_the_same_and_take_longer(void **state)
{
    static const struct {
        size_t x_at, blocks_at;
    } offsets[] = {{4, 0}, {0, 1}, {64, 32}, {124, 63}};
    static uint8_t want[BLOCK_BYTES], got[BLOCK_BYTES];
    static float want_x[FLOATS], got_x[FLOATS];
    struct spent aligned, slow;

    (void)state;
    round_trip(0, 0, want, want_x); /* the first calls find the DSP cold */
    aligned = round_trip(0, 0, want, want_x);
    assert_int_equal(aligned.slow, 0);
    for (size_t i = 0; i < HXT_LEN(offsets); i++) {
        slow = round_trip(offsets[i].x_at, offsets[i].blocks_at, got, got_x);
        assert_int_equal(slow.slow, 2);
        if (slow.exec_ns <= aligned.exec_ns)
            fail_msg("offsets %zu, %zu: %llu ns, aligned %llu", offsets[i].x_at, offsets[i].blocks_at,
                     (unsigned long long)slow.exec_ns, (unsigned long long)aligned.exec_ns);
        print_message("x at %zu, blocks at %zu: %.1f us, aligned %.1f us (model)\n", offsets[i].x_at, offsets[i].blocks_at,
                      (double)slow.exec_ns / 1e3, (double)aligned.exec_ns / 1e3);
        assert_memory_equal(got, want, sizeof(want));
        assert_memory_equal(got_x, want_x, sizeof(want_x));
    }
}

static void test_a_corrupt_block_leaves_its_vector_alone(void **state)
{
    static uint8_t block_bytes[BLOCK_BYTES];
    static float want[FLOATS];
    uint8_t poison[DH * sizeof(float)];

    (void)state;
    round_trip(4, 1, block_bytes, want);
    blocks[1 + 3 * HX_BLOCK_SLOT] ^= 1;
    memset(x, HXT_POISON, sizeof(source) + 128);
    memset(poison, HXT_POISON, sizeof(poison));
    assert_int_equal(decode(blocks + 1, (float *)(x + 4)), AEE_DSP(AEE_EBADITEM));
    assert_memory_equal(x + 4, want, 3 * sizeof(poison));
    assert_memory_equal(x + 4 + 3 * sizeof(poison), poison, sizeof(poison));
    assert_memory_equal(x + 4 + 4 * sizeof(poison), want + 4 * DH, sizeof(want) - 4 * sizeof(poison));
}

static void test_what_the_driver_copies_is_aligned(void **state)
{
    static uint8_t memory[sizeof(source) + 4], to[BLOCK_BYTES + 1];
    const struct spent before = spent();

    (void)state;
    memcpy(memory + 4, source, sizeof(source));
    assert_int_equal(encode((const float *)(memory + 4), to + 1), AEE_SUCCESS);
    assert_int_equal(since(before).slow, 0);
}

static void test_floats_between_floats_are_refused(void **state)
{
    const struct spent before = spent();

    (void)state;
    assert_int_equal(encode((const float *)(x + 2), blocks), AEE_DSP(AEE_EBADPARM));
    assert_int_equal(since(before).slow, 0);
}

/* --- attention */

enum { HEADS = 1, QUERIES = 2, KV_BYTES = POSITIONS * HX_BLOCK_SLOT, MOST_OUT = QUERIES * (DH > POSITIONS ? DH : POSITIONS) };

/* Offsets in bytes of a call's buffers, each in a page of its own. */
struct offsets {
    size_t q, k, v, own, out;
};

static uint8_t *page_of(size_t i)
{
    return x + i * 8192;
}

/* Scores (is_attend 0) or attention of QUERIES over POSITIONS blocks of slot 0 as K and of slot 1 as V. */
static struct spent attend(int is_attend, const struct offsets *at, const uint8_t *k, const uint8_t *v, float *result)
{
    const size_t out_floats = (size_t)QUERIES * (is_attend ? DH : POSITIONS);
    float *const q = (float *)(page_of(0) + at->q), *const own = (float *)(page_of(3) + at->own);
    float *const out = (float *)(page_of(4) + at->out);
    const float *const own_v = own + DH;
    struct spent before;

    memset(page_of(4), HXT_POISON, 8192);
    memcpy(q, source, QUERIES * DH * sizeof(*q));
    memcpy(own, source + 1000, 2 * DH * sizeof(*own));
    memcpy(page_of(1) + at->k, k, KV_BYTES);
    memcpy(page_of(2) + at->v, v, KV_BYTES);
    before = spent();
    if (is_attend)
        assert_int_equal(sp_hex_attn_block(skel, 0, 1, HEADS, POSITIONS, 1, 0.1f, q, QUERIES * DH, own, DH, own_v, DH, page_of(1) + at->k,
                                           KV_BYTES, page_of(2) + at->v, KV_BYTES, out, (int)out_floats), AEE_SUCCESS);
    else
        assert_int_equal(sp_hex_kq_scores(skel, 0, HEADS, POSITIONS, 1, 0.1f, q, QUERIES * DH, page_of(1) + at->k, KV_BYTES, out,
                                          (int)out_floats), AEE_SUCCESS);
    before = since(before);
    memcpy(result, out, out_floats * sizeof(*out));
    hxt_untouched(out + out_floats, 64);
    return before;
}

/* Blocks of one slot, one position behind the other. */
static void make_blocks(int slot, uint8_t *to)
{
    assert_int_equal(sp_hex_hier_encode_batch_f32(skel, slot, 1, POSITIONS, source, POSITIONS * DH, to, KV_BYTES), AEE_SUCCESS);
}

static void test_attention_over_misaligned_buffers_is_the_same_and_takes_longer(void **state)
{
    static const struct offsets aligned;
    static const struct offsets offsets[] = {{.q = 4}, {.k = 3}, {.q = 64, .k = 32, .v = 1, .own = 4, .out = 124}, {.v = 63}, {.own = 8},
                                             {.out = 4}};
    static uint8_t k[KV_BYTES], v[KV_BYTES];
    float want[MOST_OUT], got[MOST_OUT];

    (void)state;
    make_blocks(0, k);
    make_blocks(1, v);
    for (int is_attend = 0; is_attend < 2; is_attend++) {
        const size_t bytes = (size_t)QUERIES * (is_attend ? DH : POSITIONS) * sizeof(float);
        struct spent fast;

        attend(is_attend, &aligned, k, v, want); /* the first call finds the DSP cold */
        fast = attend(is_attend, &aligned, k, v, want);
        assert_int_equal(fast.slow, 0);
        for (size_t i = 0; i < (is_attend ? HXT_LEN(offsets) : 3); i++) {
            const struct spent slow = attend(is_attend, &offsets[i], k, v, got);

            assert_int_equal(slow.slow, 1);
            if (slow.exec_ns <= fast.exec_ns)
                fail_msg("%s, offsets %zu: %llu ns, aligned %llu", is_attend ? "attn_block" : "kq_scores", i,
                         (unsigned long long)slow.exec_ns, (unsigned long long)fast.exec_ns);
            assert_memory_equal(got, want, bytes);
        }
        assert_int_equal(attend(is_attend, &aligned, k, v, got).slow, 0);
    }
    assert_int_equal(sp_hex_kq_scores(skel, 0, HEADS, POSITIONS, 1, 0.1f, (float *)(page_of(0) + 2), QUERIES * DH, k, KV_BYTES, got,
                                      QUERIES * POSITIONS), AEE_DSP(AEE_EBADPARM));
}

static void test_argmax_of_a_misaligned_buffer_counts(void **state)
{
    enum { N = 1000 };
    uint16_t *logits = (uint16_t *)x;
    struct spent before = spent();
    unsigned int at;

    (void)state;
    memset(logits, 0, (N + 1) * sizeof(*logits));
    logits[701] = 9;
    assert_int_equal(sp_hex_logit_argmax_u16(skel, logits, N, &at), AEE_SUCCESS);
    assert_int_equal(at, 701);
    assert_int_equal(since(before).slow, 0);
    before = spent();
    assert_int_equal(sp_hex_logit_argmax_u16(skel, logits + 1, N, &at), AEE_SUCCESS);
    assert_int_equal(at, 700);
    assert_int_equal(since(before).slow, 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_skel, close_skel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_misaligned_buffers_give_the_same_and_take_longer),
        CASE(test_a_corrupt_block_leaves_its_vector_alone),
        CASE(test_what_the_driver_copies_is_aligned),
        CASE(test_floats_between_floats_are_refused),
        CASE(test_attention_over_misaligned_buffers_is_the_same_and_takes_longer),
        CASE(test_argmax_of_a_misaligned_buffer_counts),
    };

    own_rig_front_end = "socket";
    return HXT_RUN_FIXTURE(tests, own_rig_start, own_rig_stop);
}
