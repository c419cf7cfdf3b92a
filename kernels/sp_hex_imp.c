/* The implementation of interface sp_hex on the DSP: handles, their tables in VTCM, and calls of the kernels.
 *
 * Reentrant: calls on one handle may run in parallel; calibrate waits for the calls that still use the old tables. */
#include "sp_hex.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "qurt_hvx.h"
#include "spinor.h"

struct state {
    struct state *next;       /* in `states` */
    remote_handle64 id;       /* what the client holds; never used twice */
    unsigned refs;            /* one for being open, one per running call; under states_lock */
    pthread_rwlock_t lock;    /* protects tables: calibrate writes, encode and decode read */
    struct hx_spinor *tables; /* VTCM, NULL until calibrated */
};

static pthread_mutex_t states_lock = PTHREAD_MUTEX_INITIALIZER; /* protects states, last_id, refs */
static struct state *states;
static remote_handle64 last_id;

int sp_hex_open(const char *uri, remote_handle64 *h)
{
    struct state *s = calloc(1, sizeof(*s));

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

static void drop_tables(struct state *s)
{
    if (s->tables)
        HAP_release_VTCM(s->tables);
    s->tables = NULL;
}

/* The state behind a handle, or NULL; give it back with put(). */
static struct state *get(remote_handle64 h)
{
    struct state *s;

    pthread_mutex_lock(&states_lock);
    for (s = states; s && s->id != h; s = s->next)
        ;
    if (s)
        s->refs++;
    pthread_mutex_unlock(&states_lock);
    return s;
}

static void put(struct state *s)
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
    struct state **at, *s;

    pthread_mutex_lock(&states_lock);
    for (at = &states; *at && (*at)->id != h; at = &(*at)->next)
        ;
    s = *at;
    if (s)
        *at = s->next;
    pthread_mutex_unlock(&states_lock);
    if (!s)
        return AEE_DSP(AEE_EINVHANDLE);
    put(s); /* the last running call frees it */
    return AEE_SUCCESS;
}

/* --- calibrate */

/* Replaces the handle's tables; s->lock is held for writing. */
static int build_tables(struct state *s, const struct hx_block_table *tables, size_t n_slots)
{
    size_t bytes = hx_spinor_bytes(n_slots);

    drop_tables(s); /* first: VTCM is small */
    s->tables = HAP_request_VTCM((unsigned)bytes, 1);
    if (!s->tables) {
        unsigned block = 0, page = 0, pages = 0;

        HAP_query_avail_VTCM(&block, &page, &pages);
        FARF(ERROR, "sp_hex: vtcm: need %zu bytes for %zu slots, largest free block is %u", bytes,
             n_slots, block);
        return AEE_DSP(AEE_ENOMEMORY);
    }
    int rc = hx_spinor_init(s->tables, bytes, tables, n_slots);
    if (rc == AEE_SUCCESS)
        return rc;
    drop_tables(s);
    return AEE_DSP(rc);
}

static int check_tables(const struct hx_block_table *tables, size_t n_slots)
{
    for (size_t i = 0; i < n_slots; i++) {
        if (hx_spinor_check_table(&tables[i])) {
            FARF(ERROR, "sp_hex: calibrate: the table of slot %zu of %zu is not valid", i, n_slots);
            return AEE_DSP(AEE_EBADPARM);
        }
    }
    return AEE_SUCCESS;
}

int sp_hex_calibrate(remote_handle64 h, int dh, int basis, const unsigned char *tables,
                     int tables_len, unsigned int *crc)
{
    size_t n_slots = (size_t)tables_len / sizeof(struct hx_block_table);

    if (dh != HX_BLOCK_DH || basis != HX_BASIS_VHT2 || tables_len <= 0 ||
        (size_t)tables_len % sizeof(struct hx_block_table) || hx_spinor_bytes(n_slots) == 0) {
        FARF(ERROR, "sp_hex: calibrate: dh %d basis %d with %d bytes; need dh %d, basis %d, "
             "a multiple of %zu bytes", (int)dh, (int)basis, tables_len, HX_BLOCK_DH, HX_BASIS_VHT2,
             sizeof(struct hx_block_table));
        return AEE_DSP(AEE_EBADPARM);
    }

    struct state *s = get(h);
    if (!s)
        return AEE_DSP(AEE_EINVHANDLE);
    /* a copy: the client may still write to a shared buffer, and need not have aligned it */
    struct hx_block_table *copy = malloc((size_t)tables_len);
    int rc = copy ? AEE_SUCCESS : AEE_DSP(AEE_ENOMEMORY);
    if (rc == AEE_SUCCESS) {
        memcpy(copy, tables, (size_t)tables_len);
        rc = check_tables(copy, n_slots);
    }
    if (rc == AEE_SUCCESS) {
        pthread_rwlock_wrlock(&s->lock);
        rc = build_tables(s, copy, n_slots);
        pthread_rwlock_unlock(&s->lock);
    }
    if (rc == AEE_SUCCESS)
        *crc = hx_crc32(0, copy, (size_t)tables_len);
    free(copy);
    put(s);
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

static int check_batch(const struct batch *b, const struct hx_spinor *tables)
{
    if (!tables)
        return AEE_DSP(AEE_EBADSTATE);
    if (b->n_slots <= 0 || b->n_pos < 0 || b->first_slot < 0 ||
        (int64_t)b->first_slot + b->n_slots > tables->n_slots)
        return AEE_DSP(AEE_EBADPARM);

    int64_t vectors = (int64_t)b->n_slots * b->n_pos;
    if (vectors > INT32_MAX || b->x_len != vectors * HX_BLOCK_DH ||
        b->blocks_len != vectors * HX_BLOCK_SLOT)
        return AEE_DSP(AEE_EBADPARM);
    return AEE_SUCCESS;
}

static int run_kernel(const struct batch *b, const struct hx_spinor *k)
{
    size_t first = (size_t)b->first_slot, n_slots = (size_t)b->n_slots, n_pos = (size_t)b->n_pos;
    size_t bad;
    int rc;

    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_DSP(AEE_EFAILED);
    if (b->x_in)
        rc = hx_spinor_encode_batch_hvx(k, first, n_slots, n_pos, b->x_in,
                                        (struct hx_block *)b->blocks_out, &bad);
    else
        rc = hx_spinor_decode_batch_hvx(k, first, n_slots, n_pos,
                                        (const struct hx_block *)b->blocks_in, b->x_out, &bad);
    qurt_hvx_unlock();
    if (rc == AEE_SUCCESS)
        return rc;
    FARF(ERROR, "sp_hex: %s of slot %zu, position %zu of %zu failed: %s",
         b->x_in ? "encode" : "decode", first + bad % n_slots, bad / n_slots, n_pos,
         rc == AEE_EBADITEM ? "the block is corrupt (CRC-8 or a non-finite field)"
                            : "misaligned buffer, or values out of range");
    return AEE_DSP(rc);
}

static int run_batch(remote_handle64 h, const struct batch *b)
{
    struct state *s = get(h);

    if (!s)
        return AEE_DSP(AEE_EINVHANDLE);
    pthread_rwlock_rdlock(&s->lock);
    int rc = check_batch(b, s->tables);
    if (rc == AEE_SUCCESS && b->n_pos > 0)
        rc = run_kernel(b, s->tables);
    pthread_rwlock_unlock(&s->lock);
    put(s);
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
