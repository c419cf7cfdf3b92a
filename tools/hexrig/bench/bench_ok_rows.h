/* Rows of `hexrig bench exact`: what the exact linear layer costs beside fp32 and int8. */
#ifndef HX_BENCH_OK_ROWS_H
#define HX_BENCH_OK_ROWS_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

struct hx_bench_ok {
    const char *model; /* GGUF; int8 is what it says only for a file of Q8_0 */
    size_t threads;    /* 0: the CPUs that this process may use */
    size_t runs;       /* the fastest counts; >= 1 */
    size_t batch;      /* vectors of the batched figure; >= 1 */
    int rig;           /* 1: modelled time on the DSP, too; the rig is configured */
};

/* Runs one token and one batch through q, k, v, o, gate, up and down of all layers in each way and appends objects to
 * `rows`: "name", "token_us" and "batch_us_per_token" (measured), "ratio_fp32" and "ratio_int8" of token_us, "bytes" of
 * weights as the ring has them, and "dsp_model_us" (modelled exec of a token) where the way exists on the DSP.
 * 0, or negative errno with a reason. */
int hx_bench_ok_rows(json_t *rows, const struct hx_bench_ok *b, struct hx_error *err);

#endif
