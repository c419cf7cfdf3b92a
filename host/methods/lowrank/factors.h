/* Which matrices become products of two thin ones, with what rank, and where those lie.
 *
 * A basis is what matrices with one input share: t = down x, [rank][cols], made once for all of them.  Each matrix is one part of its
 * basis: y = up t, [rows][rank].  With a basis of the weights down's rows are orthonormal, down = P^T and up = W P (the published W_proj).
 *
 * All numbers are one block of memory: of each basis down and then the ups of its parts, each from a multiple of 64 bytes on. */
#ifndef HX_LOWRANK_FACTORS_H
#define HX_LOWRANK_FACTORS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/linear.h"
#include "engine/method.h"
#include "engine/tap.h"
#include "methods/adaptive/rank_plan.h"

enum {
    HX_LOWRANK_MOST = 1536, /* rank; more is cut, with a note.  Source: the published AXEX_MANIFOLD_K_MAX */
    HX_LOWRANK_STEP = 32,   /* ranks that are chosen here are multiples of it */
};

struct hx_lowrank_part {
    struct hx_linear *w;     /* the engine's; its weights are read while factors are made */
    size_t layer;
    enum hx_matrix which;
    size_t basis;            /* index */
    struct hx_linear up;     /* [rows][rank] */
    size_t up_at;            /* bytes from the block's start */
    double rel_f2;           /* |W - up down|^2 / |W|^2, Frobenius, before rounding to the format; -1: not known */
    double eckart_young;     /* the least of any matrix of this rank; -1: not known, as the matrix is too wide to find out here */
};

struct hx_lowrank_basis {
    size_t first, n;         /* parts, one behind the other */
    size_t layer;
    enum hx_tap_point input; /* where the model shows what they are applied to */
    size_t rows, cols;       /* of all parts, one below the other */
    size_t rank;             /* 1..min(rows, cols) */
    int on_dsp;              /* as in hx_linear_set, of all parts */
    struct hx_linear down;   /* [rank][cols] */
    size_t down_at;          /* bytes from the block's start */
};

struct hx_lowrank_factors {
    struct hx_lowrank_part *parts; /* [n_parts] as the set has them: layer by layer */
    struct hx_lowrank_basis *bases;
    size_t n_parts, n_bases;
    uint32_t format;               /* enum hx_quant: F32, F16 or Q8_0 */
    size_t bytes;                  /* of the block */
};

/* What the options say about it. */
struct hx_lowrank_shape {
    size_t rank;       /* 0: of each basis the largest multiple of HX_LOWRANK_STEP with which it has no more numbers than its matrices and
                        * fits into VTCM */
    const struct hx_rank_plan *plan; /* ranks that it has come before that; NULL: there is none */
    uint32_t matrices; /* bits of enum hx_matrix: of a set with the output matrix these are taken, of others all; never that one */
    int out_is_elsewhere; /* 1: the set counts as one with the output matrix, though it has none */
    int per_slot;      /* 1: each matrix has a basis of its own; 0: q, k and v share one */
    uint32_t format;
};

/* w: zeroed.  -EINVAL: a rank above what a matrix takes in, or one that does not go into blocks of the format; matrices of one basis of
 * which only some are to be on the DSP, or that have different ranks in a plan; nothing to take.  -ENOMEM.  In any case to be freed. */
int hx_lowrank_lay_out(struct hx_lowrank_factors *f, const struct hx_linear_set *set, const struct hx_lowrank_shape *shape,
                       struct hx_error *err);

/* Lets down and ups point into a block [bytes], from a multiple of 64 on. */
void hx_lowrank_place(struct hx_lowrank_factors *f, void *block);

/* Behind hx_lowrank_place(): bases of the same matrices of all layers, and their parts, point to what those of the first layer do. */
void hx_lowrank_share_layers(struct hx_lowrank_factors *f);

void hx_lowrank_free(struct hx_lowrank_factors *f);

/* Bytes that a token reads: of the factors; of the matrices as they are in the file; of those in the factors' format. */
struct hx_lowrank_bytes {
    uint64_t factors, raw, same_format;
};
struct hx_lowrank_bytes hx_lowrank_bytes(const struct hx_lowrank_factors *f);

/* The rank of shape->rank 0, for a stack of matrices [rows][cols]. */
size_t hx_lowrank_fit(size_t rows, size_t cols, uint32_t format);

#endif
