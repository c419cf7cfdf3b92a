/* The DSP's side of a cache of spinor blocks: interface sp_hex, opened, with the calibrated tables. */
#ifndef HX_KV_SPINOR_DSP_H
#define HX_KV_SPINOR_DSP_H

#include "cal_file.h"
#include "model/model.h"
#include "sp_hex.h"
#include "base/error.h"

struct hx_spinor_dsp {
    remote_handle64 handle;
    int opened;
    char node[256]; /* the device, for messages */
};

/* -EINVAL: cal is of another model than m. */
int hx_spinor_check_cal(const struct hx_model *m, const struct hx_cal *cal, struct hx_error *err);

/* Opens sp_hex on the CDSP in an unsigned PD and hands it the tables (borrowed for the call), whose CRC-32 it must return.
 * 0; -EINVAL (tables too long for a call), -EIO or what hx_rig_connect() returns, with a reason. */
int hx_spinor_dsp_open(struct hx_spinor_dsp *d, const struct hx_cal *cal, struct hx_error *err);

/* Also after a failed open, or of a zeroed *d. */
void hx_spinor_dsp_close(struct hx_spinor_dsp *d);

#endif
