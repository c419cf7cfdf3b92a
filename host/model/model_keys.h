/* Keys of a model file under its architecture's prefix: "NAME" below is the key "ARCHITECTURE.NAME".  Used while a model is
 * opened. */
#ifndef HX_MODEL_KEYS_H
#define HX_MODEL_KEYS_H

#include <stddef.h>

#include "model.h"
#include "base/error.h"

enum { HX_MAX_LAYERS = 4096, HX_MAX_DIM = 1 << 24, HX_MAX_HEAD = 1 << 16 };

/* A positive integer.  -ENOENT: no such key; -EINVAL: no integer, 0, or above max. */
int hx_model_need_u32(const struct hx_model *m, const char *name, size_t max, size_t *out,
                      struct hx_error *err);

/* The same for a key that may be missing: then *out = missing. */
int hx_model_u32(const struct hx_model *m, const char *name, size_t max, size_t missing,
                 size_t *out, struct hx_error *err);

/* A positive, finite number. */
int hx_model_need_f32(const struct hx_model *m, const char *name, float *out, struct hx_error *err);
int hx_model_f32(const struct hx_model *m, const char *name, float missing, float *out,
                 struct hx_error *err);

/* All that is no tensor: m->arch, geometry, scales, m->rope.  m->file is open. */
int hx_model_read_keys(struct hx_model *m, struct hx_error *err);

#endif
