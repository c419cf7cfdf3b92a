/* hexrig llama: llama.cpp's own Hexagon backend on a rig.  The work is done by share/hexrig/llama/llama.sh, which fetches, builds and runs
 * other programs; here are its options. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/opt.h"
#include "cli/share.h"

enum { OPT_PROMPTS = HX_OPT_FREE, OPT_CPU, OPT_TRACE, OPT_OPS, OPT_PARAMS, OPT_BUILD, OPT_DIR, TOKENS_MAX = 448 };

static const char cmd[] = "llama";

static const struct argp_option options[] = {
    {"model", 'm', "FILE", 0, "a GGUF file (the model that came with hexrig)", 0},
    {"prompt", 'p', "TEXT", 0, "what the text begins with (The king was)", 0},
    {"prompts", OPT_PROMPTS, "FILE", 0, "many of them, one a line, each a text of its own", 0},
    {"tokens", 'n', "N", 0, "how many to generate, 1 to 448 (16)", 0},
    {"profile", HX_OPT_PROFILE, "P", 0, "cost profile of the rig, name or path (v73-hmx)", 0},
    {"cpu", OPT_CPU, NULL, 0, "compare with the tokens of llama.cpp's CPU backend; exit 1 when there is a difference", 0},
    {"trace", OPT_TRACE, "FILE", 0, "write a trace of the ops for Perfetto", 0},
    {"ops", OPT_OPS, "REGEX", OPTION_ARG_OPTIONAL, "run llama.cpp's test-backend-ops instead, of all ops or of those that REGEX names", 0},
    {"params", OPT_PARAMS, "REGEX", 0, "with --ops: only cases whose parameters have it", 0},
    {"build", OPT_BUILD, NULL, 0, "only fetch and build", 0},
    {"dir", OPT_DIR, "DIR", 0, "where sources and build lie ($HEXRIG_LLAMA, else ~/.cache/hexrig/llama)", 0},
    {0},
};

static const char doc[] =
    "Runs llama.cpp's own Hexagon backend, unmodified, on a private rig: fetches it (npm's package node-llama-cpp), builds backend "
    "and skel from the sources, generates greedily with all layers on the DSP, and prints packets, invokes, ops and bytes per token "
    "and the modelled time of every kind of op."
    "\vThe first run takes some minutes and a network; docs/ggml-hexagon.md has more.\n\n"
    "Exit status: 1 when something failed, or a comparison or case did.\n\n"
    "Example: hexrig llama -p \"The king was\" -n 16 --cpu";

struct llama {
    const char *model, *prompt, *prompts, *profile, *trace, *ops, *params, *dir; /* NULL: not given */
    uint64_t tokens;
    int cpu, build;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct llama *l = state->input;

    switch (key) {
    case 'm': l->model = arg; return 0;
    case 'p': l->prompt = arg; return 0;
    case OPT_PROMPTS: l->prompts = arg; return 0;
    case 'n': return hx_opt_error(hx_opt_u64(cmd, "tokens", arg, 1, TOKENS_MAX, &l->tokens));
    case HX_OPT_PROFILE: l->profile = arg; return 0;
    case OPT_CPU: l->cpu = 1; return 0;
    case OPT_TRACE: l->trace = arg; return 0;
    case OPT_OPS: l->ops = arg ? arg : ".*"; return 0;
    case OPT_PARAMS: l->params = arg; return 0;
    case OPT_BUILD: l->build = 1; return 0;
    case OPT_DIR: l->dir = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};

/* Where sources and build lie; malloc'ed. */
static char *folder(const struct llama *l)
{
    const char *own = getenv("HEXRIG_LLAMA"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *dir = NULL;
    int rc;

    if (l->dir || (own && *own))
        return realpath(l->dir ? l->dir : own, NULL) ?: strdup(l->dir ? l->dir : own);
    if (cache && *cache)
        rc = asprintf(&dir, "%s/hexrig/llama", cache);
    else
        rc = asprintf(&dir, "%s/.cache/hexrig/llama", home && *home ? home : "/tmp");
    return rc < 0 ? NULL : dir;
}

static int set_environment(const struct llama *l)
{
    char *prefix = hx_share("../.."), *model = hx_share("hexrig-tiny-q8_0.gguf"), *dir = folder(l), tokens[24];
    const struct {
        const char *name, *value;
    } all[] = {{"HX_PREFIX", prefix},
               {"HX_DIR", dir},
               {"HX_MODEL", l->model ? l->model : model},
               {"HX_PROMPT", l->prompt},
               {"HX_PROMPTS", l->prompts ? l->prompts : ""},
               {"HX_TOKENS", tokens},
               {"HX_PROFILE", l->profile},
               {"HX_CPU", l->cpu ? "1" : ""},
               {"HX_TRACE", l->trace ? l->trace : ""},
               {"HX_OPS", l->ops ? l->ops : ""},
               {"HX_PARAMS", l->params ? l->params : ""}};
    int rc = prefix && model && dir ? HX_EXIT_OK : hx_cmd_fail(cmd, "out of memory");

    snprintf(tokens, sizeof(tokens), "%llu", (unsigned long long)l->tokens);
    for (size_t i = 0; !rc && i < sizeof(all) / sizeof(all[0]); i++)
        if (setenv(all[i].name, all[i].value, 1) != 0)
            rc = hx_cmd_fail(cmd, "%s", strerror(errno));
    free(prefix);
    free(model);
    free(dir);
    return rc;
}

static int start_script(const char *action)
{
    char *script = hx_share("llama/llama.sh");

    if (script)
        execl("/bin/sh", "sh", script, action, (char *)NULL);
    return hx_cmd_fail(cmd, "%s: %s", script ? script : "llama.sh", strerror(errno));
}

int hx_cmd_llama(int argc, char **argv)
{
    struct llama l = {.tokens = 16};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, &l);

    if (rc)
        return rc;
    if (l.prompt && l.prompts)
        return hx_cmd_usage(cmd, "--prompt and --prompts exclude each other");
    if (l.params && !l.ops)
        return hx_cmd_usage(cmd, "--params is for --ops");
    if (!l.prompt)
        l.prompt = "The king was";
    if (!l.profile)
        l.profile = "v73-hmx";
    rc = set_environment(&l);
    return rc ? rc : start_script(l.build ? "build" : l.ops ? "ops" : "run");
}
