/* Bases and images of all classes, out of a text.
 *
 * C = sum of x x^T over what the text puts into a class's matrices (methods/moments), not centred.  The basis is its first k eigenvectors,
 * which are the first right singular vectors of those inputs; the images are W V.  The effective rank is exp of the entropy of
 * sigma_i / sum of sigma, sigma the inputs' singular values; of inputs wider than HX_GSI_WHOLE only the first eigenvectors are looked for
 * (hx_eigen_top()), and it is not known.  Or bases go from layer to layer (cascade.h), over the first vectors of the text.
 * Source: the published Gated Subspace Inference, with a basis for each input in place of one for a layer. */
#ifndef HX_GSI_CALIBRATE_H
#define HX_GSI_CALIBRATE_H

#include "classes.h"

enum { HX_GSI_WHOLE = 1024, HX_GSI_STEPS = 3 };

struct hx_gsi_source {
    const char *text; /* file */
    int cascade;
    double eps;       /* of a cascade */
};

/* Fills the classes' bases, images and figures; threads are o's.  *vectors: of the text, of each input.
 * 0; -EINVAL: the text has fewer vectors than the rank; -EDOM: a weight is infinite or no number (it is named), or there are no
 * eigenvectors; -ELIBACC: no LAPACK; -ENOMEM; what the text cannot be read or run for. */
int hx_gsi_calibrate(struct hx_gsi_classes *c, const struct hx_open *o, const struct hx_gsi_source *from, size_t *vectors,
                     struct hx_error *err);

#endif
