/* Options of the commands with an engine, see engine_opts.h. */
#include "engine_opts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crt_shard.h"
#include "hx_rig.h"
#include "methods/spinor/kv_spinor.h"
#include "methods/spinor/kv_spinor_attn.h"
#include "cli/share.h"

#define MODEL "hexrig-tiny-q8_0.gguf"

enum { MAX_CTX = 1 << 24, MAX_THREADS = 1024, DEFAULT_PLACEMENT = 2 /* of hx_offload_placements: dma */ };

int hx_opt_u64(const char *cmd, const char *option, const char *arg, uint64_t min, uint64_t max,
               uint64_t *out)
{
    char *end;
    unsigned long long v;

    errno = 0;
    v = strtoull(arg, &end, 10);
    if (*arg < '0' || *arg > '9' || *end || errno || v < min || v > max) {
        char legal[64];

        snprintf(legal, sizeof(legal), "integers from %llu to %llu", (unsigned long long)min,
                 (unsigned long long)max);
        return hx_cmd_bad_value(cmd, option, arg, legal);
    }
    *out = v;
    return 0;
}

int hx_opt_size(const char *cmd, const char *option, const char *arg, size_t min, size_t max,
                size_t *out)
{
    uint64_t v;
    int rc = hx_opt_u64(cmd, option, arg, min, max, &v);

    if (!rc)
        *out = v;
    return rc;
}

int hx_opt_real(const char *cmd, const char *option, const char *arg, double min, double max,
                double *out)
{
    char *end, legal[64];
    double v = strtod(arg, &end);

    if (end == arg || *end || !isfinite(v) || v < min || v > max) {
        snprintf(legal, sizeof(legal), "numbers from %g to %g", min, max);
        return hx_cmd_bad_value(cmd, option, arg, legal);
    }
    *out = v;
    return 0;
}

int hx_opt_name(const char *cmd, const char *option, const char *arg, const char *const *names,
                size_t *out)
{
    char legal[128] = "";

    for (size_t i = 0; names[i]; i++) {
        if (strcmp(names[i], arg) == 0) {
            if (out)
                *out = i;
            return 0;
        }
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%s", i ? ", " : "",
                 names[i]);
    }
    return hx_cmd_bad_value(cmd, option, arg, legal);
}

static int offload(struct hx_engine_opts *o, const char *arg)
{
    struct hx_error err;

    return hx_offload_parse(arg, &o->cfg.offload, &err)
               ? hx_cmd_usage(o->cmd, "--offload: %s", err.text)
               : 0;
}

static int placement(struct hx_engine_opts *o, const char *arg)
{
    size_t index = 0;
    int rc = hx_opt_name(o->cmd, "placement", arg, hx_offload_placements, &index);

    o->placement = arg;
    o->cfg.placement = (uint32_t)index;
    return rc;
}

int hx_engine_opt(struct hx_engine_opts *o, int c, const char *arg)
{
    const int exact = hx_exact_opt(&o->exact, o->cmd, c, arg);

    if (exact >= 0)
        return exact;
    switch (c) {
    case 'm':
        o->cfg.model = arg;
        return 0;
    case HX_OPT_KV:
        o->cfg.kv = arg;
        return hx_opt_name(o->cmd, "kv", arg, hx_engine_kvs, NULL);
    case HX_OPT_DENSITY:
        o->cfg.density = arg;
        return hx_opt_name(o->cmd, "density", arg, hx_kv_spinor_densities, NULL);
    case HX_OPT_CAL:
        o->cfg.cal = arg;
        return 0;
    case HX_OPT_CALIB:
        o->cfg.calib = arg;
        return 0;
    case HX_OPT_BASIS:
        o->cfg.basis = arg;
        return hx_opt_name(o->cmd, "basis", arg, hx_block_basis_names, NULL);
    case HX_OPT_K:
        o->cfg.k = arg;
        return hx_opt_name(o->cmd, "k", arg, hx_cal_k_names, NULL);
    case HX_OPT_OFFLOAD:
        return offload(o, arg);
    case HX_OPT_PLACEMENT:
        return placement(o, arg);
    case HX_OPT_LINEAR:
        o->cfg.linear = arg;
        return hx_opt_name(o->cmd, "linear", arg, hx_engine_linears, NULL);
    case HX_OPT_ATTN:
        o->cfg.attn = arg;
        return hx_opt_name(o->cmd, "attn", arg, hx_engine_attns, NULL);
    case HX_OPT_THREADS:
        return hx_opt_size(o->cmd, "threads", arg, 1, MAX_THREADS, &o->cfg.threads);
    case HX_OPT_CTX:
        return hx_opt_size(o->cmd, "ctx", arg, 1, MAX_CTX, &o->cfg.n_ctx);
    case HX_OPT_PROFILE:
        o->profile = arg;
        return 0;
    case HX_OPT_FRONT_END:
        o->front_end = arg;
        return hx_cmd_front_end_ok(arg)
                   ? 0
                   : hx_cmd_bad_value(o->cmd, "front-end", arg, HX_FRONT_ENDS);
    case HX_OPT_FILTER:
        if (o->n_filters == HX_MAX_FILTERS)
            return hx_cmd_usage(o->cmd, "more than %d filters", HX_MAX_FILTERS);
        o->filters[o->n_filters++] = arg;
        return 0;
    case HX_OPT_TIME:
        return hx_rig_time_mode(&o->time, o->cmd, arg);
    case HX_OPT_HOST_US:
        return hx_rig_time_host(&o->time, o->cmd, arg);
    case HX_OPT_FARF:
        o->farf = 1;
        return hx_rig_farf(o->cmd, arg);
    case HX_OPT_JSON:
        o->json = 1;
        return 0;
    default: /* getopt_long has printed its line */
        return HX_EXIT_USAGE;
    }
}

static void warn_unused(const struct hx_engine_opts *o)
{
    const int blocks = o->cfg.density || o->cfg.cal || o->cfg.calib || o->cfg.basis || o->cfg.k;
    const int rig = o->profile || o->front_end || o->n_filters || o->farf;

    if (!hx_engine_opts_rig(o) && (blocks || rig))
        fprintf(stderr, "hexrig %s: --kv %s uses no DSP: --density, --cal, --calib, --basis, --k, "
                "--profile, --front-end, --filter, --time, --host-us and --farf change nothing\n",
                o->cmd, o->cfg.kv);
    else if (!hx_engine_opts_blocks(o) && blocks)
        fprintf(stderr, "hexrig %s: --kv %s has no blocks: --density, --cal, --calib, --basis and "
                "--k change nothing\n", o->cmd, o->cfg.kv);
}

/* What --offload kv and attn want of the cache. */
static int check_offload(struct hx_engine_opts *o)
{
    if (!(o->cfg.offload & HX_OFFLOAD_KV))
        return 0;
    if (strcmp(o->cfg.kv, "ntt") == 0 && !(o->cfg.offload & HX_OFFLOAD_ATTN))
        return 0;
    if (!hx_engine_opts_blocks(o))
        return hx_cmd_usage(o->cmd, "--offload %s: --kv %s has nothing that the DSP could hold",
                            o->cfg.offload & HX_OFFLOAD_ATTN ? "attn" : "kv", o->cfg.kv);
    if (!(o->cfg.offload & HX_OFFLOAD_ATTN))
        return 0;
    if (o->cfg.attn)
        return hx_cmd_usage(o->cmd, "--offload attn and --attn %s exclude each other", o->cfg.attn);
    if (hx_kv_attn_refuses(o->cfg.density))
        return hx_cmd_usage(o->cmd, "--offload attn needs a call per layer at least; --density %s "
                            "makes less", o->cfg.density);
    if (o->cfg.k && strcmp(o->cfg.k, "after") != 0)
        return hx_cmd_usage(o->cmd, "--offload attn needs blocks of K after RoPE; --k %s cannot be "
                            "scored without decoding", o->cfg.k);
    if (!o->cfg.k && !o->cfg.cal)
        o->cfg.k = "after";
    return 0;
}

int hx_engine_opts_done(struct hx_engine_opts *o)
{
    const char *time = hx_rig_time_filter(&o->time);

    if (time && o->n_filters == HX_MAX_FILTERS)
        return hx_cmd_usage(o->cmd, "more than %d filters", HX_MAX_FILTERS);
    if (time)
        o->filters[o->n_filters++] = time;
    if (o->cfg.cal && o->cfg.calib)
        return hx_cmd_usage(o->cmd, "--cal and --calib exclude each other");
    if (!o->cfg.kv)
        o->cfg.kv = "spinor";
    warn_unused(o);
    if (o->placement && !(o->cfg.offload & HX_OFFLOAD_LINEAR))
        return hx_cmd_usage(o->cmd, "--placement %s is of offloaded weights, and no --offload has any",
                            o->placement);
    if (!o->placement)
        o->cfg.placement = DEFAULT_PLACEMENT;
    if (hx_exact_opts_done(&o->exact, o->cmd, &o->cfg))
        return HX_EXIT_USAGE;
    if (!o->cfg.density)
        o->cfg.density = "batched";
    if (check_offload(o))
        return HX_EXIT_USAGE;
    /* what people want is the fastest; the engine's own defaults are the references */
    if (!o->cfg.linear)
        o->cfg.linear = "cpu";
    if (!o->cfg.attn)
        o->cfg.attn = o->cfg.softmax_int ? "ref" : "flash";
    o->share = hx_share("");
    if (!o->share || asprintf(&o->default_model, "%s/" MODEL, o->share) < 0)
        return hx_cmd_fail(o->cmd, "cannot find this program's share folder");
    o->cfg.share = o->share;
    if (!o->cfg.model)
        o->cfg.model = o->default_model;
    return HX_EXIT_OK;
}

int hx_engine_opts_rig(const struct hx_engine_opts *o)
{
    return hx_engine_opts_blocks(o) || o->cfg.offload;
}

int hx_engine_opts_blocks(const struct hx_engine_opts *o)
{
    return strcmp(o->cfg.kv, "spinor") == 0;
}

/* Who asks for a profile, a front end, filters or messages gets a rig that has them: a private one, unless HEXRIG_DEVICE names one,
 * which then has to be as asked.  Two processes with a prime each have two rigs. */
int hx_engine_opts_prepare(const struct hx_engine_opts *o)
{
    const char *device = getenv("HEXRIG_DEVICE");
    struct hx_rig_cfg rig = {
        .front_end = o->front_end,
        .profile = o->profile,
        .filters = o->filters,
        .n_filters = o->n_filters,
        .force_private = !(device && *device) && (o->front_end || o->profile || o->n_filters || o->farf),
    };
    int own, rc;

    if (!hx_engine_opts_rig(o))
        return HX_EXIT_OK;
    rc = hx_crt_shard_rig(o, &own);
    if (rc)
        return rc;
    rig.force_private |= own;
    rc = hx_rig_configure(&rig);
    if (rc)
        return hx_cmd_fail(o->cmd, "cannot configure the rig: %s", strerror(-rc));
    /* its own rig now, for what it says to an option's value; a running one is not needed before the model is read */
    return rig.force_private ? hx_cmd_connect(o->cmd) : HX_EXIT_OK;
}

int hx_engine_opts_open(const struct hx_engine_opts *o, struct hx_engine **e)
{
    struct hx_error err = {""};
    int rc = hx_engine_opts_prepare(o);

    if (rc)
        return rc;
    if (hx_engine_open(e, &o->cfg, &err))
        return hx_cmd_fail(o->cmd, "%s", err.text);
    return HX_EXIT_OK;
}

void hx_engine_opts_free(struct hx_engine_opts *o)
{
    free(o->share);
    free(o->default_model);
}
