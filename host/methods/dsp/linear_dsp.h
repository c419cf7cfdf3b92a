/* Linear layers on the DSP, through interface hex_linear: int8 weights, activations quantised to int8 there.
 *
 * At open the chosen matrices are packed into one buffer of shared memory (linear_pack.h), which is handed over once by
 * its descriptor; a call then names matrices.  q, k and v of a layer are one call, gate and up another, whatever the
 * number of vectors up to what a buffer of 16 MiB takes.  Results do not depend on placement, calls or batches. */
#ifndef HX_LINEAR_DSP_H
#define HX_LINEAR_DSP_H

#include "model/model.h"

struct hx_linear_dsp_cfg {
    uint32_t set;      /* bits of enum hx_offload */
    uint32_t placement; /* index into hx_offload_placements */
};

/* Moves matrices of m to the DSP (their `ops`), until close; opens hex_linear on the CDSP in an unsigned PD.
 * 0; -EINVAL: a matrix or all of them are too large; -ENOMEM; -EIO: the DSP refused something. */
int hx_linear_dsp_open(struct hx_linear_method **out, struct hx_model *m,
                       const struct hx_linear_dsp_cfg *cfg, struct hx_error *err);

#endif
