/* What a handle of interface hex_layer has: weights, cache, tables.  hex_layer_load.c fills it, hex_layer_imp.c runs calls on it. */
#ifndef HEX_LAYER_STATE_H
#define HEX_LAYER_STATE_H

#include "hex_layer_run.h"
#include "qurt_mutex.h"
#include "skel/handles.h"
#include "skel/weights.h"

struct hx_layer_state {
    struct hx_handle handle;
    qurt_mutex_t lock; /* held for the length of a call; protects what follows */
    struct hx_weights_map weights, cache;
    struct hx_layer_model model; /* m NULL: nothing is loaded */
    uint8_t *tables;             /* VTCM: vectors, then what the softmax needs; NULL: none */
    size_t vectors_bytes, tables_bytes;
    uint8_t *scratch;            /* grows as calls need it */
    size_t scratch_bytes;
};

/* A line in the log about what was asked for, and AEE_EBADPARM. */
int hx_layer_refuse(const char *what, size_t index);

/* What a load brings. */
struct hx_layer_load {
    int fd;
    size_t bytes;
    const hex_layer_shape *shape;
    const hex_layer_matrix *m;
    const hex_layer_vectors *v;
    size_t n_m, n_v;
};

/* The lock is held, for all of them.  Nothing is loaded yet. */
int hx_layer_load(struct hx_layer_state *s, const struct hx_layer_load *l);

/* K and V are in this buffer from now on. */
int hx_layer_take_cache(struct hx_layer_state *s, int fd, size_t bytes);

/* Also of a state that has nothing. */
void hx_layer_unload(struct hx_layer_state *s);

#endif
