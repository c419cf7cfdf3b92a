/* Linear method `cpu`: the machine's own kernels (cpu/isa.h) on the quantised blocks as they lie in the file, spread over the
 * pool's threads by rows.
 *
 * Weights that are quantised meet activations rounded to int8; the reference (linear_ref.c) keeps those in f32, so logits
 * differ by what that rounding does.  A result depends neither on the batch nor on the number of threads. */
#ifndef HX_LINEAR_CPU_H
#define HX_LINEAR_CPU_H

#include "methods/cpu/isa/isa.h"
#include "engine/linear.h"
#include "engine/method.h"
#include "base/pool.h"

/* Takes over the matrices of the set whose type it has kernels for; pool is borrowed until close.  isa: NULL for the best of
 * this machine.  0 or -ENOMEM. */
int hx_linear_cpu_open(struct hx_linear_method **out, const struct hx_linear_set *set,
                       const struct hx_cpu_kernels *isa, struct hx_pool *pool, struct hx_error *err);

#endif
