/* Makes the block's calibrated tables from a model's own K and V.
 *
 * Data: K (after RoPE, or rotated back to before it) and V of an f32 run over the first HX_CAL_WINDOWS windows of
 * HX_CAL_CTX ids of a text (fewer when the text is shorter), each in a fresh context.  Per slot = (layer, KV head, K or V),
 * over n vectors:
 *   vht2, vht2w  skeleton = the n_skel squarefree indices of largest variance among the coefficients (lower index among
 *                equals), ascending; W = (S^T S + 1e-4 n I)^-1 S^T T, S = [n][n_skel] skeletons rounded to fp16, T = [n][rows]
 *                the coefficients that the basis predicts; fp16.
 *   klt          mean; principal directions of the centred vectors by falling variance, the first entry of each that
 *                exceeds 1e-12 positive; scale of a residual lane = square root of its standard deviation, at least
 *                1/64 of the first lane's; fp16.
 * The same model file and text give the same tables on one machine; klt may differ in last bits between machines, as its
 * eigensolver (LAPACK) rounds by CPU.  What the tables are for: docs/block.md,
 * "Encode" and "Calibration". */
#ifndef HX_CALIBRATE_H
#define HX_CALIBRATE_H

#include "cal_file.h"
#include "model/model.h"
#include "base/error.h"

enum {
    HX_CAL_WINDOWS = 120,
    HX_CAL_CTX = 128,
    HX_CAL_MIN_VECTORS = 24, /* per slot; of klt one more than it has directions in a block, or the last ones were none */
};

/* What to make.  Zeroes are basis vht2, code sign, K before RoPE, as many lanes as published. */
struct hx_cal_cfg {
    uint32_t basis, code;
    int k_after_rope;
    size_t n_skel, n_res;
};

/* 0, -ENOMEM, -EINVAL (a dh or lanes that blocks have not, a text that is too short for HX_CAL_MIN_VECTORS or for klt's
 * directions), -EDOM (values that cannot be fitted, or that hx_forward_run() refuses), -ELIBACC (klt: LAPACK cannot be loaded). */
int hx_calibrate(struct hx_cal **out, const struct hx_model *m, const struct hx_cal_cfg *cfg,
                 const uint32_t *ids, size_t n_ids, struct hx_error *err);

/* The same from a text file. */
int hx_calibrate_text(struct hx_cal **out, const struct hx_model *m, const struct hx_cal_cfg *cfg,
                      const char *path, struct hx_error *err);

/* Hands fn each K and V vector that a calibration on ids looks at; those of a slot in the order of their
 * positions.  Calibrate and `block stats` use it.
 * x: [dh], K before RoPE unless k_after_rope; borrowed for the call.  *n_vectors: per slot. */
typedef void hx_cal_visit_fn(void *arg, size_t slot, const float *x);
int hx_cal_visit(const struct hx_model *m, int k_after_rope, const uint32_t *ids, size_t n_ids,
                 hx_cal_visit_fn *fn, void *arg, size_t *n_vectors, struct hx_error *err);

#endif
