/* The engine as commands, the C API and tests use it: a plan's methods put together around one forward pass.
 *
 * An engine has a core (model, threads, matrices: core.h), its own or one that it shares with other engines, and a cache, an
 * attention method, a drafter and taps of its own.  Where the plan needs a rig, opening connects to one
 * (rpc/include/hx_rig.h); set that up before. */
#ifndef HX_ENGINE_H
#define HX_ENGINE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "attn.h"
#include "base/error.h"
#include "core.h"
#include "draft.h"
#include "forward.h"
#include "kv.h"
#include "plan.h"
#include "tap.h"

/* NULL and 0 mean the default.  Strings are borrowed for the call. */
struct hx_engine_cfg {
    const struct hx_plan *plan;          /* resolved; kept until the engine is closed.  NULL: made of `settings` */
    const char *const *settings;         /* "name=value" or "name", NULL-terminated, of a plan that the engine makes */
    const char *model;                   /* path; needed, unless `share_with` or `core` is set */
    const struct hx_engine *share_with;  /* use this engine's core; it must be closed after this one, and the two must not
                                          * run at the same time.  The plan's linear methods must be the same */
    struct hx_core *core;                /* likewise, of no engine */
    const char *share;                   /* folder of shipped calibrations */
    size_t threads;                      /* that compute; default: the CPUs that this process may use */
    struct hx_pager_how paging;          /* with --page-weights, or a cache that is paged */
    const struct hx_watch *watch;        /* who is told of what takes long (base/watch.h), of an engine with its own core */
    size_t n_ctx;                        /* positions; default: the model's context length */
    size_t n_ctx_most;                   /* of that default; 0 = no limit */
    size_t max_batch;                    /* tokens per run; default 512 */
    struct hx_tap *tap;                  /* behind the plan's; stays the caller's, and is to change nothing.  NULL: none */
};

enum { HX_ENGINE_TAPS = HX_PLAN_TAPS + 3 }; /* the plan's, the drafter's, the configuration's, and one that is added */

struct hx_engine {
    const struct hx_model *model; /* the core's */
    struct hx_core *core, *own_core;
    const struct hx_plan *plan;
    struct hx_plan *own_plan;
    struct hx_kv *kv;
    struct hx_attn *attn;
    struct hx_draft *draft;
    struct hx_tap *taps[HX_PLAN_TAPS + 1]; /* the plan's; NULL-terminated */
    struct hx_tap *seen_by[HX_ENGINE_TAPS + 1]; /* and behind them those of others; likewise */
    struct hx_forward *forward;
    int argmax;  /* 1: greedy choices are made on the DSP, without logits */
    size_t last; /* index in the last batch of the last token that hx_engine_run() ran */
};

/* 0 or negative errno with a reason. */
int hx_engine_open(struct hx_engine **out, const struct hx_engine_cfg *cfg, struct hx_error *err);

/* One more tap, behind all others, from the next run on; it stays the caller's, until the engine is finished or closed, and may change
 * what it sees.  0; -ENOSPC; -ENOTSUP: the cache does whole layers, in which nothing is seen. */
int hx_engine_add_tap(struct hx_engine *e, struct hx_tap *tap, struct hx_error *err);

/* Ends the taps and the drafter's work: their files are complete then.  No run may follow.  0, or the first failure with its reason. */
int hx_engine_finish(struct hx_engine *e, struct hx_error *err);

/* Without hx_engine_finish() before it: the work was not done, and taps leave no file.  Accepts NULL. */
void hx_engine_close(struct hx_engine *e);

/* Runs any number of tokens (>= 1) from position pos on, in as few batches as the cache allows. */
int hx_engine_run(struct hx_engine *e, const uint32_t *tokens, size_t n, size_t pos,
                  struct hx_error *err);

/* What tokens of a batch cost beside the first.  With a rig nothing: its calls are what a pass takes, and a batch has those of a token. */
struct hx_batch_cost hx_engine_batch_cost(const struct hx_engine *e);

/* Logits after the last token of the last run.  out: [vocab].  0, or -EDOM as hx_forward_logits(). */
int hx_engine_logits(struct hx_engine *e, float *out, struct hx_error *err);

/* Adds the plan (hx_plan_report()) and what its methods report about themselves.  0 or -ENOMEM. */
int hx_engine_report(const struct hx_engine *e, json_t *report);

#endif
