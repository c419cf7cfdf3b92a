/* An engine that opens and runs, or the current test fails with the engine's own reason. */
#ifndef OPEN_ENGINE_H
#define OPEN_ENGINE_H

#include "engine/engine.h"
#include "hxt.h"

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

#endif
