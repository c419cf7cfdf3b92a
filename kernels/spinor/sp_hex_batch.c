/* Encode and decode of batches, by hx_sp_tables' windows and HVX contexts, or step by step on one context.
 *
 * The former want x at a multiple of 128 and blocks at one of 64.  What lies elsewhere is copied, on HVX, too, and that is told
 * (hexrig_slow_path.h): the results are the same, and the call takes longer. */
#include <stdlib.h>

#include "HAP_farf.h"
#include "hexrig_purpose.h"
#include "hexrig_slow_path.h"
#include "qurt_hvx.h"
#include "skel/kernel.h"
#include "skel/parallel.h"
#include "sp_hex_copy.h"
#include "sp_hex_state.h"
#include "spinor_steps.h"

/* One batch as both directions see it. */
struct batch {
    int32_t first_slot, n_slots, n_pos;
    const float *x_in; /* encode; NULL: decode */
    float *x_out;
    int x_len; /* floats */
    const uint8_t *blocks_in;
    uint8_t *blocks_out;
    int blocks_len; /* bytes */
};

static int check_batch(const struct batch *b, const struct hx_sp_state *s)
{
    if (!s->shape)
        return AEE_EBADSTATE;
    if (b->n_slots <= 0 || b->n_pos < 0 || b->first_slot < 0 ||
        (uint64_t)b->first_slot + (uint64_t)b->n_slots > s->n_slots)
        return AEE_EBADPARM;

    int64_t vectors = (int64_t)b->n_slots * b->n_pos;
    if (vectors > INT32_MAX || b->x_len != vectors * s->shape->dh ||
        b->blocks_len != vectors * s->shape->slot)
        return AEE_EBADPARM;
    return AEE_SUCCESS;
}

/* A step of a batch on HVX: some of its slots, divided by positions or by slots. */
struct work {
    const struct batch *b;
    const struct hx_spinor *k;
    size_t first; /* slot in k */
    size_t at;    /* the batch's number of that slot */
    size_t n_slots, n_pos;
    struct hx_spinor_faults bad[HX_PARTS_MAX];
};

/* The rectangle of a part: of its positions, or of its slots where there are more of them. */
static struct hx_spinor_area area_of(const struct work *w, struct hx_part part, size_t *offset)
{
    struct hx_spinor_area a = {w->first, w->n_slots, w->n_pos, (size_t)w->b->n_slots};
    const int by_positions = w->n_pos >= w->n_slots;
    const struct hx_share s = hx_share_of(by_positions ? w->n_pos : w->n_slots, part);

    *offset = w->at + (by_positions ? s.first * a.row : s.first);
    if (by_positions) {
        a.n_pos = s.n;
    } else {
        a.n_slots = s.n;
        a.first += s.first;
    }
    return a;
}

static int run_part(void *arg, struct hx_part part)
{
    struct work *w = arg;
    const struct hx_block_shape *s = w->k->f.shape;
    struct hx_spinor_faults *bad = &w->bad[part.index];
    size_t offset;
    const struct hx_spinor_area a = area_of(w, part, &offset);
    int rc = w->b->x_in
                 ? hx_spinor_encode_area_hvx(w->k, &a, w->b->x_in + offset * s->dh,
                                             w->b->blocks_out + offset * s->slot, bad)
                 : hx_spinor_decode_area_hvx(w->k, &a, w->b->blocks_in + offset * s->slot,
                                             w->b->x_out + offset * s->dh, bad);

    for (size_t i = 0; i < bad->n && i < HX_SPINOR_FAULTS; i++)
        bad->at[i] += offset;
    return rc;
}

/* Parts that are worth a hand-over to another thread. */
static unsigned parts_of(const struct work *w)
{
    enum { LEAST_ENCODED = 2, LEAST_DECODED = 8 };
    const size_t least = w->b->x_in ? LEAST_ENCODED : LEAST_DECODED;
    const size_t cuts = w->n_pos >= w->n_slots ? w->n_pos : w->n_slots;
    const unsigned parts = hx_parallel_parts(w->n_pos * w->n_slots, least);

    return parts < cuts ? parts : (unsigned)cuts;
}

static int run_step(struct work *w, struct hx_spinor_faults *bad)
{
    const unsigned parts = parts_of(w);
    int rc;

    for (unsigned i = 0; i < parts; i++)
        w->bad[i].n = 0;
    rc = hx_parallel(parts, run_part, w, NULL, &hx_handover_pool);
    for (unsigned i = 0; i < parts; i++)
        hx_sp_merge_faults(bad, &w->bad[i]);
    return rc;
}

static int run_hvx(const struct batch *b, struct hx_sp_tables *t, struct hx_spinor_faults *bad)
{
    const enum hx_sp_use use = b->x_in ? HX_SP_ENCODE : HX_SP_DECODE;
    struct work w = {.b = b, .n_pos = (size_t)b->n_pos};
    const size_t first_slot = (size_t)b->first_slot;
    struct hx_sp_walk walk;
    int rc, worst = AEE_SUCCESS;

    bad->n = 0;
    hx_sp_walk_begin(&walk, t, (size_t)b->n_slots, 1, &use, &first_slot);
    while ((rc = hx_sp_walk_step(&walk)) == AEE_SUCCESS && walk.n) {
        w.k = walk.at[0].k;
        w.first = walk.at[0].first;
        w.at = walk.done;
        w.n_slots = walk.n;
        rc = run_step(&w, bad);
        worst = rc ? rc : worst;
        if (rc && rc != AEE_EBADITEM)
            break;
    }
    hx_sp_walk_end(&walk);
    return rc ? rc : worst;
}

/* --- buffers that are not aligned */

static const void *x_of(const struct batch *b)
{
    return b->x_in ? b->x_in : b->x_out;
}

static const void *blocks_of(const struct batch *b)
{
    return b->x_in ? b->blocks_out : b->blocks_in;
}

/* Floats are whole ones: what lies between them is refused by the kernel. */
static int is_slow(const struct batch *b)
{
    return (uintptr_t)x_of(b) % sizeof(float) == 0 && (!hx_is_aligned(x_of(b)) || (uintptr_t)blocks_of(b) % HX_BLOCK_SLOT);
}

/* The batch on aligned copies of both its buffers.  What it does not write, say the vectors of corrupt blocks, stays as it was. */
static int run_copied(const struct batch *b, struct hx_sp_tables *t, struct hx_spinor_faults *bad)
{
    const size_t x_bytes = (size_t)b->x_len * sizeof(float), blocks_bytes = (size_t)b->blocks_len;
    const size_t room = hx_sp_whole_vectors(x_bytes);
    float *x = aligned_alloc(HX_VECTOR_BYTES, room + hx_sp_whole_vectors(blocks_bytes));
    uint8_t *blocks = x ? (uint8_t *)x + room : NULL;
    struct batch c = *b;
    int rc, copied;

    bad->n = 0;
    if (!x)
        return AEE_ENOMEMORY;
    HX_SLOW_PATH();
    c.x_in = b->x_in ? x : NULL;
    c.x_out = b->x_in ? NULL : x;
    c.blocks_in = b->x_in ? NULL : blocks;
    c.blocks_out = b->x_in ? blocks : NULL;
    rc = hx_sp_copy(x, x_of(b), x_bytes);
    if (!rc)
        rc = hx_sp_copy(blocks, blocks_of(b), blocks_bytes);
    if (!rc) {
        rc = run_hvx(&c, t, bad);
        copied = b->x_in ? hx_sp_copy(b->blocks_out, blocks, blocks_bytes) : hx_sp_copy(b->x_out, x, x_bytes);
        rc = rc ? rc : copied;
    }
    free(x);
    return rc;
}

/* --- step by step */

/* Vector i of a batch. */
static int run_vector(const struct batch *b, const struct hx_sp_state *s, size_t i)
{
    const size_t slot = (size_t)b->first_slot + i % (size_t)b->n_slots, at = i * s->shape->slot;
    const size_t x = i * s->shape->dh;

    return b->x_in ? hx_steps_encode(s->steps, s->codec, slot, b->x_in + x, b->blocks_out + at)
                   : hx_steps_decode(s->steps, s->codec, slot, b->blocks_in + at, b->x_out + x);
}

/* As the batches of spinor.h: an encode ends at a vector that is refused, a decode goes on. */
static int run_steps(const struct batch *b, const struct hx_sp_state *s, struct hx_spinor_faults *bad)
{
    const size_t n = (size_t)b->n_slots * (size_t)b->n_pos;
    int rc = AEE_SUCCESS;

    bad->n = 0;
    if ((uintptr_t)(b->x_in ? b->x_in : b->x_out) % sizeof(float))
        return AEE_EBADPARM;
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    for (size_t i = 0; i < n && (rc == AEE_SUCCESS || !b->x_in); i++) {
        const int now = run_vector(b, s, i);

        if (now)
            hx_spinor_note(bad, i);
        rc = now ? now : rc;
    }
    qurt_hvx_unlock();
    return rc;
}

static int run_kernel(const struct batch *b, struct hx_sp_state *s)
{
    struct hx_spinor_faults bad;
    int rc = !s->hvx ? run_steps(b, s, &bad) : is_slow(b) ? run_copied(b, s->hvx, &bad) : run_hvx(b, s->hvx, &bad);

    if (rc == AEE_SUCCESS || rc == AEE_EFAILED || rc == AEE_ENOMEMORY)
        return rc;
    if (rc == AEE_EBADITEM)
        hx_sp_note_corrupt(s, "decode", (size_t)b->first_slot, (size_t)b->n_slots, &bad);
    else
        FARF(ERROR, "sp_hex: %s of slot %zu, position %zu of %d failed: %s",
             b->x_in ? "encode" : "decode",
             (size_t)b->first_slot + (bad.n ? bad.at[0] % (size_t)b->n_slots : 0),
             bad.n ? bad.at[0] / (size_t)b->n_slots : 0, b->n_pos,
             bad.n ? "values out of range" : "misaligned buffer");
    return rc;
}

/* The call's memory, which is the client's, for its length only. */
static void memory_is_for(const struct batch *b, enum hx_purpose blocks, enum hx_purpose vectors)
{
    hx_purpose_set(blocks_of(b), (size_t)b->blocks_len, blocks);
    hx_purpose_set(x_of(b), (size_t)b->x_len * sizeof(float), vectors);
}

static int run_batch(remote_handle64 h, const struct batch *b)
{
    struct hx_sp_state *s = hx_sp_get(h);

    if (!s)
        return AEE_EINVHANDLE;
    pthread_rwlock_rdlock(&s->lock);
    int rc = check_batch(b, s);
    if (rc == AEE_SUCCESS && b->n_pos > 0) {
        memory_is_for(b, HX_PURPOSE_KV, HX_PURPOSE_ACTIVATIONS);
        rc = run_kernel(b, s);
        memory_is_for(b, HX_PURPOSE_OTHER, HX_PURPOSE_OTHER);
    }
    pthread_rwlock_unlock(&s->lock);
    hx_sp_put(s);
    return rc;
}

int sp_hex_hier_encode_batch_f32(remote_handle64 h, int first_slot, int n_slots, int n_pos,
                                 const float *x, int x_len, unsigned char *blocks, int blocks_len)
{
    struct batch b = {.first_slot = first_slot, .n_slots = n_slots, .n_pos = n_pos,
                      .x_in = x, .x_len = x_len, .blocks_out = blocks, .blocks_len = blocks_len};

    return run_batch(h, &b);
}

int sp_hex_hier_decode_batch_f32(remote_handle64 h, int first_slot, int n_slots, int n_pos,
                                 const unsigned char *blocks, int blocks_len, float *x, int x_len)
{
    struct batch b = {.first_slot = first_slot, .n_slots = n_slots, .n_pos = n_pos,
                      .x_out = x, .x_len = x_len, .blocks_in = blocks, .blocks_len = blocks_len};

    return run_batch(h, &b);
}

int sp_hex_hier_encode_f32(remote_handle64 h, int slot, const float *x, int x_len,
                           unsigned char *block, int block_len)
{
    return sp_hex_hier_encode_batch_f32(h, slot, 1, 1, x, x_len, block, block_len);
}

int sp_hex_hier_decode_f32(remote_handle64 h, int slot, const unsigned char *block, int block_len,
                           float *x, int x_len)
{
    return sp_hex_hier_decode_batch_f32(h, slot, 1, 1, block, block_len, x, x_len);
}
