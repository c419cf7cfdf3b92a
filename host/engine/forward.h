/* The forward pass: tokens in, hidden states and logits out, over the seams linear, kv and attn.
 *
 * A token's result is bit-identical whatever batch it arrives in.  Nothing is allocated after open.
 * One thread at a time. */
#ifndef HX_FORWARD_H
#define HX_FORWARD_H

#include <stddef.h>
#include <stdint.h>

#include "attn.h"
#include "methods/cpu/isa/isa.h"
#include "kv.h"
#include "model/model.h"
#include "base/pool.h"
#include "base/error.h"

struct hx_forward;

/* m, kv and attn are kept until close and stay the caller's.  max_batch: most tokens of one run, 1..kv->max_batch.
 * 0, -ENOMEM; -EINVAL: kv's context is longer than the positions that the model has learned. */
int hx_forward_open(struct hx_forward **out, const struct hx_model *m, struct hx_kv *kv,
                    struct hx_attn *attn, size_t max_batch, struct hx_error *err);

/* From the next run on, norms and activations are computed by a CPU's kernels (NULL, as after open: plain C, the reference),
 * and a pool's threads share the rows of a batch (NULL: none do).  Both are kept until close. */
void hx_forward_use(struct hx_forward *f, const struct hx_cpu_kernels *isa, struct hx_pool *pool);

/* Accepts NULL. */
void hx_forward_close(struct hx_forward *f);

size_t hx_forward_max_batch(const struct hx_forward *f);

/* Runs tokens [n] at positions pos..pos+n-1; positions before pos must have been run.  1 <= n <= max_batch,
 * pos + n <= n_ctx, tokens below the vocabulary's size, else -EINVAL.  -EDOM: a value is infinite or no number, which
 * a damaged model or cache makes; the reason names position and layer.  Other errors are the KV back end's or the linear
 * layers' method's. */
int hx_forward_run(struct hx_forward *f, const uint32_t *tokens, size_t n, size_t pos,
                   struct hx_error *err);

/* Logits of tokens first..first+n-1 (0-based) of the last run.  out: [n][vocab].  0, -EDOM as above, or what the linear
 * layer's method returns. */
int hx_forward_logits(struct hx_forward *f, size_t first, size_t n, float *out,
                      struct hx_error *err);

/* For each of these tokens the id with the largest logit, the lowest one among equals, without the logits.  Errors as
 * above; -ENOTSUP: the output matrix's method has no argmax. */
int hx_forward_argmax(struct hx_forward *f, size_t first, size_t n, uint32_t *ids,
                      struct hx_error *err);

#endif
