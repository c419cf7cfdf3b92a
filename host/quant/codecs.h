/* The functions that the table of number formats (table.c) lists: one pair per type. */
#ifndef HX_QUANT_CODECS_H
#define HX_QUANT_CODECS_H

#include "quant.h"

typedef void hx_widen_fn(float *out, const void *blocks, size_t n);
typedef void hx_narrow_fn(void *blocks, const float *x, size_t n);

hx_widen_fn hx_widen_f32, hx_widen_f16, hx_widen_bf16;
hx_widen_fn hx_widen_q4_0, hx_widen_q4_1, hx_widen_q5_0, hx_widen_q5_1, hx_widen_q8_0;
hx_widen_fn hx_widen_iq4_nl;
hx_widen_fn hx_widen_q2_k, hx_widen_q3_k, hx_widen_q4_k, hx_widen_q5_k, hx_widen_q6_k;

hx_narrow_fn hx_narrow_f32, hx_narrow_f16, hx_narrow_q4_0, hx_narrow_q5_0, hx_narrow_q8_0, hx_narrow_q4_k, hx_narrow_q6_k;

#endif
