/* The DSP's side of a cache of spinor blocks: interface sp_hex, opened, with the calibrated tables. */
#ifndef HX_KV_SPINOR_DSP_H
#define HX_KV_SPINOR_DSP_H

#include "cal_file.h"
#include "dsp/skel.h"
#include "model/model.h"
#include "sp_hex.h"
#include "base/error.h"

/* -EINVAL: cal is of another model than m. */
int hx_spinor_check_cal(const struct hx_model *m, const struct hx_cal *cal, struct hx_error *err);

/* Opens sp_hex on the CDSP in an unsigned PD and hands it the tables (borrowed for the call), whose CRC-32 it must return.
 * packets: 1: what is called later goes as packets (dsp/packets.h).
 * 0; -EINVAL (tables too long for a call) or what hx_skel_open() returns, with a reason.  hx_skel_close() also after an error. */
int hx_spinor_dsp_open(struct hx_skel *d, const struct hx_cal *cal, int packets, struct hx_error *err);

#endif
