/* Classes whose matrices are on the DSP (--offload linear): gate, images and weights are there, and all of it is one call for the matrices
 * of a class (hex_linear.idl, `gated`).  Weights and images are int8 as method dsp has them, bases f16.  Bases grow there. */
#ifndef HX_GSI_ON_DSP_H
#define HX_GSI_ON_DSP_H

#include "classes.h"

struct hx_gsi_dsp {
    struct hx_linear_method *method; /* NULL: nothing is there */
    struct hx_linear *basis;         /* [classes] V^T [room][cols] */
    struct hx_linear *image;         /* [parts] W V [rows][room] */
    uint32_t *number;                /* [parts] of those there: which the DSP calls them */
};

/* Takes over all of the set that is on the DSP: a class's whole matrices, its basis and images; the output matrix.  Sets the bytes of what
 * is there.  placement, packets: as hx_linear_dsp_open(), whose errors these are; -ENOMEM.  d: zeroed; in any case to be closed. */
int hx_gsi_dsp_open(struct hx_gsi_dsp *d, struct hx_gsi_classes *c, const struct hx_linear_set *set, uint32_t placement, int packets,
                    struct hx_error *err);

/* Accepts zeros. */
void hx_gsi_dsp_close(struct hx_gsi_dsp *d);

/* Some matrices of a class. */
struct hx_gsi_dsp_call {
    const struct hx_gsi_classes *classes;
    const size_t *parts; /* [n_m] indices */
    size_t n_m;
    double eps;          /* INFINITY: there is no gate */
    size_t most;         /* directions that the class may have behind the call */
};

/* y[m] for n vectors, and paths[i], the one that each took (enum hx_linear_path).  0; -EIO. */
int hx_gsi_dsp_apply(const struct hx_gsi_dsp *d, const struct hx_gsi_dsp_call *call, float *const *y, const float *x, size_t n,
                     uint32_t *paths, struct hx_error *err);

#endif
