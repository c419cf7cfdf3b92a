/* Options of the commands with an engine: which model, which methods, which rig.
 *
 * The methods' options are the plan's (host/engine/plan.h), so this table is made from the list of methods when it is first
 * asked for.  A command makes hx_engine_argp() a child of its own, with a struct hx_engine_opts as the child's input. */
#ifndef HX_ENGINE_OPTS_H
#define HX_ENGINE_OPTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/watch.h"
#include "cli/opt.h"
#include "cpu_opts.h"
#include "engine/engine.h"
#include "rig_time.h"

enum { HX_MAX_FILTERS = 16 };

struct hx_shard;

struct hx_engine_opts {
    const char *cmd;          /* for messages */
    unsigned flags;           /* enum hx_plan_flag: what the command can do */
    struct hx_plan *plan;     /* resolved by hx_engine_opts_done() */
    const char *model;        /* path; the shipped one unless another was given */
    size_t n_ctx, n_ctx_most, max_batch, threads; /* as in struct hx_engine_cfg */
    const char *profile, *front_end;              /* NULL: not given */
    const char *filters[HX_MAX_FILTERS];
    size_t n_filters;
    struct hx_rig_time time;
    struct hx_cpu_opts cpus;
    int json;
    char kv_why[256];       /* kv_auto.h: why this cache; "": it was named, or it is the default as ever */
    struct hx_shard *shard; /* crt_shard.h */
    struct hx_watch watch;  /* the command's terminal */
    char *share;            /* share/hexrig of this installation */
    char *default_model;
};

/* Once, before parsing; flags: enum hx_plan_flag.  Returns an enum hx_exit. */
int hx_engine_opts_init(struct hx_engine_opts *o, const char *cmd, unsigned flags);

/* The child parser, with the options that this command has; after hx_engine_opts_init().  A process has one such command. */
const struct argp *hx_engine_argp(const struct hx_engine_opts *o);

/* Gives the plan a setting that the command has by itself; nothing when it was given.  Returns an enum hx_exit. */
int hx_engine_opts_default(struct hx_engine_opts *o, const char *name, const char *value);

/* Resolves the plan and fills in the rest.  Returns an enum hx_exit; a message is printed when not 0. */
int hx_engine_opts_done(struct hx_engine_opts *o);

/* Configures the rig if the plan needs one.  Once per process.  Returns an enum hx_exit. */
int hx_engine_opts_prepare(struct hx_engine_opts *o);

/* The same, then opens the engine.  Returns an enum hx_exit. */
int hx_engine_opts_open(struct hx_engine_opts *o, struct hx_engine **e);

/* For hx_engine_open(). */
struct hx_engine_cfg hx_engine_opts_cfg(const struct hx_engine_opts *o);

void hx_engine_opts_free(struct hx_engine_opts *o);

/* Adds what every report of a command with an engine has: the methods and what they say about themselves, and which rig,
 * if any, has counted.  Returns j, or NULL, then released: out of memory. */
json_t *hx_engine_opts_report(const struct hx_engine_opts *o, const struct hx_engine *e, json_t *j);

/* The same of several engines that came and went, without what methods say about themselves.  n_layer: of their model. */
json_t *hx_engine_opts_report_plan(const struct hx_engine_opts *o, size_t n_layer, json_t *j);

#endif
