/* The ladder of exact attention on the DSP's clock: modelled exec of the scores of one token with all positions behind it, by the
 * calls that each step of the ladder would make of interface ntt_kv.  For `hexrig bench exact`.
 *
 * The DSP has the two 30-bit primes and Barrett's method in its kernels from the start (a 60-bit prime or a division is nothing
 * that HVX has), so its ladder begins where queries are not hoisted yet. */
#ifndef HX_BENCH_DSP_LADDER_H
#define HX_BENCH_DSP_LADDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { HX_DSP_LADDER_RUNGS = 4 };

struct hx_dsp_ladder_rung {
    const char *name;
    double exec_us;                        /* modelled, of all layers */
    uint64_t key_transforms, query_transforms; /* of all layers; a vector is one, whatever the number of primes */
};

struct hx_dsp_ladder_cfg {
    size_t layers, heads, queries; /* heads: of K; queries: heads of Q */
    size_t n;                      /* coefficients: hx_poly_n(dh) */
    size_t positions;
};

/* Connects to a rig.  All rungs must give the same residues: -EBADMSG when one has others.  0, -EIO, -ENOMEM. */
int hx_dsp_ladder_run(struct hx_dsp_ladder_rung rungs[HX_DSP_LADDER_RUNGS], const struct hx_dsp_ladder_cfg *cfg,
                      struct hx_error *err);

#endif
