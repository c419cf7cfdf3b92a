/* Protects: either end of a dspqueue and of the message ring from a peer that writes anything into what they share, at any moment: what
 * comes out is a packet that lies within the queue or an error, never an access beside it, and a new queue works as before. */
#include <errno.h>
#include <stdlib.h>

#include "dspqueue_shared.h"
#include "hx_pktq.h"
#include "hx_ring.h"
#include "hxt.h"

enum { QUEUE = 512, BLOCK = 2048, ROUNDS = 400, STEPS = 120, MESSAGE = 96 };

static unsigned survived;

struct pair {
    uint8_t *block; /* of exactly its size, for ASan */
    struct hx_pktq writer, reader;
};

static const struct dspqueue_packet_queue_header layout = {
    .queue_offset = 256, .queue_length = QUEUE, .read_state_offset = 1024, .write_state_offset = 1280};

static void open_pair(struct pair *p)
{
    p->block = hxt_guard_alloc(BLOCK, 256);
    memset(p->block, 0, BLOCK);
    assert_int_equal(hx_pktq_init(&p->writer, p->block, BLOCK, &layout), 0);
    assert_int_equal(hx_pktq_init(&p->reader, p->block, BLOCK, &layout), 0);
}

static int put(struct pair *p, struct hxt_rng *rng)
{
    uint8_t message[MESSAGE];
    struct dspqueue_buffer buffers[2] = {{.fd = 3, .size = 4}};
    uint32_t len = (uint32_t)hxt_below(rng, sizeof(message)), n = (uint32_t)hxt_below(rng, 3);
    uint32_t flags = DSPQUEUE_PACKET_FLAG_USER_READY | (len ? DSPQUEUE_PACKET_FLAG_MESSAGE : 0) | (n ? DSPQUEUE_PACKET_FLAG_BUFFERS : 0);

    memset(message, 0x5a, sizeof(message));
    return hx_pktq_put(&p->writer, flags, n, buffers, len, message);
}

static int take(struct pair *p)
{
    struct dspqueue_buffer buffers[DSPQUEUE_MAX_BUFFERS];
    struct hx_packet packet;
    uint8_t *message;
    int rc = hx_pktq_peek(&p->reader, &packet);

    if (rc)
        return rc;
    assert_true(packet.n_buffers <= DSPQUEUE_MAX_BUFFERS);
    assert_true(packet.at + packet.n_buffers * sizeof(buffers[0]) + packet.message_len <= QUEUE);
    message = malloc(packet.message_len + 1);
    assert_non_null(message);
    hx_pktq_take(&p->reader, &packet, buffers, message);
    free(message);
    return 0;
}

/* A byte, a word of a kind that the other end computes with, or all of it. */
static void damage(uint8_t *block, struct hxt_rng *rng)
{
    static const uint32_t words[] = {0, 8, 16, QUEUE - 8, QUEUE, QUEUE + 8, 7, 1u << 31, UINT32_MAX, UINT32_MAX - 7, 0x1f, 0x130010};
    size_t places[] = {256, 260, 1024, 1028, 1280, 1284, 256 + 4 * hxt_below(rng, QUEUE / 4)};

    switch (hxt_below(rng, 4)) {
    case 0:
        block[256 + hxt_below(rng, BLOCK - 256)] ^= (uint8_t)(1 + hxt_below(rng, 255));
        break;
    case 1:
        hxt_fill_bytes(rng, block + 256, QUEUE);
        break;
    default:
        memcpy(block + places[hxt_below(rng, HXT_LEN(places))], &words[hxt_below(rng, HXT_LEN(words))], 4);
    }
    survived++;
}

static int is_documented(int rc)
{
    return rc == 0 || rc == AEE_EWOULDBLOCK || rc == AEE_EBADITEM;
}

static void test_no_damage_leads_out_of_a_queue(void **state)
{
    unsigned refused = 0, read = 0;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct pair p;

        open_pair(&p);
        for (int step = 0; step < STEPS; step++) {
            uint32_t bytes;
            int written = put(&p, &rng), got;

            if (step >= 8)
                damage(p.block, &rng);
            got = take(&p);

            if (!is_documented(written) || !is_documented(got))
                fail_msg("round %d, step %d: put 0x%x, take 0x%x", round, step, (unsigned)written, (unsigned)got);
            refused += got == AEE_EBADITEM || written == AEE_EBADITEM;
            read += got == 0;
            assert_true(hx_pktq_bytes_to_read(&p.reader, &bytes) || bytes < QUEUE);
            assert_true(hx_pktq_bytes_written(&p.writer, &bytes) || bytes < QUEUE);
            (void)hx_pktq_has_room(&p.writer, 1, 64);
            if (step < 8)
                assert_true(written == 0 && got == 0); /* undamaged it works */
            else if (step % 2)
                damage(p.block, &rng); /* for the writer */
        }
        hxt_guard_free(p.block);
    }
    print_message("%u packets read, %u refused\n", read, refused);
    assert_true(refused > ROUNDS && read > ROUNDS);
}

static void test_no_damage_leads_out_of_a_ring(void **state)
{
    struct hx_ring_shared *r = hxt_guard_alloc(sizeof(*r), 128);
    unsigned broken = 0;
    struct hxt_rng rng;

    (void)state;
    hxt_rng_init(&rng, 2);
    memset(r, 0, sizeof(*r));
    for (int i = 0; i < ROUNDS * STEPS; i++) {
        struct hx_msg m = {.ctx = 1};
        _Atomic uint32_t *index = hxt_below(&rng, 2) ? &r->head : &r->tail;
        int pushed, popped;

        switch (hxt_below(&rng, 3)) {
        case 0:
            atomic_store(index, hxt_u32(&rng));
            break;
        case 1:
            atomic_fetch_add(index, (uint32_t)hxt_below(&rng, 2 * HX_RING_SLOTS));
            break;
        default:
            atomic_store(&r->head, atomic_load(&r->tail));
        }
        pushed = hx_ring_push(r, &m);
        popped = hx_ring_pop(r, &m);
        assert_true(pushed == 0 || pushed == -EAGAIN || pushed == -EPROTO);
        assert_true(popped == 0 || popped == -EAGAIN || popped == -EPROTO);
        broken += pushed == -EPROTO;
        survived++;
    }
    assert_true(broken > ROUNDS);
    hxt_guard_free(r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_damage_leads_out_of_a_queue),
        cmocka_unit_test(test_no_damage_leads_out_of_a_ring),
    };
    int rc = HXT_RUN(tests);

    printf("queues and rings: faults %u survived, %u lost\n", survived, rc != 0);
    return rc;
}
