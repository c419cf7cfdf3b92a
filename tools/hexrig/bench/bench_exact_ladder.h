/* The paper's ladder of exact attention on this machine, for `hexrig bench exact`: the same tokens through the same model, one by
 * one, with attention in one way after the other. */
#ifndef HX_BENCH_EXACT_LADDER_H
#define HX_BENCH_EXACT_LADDER_H

#include <stddef.h>

#include "base/error.h"

enum { HX_LADDER_RUNGS = 7, HX_LADDER_BASE = 1 /* where the paper's ladder begins */ };

struct hx_ladder_rung {
    const char *name, *kernel;
    double wall_s;       /* of all tokens: the fastest run */
    double attn_s;       /* of attention and the cache alone: likewise */
    double dsp_model_us; /* modelled exec of a token's attention on the DSP; negative: it has no such form, or no rig */
};

struct hx_ladder_cfg {
    const char *model; /* GGUF */
    size_t ctx;        /* tokens */
    size_t runs;       /* of each rung by turns, after one that does not count */
    int rig;           /* 1: modelled time on the DSP, too; the rig is configured */
};

/* Compares the logits of all rungs, too: -EBADMSG when one has other bits than the first.  0, or negative errno with a reason. */
int hx_ladder_run(struct hx_ladder_rung rungs[HX_LADDER_RUNGS], const struct hx_ladder_cfg *cfg,
                  struct hx_error *err);

#endif
