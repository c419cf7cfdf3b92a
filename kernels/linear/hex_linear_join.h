/* Gates of a handle, and how a vector's own direction joins the basis of one. */
#ifndef HEX_LINEAR_JOIN_H
#define HEX_LINEAR_JOIN_H

#include "hex_linear_state.h"

struct hx_linear_class {
    unsigned basis;  /* matrix */
    size_t k;        /* directions */
    size_t first, n; /* parts */
    float *scale;    /* [room]: by which z is multiplied before images are applied; 1 of what the client made */
};

struct hx_linear_part {
    unsigned whole, image; /* matrices */
    size_t class;
};

struct hx_linear_gates {
    struct hx_linear_class *at;
    struct hx_linear_part *parts;
    size_t n_parts;
};

/* Rows of all of its matrices. */
size_t hx_linear_class_rows(const struct hx_linear_state *s, const struct hx_linear_class *c);

/* Runs a call with a gate, from sums of 0 on, and hands it to `then` as hx_linear_run_held() does. */
int hx_linear_run_gate(struct hx_linear_state *s, struct hx_linear_call *c, void (*then)(const struct hx_linear_call *c, unsigned *ids),
                       unsigned *ids, hex_linear_cycles *cycles);

/* g: of one vector, with x what of it lies outside and norm2 the whole vector's.  That is made orthogonal once more, as rows are f16 and
 * once leaves their rounding, then of length 1, and becomes direction k, and the images' columns k what the weights make of it; then c->k
 * is one more.  Nothing happens where there is no room, or less than a thousandth of the vector lies outside.
 * An image has one scale per row, and codes as fine as the largest number of that row needs; a column is brought to those by one factor,
 * which z has to be multiplied by.
 * columns: [hx_linear_class_rows()], scratch.  Also g's memory is scratch.
 * Source: Daniel, Gragg, Kaufman, Stewart 1976. */
int hx_linear_join(struct hx_linear_state *s, const hex_linear_how *how, struct hx_linear_class *c, struct hx_linear_gate *g,
                   float *columns, hex_linear_cycles *cycles);

#endif
