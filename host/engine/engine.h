/* The engine as tools and tests use it: one model, one KV cache, one forward pass, and the methods behind its seams.
 *
 * With kv = "spinor" or something to offload, opening the engine connects to a rig (rpc/include/hx_rig.h); set that up
 * before. */
#ifndef HX_ENGINE_H
#define HX_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "attn.h"
#include "forward.h"
#include "hx_block_codec.h"
#include "kv.h"
#include "methods/dsp/linear_dsp.h"
#include "model/model.h"
#include "methods/ntt/ring/poly.h"
#include "dsp/offload.h"
#include "methods/ok/linear_ok.h"
#include "base/pool.h"
#include "base/error.h"

/* NULL and 0 mean the default.  Strings are borrowed for the call. */
struct hx_engine_cfg {
    const char *model;   /* path; needed, unless `of` is set */
    const struct hx_engine *of; /* use this engine's model, linear methods and threads; it must be closed after this one,
                                 * and the two must not run at the same time */
    const char *linear;  /* one of hx_engine_linears; default the first */
    struct hx_ok_cfg ok; /* of linear "ok"; its dsp_set follows from offload */
    const char *attn;    /* one of hx_engine_attns; default the first */
    struct hx_poly_cfg poly; /* of attn "poly" and kv "ntt" */
    int softmax_int;     /* softmax of attn "ref" and "poly" by integer tables, softmax.h */
    size_t threads;      /* that compute; default: the CPUs that this process may use */
    const char *kv;      /* one of hx_engine_kvs; default the first */
    const char *density; /* of spinor: one of hx_kv_spinor_densities; default "batched" */
    const char *cal;     /* calibration file */
    const char *calib;   /* text to calibrate on at start; not together with cal */
    const char *basis;   /* of spinor: "vht2", "vht2w" or "klt"; default klt, or what the calibration file has */
    const char *k;       /* K coded "before" or "after" RoPE; default before, or what the calibration file has */
    const char *share;   /* folder that holds the shipped hexrig-tiny*.cal */
    uint32_t offload;    /* bits of enum hx_offload: what else runs on the DSP */
    uint32_t placement;  /* where its weights lie, index into hx_offload_placements */
    size_t n_ctx;        /* positions; default: the model's context length */
    size_t n_ctx_most;   /* of that default; 0 = no limit */
    size_t max_batch;    /* tokens per run; default 512 */
};

struct hx_engine {
    struct hx_model *model;
    struct hx_kv *kv;
    struct hx_pool *pool;
    struct hx_linear_method *linear;  /* NULL: the reference */
    struct hx_linear_method *offload; /* of the matrices that are on the DSP; NULL: none */
    struct hx_attn *attn;
    const struct hx_cpu_kernels *isa; /* of linear "cpu": the other steps use its kernels, too; NULL: the plain ones */
    int shared;                   /* 1: model, pool, linear and offload are another engine's */
    int argmax;                   /* 1: greedy choices are made on the DSP, without logits */
    struct hx_forward *forward;
    struct hx_codec_format block; /* of spinor's blocks; shape NULL with another cache */
    int k_after_rope;
    size_t last; /* index in the last batch of the last token that hx_engine_run() ran */
};

/* Names of the methods, NULL-terminated. */
extern const char *const hx_engine_kvs[], *const hx_engine_linears[], *const hx_engine_attns[];

/* Which calibration spinor uses: cfg->cal; else made from cfg->calib; else the model's path with .gguf replaced by
 * .cal, if that file exists; else the shipped one of that basis and k, if it is of this model; else -ENOENT, saying what
 * to do.  -EINVAL: basis or k is unknown or is not the file's.
 * 0 or negative errno with a reason. */
int hx_engine_open(struct hx_engine **out, const struct hx_engine_cfg *cfg, struct hx_error *err);

/* Accepts NULL. */
void hx_engine_close(struct hx_engine *e);

/* Runs any number of tokens (>= 1) from position pos on, in as few batches as the cache allows. */
int hx_engine_run(struct hx_engine *e, const uint32_t *tokens, size_t n, size_t pos,
                  struct hx_error *err);

/* Logits after the last token of the last run.  out: [vocab].  0, or -EDOM as hx_forward_logits(). */
int hx_engine_logits(struct hx_engine *e, float *out, struct hx_error *err);

#endif
