/* Linear method `native`: matrices that live in k dimensions (native.h), y = B_out (C (B_in^T x)).
 *
 * The three of a matrix are applied by method cpu, by the reference, or, those that are `on_dsp`, by method dsp, there all three of all
 * matrices with one input in one call; so rounding, threads and batches are theirs, and a result depends on nothing but its own vector. */
#ifndef HX_LINEAR_NATIVE_H
#define HX_LINEAR_NATIVE_H

#include "fits.h"

struct hx_native_cfg {
    size_t k;           /* dimensions; a matrix with fewer rows or columns has as many as those */
    const char *file;   /* of matrices in k dimensions, which it has instead; NULL: the best of k are made */
    const char *text;   /* file that they are the best of; NULL: of the weights alone */
    uint32_t format;    /* enum hx_quant: F32, F16 or Q8_0 */
    int reference;      /* 1: by the reference in place of method cpu */
    uint32_t placement; /* of what is on the DSP: index of hx_placements */
    int packets;        /* likewise: 1: calls go as packets */
    int shapes_alone;   /* 1: there are no weights: all is 0, and layers have that of one in common */
};

/* Takes over the set's matrices but the output matrix, or those that the file has; others are applied as above.  o: its model, pool and
 * watch are used.  0; -EINVAL: a k that does not go into blocks of the format, the file, nothing to take; others as hx_native_fits_each(),
 * hx_native_fits_weigh(), hx_linear_dsp_open(). */
int hx_linear_native_open(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                          const struct hx_native_cfg *cfg, struct hx_error *err);

/* What an open method has, borrowed until close; its matrices are there in the format alone. */
const struct hx_native_fits *hx_linear_native_fits(const struct hx_linear_method *method);

struct hx_native_told {
    uint64_t bytes, raw, same_format; /* that a token reads: of the three, of the matrices in the file, of those in the format */
    uint64_t params, raw_params;
    size_t vectors;                   /* of the text */
};
struct hx_native_told hx_linear_native_told(const struct hx_linear_method *method);

#endif
