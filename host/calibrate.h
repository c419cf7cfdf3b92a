/* Makes the block's calibrated tables from a model's own K and V.
 *
 * Data: K after RoPE and V of an f32 run over the first HX_CAL_WINDOWS windows of HX_CAL_CTX ids of a text (fewer when
 * the text is shorter), each in a fresh context.  Per slot = (layer, KV head, K or V), over n vectors:
 *   coefficients = VHT2 of the 128 values padded to 154 with their mean;
 *   skeleton = the 14 squarefree indices of largest variance (lower index among equals), ascending;
 *   W = (S^T S + 1e-4 n I)^-1 S^T T, S = [n][14] skeletons rounded to fp16, T = [n][60] the other coefficients; fp16.
 * The same model file and text give the same tables.  Source: SEEDS-MATH 2.1. */
#ifndef HX_CALIBRATE_H
#define HX_CALIBRATE_H

#include "cal_file.h"
#include "model.h"
#include "why.h"

enum {
    HX_CAL_WINDOWS = 120,
    HX_CAL_CTX = 128,
    HX_CAL_MIN_VECTORS = 24, /* per slot */
};

/* 0, -ENOMEM, -EINVAL (dh is not 128, text shorter than HX_CAL_MIN_VECTORS ids), -EDOM (values that cannot be fitted, or
 * that hx_forward_run() refuses). */
int hx_calibrate(struct hx_cal **out, const struct hx_model *m, const uint32_t *ids, size_t n_ids,
                 struct hx_why *why);

/* The same from a text file. */
int hx_calibrate_text(struct hx_cal **out, const struct hx_model *m, const char *path,
                      struct hx_why *why);

#endif
