/* A model that is not here, at work: its cache on noise and, where the plan has them on the DSP, its attention and its matrices, which
 * are all zero.
 *
 * A token makes the calls of the model's own forward pass in their order, with buffers of the same sizes.  What the plan leaves on
 * this machine is left out: there is no other attention, and there are no other matrices.  Layers have weights of one layer in common, so
 * that a model of 8e9 parameters fits into one buffer; the DSP knows each layer's matrices by numbers of their own. */
#ifndef HX_GEOMETRY_RUN_H
#define HX_GEOMETRY_RUN_H

#include "engine/core.h"
#include "engine/kv.h"
#include "model/geometry.h"

struct hx_geometry_run {
    struct hx_model m;     /* shapes */
    struct hx_kv *kv;
    struct hx_core *core;  /* NULL: no matrix is on the DSP */
    void *zeros;           /* what all weights are */
    size_t zeros_bytes;
    float *x, *y;          /* [batch]: inputs and outputs of matrices */
    size_t batch;
    size_t rows;           /* of a token's batch: itself and guesses behind it */
    size_t n_head;         /* of a cache that attends by itself; 0: it is asked for rows */
    int argmax;
    int warm;              /* the matrices have been used */
};

/* 1: the plan has some matrix on the DSP. */
int hx_geometry_has_matrices(const struct hx_geometry *g, const struct hx_plan *p);

/* Bytes of those matrices of a token that int8 methods have on the DSP (rpc/block/hx_weights.h), each once. */
double hx_geometry_matrix_bytes(const struct hx_geometry *g, const struct hx_plan *p);

/* -EINVAL with a reason: an option of the plan needs more than a geometry has.  guesses 1: a drafter is none of them, as it stands for
 * batches with guesses. */
int hx_geometry_check(const struct hx_geometry *g, const struct hx_plan *p, int guesses, struct hx_error *err);

/* plan: resolved and checked; borrowed until close, like g.  guesses: that a token's batch has behind it.  n_ctx: positions, those of
 * guesses included.  0 or negative errno with a reason. */
int hx_geometry_run_open(struct hx_geometry_run *r, const struct hx_geometry *g, const struct hx_plan *plan, size_t guesses,
                         size_t n_ctx, struct hx_error *err);

/* Positions pos..pos+n-1 of the cache, without what they would cost. */
int hx_geometry_run_fill(struct hx_geometry_run *r, size_t pos, size_t n, struct hx_error *err);

/* One token and its guesses: their layers, and logits or choices of what is next, if those are on the DSP. */
int hx_geometry_run_token(struct hx_geometry_run *r, size_t pos, struct hx_error *err);

/* Accepts what open() left half done. */
void hx_geometry_run_close(struct hx_geometry_run *r);

#endif
