/* Which matrices become products of two thin ones, with what rank, and where those lie.
 *
 * A basis is what matrices with one input share: t = down x, [rank][cols], made once for all of them.  Each matrix is one part of its
 * basis: y = up t, [rows][rank].  With a basis of the weights down's rows are orthonormal, down = P^T and up = W P (the published W_proj).
 *
 * Directions stand by falling eigenvalue, so a lower rank is the beginning of the same factors.  Where the rank may change while the engine
 * runs they are cut into slices, some directions each, which are matrices of their own: down's rows and up's columns of slice i are those
 * from cut[i] to cut[i+1] - 1, y is the sum of what the slices make, and a lower rank is fewer slices.  Else there is one slice.
 *
 * All numbers are one block of memory: of each basis down's slices and then those of the ups of its parts, each from a multiple of 64 bytes
 * on. */
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
    HX_LOWRANK_STEP = 32,   /* ranks that are chosen here, and cuts between slices, are multiples of it */
    HX_LOWRANK_SLICES = 4,  /* most of a basis: of four bases, or of one with four parts, all go into a call of the DSP */
};

struct hx_lowrank_part {
    struct hx_linear *w;     /* the engine's; its weights are read while factors are made */
    size_t layer;
    enum hx_matrix which;
    size_t basis;            /* index */
    struct hx_linear up[HX_LOWRANK_SLICES]; /* [rows][directions of the slice] */
    size_t up_at[HX_LOWRANK_SLICES]; /* bytes from the block's start */
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
    struct {
        double held, cosine; /* share of its length that the directions hold together, largest cosine with one of them; -1: there is none */
        double lost, lost_without; /* share of its square that the basis loses; that it would lose as eigenvectors alone */
        int first;           /* 1: the basis begins with it */
    } sink;                  /* of a basis that was made; else 0 */
    size_t n_slices, cut[HX_LOWRANK_SLICES + 1]; /* cut[0] = 0, rising; cut[n_slices] = rank */
    struct hx_linear down[HX_LOWRANK_SLICES]; /* [directions of the slice][cols] */
    size_t down_at[HX_LOWRANK_SLICES]; /* bytes from the block's start */
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
    int sink;          /* 1: bases have one direction more than the rank that was asked for, where there is room */
    size_t least;      /* directions of the first slice, a multiple of HX_LOWRANK_STEP; 0: there is one slice alone */
    uint32_t format;
};

/* w: zeroed.  -EINVAL: a rank above what a matrix takes in, or one that does not go into blocks of the format; matrices of one basis of
 * which only some are to be on the DSP, or that have different ranks in a plan; nothing to take.  -ENOMEM.  In any case to be freed. */
int hx_lowrank_lay_out(struct hx_lowrank_factors *f, const struct hx_linear_set *set, const struct hx_lowrank_shape *shape,
                       struct hx_error *err);

/* Lets down and ups point into a block [bytes], from a multiple of 64 on. */
void hx_lowrank_place(struct hx_lowrank_factors *f, void *block);

/* Slices of a basis with a rank of at most `limit`: one at least. */
size_t hx_lowrank_slices(const struct hx_lowrank_basis *b, size_t limit);

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
