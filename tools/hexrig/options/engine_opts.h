/* Options that every command with an engine understands (run, ppl, block calibrate): which model, which cache, which
 * rig.  One long-option table, one parser, one help text. */
#ifndef HX_ENGINE_OPTS_H
#define HX_ENGINE_OPTS_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cmd.h"
#include "engine/engine.h"
#include "exact_opts.h"
#include "rig_time.h"

enum { HX_MAX_FILTERS = 16, HX_MAX_TOKENS = 1 << 20 };

/* Values of struct option.val for options without a short name; commands number their own from HX_OPT_FREE on. */
enum {
    HX_OPT_KV = 0x100,
    HX_OPT_DENSITY,
    HX_OPT_CAL,
    HX_OPT_CALIB,
    HX_OPT_BASIS,
    HX_OPT_K,
    HX_OPT_OFFLOAD,
    HX_OPT_PLACEMENT,
    HX_OPT_LINEAR,
    HX_OPT_ATTN,
    HX_OPT_THREADS,
    HX_OPT_CTX,
    HX_OPT_PROFILE,
    HX_OPT_FRONT_END,
    HX_OPT_FILTER,
    HX_OPT_TIME,
    HX_OPT_HOST_US,
    HX_OPT_FARF,
    HX_OPT_JSON,
    HX_OPT_FREE
};

/* For the command's own table of struct option. */
#define HX_ENGINE_OPTIONS                                                                          \
    {"model", required_argument, NULL, 'm'}, {"kv", required_argument, NULL, HX_OPT_KV},           \
        {"density", required_argument, NULL, HX_OPT_DENSITY},                                      \
        {"cal", required_argument, NULL, HX_OPT_CAL},                                              \
        {"calib", required_argument, NULL, HX_OPT_CALIB},                                          \
        {"basis", required_argument, NULL, HX_OPT_BASIS},                                          \
        {"k", required_argument, NULL, HX_OPT_K},                                                  \
        {"ctx", required_argument, NULL, HX_OPT_CTX},                                              \
        {"profile", required_argument, NULL, HX_OPT_PROFILE},                                      \
        {"front-end", required_argument, NULL, HX_OPT_FRONT_END},                                  \
        {"filter", required_argument, NULL, HX_OPT_FILTER},                                        \
        {"time", required_argument, NULL, HX_OPT_TIME},                                            \
        {"host-us", required_argument, NULL, HX_OPT_HOST_US},                                      \
        {"farf", optional_argument, NULL, HX_OPT_FARF},                                            \
        {"json", no_argument, NULL, HX_OPT_JSON}, {"help", no_argument, NULL, 'h'}

/* And of commands that compute with a whole model. */
#define HX_COMPUTE_OPTIONS                                                                         \
    {"linear", required_argument, NULL, HX_OPT_LINEAR},                                            \
        {"attn", required_argument, NULL, HX_OPT_ATTN},                                            \
        {"threads", required_argument, NULL, HX_OPT_THREADS},                                      \
        {"offload", required_argument, NULL, HX_OPT_OFFLOAD}, HX_EXACT_OPTIONS,                     \
    {                                                                                              \
        "placement", required_argument, NULL, HX_OPT_PLACEMENT                                     \
    }
#define HX_COMPUTE_HELP                                                                            \
    "      --linear METHOD      how matrices are applied (" HX_LINEARS ")\n"                           \
    "      --attn METHOD        how attention is computed (" HX_ATTNS ")\n"                            \
    "      --threads N          that compute (the CPUs that this process may use)\n"               \
    "      --offload LIST       what runs on the DSP: linear (all matrices as int8), linear=NAME,...\n" \
    "                           (wq wk wv wo gate up down out), argmax, attn (attention where the\n" \
    "                           blocks are), kv (the cache; spinor's always is)\n"                 \
    "      --placement P        ddr | vtcm | dma: where offloaded weights lie while the DSP works:\n" \
    "                           read from memory, fetched per call, streamed (dma)\n"               \
    HX_EXACT_HELP

/* Their help, without -m, --ctx and --json, whose defaults differ. */
#define HX_ENGINE_HELP                                                                             \
    "      --kv f32|spinor|ntt  K and V cache (spinor: 63-byte blocks coded by the DSP; ntt: K as\n" \
    "                           transforms)\n"                                                   \
    "      --density D          per-vector | per-layer | batched | per-token | queue: how work is\n"  \
    "                           cut into calls (batched)\n"                                       \
    "      --cal FILE           calibration of the blocks (beside the model, or the shipped one)\n" \
    "      --calib TEXT         calibrate on a text file at start instead\n"                       \
    "      --basis B            vht2 | vht2w | klt: what blocks hold (klt, or as in --cal)\n"      \
    "      --k before|after     K coded before or after RoPE (before, or as in --cal)\n"           \
    "      --profile P          cost profile of a private rig, name or path (s22u-577)\n"          \
    "      --front-end F        " HX_FRONT_ENDS ": of a private rig (auto)\n"                      \
    "      --filter SPEC        filter of a private rig, name:key=value,...; repeatable\n" \
    HX_RIG_TIME_HELP

/* Methods in help texts; the engine has the tables. */
#define HX_LINEARS "cpu | ref: plain fp32 | ok: exact integers"
#define HX_ATTNS "flash | ref: plain fp32 | poly: exact integers"

struct hx_engine_opts {
    const char *cmd;          /* for messages */
    struct hx_engine_cfg cfg; /* model, kv and density are set after hx_engine_opts_done() */
    struct hx_exact_opts exact;
    const char *placement;                 /* NULL: not given */
    const char *profile, *front_end;       /* NULL: not given */
    const char *filters[HX_MAX_FILTERS];
    size_t n_filters;
    struct hx_rig_time time;
    int farf; /* --farf was given */
    int json;
    char *share;          /* share/hexrig of this installation */
    char *default_model;
};

/* Handles option c of the table above with optarg `arg`.  0; HX_EXIT_USAGE after a message, also for c == '?'. */
int hx_engine_opt(struct hx_engine_opts *o, int c, const char *arg);

/* Fills defaults and checks what options say together.  Returns an enum hx_exit; a message is printed when not 0. */
int hx_engine_opts_done(struct hx_engine_opts *o);

/* Configures the rig if the cache needs one.  Once per process.  Returns an enum hx_exit. */
int hx_engine_opts_prepare(const struct hx_engine_opts *o);

/* The same, then opens the engine.  Returns an enum hx_exit. */
int hx_engine_opts_open(const struct hx_engine_opts *o, struct hx_engine **e);

void hx_engine_opts_free(struct hx_engine_opts *o);

/* 1 when the chosen cache or something offloaded runs on a rig. */
int hx_engine_opts_rig(const struct hx_engine_opts *o);

/* 1 when the chosen cache holds blocks. */
int hx_engine_opts_blocks(const struct hx_engine_opts *o);

/* Numbers: 0, or HX_EXIT_USAGE after a message that names the option, the value and the range. */
int hx_opt_u64(const char *cmd, const char *option, const char *arg, uint64_t min, uint64_t max,
               uint64_t *out);
int hx_opt_size(const char *cmd, const char *option, const char *arg, size_t min, size_t max,
                size_t *out);
/* One of `names` (NULL-terminated); *out, if given, becomes its index. */
int hx_opt_name(const char *cmd, const char *option, const char *arg, const char *const *names,
                size_t *out);
int hx_opt_real(const char *cmd, const char *option, const char *arg, double min, double max,
                double *out);

#endif
