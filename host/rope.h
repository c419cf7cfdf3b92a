/* Rotary position embedding of one head, pairs (i, i + dh/2): the NEOX layout, as the forward pass turns q and K.
 * Turning back is exact up to rounding, because a rotation is orthonormal.  Immutable after init. */
#ifndef HX_ROPE_H
#define HX_ROPE_H

#include <stddef.h>

struct hx_rope {
    size_t half;            /* dh / 2 */
    float *cosines, *sines; /* [n_ctx][half] */
};

/* Angles pos * base^(-2i/dh) for positions below n_ctx.  0 or -ENOMEM; free with hx_rope_free(), also after an error. */
int hx_rope_init(struct hx_rope *r, size_t dh, size_t n_ctx, float base);
void hx_rope_free(struct hx_rope *r);

/* In place, x: [dh].  turn: as a token at `pos` is rotated; back: the inverse. */
void hx_rope_turn(const struct hx_rope *r, float *x, size_t pos);
void hx_rope_back(const struct hx_rope *r, float *x, size_t pos);

#endif
