/* Implements interface sp_hex on the DSP: opening, closing and calibrating.
 *
 * Formats with an HVX version (spinor.h) have their tables as sp_hex_tables.h says.  The others are coded step by step
 * (spinor_steps.h, attention: spinor_steps_attn.h) with tables on the heap.
 *
 * Reentrant: calls on one handle may run in parallel; calibrate waits for the calls that still use the old tables. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "HAP_farf.h"
#include "hexrig_uncosted.h"
#include "skel/packets.h"
#include "sp_hex_queue.h"
#include "sp_hex_state.h"

HX_UNCOSTED("quantising, decoding and attention are listed; tables, unpacking and glue are not");

static struct hx_packet_queues queues = HX_PACKET_QUEUES("sp_hex", sp_hex_skel_handle_invoke);

int sp_hex_open(const char *uri, remote_handle64 *h)
{
    return hx_sp_open(uri, h);
}

int sp_hex_close(remote_handle64 h)
{
    hx_packets_drop(&queues, h);
    hx_sp_queues_drop(h);
    return hx_sp_close(h);
}

int sp_hex_packets_attach(remote_handle64 h, uint64_t id)
{
    return hx_packets_attach(&queues, h, id);
}

int sp_hex_packets_detach(remote_handle64 h, uint64_t id)
{
    return hx_packets_detach(&queues, h, id);
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
    return hx_sp_tables_open(&s->hvx, &t->f, t->bytes, t->n_slots);
}

static int build_steps(struct hx_sp_state *s, const struct tables *t)
{
    size_t bytes = hx_codec_bytes(&t->f, t->n_slots);
    void *memory = bytes ? malloc(bytes) : NULL;

    s->steps = aligned_alloc(sizeof(HVX_Vector), hx_spinor_common());
    if (!memory || !s->steps) {
        FARF(ERROR, "sp_hex: heap: need %zu bytes for %zu slots", bytes, t->n_slots);
        free(memory);
        return AEE_ENOMEMORY;
    }
    hx_spinor_lay_out(s->steps, &t->f, 0);
    s->codec = hx_codec_init(memory, &t->f, t->bytes, t->n_slots);
    FARF(HIGH, "sp_hex: dh %d, basis %s, code %s, %d and %d lanes: step by step, without tables of rows", t->f.shape->dh,
         hx_block_basis_names[t->f.basis], hx_block_code_names[t->f.code], t->f.shape->n_skel, t->f.shape->n_res);
    return AEE_SUCCESS;
}

/* Replaces the handle's tables; s->lock is held for writing. */
static int build_tables(struct hx_sp_state *s, const struct tables *t)
{
    hx_sp_drop_tables(s); /* first: VTCM is small */
    int rc = hx_spinor_has_hvx(&t->f) ? build_hvx(s, t) : build_steps(s, t);

    if (rc) {
        hx_sp_drop_tables(s);
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

/* Which blocks a client asks for; 0 lanes: as published. */
struct what {
    int dh, basis, code, n_skel, n_res;
};

/* Fills t->f and t->n_slots. */
static int check_format(struct tables *t, const struct what *w, int tables_len)
{
    if (w->n_skel < 0 || w->n_res < 0 ||
        hx_codec_format_lanes(&t->f, (size_t)w->dh, (size_t)w->n_skel, (size_t)w->n_res, (uint32_t)w->basis,
                              (uint32_t)w->code)) {
        FARF(ERROR, "sp_hex: calibrate: no blocks of dh %d, basis %d, code %d, %d skeleton and %d residual lanes",
             w->dh, w->basis, w->code, w->n_skel, w->n_res);
        return AEE_EBADPARM;
    }
    const size_t bytes = hx_block_table_bytes(t->f.shape, t->f.basis);

    if (tables_len <= 0 || (size_t)tables_len % bytes) {
        FARF(ERROR, "sp_hex: calibrate: %d bytes of tables; dh %d, basis %d need a multiple of %zu",
             tables_len, w->dh, w->basis, bytes);
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

static int open_tables(remote_handle64 h, const struct what *w, const unsigned char *tables, int tables_len,
                       unsigned int *crc)
{
    struct tables t;
    int rc = check_format(&t, w, tables_len);

    if (rc)
        return rc;
    struct hx_sp_state *s = hx_sp_get(h);
    if (!s)
        return AEE_EINVHANDLE;
    rc = calibrate(s, &t, tables, (size_t)tables_len, crc);
    hx_sp_put(s);
    return rc;
}

int sp_hex_calibrate(remote_handle64 h, int dh, int basis, const unsigned char *tables,
                     int tables_len, unsigned int *crc, int code)
{
    const struct what w = {dh, basis, code, 0, 0};

    return open_tables(h, &w, tables, tables_len, crc);
}

int sp_hex_calibrate_lanes(remote_handle64 h, int dh, int basis, int code, int n_skel, int n_res,
                           const unsigned char *tables, int tables_len, unsigned int *crc)
{
    const struct what w = {dh, basis, code, n_skel, n_res};

    return open_tables(h, &w, tables, tables_len, crc);
}
