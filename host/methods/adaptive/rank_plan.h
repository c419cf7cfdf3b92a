/* What was decided about matrices of low rank, layer by layer: ranks, in which phase a layer is, and why; gains of the residual stream.
 *
 * As a file it is text, so that a person can read and change it; lines that begin with # and empty ones are skipped:
 *
 *   hexrig rank plan 1
 *   model 00c0ffee00c0ffee          fingerprint of the model that it is for (hx_model)
 *   rank LAYER SLOT RANK PHASE WHY  SLOT: wq, wk, wv, wo, gate, up, down, or qkv for the first three; PHASE: mix, compress, refine or -;
 *                                   WHY: some words, or nothing
 *   sum N                           of all ranks
 *   gain I VALUE                    of value I of the stream, positive; all of them, rising, or none
 */
#ifndef HX_RANK_PLAN_H
#define HX_RANK_PLAN_H

#include <stdint.h>

#include "model/model.h"

enum hx_phase { HX_PHASE_NONE, HX_PHASE_MIX, HX_PHASE_COMPRESS, HX_PHASE_REFINE, HX_PHASES };

/* "-", "mix", "compress", "refine"; NULL-terminated. */
extern const char *const hx_phase_names[];

enum { HX_RANK_WHY = 96 };

struct hx_rank {
    size_t layer;
    uint32_t matrices; /* bits (1 << enum hx_matrix), of one matrix or of wq, wk and wv */
    size_t rank;       /* 1.. */
    enum hx_phase phase;
    char why[HX_RANK_WHY]; /* one line */
};

struct hx_rank_plan {
    uint64_t model;     /* fingerprint */
    struct hx_rank *at; /* [n] */
    size_t n;
    double *gain;       /* [n_gain]; NULL: all are 1 */
    size_t n_gain;      /* 0 or the model's width */
};

/* Room for n ranks; the caller fills them in.  0 or -ENOMEM. */
int hx_rank_plan_alloc(struct hx_rank_plan *p, const struct hx_model *m, size_t n);

/* Ranks of wq, wk and wv's shared basis, layer by layer; ranks NULL: each `equal`.  0 or -ENOMEM. */
int hx_rank_plan_qkv(struct hx_rank_plan *p, const struct hx_model *m, const size_t *ranks, size_t equal);

void hx_rank_plan_free(struct hx_rank_plan *p);

size_t hx_rank_plan_sum(const struct hx_rank_plan *p);

/* NULL: the plan says nothing about this matrix. */
const struct hx_rank *hx_rank_plan_entry(const struct hx_rank_plan *p, size_t layer, uint32_t which);

/* Its rank; 0: likewise. */
size_t hx_rank_plan_find(const struct hx_rank_plan *p, size_t layer, uint32_t which);

/* 0 and a plan for m, to be freed; -EINVAL with file and line: it is no plan, one of another version or model, or something is missing
 * or said twice; others as hx_text_read(). */
int hx_rank_plan_read(struct hx_rank_plan *p, const char *path, const struct hx_model *m, struct hx_error *err);

/* The file is there when it is complete.  0 or negative errno with a reason. */
int hx_rank_plan_write(const struct hx_rank_plan *p, const char *path, struct hx_error *err);

#endif
