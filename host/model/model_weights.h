/* The tensors of a model file.  Used while a model is opened. */
#ifndef HX_MODEL_WEIGHTS_H
#define HX_MODEL_WEIGHTS_H

#include "model.h"
#include "base/error.h"

/* m->layers (the caller frees them, also after an error), m->embd, m->out and so on; m->rope.global.factors if the file has
 * some.  Geometry and vocabulary are there.  -ENOENT: a tensor is missing; -EINVAL: shape or type is wrong. */
int hx_model_load_weights(struct hx_model *m, struct hx_error *err);

#endif
