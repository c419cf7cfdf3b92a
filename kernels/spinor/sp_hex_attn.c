/* Methods kq_scores, attn_block and corrupt_blocks of interface sp_hex. */
#include <stdlib.h>

#include "HAP_farf.h"
#include "hexrig_purpose.h"
#include "hexrig_slow_path.h"
#include "qurt_hvx.h"
#include "skel/parallel.h"
#include "sp_hex_copy.h"
#include "sp_hex_state.h"
#include "spinor_attn.h"
#include "spinor_steps_attn.h"

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
        return AEE_EBADSTATE;
    if (!c->k_after_rope) {
        FARF(ERROR, "sp_hex: %s: K coded before RoPE has no scores without decoding; code it after "
             "RoPE, or decode", c->is_attend ? "attn_block" : "kq_scores");
        return AEE_EUNSUPPORTED;
    }
    if (c->n_slots <= 0 || c->n_pos < 0 || !check_slots(s, c, c->k_first) ||
        (c->is_attend && !check_slots(s, c, c->v_first)))
        return AEE_EBADPARM;

    const int64_t dh = s->shape->dh, heads = c->n_slots, blocks = heads * c->n_pos * s->shape->slot;
    const int64_t n_q = c->q_len / (heads * dh);
    if (n_q < 1 || c->q_len != n_q * heads * dh || c->k_len != blocks ||
        c->out_len != n_q * heads * (c->is_attend ? dh : c->n_pos))
        return AEE_EBADPARM;
    if (c->is_attend && (c->v_len != blocks || c->own_k_len != c->own_v_len ||
                         (c->own_k_len && c->own_k_len != heads * dh)))
        return AEE_EBADPARM;
    c->a.n_slots = (size_t)heads;
    c->a.n_q = (size_t)n_q;
    c->a.n_pos = (size_t)c->n_pos;
    c->a.row = c->a.n_slots;
    c->a.out_row = c->a.n_pos;
    c->a.k_first = (size_t)c->k_first;
    c->a.v_first = (size_t)c->v_first;
    if (c->own_k_len == 0)
        c->a.k_own = c->a.v_own = NULL;
    return AEE_SUCCESS;
}

/* A step of a call on HVX: some of its heads, divided by heads; a single one by positions (scores) or queries. */
struct step {
    struct hx_spinor_attn a; /* of the step */
    const struct hx_spinor *k;
    int is_attend;
    size_t work_bytes; /* of a part */
    uint8_t *work;
    struct hx_spinor_faults bad[HX_PARTS_MAX];
    int in_v[HX_PARTS_MAX];
};

/* Heads first..first+n-1 of a call. */
static struct hx_spinor_attn some_heads(const struct hx_spinor_attn *all, const struct hx_spinor *k,
                                        int is_attend, size_t first, size_t n)
{
    const size_t dh = k->f.shape->dh, queries = first * all->n_q, bytes = k->f.shape->slot;
    struct hx_spinor_attn a = *all;

    a.n_slots = n;
    a.k_first += first;
    a.v_first += first;
    a.k = (const uint8_t *)all->k + first * bytes;
    a.v = all->v ? (const uint8_t *)all->v + first * bytes : NULL;
    a.q += queries * dh;
    a.k_own = all->k_own ? all->k_own + first * dh : NULL;
    a.v_own = all->v_own ? all->v_own + first * dh : NULL;
    a.out += queries * (is_attend ? dh : all->out_row);
    return a;
}

/* Units by which a step is divided, see part_of(). */
static size_t units_of(const struct step *s)
{
    enum { GROUP = HX_SPINOR_LANES };

    if (s->a.n_slots > 1)
        return s->a.n_slots;
    return s->is_attend ? s->a.n_q : (s->a.n_pos + GROUP - 1) / GROUP;
}

/* *at: number of the part's first block in the step. */
static struct hx_spinor_attn part_of(const struct step *s, struct hx_part part, size_t *at)
{
    enum { GROUP = HX_SPINOR_LANES };
    const size_t units = units_of(s), dh = s->k->f.shape->dh, bytes = s->k->f.shape->slot;
    const struct hx_share share = hx_share_of(units, part);
    const size_t first = share.first, n = share.n;
    struct hx_spinor_attn a = s->a;

    *at = first;
    if (s->a.n_slots > 1)
        return some_heads(&s->a, s->k, s->is_attend, first, n);
    if (s->is_attend) {
        a.n_q = n;
        a.q += first * dh;
        a.out += first * dh;
        *at = 0;
        return a;
    }
    a.n_pos = n * GROUP < a.n_pos - first * GROUP ? n * GROUP : a.n_pos - first * GROUP;
    a.k = (const uint8_t *)a.k + first * GROUP * a.row * bytes;
    a.out += first * GROUP;
    *at = first * GROUP * a.row;
    return a;
}

static int run_part(void *arg, struct hx_part part)
{
    struct step *s = arg;
    struct hx_spinor_faults *bad = &s->bad[part.index];
    size_t at;
    const struct hx_spinor_attn a = part_of(s, part, &at);
    void *work = s->work + part.index * s->work_bytes;
    int rc = s->is_attend ? hx_spinor_attend_hvx(s->k, &a, work, bad, &s->in_v[part.index])
                          : hx_spinor_scores_hvx(s->k, &a, work, bad);

    for (size_t i = 0; i < bad->n && i < HX_SPINOR_FAULTS; i++)
        bad->at[i] += at;
    return rc;
}

/* Adds a part's faults, `at` further; those of K hide those of V.  Parts that saw the same blocks count them once. */
static void add_faults(struct hx_spinor_faults *all, int *in_v, struct hx_spinor_faults *part,
                       int part_in_v, size_t at, int same)
{
    if (part->n == 0 || (all->n && (same || *in_v < part_in_v)))
        return;
    if (*in_v > part_in_v)
        all->n = 0;
    *in_v = part_in_v;
    for (size_t i = 0; i < part->n && i < HX_SPINOR_FAULTS; i++)
        part->at[i] += at;
    hx_sp_merge_faults(all, part);
}

/* at: heads of the call before this step's. */
static int run_step(struct step *s, size_t at, struct hx_spinor_faults *bad, int *in_v)
{
    const int same = s->is_attend && s->a.n_slots == 1;
    const unsigned parts = hx_parallel_parts(units_of(s), 1);
    int rc;

    for (unsigned i = 0; i < parts; i++)
        s->in_v[i] = 0, s->bad[i].n = 0;
    rc = hx_parallel(parts, run_part, s, NULL, &hx_handover_pool);
    for (unsigned i = 0; i < parts; i++)
        add_faults(bad, in_v, &s->bad[i], s->in_v[i], at, same && i > 0);
    return rc;
}

static int walk_heads(struct hx_sp_tables *t, const struct call *c, struct step *s,
                      struct hx_spinor_faults *bad, int *in_v)
{
    const enum hx_sp_use use[] = {HX_SP_DECODE, HX_SP_DECODE_V};
    const size_t first[] = {c->a.k_first, c->a.v_first};
    struct hx_sp_walk w;
    int rc, worst = AEE_SUCCESS;

    hx_sp_walk_begin(&w, t, c->a.n_slots, c->is_attend ? 2 : 1, use, first);
    while ((rc = hx_sp_walk_step(&w)) == AEE_SUCCESS && w.n) {
        s->k = w.at[0].k;
        s->a = some_heads(&c->a, s->k, c->is_attend, w.done, w.n);
        s->a.k_first = w.at[0].first;
        s->a.v_first = w.at[1].first;
        s->a.v_tables = c->is_attend ? w.at[1].k : NULL;
        rc = run_step(s, w.done, bad, in_v);
        worst = rc ? rc : worst;
        if (rc && rc != AEE_EBADITEM)
            break;
    }
    hx_sp_walk_end(&w);
    return rc ? rc : worst;
}

static int run_hvx(struct hx_sp_tables *t, const struct call *c, struct hx_spinor_faults *bad,
                   int *in_v)
{
    const size_t align = sizeof(HVX_Vector);
    const size_t bytes = hx_spinor_attn_bytes(hx_sp_tables_of(t), c->a.n_q, c->a.n_pos);
    const unsigned parts = hx_parallel_parts(HX_PARTS_MAX, 1);
    struct step s = {.is_attend = c->is_attend, .work_bytes = (bytes + align - 1) / align * align};
    int rc;

    s.work = bytes && bytes < UINT32_MAX / parts - align
                 ? aligned_alloc(align, parts * s.work_bytes)
                 : NULL;
    if (!s.work)
        return AEE_ENOMEMORY;
    rc = walk_heads(t, c, &s, bad, in_v);
    free(s.work);
    return rc;
}

/* --- buffers that are not aligned */

/* Memory for aligned copies; at NULL: they are only counted. */
struct room {
    uint8_t *at;
    size_t used;
    int rc;
};

/* Where the kernel may find what lies at p: there, or in a copy. */
static const void *aligned(struct room *r, const void *p, size_t bytes, size_t to)
{
    uint8_t *here = r->at ? r->at + r->used : NULL;

    if ((uintptr_t)p % to == 0)
        return p;
    r->used += hx_sp_whole_vectors(bytes);
    if (!here)
        return p;
    r->rc = r->rc ? r->rc : hx_sp_copy(here, p, bytes);
    return here;
}

/* Results that the kernel does not write stay as they were, so that their memory is copied as well. */
static void align_all(struct room *r, struct call *c)
{
    const size_t f = sizeof(float), vector = sizeof(HVX_Vector);

    c->a.q = aligned(r, c->a.q, (size_t)c->q_len * f, vector);
    c->a.k = aligned(r, c->a.k, (size_t)c->k_len, HX_BLOCK_SLOT);
    if (!c->is_attend)
        return; /* scores are written one by one */
    c->a.v = aligned(r, c->a.v, (size_t)c->v_len, HX_BLOCK_SLOT);
    c->a.k_own = aligned(r, c->a.k_own, (size_t)c->own_k_len * f, vector);
    c->a.v_own = aligned(r, c->a.v_own, (size_t)c->own_v_len * f, vector);
    c->a.out = (float *)aligned(r, c->a.out, (size_t)c->out_len * f, vector);
}

/* Floats are whole ones: what lies between them is refused by the kernel. */
static int is_between_floats(const struct call *c)
{
    return ((uintptr_t)c->a.q | (uintptr_t)c->a.k_own | (uintptr_t)c->a.v_own | (uintptr_t)c->a.out) % sizeof(float) != 0;
}

/* The call on aligned copies of the buffers that need it, if any does. */
static int run_anywhere(struct hx_sp_tables *t, const struct call *c, struct hx_spinor_faults *bad, int *in_v)
{
    struct room r = {.at = NULL};
    struct call moved = *c;
    int rc;

    align_all(&r, &moved);
    if (r.used == 0 || is_between_floats(c))
        return run_hvx(t, c, bad, in_v);
    HX_SLOW_PATH();
    r = (struct room){.at = aligned_alloc(sizeof(HVX_Vector), r.used)};
    if (!r.at)
        return AEE_ENOMEMORY;
    align_all(&r, &moved);
    rc = r.rc ? r.rc : run_hvx(t, &moved, bad, in_v);
    if (!rc && moved.a.out != c->a.out)
        rc = hx_sp_copy(c->a.out, moved.a.out, (size_t)c->out_len * sizeof(float));
    free(r.at);
    return rc;
}

/* --- calls */

/* Blocks without tables. */
static int run_steps(const struct hx_sp_state *s, const struct call *c, struct hx_spinor_faults *bad, int *in_v)
{
    int rc;

    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    rc = c->is_attend ? hx_steps_attend(s->steps, s->codec, &c->a, bad, in_v) : hx_steps_scores(s->steps, s->codec, &c->a, bad);
    qurt_hvx_unlock();
    return rc;
}

/* The call's memory, which is the client's, for its length only. */
static void memory_is_for(const struct call *c, enum hx_purpose blocks, enum hx_purpose vectors)
{
    hx_purpose_set(c->a.k, (size_t)c->k_len, blocks);
    hx_purpose_set(c->a.v, (size_t)c->v_len, blocks);
    hx_purpose_set(c->a.k_own, c->a.k_own ? (size_t)c->own_k_len * sizeof(float) : 0, vectors);
    hx_purpose_set(c->a.v_own, c->a.v_own ? (size_t)c->own_v_len * sizeof(float) : 0, vectors);
    hx_purpose_set(c->a.q, (size_t)c->q_len * sizeof(float), vectors);
    hx_purpose_set(c->a.out, (size_t)c->out_len * sizeof(float), vectors);
}

static int run(remote_handle64 h, struct call *c)
{
    struct hx_sp_state *s = hx_sp_get(h);
    struct hx_spinor_faults bad = {.n = 0};
    int in_v = 0;

    if (!s)
        return AEE_EINVHANDLE;
    pthread_rwlock_rdlock(&s->lock);
    int rc = check_call(s, c);
    if (rc == AEE_SUCCESS) {
        memory_is_for(c, HX_PURPOSE_KV, HX_PURPOSE_ACTIVATIONS);
        rc = s->hvx ? run_anywhere(s->hvx, c, &bad, &in_v) : run_steps(s, c, &bad, &in_v);
        memory_is_for(c, HX_PURPOSE_OTHER, HX_PURPOSE_OTHER);
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
        return AEE_EINVHANDLE;
    const struct hx_sp_corrupt c = hx_sp_corrupt_of(s);
    hx_sp_put(s);
    *total = c.total;
    *slot = c.slot;
    *position = c.position;
    return AEE_SUCCESS;
}
