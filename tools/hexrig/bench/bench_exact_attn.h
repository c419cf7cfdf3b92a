/* Ring attention modulo the 60-bit prime as it was before each step of the paper's ladder, in plain C: for
 * `hexrig bench exact`, which measures what each step gained; the engine's own method has taken them all. */
#ifndef HX_BENCH_EXACT_ATTN_H
#define HX_BENCH_EXACT_ATTN_H

#include "engine/attn.h"

struct hx_bench_attn_cfg {
    int barrett; /* 0: products are reduced by a 128-bit %; 1: by Barrett's method (ntt/ntt.h) */
    int hoist;   /* 0: a query is transformed for every key that it meets; 1: once */
};

/* One token per run, one thread; keys are transformed at every run.  The integers, so the bits, are those of attention
 * `poly`, which also checks their range: not done here.  0, -ENOTSUP as hx_poly_open(), or -ENOMEM. */
int hx_bench_attn_open(struct hx_attn **out, const struct hx_bench_attn_cfg *cfg, size_t n_kv,
                       size_t dh,
                       size_t n_ctx, struct hx_error *err);

#endif
