/* Embeddings: one vector for each of several inputs, the mean of the model's last hidden states (behind the last norm) over all of an
 * input's tokens, at unit length.  That is what llama.cpp calls pooling "mean".  One thread at a time. */
#ifndef HX_EMBEDDING_H
#define HX_EMBEDDING_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/engine.h"

struct hx_embedding_input {
    uint32_t *ids; /* [n], n >= 1; owned */
    size_t n;
};

struct hx_embedding {
    struct hx_embedding_input *inputs; /* [n], owned */
    size_t n, width;
    float *out;     /* [n][width] */
    double *sum;    /* [width] of the input that is being run */
    size_t at, pos; /* the input, and how many of its tokens have been run */
};

/* Room for n >= 1 inputs, which the caller fills in.  0 or -ENOMEM; e may be freed either way. */
int hx_embedding_open(struct hx_embedding *e, size_t n, size_t width);

/* Accepts an object of zeros. */
void hx_embedding_close(struct hx_embedding *e);

/* Runs one batch at most, on an engine whose cache may be overwritten; inputs have to fit into its context.  1: there is more to do;
 * 0: out is complete; negative errno: as hx_forward_run(). */
int hx_embedding_step(struct hx_embedding *e, struct hx_engine *engine, struct hx_error *err);

/* Begins again. */
void hx_embedding_restart(struct hx_embedding *e);

/* Tokens of all inputs. */
size_t hx_embedding_tokens(const struct hx_embedding *e);

#endif
