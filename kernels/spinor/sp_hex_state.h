/* What a handle of interface sp_hex is, for the files that implement its methods. */
#ifndef SP_HEX_STATE_H
#define SP_HEX_STATE_H

#include <pthread.h>
#include <stdint.h>

#include "skel/handles.h"
#include "sp_hex.h"
#include "sp_hex_tables.h"

/* Corrupt blocks that calls on a handle met. */
struct hx_sp_corrupt {
    uint64_t total;        /* since open */
    uint32_t slot, position; /* the first one of the last call that met any */
};

struct hx_sp_state {
    struct hx_handle handle;
    pthread_mutex_t corrupt_lock; /* protects corrupt */
    struct hx_sp_corrupt corrupt;
    pthread_rwlock_t lock;    /* protects what follows: calibrate writes, all others read */
    const struct hx_block_shape *shape; /* NULL until calibrated */
    size_t n_slots;
    struct hx_sp_tables *hvx; /* tables of the HVX version, or NULL */
    struct hx_codec *codec;   /* tables of formats that have none of these, or NULL ... */
    struct hx_spinor *steps;  /* ... and their layout, for spinor_steps.h */
};

/* A handle without tables, and its end; what the interface's open and close return. */
int hx_sp_open(const char *uri, remote_handle64 *h);
int hx_sp_close(remote_handle64 h);

/* s->lock is held for writing, or nobody else has s. */
void hx_sp_drop_tables(struct hx_sp_state *s);

/* The state behind a handle, or NULL; give it back with put. */
struct hx_sp_state *hx_sp_get(remote_handle64 h);
void hx_sp_put(struct hx_sp_state *s);

/* Counts and logs corrupt blocks of slots first..first+n_slots-1, `at` as a batch numbers them. */
void hx_sp_note_corrupt(struct hx_sp_state *s, const char *what, size_t first, size_t n_slots,
                        const struct hx_spinor_faults *faults);
/* Adds what a part of a call found, in indices of the call: the smallest ones stay listed, ascending. */
void hx_sp_merge_faults(struct hx_spinor_faults *all, const struct hx_spinor_faults *part);
struct hx_sp_corrupt hx_sp_corrupt_of(struct hx_sp_state *s);

#endif
