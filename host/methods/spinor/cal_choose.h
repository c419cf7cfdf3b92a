/* Finds or makes the calibration of a model: see hx_engine_open(). */
#ifndef HX_CAL_CHOOSE_H
#define HX_CAL_CHOOSE_H

#include "cal_file.h"
#include "engine/engine.h"

/* Of cfg: model, cal, calib, basis, k, share.  *out belongs to the caller.  0 or negative errno with a reason. */
int hx_cal_choose(struct hx_cal **out, const struct hx_model *m, const struct hx_engine_cfg *cfg,
                  struct hx_error *err);

#endif
