/* Methods kq_scores, attn_block and corrupt_blocks of interface sp_hex. */
#include <stdlib.h>

#include "HAP_farf.h"
#include "qurt_hvx.h"
#include "sp_hex_state.h"
#include "spinor_attn.h"

/* A call as both methods see it, with the lengths that came. */
struct call {
    struct hx_spinor_attn a;
    int32_t n_slots, n_pos, k_first, v_first, k_after_rope;
    int is_attend;
    int q_len, own_k_len, own_v_len, k_len, v_len, out_len;
};

static int check_slots(const struct hx_sp_state *s, const struct call *c, int32_t first)
{
    return first >= 0 && (uint64_t)first + (uint64_t)c->n_slots <= s->n_slots;
}

/* Fills what follows from the lengths. */
static int check_call(const struct hx_sp_state *s, struct call *c)
{
    if (!s->shape)
        return AEE_DSP(AEE_EBADSTATE);
    if (!c->k_after_rope) {
        FARF(ERROR, "sp_hex: %s: K coded before RoPE has no scores without decoding; code it after "
             "RoPE, or decode", c->is_attend ? "attn_block" : "kq_scores");
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
    if (c->n_slots <= 0 || c->n_pos < 0 || !check_slots(s, c, c->k_first) ||
        (c->is_attend && !check_slots(s, c, c->v_first)))
        return AEE_DSP(AEE_EBADPARM);

    const int64_t dh = s->shape->dh, heads = c->n_slots, blocks = heads * c->n_pos * s->shape->slot;
    const int64_t n_q = c->q_len / (heads * dh);
    if (n_q < 1 || c->q_len != n_q * heads * dh || c->k_len != blocks ||
        c->out_len != n_q * heads * (c->is_attend ? dh : c->n_pos))
        return AEE_DSP(AEE_EBADPARM);
    if (c->is_attend && (c->v_len != blocks || c->own_k_len != c->own_v_len ||
                         (c->own_k_len && c->own_k_len != heads * dh)))
        return AEE_DSP(AEE_EBADPARM);
    c->a.n_slots = (size_t)heads;
    c->a.n_q = (size_t)n_q;
    c->a.n_pos = (size_t)c->n_pos;
    c->a.k_first = (size_t)c->k_first;
    c->a.v_first = (size_t)c->v_first;
    if (c->own_k_len == 0)
        c->a.k_own = c->a.v_own = NULL;
    return AEE_SUCCESS;
}

static int run_hvx(const struct hx_spinor *k, const struct call *c, struct hx_spinor_faults *bad,
                   int *in_v)
{
    const size_t align = sizeof(HVX_Vector), bytes = hx_spinor_attn_bytes(k, c->a.n_q, c->a.n_pos);
    void *work = bytes ? aligned_alloc(align, (bytes + align - 1) / align * align) : NULL;
    int rc;

    if (!work)
        return AEE_ENOMEMORY;
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS) {
        free(work);
        return AEE_EFAILED;
    }
    rc = c->is_attend ? hx_spinor_attend_hvx(k, &c->a, work, bad, in_v)
                      : hx_spinor_scores_hvx(k, &c->a, work, bad);
    qurt_hvx_unlock();
    free(work);
    return rc;
}

static int run_reference(const struct hx_codec *codec, const struct call *c,
                         struct hx_spinor_faults *bad, int *in_v)
{
    return c->is_attend ? hx_spinor_attend_ref(codec, &c->a, bad, in_v)
                        : hx_spinor_scores_ref(codec, &c->a, bad);
}

static int run(remote_handle64 h, struct call *c)
{
    struct hx_sp_state *s = hx_sp_get(h);
    struct hx_spinor_faults bad = {.n = 0};
    int in_v = 0;

    if (!s)
        return AEE_DSP(AEE_EINVHANDLE);
    pthread_rwlock_rdlock(&s->lock);
    int rc = check_call(s, c);
    if (rc == AEE_SUCCESS) {
        rc = s->hvx ? run_hvx(s->hvx, c, &bad, &in_v) : run_reference(s->codec, c, &bad, &in_v);
        rc = rc ? AEE_DSP(rc) : rc;
    }
    pthread_rwlock_unlock(&s->lock);
    if (bad.n)
        hx_sp_note_corrupt(s, c->is_attend ? "attn_block" : "kq_scores",
                           in_v ? c->a.v_first : c->a.k_first, c->a.n_slots, &bad);
    hx_sp_put(s);
    return rc;
}

int sp_hex_kq_scores(remote_handle64 h, int first_slot, int n_slots, int n_pos, int k_after_rope,
                     float scale, const float *q, int q_len, const unsigned char *k, int k_len,
                     float *scores, int scores_len)
{
    struct call c = {.a = {.k = k, .q = q, .scale = scale, .out = scores},
                     .n_slots = n_slots, .n_pos = n_pos, .k_first = first_slot,
                     .k_after_rope = k_after_rope, .q_len = q_len, .k_len = k_len,
                     .out_len = scores_len};

    return run(h, &c);
}

int sp_hex_attn_block(remote_handle64 h, int k_slot, int v_slot, int n_slots, int n_pos,
                      int k_after_rope, float scale, const float *q, int q_len, const float *own_k,
                      int own_k_len, const float *own_v, int own_v_len, const unsigned char *k,
                      int k_len, const unsigned char *v, int v_len, float *y, int y_len)
{
    struct call c = {.a = {.k = k, .v = v, .q = q, .k_own = own_k, .v_own = own_v, .scale = scale,
                           .out = y},
                     .n_slots = n_slots, .n_pos = n_pos, .k_first = k_slot, .v_first = v_slot,
                     .k_after_rope = k_after_rope, .is_attend = 1, .q_len = q_len,
                     .own_k_len = own_k_len, .own_v_len = own_v_len, .k_len = k_len,
                     .v_len = v_len, .out_len = y_len};

    return run(h, &c);
}

int sp_hex_corrupt_blocks(remote_handle64 h, uint64_t *total, unsigned int *slot,
                          unsigned int *position)
{
    struct hx_sp_state *s = hx_sp_get(h);

    if (!s)
        return AEE_DSP(AEE_EINVHANDLE);
    const struct hx_sp_corrupt c = hx_sp_corrupt_of(s);
    hx_sp_put(s);
    *total = c.total;
    *slot = c.slot;
    *position = c.position;
    return AEE_SUCCESS;
}
