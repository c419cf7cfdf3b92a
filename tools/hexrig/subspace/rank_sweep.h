/* wq, wk and wv as thin matrices of several ranks, on DSPs with several sizes of VTCM. */
#ifndef HX_RANK_SWEEP_H
#define HX_RANK_SWEEP_H

#include "subject.h"

enum { HX_RANK_SWEEP_MOST = 16, HX_RANK_SWEEP_STEP = 32 };

/* What a token costs on the DSP: modelled microseconds of execution, bytes that were found in VTCM and that were not. */
struct hx_rank_cost {
    double exec_us, hit, miss, ddr, dma;
};

struct hx_rank_sweep {
    struct hx_subject s;
    size_t rank[HX_RANK_SWEEP_MOST], n_rank; /* rising */
    size_t kib[HX_RANK_SWEEP_MOST], n_kib;   /* of VTCM */
    const char *profile, *text, *plot;       /* plot NULL: no picture */
    char *shipped;                           /* what text points to when none was given */
    size_t ctx, chunks;
    int planted;                             /* 1: perplexities say nothing, and are not taken */

    /* [..][0]: of the whole matrices, [..][1 + i]: of rank[i] */
    struct hx_rank_cost cost[HX_RANK_SWEEP_MOST][1 + HX_RANK_SWEEP_MOST];
    double ppl[1 + HX_RANK_SWEEP_MOST];
};

/* Fills in `cost`, by processes with a rig each: no thread may have been started.  Returns an enum hx_exit after a message. */
int hx_rank_sweep_cost(struct hx_rank_sweep *p);

/* Fills in `ppl`.  Returns an enum hx_exit after a message. */
int hx_rank_sweep_ppl(struct hx_rank_sweep *p);

/* Bytes that each unit of rank adds, and the largest rank for which all stays in VTCM of so many KiB, a multiple of HX_RANK_SWEEP_STEP. */
double hx_rank_sweep_bytes(const struct hx_rank_sweep *p);
size_t hx_rank_sweep_fit(const struct hx_rank_sweep *p, size_t kib);

#endif
