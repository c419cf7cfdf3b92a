/* Classes whose matrices are on the DSP (--offload linear), as int8 by method dsp: the gate is here, and each path is one call for all
 * matrices of the class, hex_linear_project or hex_linear_apply.  Bases there are those of open, and do not grow. */
#ifndef HX_GSI_ON_DSP_H
#define HX_GSI_ON_DSP_H

#include "classes.h"

struct hx_gsi_dsp {
    struct hx_linear_method *method; /* NULL: nothing is there */
    struct hx_linear *down;          /* [classes] V^T [k][cols] */
    struct hx_linear *up;            /* [parts] W V [rows][k] */
};

/* Takes over all of the set that is on the DSP: a class's whole matrices, its basis and images; the output matrix.  placement, packets: as
 * hx_linear_dsp_open(), whose errors these are; -ENOMEM.  d: zeroed; in any case to be closed. */
int hx_gsi_dsp_open(struct hx_gsi_dsp *d, struct hx_gsi_classes *c, const struct hx_linear_set *set, uint32_t placement, int packets,
                    struct hx_error *err);

/* Accepts zeros. */
void hx_gsi_dsp_close(struct hx_gsi_dsp *d);

/* y[m] = (W V) V^T x of n_m parts of a class, for n vectors.  parts: their indices.  0; -EIO. */
int hx_gsi_dsp_images(const struct hx_gsi_dsp *d, size_t class, const size_t *parts, size_t n_m, float *const *y, const float *x, size_t n,
                      struct hx_error *err);

#endif
