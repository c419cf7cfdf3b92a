/* Seam `tap`: who looks at, or changes, what flows through the model while it runs: captures, monitors, projections, gates.
 *
 * A tap is called at named points of every layer with the rows of the batch.  The residual stream, and what the output matrix
 * gets, may be changed in place; what comes out is checked like everything else.  Other points show what matrices and attention
 * get and are to be left as they are.  An engine has any number of taps, called in the order in which they were asked for. */
#ifndef HX_TAP_H
#define HX_TAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum hx_tap_point {
    /* the residual stream, [n][width]; may be changed */
    HX_TAP_EMBEDDING,  /* before layer 0 */
    HX_TAP_AFTER_ATTN, /* of a layer, after attention was added */
    HX_TAP_AFTER_FFN,  /* of a layer, its end */
    HX_TAP_BEFORE_NORM, /* before the last norm; after the last layer's AFTER_FFN */
    /* what else there is to see; not to be changed */
    HX_TAP_IN_QKV,     /* [n][width] input of wq, wk, wv */
    HX_TAP_Q,          /* [n][n_head * dh] after RoPE */
    HX_TAP_K,          /* [n][n_kv * dh] after RoPE */
    HX_TAP_V,          /* [n][n_kv * dh] */
    HX_TAP_IN_O,       /* [n][n_head * dh] input of wo: what attention made */
    HX_TAP_IN_FFN,     /* [n][width] input of gate and up */
    HX_TAP_IN_DOWN,    /* [n][ffn] */
    HX_TAP_IN_OUT,     /* [n][width] input of the output matrix: after the last norm; may be changed, too */
    HX_TAP_POINTS
};

/* "embedding", "after_attn", ...; NULL-terminated. */
extern const char *const hx_tap_point_names[];

/* 1: a point of a layer, 0: one before or behind all of them. */
int hx_tap_in_layer(enum hx_tap_point point);

/* Where the pass is. */
struct hx_tap_at {
    enum hx_tap_point point;
    size_t layer;           /* 0 for points of no layer */
    const uint32_t *tokens; /* [n] */
    const size_t *pos;      /* [n] their positions */
    size_t n;               /* rows */
    size_t row;             /* floats of a row */
};

struct hx_tap;

struct hx_tap_ops {
    const char *name;

    /* rows [n][row].  0, or negative errno with a reason, which ends the run. */
    int (*at)(struct hx_tap *t, const struct hx_tap_at *at, float *rows, struct hx_error *err);

    /* 0, or the error of what could not be finished (a file that could not be written); the tap is gone in any case. */
    int (*close)(struct hx_tap *t, struct hx_error *err);

    /* Instead of close() when the work was not done: a file of half of it would look complete.  NULL: close() does. */
    void (*abandon)(struct hx_tap *t);
};

/* A method embeds this as its first member. */
struct hx_tap {
    const struct hx_tap_ops *ops;
    uint32_t points; /* bits (1 << enum hx_tap_point) at which it wants to be called */
};

/* Each accepts NULL. */
int hx_tap_close(struct hx_tap *t, struct hx_error *err);
void hx_tap_abandon(struct hx_tap *t);

#endif
