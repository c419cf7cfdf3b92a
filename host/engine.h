/* The engine as tools and tests use it: one model, one KV cache, one forward pass.
 *
 * With kv = "spinor" opening the engine connects to a rig (rpc/lib/hx_rig.h); set that up before. */
#ifndef HX_ENGINE_H
#define HX_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "forward.h"
#include "kv.h"
#include "model.h"
#include "why.h"

/* NULL and 0 mean the default.  Strings are borrowed for the call. */
struct hx_engine_cfg {
    const char *model;   /* path, needed */
    const char *kv;      /* "f32" or "spinor" (default) */
    const char *density; /* of spinor: "per-vector" or "batched" (default) */
    const char *cal;     /* calibration file */
    const char *calib;   /* text to calibrate on at start; not together with cal */
    const char *share;   /* folder that holds the shipped hexrig-tiny.cal */
    size_t n_ctx;        /* positions; default: the model's context length */
    size_t max_batch;    /* tokens per run; default 512 */
};

struct hx_engine {
    struct hx_model *model;
    struct hx_kv *kv;
    struct hx_forward *forward;
    size_t last; /* index in the last batch of the last token that hx_engine_run() ran */
};

/* Names of the KV back ends, NULL-terminated. */
extern const char *const hx_engine_kvs[];

/* Which calibration spinor uses: cfg->cal; else made from cfg->calib; else the model's path with .gguf replaced by
 * .cal, if that file exists; else the shipped one, if it is of this model; else -ENOENT, saying what to do.
 * 0 or negative errno with a reason. */
int hx_engine_open(struct hx_engine **out, const struct hx_engine_cfg *cfg, struct hx_why *why);

/* Accepts NULL. */
void hx_engine_close(struct hx_engine *e);

/* Runs any number of tokens (>= 1) from position pos on, in as few batches as the cache allows. */
int hx_engine_run(struct hx_engine *e, const uint32_t *tokens, size_t n, size_t pos,
                  struct hx_why *why);

/* Logits after the last token of the last run.  out: [vocab].  0, or -EDOM as hx_forward_logits(). */
int hx_engine_logits(struct hx_engine *e, float *out, struct hx_why *why);

#endif
