/* Seam `linear`: how y = W x is computed.  A method is one table of functions; linear_ref.c is the fp32 reference.
 *
 * Matrices that have their input in common (q, k and v; gate and up) are applied together, so that a method can do them
 * in one go. */
#ifndef HX_LINEAR_H
#define HX_LINEAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct hx_linear;

/* What vectors of a batch cost in times of its first one: the second, and each behind that.  Measured once and written down, so that what
 * is chosen by it is the same on each run.  0: nothing. */
struct hx_batch_cost {
    float second, more;
};

struct hx_linear_ops {
    const char *name;

    /* y[m][i] = W[m] x[i] for n_m matrices of this method (1..HX_LINEAR_TOGETHER) and n vectors.  x: [n][cols], the same
     * cols for all; y[m]: [n][rows of m]; scratch: [cols] f32; none overlapping.  The result for a vector must not depend
     * on n, on the other vectors or on the other matrices.  0, or negative errno with a reason. */
    int (*apply)(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x,
                 size_t n, float *scratch, struct hx_error *err);

    /* ids[i] = first index of the largest element of W x[i], whose elements nobody gets to see.  -EDOM: an element is an
     * infinity or no number.  NULL: the method has no such thing. */
    int (*argmax)(const struct hx_linear *w, uint32_t *ids, const float *x, size_t n,
                  struct hx_error *err);

    int reads_file; /* 1: weights are read where `w` points; 0: the method has them in a form of its own */

    /* NULL: nobody knows, or a batch costs what a vector does, as a call does. */
    struct hx_batch_cost (*batch_cost)(const struct hx_linear *w);
};

enum { HX_LINEAR_TOGETHER = 8 };

struct hx_linear {
    const struct hx_linear_ops *ops;
    const void *w; /* [rows][cols] in `type`; borrowed from the model file */
    uint32_t type; /* enum hx_quant */
    size_t rows, cols;
    const float *bias; /* [rows], or NULL: added to what the method makes, by hx_linear_apply() */
    void *state;       /* of the method that applies it, NULL for the reference */
    uint32_t index;    /* likewise: which of its matrices this is */
};

/* A method at work: what its open() returns.  It has set `ops`, `state` and `index` of an engine's matrices (model/matrix.h),
 * which are not to be applied after close.  Those that it leaves alone stay the reference's.  A method embeds this as its
 * first member. */
struct hx_linear_method {
    void (*close)(struct hx_linear_method *m);
};

/* Accepts NULL. */
void hx_linear_close(struct hx_linear_method *m);

/* Some of the matrices of an apply(), with where their results go. */
struct hx_linear_group {
    const struct hx_linear *w[HX_LINEAR_TOGETHER];
    float *y[HX_LINEAR_TOGETHER];
    size_t n;
};

/* Takes the next matrices that go together: the first of n_m that is not in *taken yet, and all that are like it, in their
 * order.  *taken: a bit for each, 0 before the first call.  1, or 0: all have been taken. */
int hx_linear_group(struct hx_linear_group *out, const struct hx_linear *const *w, float *const *y, size_t n_m,
                    uint32_t *taken, int (*alike)(const struct hx_linear *a, const struct hx_linear *b));

/* As ops->apply(), for up to HX_LINEAR_TOGETHER matrices of any methods, and biases: those of one method go together. */
int hx_linear_apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x,
                    size_t n, float *scratch, struct hx_error *err);

/* Row r as f32, exactly: out [cols].  Embedding look-up; no matter which method. */
void hx_linear_row(const struct hx_linear *w, size_t r, float *out);

/* F32, F16 and Q8_0 weights widened exactly to f32, f32 activations, f32 sums. */
extern const struct hx_linear_ops hx_linear_ref;

#endif
