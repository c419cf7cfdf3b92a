/* How hx_timing_kernels asks for the operations of a forward pass: hx_timing_kernel.run. */
#ifndef HX_TIMING_OPS_H
#define HX_TIMING_OPS_H

#include "timing.h"

typedef int hx_timing_method(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c);

hx_timing_method hx_timing_run_rmsnorm, hx_timing_run_rmsnorm_hvx, hx_timing_run_rope, hx_timing_run_rope_hvx,
    hx_timing_run_softmax, hx_timing_run_softmax_hvx, hx_timing_run_gelu, hx_timing_run_gelu_hvx, hx_timing_run_silu,
    hx_timing_run_silu_hvx, hx_timing_run_add, hx_timing_run_add_hvx, hx_timing_run_attend, hx_timing_run_row_sums,
    hx_timing_run_stage;

#endif
