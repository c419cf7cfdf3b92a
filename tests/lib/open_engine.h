/* An engine that opens and runs, or the current test fails with the engine's own reason. */
#ifndef OPEN_ENGINE_H
#define OPEN_ENGINE_H

#include "engine/engine.h"
#include "hxt.h"

/* For hx_engine_cfg.settings; the first NULL ends them.  They live as long as the block. */
#define HXT_SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Settings of the reference: plain fp32, one thread. */
#define HXT_REF "linear=ref", "attn=ref"

/* "name=value", as long as hxt_path() lives; value NULL: NULL. */
static inline const char *hxt_setting(const char *name, const char *value)
{
    return value ? hxt_path("%s=%s", name, value) : NULL;
}

static inline struct hx_engine *hxt_engine_open(const struct hx_engine_cfg *cfg)
{
    struct hx_engine *e = NULL;
    struct hx_error err;

    if (hx_engine_open(&e, cfg, &err))
        fail_msg("%s", err.text);
    return e;
}

static inline void run(struct hx_engine *e, const uint32_t *ids, size_t n, size_t pos)
{
    struct hx_error err;

    if (hx_engine_run(e, ids, n, pos, &err))
        fail_msg("%s", err.text);
}

/* A figure that it reports: KEY of the object `of`. */
static inline double hxt_reported(const struct hx_engine *e, const char *of, const char *key)
{
    json_t *j = json_object();
    double x;

    assert_int_equal(hx_engine_report(e, j), 0);
    x = json_number_value(json_object_get(json_object_get(j, of), key));
    json_decref(j);
    return x;
}

#endif
