/* Implements interface sp_hex on the DSP: handles and their tables.
 *
 * Formats with an HVX version (spinor.h) have their tables as sp_hex_tables.h says.  The others run in the C reference with
 * tables on the heap: the same blocks, but no HVX operations, so their modelled cost says nothing.
 *
 * Reentrant: calls on one handle may run in parallel; calibrate waits for the calls that still use the old tables. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "HAP_farf.h"
#include "skel/parallel.h"
#include "sp_hex_queue.h"
#include "sp_hex_state.h"

static void drop_tables(struct hx_sp_state *s)
{
    hx_sp_tables_close(s->hvx);
    free(s->codec);
    s->hvx = NULL;
    s->codec = NULL;
    s->shape = NULL;
}

/* --- handles */

static void drop(struct hx_handle *h)
{
    struct hx_sp_state *s = (struct hx_sp_state *)h;

    drop_tables(s);
    pthread_rwlock_destroy(&s->lock);
    pthread_mutex_destroy(&s->corrupt_lock);
    free(s);
}

static void idle(void)
{
    hx_parallel_stop(&hx_handover_pool);
}

static struct hx_handles handles = HX_HANDLES("sp_hex", drop, idle);

int sp_hex_open(const char *uri, remote_handle64 *h)
{
    struct hx_sp_state *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return AEE_ENOMEMORY;
    pthread_rwlock_init(&s->lock, NULL);
    pthread_mutex_init(&s->corrupt_lock, NULL);
    rc = hx_handle_open(&handles, &s->handle, uri, h);
    if (rc)
        drop(&s->handle);
    return rc;
}

int sp_hex_close(remote_handle64 h)
{
    hx_sp_queues_drop(h);
    return hx_handle_close(&handles, h);
}

struct hx_sp_state *hx_sp_get(remote_handle64 h)
{
    return (struct hx_sp_state *)hx_handle_get(&handles, h);
}

void hx_sp_put(struct hx_sp_state *s)
{
    hx_handle_put(&handles, &s->handle);
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
    pthread_mutex_lock(&s->corrupt_lock);
    s->corrupt.total += faults->n;
    s->corrupt.slot = (uint32_t)(first + faults->at[0] % n_slots);
    s->corrupt.position = (uint32_t)(faults->at[0] / n_slots);
    pthread_mutex_unlock(&s->corrupt_lock);
}

void hx_sp_merge_faults(struct hx_spinor_faults *all, const struct hx_spinor_faults *part)
{
    size_t listed = all->n < HX_SPINOR_FAULTS ? all->n : HX_SPINOR_FAULTS;

    for (size_t i = 0; i < part->n && i < HX_SPINOR_FAULTS; i++) {
        size_t to = listed < HX_SPINOR_FAULTS ? listed++ : HX_SPINOR_FAULTS;

        for (; to > 0 && all->at[to - 1] > part->at[i]; to--)
            if (to < HX_SPINOR_FAULTS)
                all->at[to] = all->at[to - 1];
        if (to < HX_SPINOR_FAULTS)
            all->at[to] = part->at[i];
    }
    all->n += part->n;
}

struct hx_sp_corrupt hx_sp_corrupt_of(struct hx_sp_state *s)
{
    pthread_mutex_lock(&s->corrupt_lock);
    const struct hx_sp_corrupt c = s->corrupt;
    pthread_mutex_unlock(&s->corrupt_lock);
    return c;
}

/* --- calibrate */

/* The tables of one calibrate call. */
struct tables {
    struct hx_codec_format f;
    const void *bytes;
    size_t n_slots;
};

static int build_hvx(struct hx_sp_state *s, const struct tables *t)
{
    int rc = hx_sp_tables_open(&s->hvx, &t->f, t->bytes, t->n_slots);

    return rc;
}

static int build_reference(struct hx_sp_state *s, const struct tables *t)
{
    size_t bytes = hx_codec_bytes(&t->f, t->n_slots);
    void *memory = bytes ? malloc(bytes) : NULL;

    if (!memory) {
        FARF(ERROR, "sp_hex: heap: need %zu bytes for %zu slots", bytes, t->n_slots);
        return AEE_ENOMEMORY;
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
            return AEE_EBADPARM;
        }
    }
    return AEE_SUCCESS;
}

/* Fills t->f and t->n_slots. */
static int check_format(struct tables *t, int dh, int basis, int code, int tables_len)
{
    if (hx_codec_format(&t->f, (size_t)dh, (uint32_t)basis, (uint32_t)code)) {
        FARF(ERROR, "sp_hex: calibrate: no blocks of dh %d, basis %d, code %d", dh, basis, code);
        return AEE_EBADPARM;
    }
    const size_t bytes = hx_block_table_bytes(t->f.shape, t->f.basis);

    if (tables_len <= 0 || (size_t)tables_len % bytes) {
        FARF(ERROR, "sp_hex: calibrate: %d bytes of tables; dh %d, basis %d need a multiple of %zu",
             tables_len, dh, basis, bytes);
        return AEE_EBADPARM;
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
        return AEE_ENOMEMORY;
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
        return AEE_EINVHANDLE;
    rc = calibrate(s, &t, tables, (size_t)tables_len, crc);
    hx_sp_put(s);
    return rc;
}
