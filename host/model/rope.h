/* Rotary position embedding: each pair (a, b) of a head's values is rotated by pos * frequency, a -> a cos - b sin,
 * b -> a sin + b cos.  Source: Su et al. 2021 (RoFormer).  Undoing it is exact up to rounding, because a rotation is
 * orthonormal.  Immutable after init. */
#ifndef HX_ROPE_H
#define HX_ROPE_H

#include <stddef.h>

enum hx_rope_pairs {
    HX_ROPE_NONE,      /* positions are not turned in */
    HX_ROPE_HALVES,    /* (i, i + dims/2): NEOX's layout */
    HX_ROPE_NEIGHBOURS /* (2i, 2i + 1): the paper's layout */
};

/* How one layer rotates.  Pair i has the frequency scale * base^(-2i/dims) / factors[i]. */
struct hx_rope_spec {
    enum hx_rope_pairs pairs;
    size_t dims;          /* so many values of a head are turned, from its first on; even */
    float base;
    float scale;          /* 1, or 1 / the factor of linear scaling (Chen et al. 2023) */
    const float *factors; /* [dims/2], borrowed; NULL: all 1 */
};

/* How the layers of a model rotate.  Of every `period` layers the last is global, the others are local (see a window only);
 * period 0: all are global. */
struct hx_rope_plan {
    struct hx_rope_spec global, local;
    size_t period;
};

static inline int hx_rope_is_local(size_t period, size_t layer)
{
    return period && layer % period != period - 1;
}

/* Tables of one spec. */
struct hx_rope {
    enum hx_rope_pairs pairs;
    size_t half;            /* dims / 2; 0: turns nothing */
    float *cosines, *sines; /* [n_ctx][half] */
};

/* For positions below n_ctx.  0 or -ENOMEM; free with hx_rope_free(), also after an error. */
int hx_rope_init(struct hx_rope *r, const struct hx_rope_spec *spec, size_t n_ctx);
void hx_rope_free(struct hx_rope *r);

/* In place, x: [>= dims].  apply: as a token at `pos` is rotated; undo: the inverse. */
void hx_rope_apply(const struct hx_rope *r, float *x, size_t pos);
void hx_rope_undo(const struct hx_rope *r, float *x, size_t pos);

/* Tables of a plan. */
struct hx_ropes {
    struct hx_rope global, local; /* local is empty in a plan without local layers */
    size_t period;
};

/* As hx_rope_init() and hx_rope_free(). */
int hx_ropes_init(struct hx_ropes *r, const struct hx_rope_plan *plan, size_t n_ctx);
void hx_ropes_free(struct hx_ropes *r);

/* The one that `layer` rotates by. */
const struct hx_rope *hx_ropes_of(const struct hx_ropes *r, size_t layer);

#endif
