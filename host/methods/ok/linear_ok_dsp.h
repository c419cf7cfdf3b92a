/* Sums of planes on the DSP, through interface ok_linear: the weights are handed over once, as one buffer of shared memory,
 * integers go there and int64 sums come back. */
#ifndef HX_LINEAR_OK_DSP_H
#define HX_LINEAR_OK_DSP_H

#include "engine/linear.h"
#include "ok_planes.h"

struct hx_ok_dsp;

/* Those of the n matrices whose `wanted` is 1; opens ok_linear on the CDSP in an unsigned PD.
 * packets: 1: calls go as packets (dsp/packets.h).  0; -EINVAL: too large; -ENOMEM; -EIO: the DSP refused something. */
int hx_ok_dsp_open(struct hx_ok_dsp **out, const struct hx_ok_planes *planes, const uint8_t *wanted,
                   size_t n, int packets, struct hx_error *err);

/* Accepts NULL. */
void hx_ok_dsp_close(struct hx_ok_dsp *d);

/* Sums of n vectors x [n][stride] with each plane of n_m matrices, which have their columns in common; `index` of w is the
 * index in hx_ok_dsp_open()'s list.  *sums: matrix after matrix [n][planes][rows], valid until the next call. */
int hx_ok_dsp_sums(struct hx_ok_dsp *d, const struct hx_linear *const *w, size_t n_m,
                   const int32_t *x, size_t stride, size_t n, const int64_t **sums,
                   struct hx_error *err);

#endif
