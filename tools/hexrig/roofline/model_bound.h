/* The bandwidth ceiling of a run's decode, for its report. */
#ifndef HX_MODEL_BOUND_H
#define HX_MODEL_BOUND_H

#include "base/error.h"
#include "model/model.h"

/* Bytes of weights that a token's way through the model reads: all matrices of its layers and the output's, as the file has them. */
double hx_model_weight_bytes(const struct hx_model *m);

/* *tok_s is hx_roofline_tok_s() of these by the profile of this process's rig, without one by `profile` (NULL: the default one).  0:
 * that is a file which is not here, as a running rig's may be.  0 or a negative errno, when a shipped profile cannot be read. */
int hx_model_roofline(double *tok_s, const struct hx_model *m, const char *profile, struct hx_error *err);

#endif
