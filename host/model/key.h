/* Keys of a model file under its architecture's prefix: "NAME" below is the key "ARCHITECTURE.NAME".  Used while a model is
 * opened, from m->arch on. */
#ifndef HX_MODEL_KEY_H
#define HX_MODEL_KEY_H

#include <stddef.h>

#include "model.h"
#include "base/error.h"

enum { HX_MAX_LAYERS = 4096, HX_MAX_DIM = 1 << 24, HX_MAX_HEAD = 1 << 16 };

enum { HX_KEY_BYTES = 128 };

/* The whole key, written to `key`; returns that. */
const char *hx_model_key(const struct hx_model *m, const char *name, char key[HX_KEY_BYTES]);

int hx_model_has_key(const struct hx_model *m, const char *name);

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

#endif
