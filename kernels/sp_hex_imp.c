/* The implementation of interface sp_hex on the DSP: handles, their tables, and calls of the kernels.
 *
 * Formats with an HVX version (spinor.h) have their tables in VTCM, or in DDR when they are larger than VTCM.  The others
 * run in the C reference with tables on the heap: the same blocks, but no HVX operations, so their modelled cost says
 * nothing.
 *
 * Reentrant: calls on one handle may run in parallel; calibrate waits for the calls that still use the old tables. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "qurt_hvx.h"
#include "sp_hex_queue.h"
#include "sp_hex_state.h"
#include "spinor.h"

/* protects states, last_id, refs, corrupt */
static pthread_mutex_t states_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hx_sp_state *states;
static remote_handle64 last_id;

int sp_hex_open(const char *uri, remote_handle64 *h)
{
    struct hx_sp_state *s = calloc(1, sizeof(*s));

    if (!s)
        return AEE_DSP(AEE_ENOMEMORY);
    s->refs = 1;
    pthread_rwlock_init(&s->lock, NULL);
    pthread_mutex_lock(&states_lock);
    s->id = ++last_id;
    s->next = states;
    states = s;
    pthread_mutex_unlock(&states_lock);
    *h = s->id;
    FARF(LOW, "sp_hex: opened %s as handle %llu", uri, (unsigned long long)s->id);
    return AEE_SUCCESS;
}

static void drop_tables(struct hx_sp_state *s)
{
    if (s->hvx && s->on_heap)
        free(s->hvx);
    else if (s->hvx)
        HAP_release_VTCM(s->hvx);
    free(s->codec);
    s->hvx = NULL;
    s->codec = NULL;
    s->shape = NULL;
}

struct hx_sp_state *hx_sp_get(remote_handle64 h)
{
    struct hx_sp_state *s;

    pthread_mutex_lock(&states_lock);
    for (s = states; s && s->id != h; s = s->next)
        ;
    if (s)
        s->refs++;
    pthread_mutex_unlock(&states_lock);
    return s;
}

void hx_sp_put(struct hx_sp_state *s)
{
    pthread_mutex_lock(&states_lock);
    unsigned left = --s->refs;
    pthread_mutex_unlock(&states_lock);
    if (left)
        return;
    drop_tables(s);
    pthread_rwlock_destroy(&s->lock);
    free(s);
}

int sp_hex_close(remote_handle64 h)
{
    struct hx_sp_state **at, *s;

    hx_sp_queues_drop(h);
    pthread_mutex_lock(&states_lock);
    for (at = &states; *at && (*at)->id != h; at = &(*at)->next)
        ;
    s = *at;
    if (s)
        *at = s->next;
    pthread_mutex_unlock(&states_lock);
    if (!s)
        return AEE_DSP(AEE_EINVHANDLE);
    hx_sp_put(s); /* the last running call frees it */
    return AEE_SUCCESS;
}

/* --- corrupt blocks */

void hx_sp_note_corrupt(struct hx_sp_state *s, const char *what, size_t first, size_t n_slots,
                        const struct hx_spinor_faults *faults)
{
    const size_t listed = faults->n < HX_SPINOR_FAULTS ? faults->n : HX_SPINOR_FAULTS;
    char text[64 * HX_SPINOR_FAULTS];
    size_t used = 0;

    for (size_t i = 0; i < listed; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "; slot %zu, position %zu",
                                 first + faults->at[i] % n_slots, faults->at[i] / n_slots);
    FARF(ERROR, "sp_hex: %s: %zu corrupt blocks (CRC-8, fill or a non-finite field)%s%s", what,
         faults->n, text, faults->n > listed ? "; ..." : "");
    pthread_mutex_lock(&states_lock);
    s->corrupt.total += faults->n;
    s->corrupt.slot = (uint32_t)(first + faults->at[0] % n_slots);
    s->corrupt.position = (uint32_t)(faults->at[0] / n_slots);
    pthread_mutex_unlock(&states_lock);
}

struct hx_sp_corrupt hx_sp_corrupt_of(struct hx_sp_state *s)
{
    pthread_mutex_lock(&states_lock);
    const struct hx_sp_corrupt c = s->corrupt;
    pthread_mutex_unlock(&states_lock);
    return c;
}

/* --- calibrate */

/* The tables of one calibrate call. */
struct tables {
    struct hx_codec_format f;
    const void *bytes;
    size_t n_slots;
};

/* Memory for HVX tables: VTCM, or the heap (DDR) when they are larger than all of it. */
static struct hx_spinor *hvx_memory(struct hx_sp_state *s, size_t bytes, size_t n_slots)
{
    enum { ALL_VTCM = 8 << 20 };
    unsigned block = 0, page = 0, pages = 0;

    if (bytes > ALL_VTCM) {
        s->on_heap = 1;
        FARF(HIGH, "sp_hex: %zu bytes of tables for %zu slots stay in DDR", bytes, n_slots);
        return aligned_alloc(sizeof(HVX_Vector), (bytes + sizeof(HVX_Vector) - 1) /
                                                     sizeof(HVX_Vector) * sizeof(HVX_Vector));
    }
    s->on_heap = 0;
    struct hx_spinor *k = bytes ? HAP_request_VTCM((unsigned)bytes, 1) : NULL;
    if (!k) {
        HAP_query_avail_VTCM(&block, &page, &pages);
        FARF(ERROR, "sp_hex: vtcm: need %zu bytes for %zu slots, largest free block is %u", bytes,
             n_slots, block);
    }
    return k;
}

static int build_hvx(struct hx_sp_state *s, const struct tables *t)
{
    size_t bytes = hx_spinor_bytes(&t->f, t->n_slots);

    s->hvx = hvx_memory(s, bytes, t->n_slots);
    if (!s->hvx)
        return AEE_DSP(AEE_ENOMEMORY);
    int rc = hx_spinor_init(s->hvx, bytes, &t->f, t->bytes, t->n_slots);
    return rc ? AEE_DSP(rc) : AEE_SUCCESS;
}

static int build_reference(struct hx_sp_state *s, const struct tables *t)
{
    size_t bytes = hx_codec_bytes(&t->f, t->n_slots);
    void *memory = bytes ? malloc(bytes) : NULL;

    if (!memory) {
        FARF(ERROR, "sp_hex: heap: need %zu bytes for %zu slots", bytes, t->n_slots);
        return AEE_DSP(AEE_ENOMEMORY);
    }
    s->codec = hx_codec_init(memory, &t->f, t->bytes, t->n_slots);
    FARF(HIGH, "sp_hex: dh %d, basis %s, code %s: C reference, not HVX", t->f.shape->dh,
         hx_block_basis_names[t->f.basis], hx_block_code_names[t->f.code]);
    return AEE_SUCCESS;
}

/* Replaces the handle's tables; s->lock is held for writing. */
static int build_tables(struct hx_sp_state *s, const struct tables *t)
{
    drop_tables(s); /* first: VTCM is small */
    int rc = hx_spinor_has_hvx(&t->f) ? build_hvx(s, t) : build_reference(s, t);

    if (rc) {
        drop_tables(s);
        return rc;
    }
    s->shape = t->f.shape;
    s->n_slots = t->n_slots;
    return AEE_SUCCESS;
}

static int check_tables(const struct tables *t)
{
    const size_t bytes = hx_block_table_bytes(t->f.shape, t->f.basis);

    for (size_t i = 0; i < t->n_slots; i++) {
        if (hx_codec_check_table(&t->f, (const uint8_t *)t->bytes + i * bytes)) {
            FARF(ERROR, "sp_hex: calibrate: the table of slot %zu of %zu is not valid", i,
                 t->n_slots);
            return AEE_DSP(AEE_EBADPARM);
        }
    }
    return AEE_SUCCESS;
}

/* Fills t->f and t->n_slots. */
static int check_format(struct tables *t, int dh, int basis, int code, int tables_len)
{
    if (hx_codec_format(&t->f, (size_t)dh, (uint32_t)basis, (uint32_t)code)) {
        FARF(ERROR, "sp_hex: calibrate: no blocks of dh %d, basis %d, code %d", dh, basis, code);
        return AEE_DSP(AEE_EBADPARM);
    }
    const size_t bytes = hx_block_table_bytes(t->f.shape, t->f.basis);

    if (tables_len <= 0 || (size_t)tables_len % bytes) {
        FARF(ERROR, "sp_hex: calibrate: %d bytes of tables; dh %d, basis %d need a multiple of %zu",
             tables_len, dh, basis, bytes);
        return AEE_DSP(AEE_EBADPARM);
    }
    t->n_slots = (size_t)tables_len / bytes;
    return AEE_SUCCESS;
}

static int calibrate(struct hx_sp_state *s, struct tables *t, const void *from, size_t n,
                     unsigned int *crc)
{
    /* a copy: the client may still write to a shared buffer, and need not have aligned it */
    void *copy = malloc(n);

    if (!copy)
        return AEE_DSP(AEE_ENOMEMORY);
    memcpy(copy, from, n);
    t->bytes = copy;
    int rc = check_tables(t);
    if (rc == AEE_SUCCESS) {
        pthread_rwlock_wrlock(&s->lock);
        rc = build_tables(s, t);
        pthread_rwlock_unlock(&s->lock);
    }
    if (rc == AEE_SUCCESS)
        *crc = hx_crc32(0, copy, n);
    free(copy);
    return rc;
}

int sp_hex_calibrate(remote_handle64 h, int dh, int basis, const unsigned char *tables,
                     int tables_len, unsigned int *crc, int code)
{
    struct tables t;
    int rc = check_format(&t, dh, basis, code, tables_len);

    if (rc)
        return rc;
    struct hx_sp_state *s = hx_sp_get(h);
    if (!s)
        return AEE_DSP(AEE_EINVHANDLE);
    rc = calibrate(s, &t, tables, (size_t)tables_len, crc);
    hx_sp_put(s);
    return rc;
}

/* --- encode and decode */

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
        return AEE_DSP(AEE_EBADSTATE);
    if (b->n_slots <= 0 || b->n_pos < 0 || b->first_slot < 0 ||
        (uint64_t)b->first_slot + (uint64_t)b->n_slots > s->n_slots)
        return AEE_DSP(AEE_EBADPARM);

    int64_t vectors = (int64_t)b->n_slots * b->n_pos;
    if (vectors > INT32_MAX || b->x_len != vectors * s->shape->dh ||
        b->blocks_len != vectors * s->shape->slot)
        return AEE_DSP(AEE_EBADPARM);
    return AEE_SUCCESS;
}

static int run_hvx(const struct batch *b, const struct hx_spinor *k, struct hx_spinor_faults *bad)
{
    size_t first = (size_t)b->first_slot, n_slots = (size_t)b->n_slots, n_pos = (size_t)b->n_pos;
    int rc;

    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    if (b->x_in)
        rc = hx_spinor_encode_batch_hvx(k, first, n_slots, n_pos, b->x_in, b->blocks_out, bad);
    else
        rc = hx_spinor_decode_batch_hvx(k, first, n_slots, n_pos, b->blocks_in, b->x_out, bad);
    qurt_hvx_unlock();
    return rc;
}

static int run_reference(const struct batch *b, const struct hx_codec *c,
                         struct hx_spinor_faults *bad)
{
    size_t first = (size_t)b->first_slot, n_slots = (size_t)b->n_slots, n_pos = (size_t)b->n_pos;

    if (b->x_in)
        return hx_spinor_encode_batch_ref(c, first, n_slots, n_pos, b->x_in, b->blocks_out, bad);
    return hx_spinor_decode_batch_ref(c, first, n_slots, n_pos, b->blocks_in, b->x_out, bad);
}

static int run_kernel(const struct batch *b, struct hx_sp_state *s)
{
    struct hx_spinor_faults bad;
    int rc = s->hvx ? run_hvx(b, s->hvx, &bad) : run_reference(b, s->codec, &bad);

    if (rc == AEE_SUCCESS || rc == AEE_EFAILED)
        return rc ? AEE_DSP(rc) : rc;
    if (rc == AEE_EBADITEM)
        hx_sp_note_corrupt(s, "decode", (size_t)b->first_slot, (size_t)b->n_slots, &bad);
    else
        FARF(ERROR, "sp_hex: %s of slot %zu, position %zu of %d failed: %s",
             b->x_in ? "encode" : "decode",
             (size_t)b->first_slot + (bad.n ? bad.at[0] % (size_t)b->n_slots : 0),
             bad.n ? bad.at[0] / (size_t)b->n_slots : 0, b->n_pos,
             bad.n ? "values out of range" : "misaligned buffer");
    return AEE_DSP(rc);
}

static int run_batch(remote_handle64 h, const struct batch *b)
{
    struct hx_sp_state *s = hx_sp_get(h);

    if (!s)
        return AEE_DSP(AEE_EINVHANDLE);
    pthread_rwlock_rdlock(&s->lock);
    int rc = check_batch(b, s);
    if (rc == AEE_SUCCESS && b->n_pos > 0)
        rc = run_kernel(b, s);
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
