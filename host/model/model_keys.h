/* All that a model file says beside its tensors and vocabulary. */
#ifndef HX_MODEL_KEYS_H
#define HX_MODEL_KEYS_H

#include "model.h"
#include "base/error.h"

/* Reads m->arch (one of archs, NULL-terminated), geometry, scales, m->rope.  m->file is open.  Errors as hx_model_open(). */
int hx_model_read_keys(struct hx_model *m, const struct hx_arch *const *archs, struct hx_error *err);

#endif
