/* Options of the commands with an engine: the fixed ones, those made from the list of methods, and what they configure. */
#include "engine_opts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/share.h"
#include "cli/terminal_watch.h"
#include "crt_shard.h"
#include "hx_rig.h"
#include "kv_auto.h"

#define MODEL "hexrig-tiny-q8_0.gguf"

enum { MAX_CTX = 1 << 24, MAX_THREADS = 1024 };

/* --- the table */

enum { MODEL_GROUP = 9, RIG_GROUP, METHODS_GROUP, MOST_OPTIONS = 192 };

static const struct argp_option fixed[] = {
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object instead of text and lines", 0},
    {NULL, 0, NULL, 0, "The model:", MODEL_GROUP},
    {"model", 'm', "FILE", 0, "GGUF model (share/hexrig/" MODEL ")", MODEL_GROUP},
    {"ctx", HX_OPT_CTX, "N", 0, "positions of the cache", MODEL_GROUP},
    {"threads", HX_OPT_THREADS, "N", 0, "that compute (the CPUs that this process may use)", MODEL_GROUP},
    {"model-cpus", HX_OPT_MODEL_CPUS, "LIST", 0, "that compute: 0-3,6, or little, mid, big (all)", MODEL_GROUP},
    {"oracle-cpus", HX_OPT_ORACLE_CPUS, "LIST", 0, "that read ahead for --page-weights: a list, shared, none (one for itself)",
     MODEL_GROUP},
    {"storage", HX_OPT_STORAGE, "S", 0, "of --page-weights: file, disk, or profile, the phone's (file)", MODEL_GROUP},
    {NULL, 0, NULL, 0, "The rig (any of these starts a private one):", RIG_GROUP},
    {"profile", HX_OPT_PROFILE, "P", 0, "cost profile, name or path (s22u-577)", RIG_GROUP},
    {"front-end", HX_OPT_FRONT_END, "F", 0, HX_FRONT_ENDS " (auto)", RIG_GROUP},
    {"filter", HX_OPT_FILTER, "SPEC", 0, "one more filter, NAME:KEY=VALUE,...; repeatable", RIG_GROUP},
    HX_RIG_TIME_ROWS(RIG_GROUP),
    HX_RIG_FARF_ROW(RIG_GROUP),
    {NULL, 0, NULL, 0, "Methods (hexrig methods lists them):", METHODS_GROUP},
};
enum { FIXED = sizeof(fixed) / sizeof(fixed[0]) };

static size_t n_plan_options(void)
{
    const struct hx_method *owner;
    size_t n = 0;

    while (hx_plan_option(n, &owner))
        n++;
    return n;
}

/* "help (default)", with the legal names of a seam. */
static char *help_of(const struct hx_option *o)
{
    char *text = NULL;
    char names[160] = "";

    for (int seam = 0; seam < HX_SEAMS; seam++)
        if (strcmp(hx_seam_names[seam], o->name) == 0)
            hx_method_list(hx_methods, (enum hx_seam)seam, names, sizeof(names));
    if (asprintf(&text, "%s%s%s%s%s%s", o->help, *names ? ": " : "", names, o->def ? " (" : "", o->def ? o->def : "",
                 o->def ? ")" : "") < 0)
        return NULL;
    return text;
}

/* Which options stand together: the plan's own, then those of each method, in the order of the list. */
static int group_of(const struct hx_method *owner)
{
    int i = 0;

    while (owner && hx_methods[i] != owner)
        i++;
    return METHODS_GROUP + (owner ? 1 + i : 0);
}

static char *heading(const struct hx_method *m)
{
    char *text = NULL;

    return asprintf(&text, "Of %s method %s:", hx_seam_names[m->seam], m->name) < 0 ? NULL : text;
}

/* Older spellings, and what this command cannot do: both are known, and no help has them. */
static int is_hidden(const struct hx_option *o, unsigned flags)
{
    return o->means || (o->flags & HX_OPTION_FORKS && !(flags & HX_PLAN_MAY_FORK));
}

/* The rows of every option; which of them are hidden is left to table(). */
static void make_rows(struct argp_option all[MOST_OPTIONS])
{
    const struct hx_method *owner, *last = NULL;
    const struct hx_option *o;
    size_t n = FIXED;

    memcpy(all, fixed, sizeof(fixed));
    for (size_t i = 0; i < n_plan_options() && n + 2 < MOST_OPTIONS; i++) {
        o = hx_plan_option(i, &owner);
        if (owner && owner != last)
            all[n++] = (struct argp_option){.doc = heading(owner), .group = group_of(owner)};
        last = owner;
        all[n++] = (struct argp_option){.name = o->name, .key = HX_OPT_PLAN + (int)i, .arg = o->arg, .doc = help_of(o),
                                        .group = group_of(owner)};
    }
}

/* The help of --kv where the cache may be left to the model. */
static const char *kv_help(const char *of_all)
{
    static char *text;

    if (!text && asprintf(&text, "%s; " HX_PLAN_AUTO ": blocks for a model with a calibration, else f32", of_all) < 0)
        text = NULL;
    return text ? text : of_all;
}

/* Made once for a process, which may print the help of several commands. */
static struct argp_option *table(unsigned flags)
{
    static struct argp_option all[MOST_OPTIONS];
    static const char *kv_of_all;
    const struct hx_method *owner;

    if (!all[0].name)
        make_rows(all);
    for (struct argp_option *row = all; row->name || row->doc; row++) {
        if (row->key < HX_OPT_PLAN)
            continue;
        row->flags = is_hidden(hx_plan_option((size_t)(row->key - HX_OPT_PLAN), &owner), flags) ? OPTION_HIDDEN : 0;
        if (strcmp(row->name, hx_seam_names[HX_SEAM_KV]) == 0) {
            kv_of_all = kv_of_all ? kv_of_all : row->doc;
            row->doc = flags & HX_PLAN_KV_AUTO ? kv_help(kv_of_all) : kv_of_all;
        }
    }
    return all;
}

/* --- parsing */

static int filter(struct hx_engine_opts *o, const char *spec)
{
    if (o->n_filters == HX_MAX_FILTERS)
        return hx_cmd_usage(o->cmd, "more than %d filters", HX_MAX_FILTERS);
    o->filters[o->n_filters++] = spec;
    return 0;
}

static int plan_option(struct hx_engine_opts *o, size_t i, const char *arg)
{
    const struct hx_method *owner;
    struct hx_error err = {""};

    int rc = hx_plan_set(o->plan, hx_plan_option(i, &owner)->name, arg, &err);

    if (!rc)
        return 0;
    fprintf(stderr, "hexrig %s: %s\n", o->cmd, err.text);
    return rc == -ENOMEM ? HX_EXIT_FAILED : HX_EXIT_USAGE;
}

static int option(struct hx_engine_opts *o, int key, const char *arg)
{
    switch (key) {
    case 'm':
        o->model = arg;
        return 0;
    case HX_OPT_CTX:
        return hx_opt_size(o->cmd, "ctx", arg, 1, MAX_CTX, &o->n_ctx);
    case HX_OPT_THREADS:
        return hx_opt_size(o->cmd, "threads", arg, 1, MAX_THREADS, &o->threads);
    case HX_OPT_MODEL_CPUS:
        o->cpus.model = arg;
        return 0;
    case HX_OPT_ORACLE_CPUS:
        o->cpus.oracle = arg;
        return 0;
    case HX_OPT_STORAGE:
        o->cpus.storage_given = 1;
        return hx_opt_name(o->cmd, "storage", arg, hx_storage_names, &o->cpus.storage);
    case HX_OPT_JSON:
        o->json = 1;
        return 0;
    case HX_OPT_PROFILE:
        o->profile = arg;
        return 0;
    case HX_OPT_FRONT_END:
        return hx_opt_front_end(o->cmd, arg, &o->front_end);
    case HX_OPT_FILTER:
        return filter(o, arg);
    default:
        return key < HX_OPT_PLAN ? hx_rig_time_option(&o->time, o->cmd, key, arg)
                                 : plan_option(o, (size_t)(key - HX_OPT_PLAN), arg);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    return key >= HX_OPT_PLAN + MOST_OPTIONS ? ARGP_ERR_UNKNOWN : hx_opt_error(option(state->input, key, arg));
}

const struct argp *hx_engine_argp(const struct hx_engine_opts *o)
{
    static struct argp argp = {.parser = parse};

    argp.options = table(o->flags);
    return &argp;
}

/* --- before and after */

int hx_engine_opts_init(struct hx_engine_opts *o, const char *cmd, unsigned flags)
{
    struct hx_error err = {""};

    o->cmd = cmd;
    o->flags = flags;
    o->watch = hx_terminal_watch(cmd);
    return hx_plan_open(&o->plan, "--", flags, &err) ? hx_cmd_fail(cmd, "%s", err.text) : HX_EXIT_OK;
}

int hx_engine_opts_default(struct hx_engine_opts *o, const char *name, const char *value)
{
    struct hx_error err = {""};
    int rc = hx_plan_given(o->plan, name) ? 0 : hx_plan_set(o->plan, name, value, &err);

    return rc ? hx_cmd_refused(o->cmd, rc, err.text) : HX_EXIT_OK;
}

/* What was said about a rig although there is none. */
static void note_unused(const struct hx_engine_opts *o)
{
    if (hx_plan_note(o->plan))
        fprintf(stderr, "hexrig %s: %s\n", o->cmd, hx_plan_note(o->plan));
    if (!hx_plan_rig(o->plan) && (o->profile || o->front_end || o->n_filters || o->time.farf))
        fprintf(stderr, "hexrig %s: these methods use no DSP: --profile, --front-end, --filter, --time, --host-us and "
                "--farf change nothing\n", o->cmd);
}

int hx_engine_opts_done(struct hx_engine_opts *o)
{
    const char *time = hx_rig_time_filter(&o->time);
    struct hx_error err = {""};
    int rc;

    if (time && filter(o, time))
        return HX_EXIT_USAGE;
    o->share = hx_share("");
    if (!o->share || asprintf(&o->default_model, "%s/" MODEL, o->share) < 0)
        return hx_cmd_fail(o->cmd, "cannot find this program's share folder");
    if (!o->model)
        o->model = o->default_model;
    rc = hx_kv_auto(o, &err);
    if (!rc)
        rc = hx_plan_resolve(o->plan, &err);
    if (rc)
        return hx_cmd_refused(o->cmd, rc, err.text);
    if (hx_cpu_opts_check(&o->cpus, o->cmd, hx_plan_pages(o->plan)))
        return HX_EXIT_USAGE;
    note_unused(o);
    return HX_EXIT_OK;
}

/* A profile, a front end, filters or messages need a rig that has them: a private one, unless HEXRIG_DEVICE names one, which
 * then has to be as asked.  Two processes with a prime each have two rigs. */
int hx_engine_opts_prepare(struct hx_engine_opts *o)
{
    const char *device = getenv("HEXRIG_DEVICE");
    struct hx_rig_cfg rig = {
        .front_end = o->front_end,
        .profile = o->profile,
        .filters = o->filters,
        .n_filters = o->n_filters,
        .force_private = !(device && *device) && (o->front_end || o->profile || o->n_filters || o->time.farf),
    };
    int own, rc = hx_cpu_opts_place(&o->cpus, o->cmd, hx_plan_pages(o->plan), o->profile);

    if (rc || !hx_plan_rig(o->plan))
        return rc;
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

struct hx_engine_cfg hx_engine_opts_cfg(const struct hx_engine_opts *o)
{
    return (struct hx_engine_cfg){.plan = o->plan, .model = o->model, .share = o->share, .threads = o->threads,
                                  .n_ctx = o->n_ctx, .n_ctx_most = o->n_ctx_most, .max_batch = o->max_batch,
                                  .paging = hx_cpu_opts_how(&o->cpus), .watch = &o->watch};
}

int hx_engine_opts_open(struct hx_engine_opts *o, struct hx_engine **e)
{
    struct hx_error err = {""};
    struct hx_engine_cfg cfg;
    int rc = hx_engine_opts_prepare(o);

    if (rc)
        return rc;
    cfg = hx_engine_opts_cfg(o);
    return hx_engine_open(e, &cfg, &err) ? hx_cmd_fail(o->cmd, "%s", err.text) : HX_EXIT_OK;
}

void hx_engine_opts_free(struct hx_engine_opts *o)
{
    hx_plan_close(o->plan);
    free(o->share);
    free(o->default_model);
}

/* Which rig has counted. */
static int add_rig(json_t *j)
{
    const char *front_end = hx_rig_front_end(), *profile = hx_rig_profile();
    int rc = json_object_set_new(j, "front_end", json_string(front_end ? front_end : "none"));

    return rc ? rc : json_object_set_new(j, "profile", hx_json_text(profile ? profile : "none"));
}

static json_t *report(const struct hx_engine_opts *o, const struct hx_engine *e, size_t n_layer, json_t *j)
{
    int rc = j ? add_rig(j) : -1;

    if (!rc)
        rc = e ? hx_engine_report(e, j) : hx_plan_report(o->plan, n_layer, j);
    if (!rc)
        rc = hx_cpu_opts_report(&o->cpus, j);
    if (!rc && *o->kv_why)
        rc = json_object_set_new(j, "kv_why", hx_json_text(o->kv_why));
    if (!rc && o->shard)
        rc = json_object_set_new(j, "shard", hx_crt_shard_report(o));
    if (!rc)
        return j;
    json_decref(j);
    return NULL;
}

json_t *hx_engine_opts_report(const struct hx_engine_opts *o, const struct hx_engine *e, json_t *j)
{
    return report(o, e, 0, j);
}

json_t *hx_engine_opts_report_plan(const struct hx_engine_opts *o, size_t n_layer, json_t *j)
{
    return report(o, NULL, n_layer, j);
}
