/* What each row of a planted model's tensors holds. */
#ifndef HX_PLANTED_ROWS_H
#define HX_PLANTED_ROWS_H

#include "directions.h"
#include "planted.h"

enum hx_planted_kind {
    HX_PLANTED_EMBEDDING,
    HX_PLANTED_NORM,
    HX_PLANTED_WQ,
    HX_PLANTED_WK,
    HX_PLANTED_WV,
    HX_PLANTED_WO,
    HX_PLANTED_GATE,
    HX_PLANTED_UP,
    HX_PLANTED_DOWN,
    HX_PLANTED_OUTPUT,
    HX_PLANTED_KINDS
};

struct hx_planted_rows {
    const struct hx_planted *p;
    size_t tokens, bos, eos;   /* of the tokenizer: those with text, and two of them */
    struct hx_directions d;
    size_t per_head, patterns; /* directions that a head carries; different units of the feed-forward */

    /* of the layer at work */
    size_t layer;
    float *value_of;           /* [n_kv * per_head][width] directions that V reads */
    float *code;               /* [n_kv * per_head][dh] where in V they lie; orthonormal for each head */
    float *out_of;             /* [n_head * per_head][width] directions that wo makes of them */
    float *gate_of, *up_of, *down_of; /* [patterns][width] */
    float *unit_size, *unit_share;    /* [ffn] of a unit, and its share in what its pattern writes */
};

/* Vectors of the basis that all tokens share: 0 or 1. */
size_t hx_planted_reserved(const struct hx_planted *p);

/* p, tokens, bos and eos are set.  0 or -ENOMEM; in any case to be freed. */
int hx_planted_rows_open(struct hx_planted_rows *m);
void hx_planted_rows_free(struct hx_planted_rows *m);

/* Makes the directions of a layer; rows of its tensors can be asked for then. */
void hx_planted_rows_layer(struct hx_planted_rows *m, size_t layer);

/* Row `row` of a tensor, of a layer the one at work.  Any thread.  to: [cols]. */
void hx_planted_row(const struct hx_planted_rows *m, enum hx_planted_kind kind, size_t row, float *to, size_t cols);

#endif
