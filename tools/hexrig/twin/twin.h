/* A model seen from elsewhere: the same function of tokens by other matrices.
 *
 * RMS norms have the length of the stream and no direction, so the stream x of a model with such norms may be turned: gains of norms are
 * folded into the matrices behind them, W <- W diag(g), what reads the stream becomes W Q^T and what writes it Q W, for an orthogonal Q
 * that is random by seed; embedding rows become Q e, and the output matrix one of its own.  Logits are the same but for rounding.
 *
 * With noise each matrix W gets W + s rms(W) N, N independent and normal: a twin that is near but not the same. */
#ifndef HX_TWIN_H
#define HX_TWIN_H

#include <stdint.h>

#include "base/error.h"
#include "model/model.h"

struct hx_twin {
    uint64_t seed;
    double noise;   /* s, 0..1 */
    uint32_t type;  /* of matrices: HX_QUANT_F32 or F16 */

    /* Called before each tensor; may be NULL.  Anything but 0 ends the work with -EINTR. */
    int (*tell)(void *arg, size_t tensor, size_t n);
    void *arg;
};

/* q [d][d]: y = Q x is y[i] = sum of q[i][k] x[k]; as the twin of that seed has it. */
int hx_twin_rotation(double *q, size_t d, uint64_t seed, struct hx_error *err);

/* 0 and the complete file at `path`; -EINVAL: of an architecture whose norms have biases, or stand behind a sub-layer, or with learned
 * positions: turning the stream changes what those do; -EINTR; -ENOMEM; -ELIBACC; as hx_gguf_writer_open(). */
int hx_twin_write(const struct hx_model *m, const char *path, const struct hx_twin *how, struct hx_error *err);

#endif
