/* Method attn_layer of interface sp_hex: encoding and attention of a layer's step, in one call. */
#include <stdlib.h>
#include <string.h>

#include "sp_hex.h"
#include "sp_hex_state.h"

/* A call, with what follows from its lengths. */
struct step {
    int32_t k_slot, v_slot, n_slots, n_past, n_new, k_after_rope;
    float scale;
    int q_row, x_row;         /* floats of one position's queries (and results), and of its K or V */
    int block_row;            /* bytes of one position's blocks of K or V */
    const float *q, *k, *v;
    const uint8_t *past_k, *past_v;
    uint8_t *new_k, *new_v;
    float *y;
};

/* Length of one position, or -1 when `length` is not n of them. */
static int row_of(int length, int n)
{
    return length > 0 && length % n == 0 ? length / n : -1;
}

/* Whether the lengths fit a shape, the methods that do the work check. */
static int check(struct step *s, const int lengths[8])
{
    if (s->n_new < 1 || s->n_past < 0 || s->n_past > INT32_MAX - s->n_new)
        return AEE_EBADPARM;
    s->q_row = row_of(lengths[0], s->n_new);
    s->x_row = row_of(lengths[1], s->n_new);
    s->block_row = row_of(lengths[5], s->n_new);
    if (s->q_row < 0 || s->x_row < 0 || s->block_row < 0 || lengths[2] != lengths[1] ||
        lengths[6] != lengths[5] || lengths[7] != lengths[0])
        return AEE_EBADPARM;
    const int64_t past = (int64_t)s->n_past * s->block_row;

    return lengths[3] == past && lengths[4] == past &&
                   past + (int64_t)s->n_new * s->block_row <= INT32_MAX
               ? AEE_SUCCESS
               : AEE_EBADPARM;
}

static int encode(remote_handle64 h, const struct step *s)
{
    int rc = sp_hex_hier_encode_batch_f32(h, s->k_slot, s->n_slots, s->n_new, s->k,
                                          s->n_new * s->x_row, s->new_k, s->n_new * s->block_row);

    return rc ? rc
              : sp_hex_hier_encode_batch_f32(h, s->v_slot, s->n_slots, s->n_new, s->v,
                                             s->n_new * s->x_row, s->new_v,
                                             s->n_new * s->block_row);
}

/* Past and new blocks in one piece, for positions that attend to both; NULL: no memory. */
static uint8_t *joined(const struct step *s, const uint8_t *past, const uint8_t *fresh)
{
    const size_t before = (size_t)s->n_past * (size_t)s->block_row;
    const size_t after = (size_t)(s->n_new - 1) * (size_t)s->block_row; /* the last sees itself in f32 */
    uint8_t *all = aligned_alloc(128, (before + after + 127) / 128 * 128);

    if (!all)
        return NULL;
    if (before) /* an empty sequence may be NULL */
        memcpy(all, past, before);
    memcpy(all + before, fresh, after);
    return all;
}

static int attend(remote_handle64 h, const struct step *s, const uint8_t *k, const uint8_t *v)
{
    int rc = AEE_SUCCESS;

    for (int i = 0; i < s->n_new && rc == AEE_SUCCESS; i++) {
        const int seen = s->n_past + i;

        rc = sp_hex_attn_block(h, s->k_slot, s->v_slot, s->n_slots, seen, s->k_after_rope,
                               s->scale, s->q + (size_t)i * s->q_row, s->q_row,
                               s->k + (size_t)i * s->x_row, s->x_row,
                               s->v + (size_t)i * s->x_row, s->x_row, k, seen * s->block_row, v,
                               seen * s->block_row, s->y + (size_t)i * s->q_row, s->q_row);
    }
    return rc;
}

static int attend_batch(remote_handle64 h, const struct step *s)
{
    uint8_t *k = joined(s, s->past_k, s->new_k), *v = joined(s, s->past_v, s->new_v);
    int rc = k && v ? attend(h, s, k, v) : AEE_ENOMEMORY;

    free(k);
    free(v);
    return rc;
}

int sp_hex_attn_layer(remote_handle64 h, int k_slot, int v_slot, int n_slots, int n_past, int n_new,
                      int k_after_rope, float scale, const float *q, int q_len, const float *k,
                      int k_len, const float *v, int v_len, const unsigned char *k_blocks,
                      int k_blocks_len, const unsigned char *v_blocks, int v_blocks_len,
                      unsigned char *new_k, int new_k_len, unsigned char *new_v, int new_v_len,
                      float *y, int y_len)
{
    struct step s = {.k_slot = k_slot, .v_slot = v_slot, .n_slots = n_slots, .n_past = n_past,
                     .n_new = n_new, .k_after_rope = k_after_rope, .scale = scale, .q = q, .k = k,
                     .v = v, .past_k = k_blocks, .past_v = v_blocks, .new_k = new_k,
                     .new_v = new_v, .y = y};
    int rc = check(&s, (const int[]){q_len, k_len, v_len, k_blocks_len, v_blocks_len, new_k_len,
                                     new_v_len, y_len});

    if (rc == AEE_SUCCESS)
        rc = encode(h, &s);
    if (rc != AEE_SUCCESS)
        return rc;
    return n_new == 1 ? attend(h, &s, k_blocks, v_blocks) : attend_batch(h, &s);
}
