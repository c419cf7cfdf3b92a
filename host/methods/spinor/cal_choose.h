/* Finds or makes the calibration of a model for the spinor caches. */
#ifndef HX_CAL_CHOOSE_H
#define HX_CAL_CHOOSE_H

#include "cal_file.h"
#include "engine/method.h"

/* Which one: --cal; else made by --calibrate-on; else the model's path with .gguf replaced by .cal, if that file exists; else
 * the shipped one of that basis and that K, if it is of this model; else -ENOENT, saying what to do.  A model that came from
 * no file, as geometries do, gets tables of noise.  attn: 1: where neither --cal nor --k-rope says so, K after RoPE.
 * -EINVAL: basis or k-rope is not the file's.  *out belongs to the caller.  0 or negative errno with a reason. */
int hx_cal_choose(struct hx_cal **out, const struct hx_open *o, int attn, struct hx_error *err);

#endif
