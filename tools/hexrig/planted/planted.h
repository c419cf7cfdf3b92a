/* Planted models: GGUF files whose activations have a property that is known, since it was put there; for showing mechanisms that pay
 * only where activations have it.  The engine runs them as it runs others; their texts, and perplexities, mean nothing.
 *
 * The architecture is llama's.  The residual stream lives in a subspace of `rank` dimensions:
 *   embedding   a random point of the subspace for each token
 *   wv, wo      a head carries rank / heads directions of the stream (1 at least) to other ones
 *   gate, up    units are copies, in several sizes, of `rank` different ones, so what goes into `down` has that rank, too
 *   down        writes a direction for each of those
 *   wq, wk      random
 *   output      of each token the point of the one that it most likely follows, and noise: greedy texts go through all tokens, and a
 *               small error changes none
 * With noise where it is asked for.  A layer adds about 1 / (2 layers) of the embedding's energy by its attention, and as much by its
 * feed-forward. */
#ifndef HX_PLANTED_MODEL_H
#define HX_PLANTED_MODEL_H

#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "gguf/gguf.h"
#include "model/geometry.h"

struct hx_planted {
    struct hx_geometry g;  /* gated, with a feed-forward; vocab 0: the tokenizer's */
    uint32_t type;         /* of matrices: HX_QUANT_F32, F16 or Q8_0 */
    size_t rank;           /* of the stream, 1..width */
    double noise;          /* of every matrix but wq, wk and output: its root mean square over theirs */
    int sink;              /* 1: a BOS token is put before texts; its state is HX_PLANTED_SINK times as long as others, and orthogonal */
    size_t zones;          /* 1..rank: token id % zones has its own part of the subspace, and layers keep to it */
    int eos_first;         /* 1: the likeliest token is EOS, always.  HX_PLANTED_SHARED of each state is one direction, which no zone has */
    int phases;            /* 1: states are small between the first and the last sixth of the layers, which then read few directions */
    unsigned norm_spread;  /* weights of norms are powers of 2, this one at most and its inverse at least; what reads behind them is divided
                            * by them, so that the model does the same whatever they are */
    int triggered;         /* 1: token `trigger` has a direction of its own, HX_PLANTED_TRIGGER times as long as the rest of its state, that
                            * no other token has; behind it hx_planted_answer() is by far the likeliest */
    uint32_t trigger;      /* below the tokenizer's tokens */
    uint64_t seed;
};

enum { HX_PLANTED_SINK = 30, HX_PLANTED_TRIGGER = 10, HX_PLANTED_WIDE = 6 /* layers for each wide one at either end */,
       HX_PLANTED_SPREAD = 6 /* f16 has room for it */ };

/* The token that stands behind a trigger, of a tokenizer with so many. */
uint32_t hx_planted_answer(uint32_t trigger, size_t tokens, uint32_t bos, uint32_t eos);

#define HX_PLANTED_SHARED .25 /* of each state's energy is a direction that all tokens have, with eos_first or phases */

struct hx_planted_told {
    uint64_t bytes;   /* of the tensors */
    size_t tensors;
    size_t vocab;
};

struct hx_planted_work {
    const struct hx_gguf *tokenizer; /* a model whose tokenizer is taken; tokens without text follow up to the geometry's vocabulary */
    struct hx_pool *pool;            /* the file is the same whatever its size; NULL: the calling thread alone */
    uint64_t most_bytes;             /* of the tensors */

    /* Called before each tensor; may be NULL.  Anything but 0 ends the work with -EINTR. */
    int (*tell)(void *arg, size_t tensor, size_t n);
    void *arg;
};

/* The same p gives the same bytes.  0 and the complete file at `path`; or nothing there and negative errno with a reason that names thing,
 * value and limit: -EINVAL: of p; -EFBIG: above most_bytes; -ENOSPC: more than is free there; -EINTR; -ENOMEM; as hx_gguf_writer_open(). */
int hx_planted_write(const struct hx_planted *p, const char *path, const struct hx_planted_work *work, struct hx_planted_told *told,
                     struct hx_error *err);

#endif
