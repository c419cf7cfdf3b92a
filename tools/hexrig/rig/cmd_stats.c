/* hexrig stats: what a rig that runs has counted, by interface and method. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "hx_rig.h"
#include "method_stats.h"
#include "node_text.h"

enum { OPT_MOUNT = HX_OPT_FREE, OPT_IDL };

static const char cmd[] = "stats";

static const struct argp_option options[] = {
    {"mount", OPT_MOUNT, "DIR", 0, "the rig's nodes ($XDG_RUNTIME_DIR/hexrig, else /tmp/hexrig-UID)", 0},
    {"idl", OPT_IDL, "FILE", 0, "names of methods whose skel has none; may be given several times", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Shows what the clients of a rig that runs have called since it started, by interface and method: calls, errors, bytes, and "
    "modelled milliseconds."
    "\vNames are those that the skel carries (hexidl puts them there).  For one program alone: hexrig run-with --report.\n\n"
    "Example: hexrig stats --json";

enum { IDLS_MAX = 16 };

struct args {
    const char *mount, *idl[IDLS_MAX];
    size_t n_idl;
    int json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;

    switch (key) {
    case OPT_MOUNT:
        a->mount = arg;
        return 0;
    case OPT_IDL:
        if (a->n_idl == IDLS_MAX)
            return hx_opt_error(hx_cmd_usage(cmd, "--idl: at most %d files", IDLS_MAX));
        a->idl[a->n_idl++] = arg;
        return 0;
    case HX_OPT_JSON:
        a->json = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int print(const struct args *a, struct hx_method_stats *s, const char *status)
{
    char profile[256], front_end[32];
    int rc = HX_EXIT_OK;

    for (size_t i = 0; i < a->n_idl && !rc; i++)
        rc = hx_method_stats_name(s, cmd, a->idl[i]);
    if (rc)
        return rc;
    hx_method_stats_merge(s);
    hx_node_value(status, "profile", profile, sizeof(profile));
    hx_node_value(status, "front_end", front_end, sizeof(front_end));
    if (a->json)
        return hx_report_print(cmd, hx_method_stats_json(s, profile, front_end), 1);
    hx_method_stats_print(s, profile, stdout);
    return HX_EXIT_OK;
}

int hx_cmd_stats(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct args a = {0};
    struct hx_method_stats s = {0};
    char *status = NULL, *text = NULL, err[1280] = "";
    int rc = hx_opt_parse(cmd, &argp, argc, argv, &a);

    if (rc)
        return rc;
    if (hx_rig_read_why(a.mount, "status", &status, err, sizeof(err)) ||
        hx_rig_read_why(a.mount, "methods", &text, err, sizeof(err)))
        rc = hx_cmd_fail(cmd, "%s", err);
    else if ((rc = hx_method_stats_parse(&s, text)))
        rc = hx_cmd_fail(cmd, "methods: %s", strerror(-rc));
    else
        rc = print(&a, &s, status);
    hx_method_stats_free(&s);
    free(status);
    free(text);
    return rc;
}
