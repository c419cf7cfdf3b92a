/* How far the states at each layer's input spread over a text. */
#ifndef HX_VARIANCE_H
#define HX_VARIANCE_H

#include "methods/moments/text_pass.h"

/* variance [n_layer]: the mean of |h - mean h|^2 / width over the pass' states before each layer.  0; -ENOMEM; others as
 * hx_text_pass_run(). */
int hx_variances(const struct hx_text_pass *pass, double *variance, struct hx_error *err);

#endif
