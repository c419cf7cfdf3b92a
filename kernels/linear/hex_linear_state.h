/* What methods of interface hex_linear share: a handle's state, memory of calls, and checks of what a call asks for. */
#ifndef HEX_LINEAR_STATE_H
#define HEX_LINEAR_STATE_H

#include "hex_linear_run.h"
#include "hexrig_purpose.h"
#include "qurt_mutex.h"
#include "skel/handles.h"
#include "skel/weights.h"

enum { HX_LINEAR_ALIGN = 128 };

/* Memory that grows as calls need it. */
struct hx_linear_buffer {
    uint8_t *at;
    size_t bytes;
};

struct hx_linear_gates; /* hex_linear_gated.c */

/* hex_linear_guard.c */
struct hx_linear_guard {
    float *q;       /* [k][vectors * 32], 0 behind the last element */
    int in_vtcm;    /* 1: q is there, 0: it is of the heap */
    size_t k, cols;
    int vectors;
    float above;    /* what is taken, see hex_linear.idl */
};

struct hx_linear_state {
    struct hx_handle handle;
    qurt_mutex_t lock;    /* held for the length of a call; protects what follows */
    struct hx_weights_map map;
    struct hx_linear_matrix *m; /* [n_m] */
    size_t n_m;
    struct hx_linear_buffer scratch, between; /* between: what a call makes of x and does not hand back */
    struct hx_linear_vtcm vtcm;
    struct hx_linear_stays *stays;
    struct hx_linear_gates *gates; /* one piece of the heap; NULL: there are none */
    struct hx_linear_guard *guard; /* NULL: there is none */
};

/* The guard goes. */
void hx_linear_guard_drop(struct hx_linear_guard **g);

/* --- handles */

int hx_linear_state_open(const char *uri, remote_handle64 *h);
int hx_linear_state_close(remote_handle64 h);

/* The state behind a handle, locked, or NULL; give it back with hx_linear_put(), which returns rc. */
struct hx_linear_state *hx_linear_get(remote_handle64 h);
int hx_linear_put(struct hx_linear_state *s, int rc);

/* Nothing is loaded any more. */
void hx_linear_unload(struct hx_linear_state *s);

/* --- memory of calls */

/* Pieces of a buffer begin at multiples of 128. */
static inline size_t hx_linear_piece(size_t bytes)
{
    return (bytes + HX_LINEAR_ALIGN - 1) / HX_LINEAR_ALIGN * HX_LINEAR_ALIGN;
}

/* At least so many bytes; what was in it is gone where it grows.  AEE_ENOMEMORY. */
int hx_linear_grow(struct hx_linear_buffer *b, size_t bytes);

/* A call's vectors: said at its begin, and taken back at its end, as the memory is the client's. */
void hx_linear_vectors_are(enum hx_purpose purpose, const float *x, int x_len, const void *y, size_t y_bytes);

/* --- calls; each check writes a line to the log when it fails */

/* Fills c->m from `which`, none of them a basis; *rows: the sum of their rows. */
int hx_linear_choose(const struct hx_linear_state *s, struct hx_linear_call *c, const unsigned *which, size_t *rows);

int hx_linear_check_call(const struct hx_linear_call *c, size_t x_len);
int hx_linear_check_y(const struct hx_linear_call *c, size_t rows, size_t y_len);

/* What all calls borrow of the handle. */
void hx_linear_lend(struct hx_linear_state *s, struct hx_linear_call *c);

/* The same, with scratch for activations and `more` bytes behind them, at *rest. */
int hx_linear_scratch(struct hx_linear_state *s, struct hx_linear_call *c, size_t more, float **rest);

/* Runs the call with an HVX context, and hands it to `then`, if there is one, while it has that. */
int hx_linear_run_held(const struct hx_linear_call *c, hex_linear_cycles *cycles,
                       void (*then)(const struct hx_linear_call *c, unsigned *ids), unsigned *ids);

/* Vectors with an infinity or NaN give NaN; qf32 cannot hold one, so it is written here. */
void hx_linear_spoil(const struct hx_linear_call *c);

void hx_linear_add_cycles(hex_linear_cycles *to, const hex_linear_cycles *c);

/* argmax() of a matrix, behind its checks. */
int hx_linear_argmax(struct hx_linear_state *s, struct hx_linear_call *c, unsigned *ids, hex_linear_cycles *cycles);

/* The products of a call that has been checked, one after the other from y on. */
int hx_linear_products(struct hx_linear_state *s, struct hx_linear_call *c, float *y, hex_linear_cycles *cycles);

#endif
