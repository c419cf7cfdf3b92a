/* Reading single keys of a model file, with the limits that keep what is computed from them in range. */
#include "key.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "engine/arch/arch.h"

const char *hx_model_key(const struct hx_model *m, const char *name, char key[HX_KEY_BYTES])
{
    snprintf(key, HX_KEY_BYTES, "%s.%s", m->arch->name, name);
    return key;
}

int hx_model_has_key(const struct hx_model *m, const char *name)
{
    char key[HX_KEY_BYTES];

    return hx_gguf_find(m->file, hx_model_key(m, name, key)) != NULL;
}

int hx_model_need_u32(const struct hx_model *m, const char *name, size_t max, size_t *out,
                      struct hx_error *err)
{
    char key[HX_KEY_BYTES];
    uint32_t v;
    int rc = hx_gguf_u32(m->file, hx_model_key(m, name, key), &v, err);

    if (rc)
        return rc;
    if (v == 0 || v > max)
        return hx_error_set(err, -EINVAL, "%s: %s is %u; 1 to %zu are legal", hx_gguf_name(m->file),
                            key, v, max);
    *out = v;
    return 0;
}

int hx_model_u32(const struct hx_model *m, const char *name, size_t max, size_t missing,
                 size_t *out, struct hx_error *err)
{
    if (hx_model_has_key(m, name))
        return hx_model_need_u32(m, name, max, out, err);
    *out = missing;
    return 0;
}

int hx_model_need_f32(const struct hx_model *m, const char *name, float *out, struct hx_error *err)
{
    char key[HX_KEY_BYTES];
    int rc = hx_gguf_f32(m->file, hx_model_key(m, name, key), out, err);

    if (!rc && !(isfinite(*out) && *out > 0))
        rc = hx_error_set(err, -EINVAL, "%s: %s is %g; it must be positive", hx_gguf_name(m->file),
                          key, (double)*out);
    return rc;
}

int hx_model_f32(const struct hx_model *m, const char *name, float missing, float *out,
                 struct hx_error *err)
{
    if (hx_model_has_key(m, name))
        return hx_model_need_f32(m, name, out, err);
    *out = missing;
    return 0;
}
