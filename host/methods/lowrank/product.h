/* Applies factors: y = up (down x), slice by slice (factors.h), by whatever method their matrices have.
 *
 * What a matrix makes of a vector is the sum of its slices, in their order, so it depends on nothing but that vector and how many slices
 * count.  Those of all bases of a call go to the DSP in one. */
#ifndef HX_LOWRANK_PRODUCT_H
#define HX_LOWRANK_PRODUCT_H

#include "factors.h"

struct hx_lowrank_product {
    const struct hx_lowrank_factors *f;
    size_t limit;            /* directions of a basis that count at most; may change between calls */
    size_t batch;            /* vectors of one pass; more are taken in turns */
    size_t most_rank;
    float *t;                /* [HX_LINEAR_TOGETHER][batch][most rank] */
    float *more;             /* [batch] of all slices but the first of matrices that go together; NULL: there is one slice each */
};

/* f: kept, laid out.  0 or -ENOMEM.  In any case to be closed. */
int hx_lowrank_product_open(struct hx_lowrank_product *p, const struct hx_lowrank_factors *f, struct hx_error *err);
void hx_lowrank_product_close(struct hx_lowrank_product *p);

/* As hx_linear_ops.apply(), for parts of f, by their index: all on the DSP or none. */
int hx_lowrank_multiply(const struct hx_lowrank_product *p, const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x,
                        size_t n, float *scratch, struct hx_error *err);

#endif
