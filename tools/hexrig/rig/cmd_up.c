/* hexrig up: starts a rig in the background. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/status_text.h"
#include "hx_rig.h"
#include "options/rig_time.h"

enum { OPT_MOUNT = HX_OPT_FREE, OPT_MODE, OPT_OWNER, OPT_STRICT_PD };

static const char cmd[] = "up";

static const struct argp_option options[] = {
    {"mount", OPT_MOUNT, "DIR", 0,
     "where its nodes appear; empty: no link; made if missing ($XDG_RUNTIME_DIR/hexrig, else /tmp/hexrig-UID)", 0},
    {"front-end", HX_OPT_FRONT_END, "F", 0, HX_FRONT_ENDS " (auto: fuse, else socket)", 0},
    {"profile", HX_OPT_PROFILE, "P", 0, "cost profile, name or path (s22u-577)", 0},
    {"filter", HX_OPT_FILTER, "SPEC", 0, "one more filter, NAME:KEY=VALUE,...; repeatable", 0},
    HX_RIG_TIME_ROWS(0),
    HX_RIG_FARF_ROW(0),
    {"strict-pd", OPT_STRICT_PD, NULL, 0, "no skels in signed PDs: opening one without asking for an unsigned PD gives EPERM", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {NULL, 0, NULL, 0, "Who may use it (without these: who starts it):", 1},
    {"mode", OPT_MODE, "MODE", 0, "octal mode of the device nodes; lets other users in (0660 with --owner)", 1},
    {"owner", OPT_OWNER, "USER[:GROUP]", 0, "owner of the device nodes, by names or numbers; also :GROUP", 1},
    {0},
};

static const char doc[] =
    "Starts a rig in the background and returns when it serves.  Its messages go to $XDG_RUNTIME_DIR/hexrig.log, else "
    "/tmp/hexrig-UID.log, with its pid in each line."
    "\vExample: hexrig up --profile s22u-sync; hexrig status; hexrig down";

struct up {
    struct hx_rig_cfg cfg;
    struct hx_rig_time time;
    const char **filters; /* what cfg.filters is: room for all of the command line's, and one more */
    char owner[320];
    int json;
};

/* Number of the user or group `name`, or -1. */
static long long user_id(const char *name)
{
    struct passwd *p = getpwnam(name);

    return p ? (long long)p->pw_uid : -1;
}

static long long group_id(const char *name)
{
    struct group *g = getgrnam(name);

    return g ? (long long)g->gr_gid : -1;
}

/* Appends name[n] in numbers, as the rig wants it.  0, or HX_EXIT_USAGE when there is no such user or group. */
static int add_number(char *to, size_t bytes, const char *name, size_t n, const char *kind,
                      long long (*id)(const char *))
{
    size_t used = strlen(to);
    char word[128];
    long long v;

    snprintf(word, sizeof(word), "%.*s", (int)n, name);
    if (strspn(word, "0123456789") == n) {
        snprintf(to + used, bytes - used, "%s", word); /* the rig checks it */
        return 0;
    }
    v = n < sizeof(word) ? id(word) : -1;
    if (v < 0)
        return hx_cmd_usage(cmd, "--owner: there is no %s '%s'", kind, word);
    snprintf(to + used, bytes - used, "%lld", v);
    return 0;
}

/* USER[:GROUP] or :GROUP in numbers.  0 or the command's exit. */
static int owner_in_numbers(char *to, size_t bytes, const char *owner)
{
    size_t n = strcspn(owner, ":");
    int rc = 0;

    to[0] = '\0';
    if (n || !owner[n])
        rc = add_number(to, bytes, owner, n, "user", user_id);
    if (!rc && owner[n]) {
        strcat(to, ":");
        rc = add_number(to, bytes, owner + n + 1, strlen(owner + n + 1), "group", group_id);
    }
    return rc;
}

static int option(struct up *u, int key, const char *arg)
{
    switch (key) {
    case OPT_MOUNT:
        u->cfg.mount = arg;
        return 0;
    case HX_OPT_FRONT_END:
        return hx_opt_front_end(cmd, arg, &u->cfg.front_end);
    case HX_OPT_PROFILE:
        u->cfg.profile = arg;
        return 0;
    case HX_OPT_FILTER:
        u->filters[u->cfg.n_filters++] = arg;
        return 0;
    case OPT_MODE:
        u->cfg.mode = arg;
        return 0;
    case OPT_STRICT_PD:
        u->cfg.strict_pd = 1;
        return 0;
    case OPT_OWNER:
        u->cfg.owner = u->owner;
        return owner_in_numbers(u->owner, sizeof(u->owner), arg);
    case HX_OPT_JSON:
        u->json = 1;
        return 0;
    default:
        return hx_rig_time_option(&u->time, cmd, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static int up(struct up *u)
{
    char err[1280] = "";
    pid_t pid;
    int rc;

    if (hx_rig_time_filter(&u->time))
        u->filters[u->cfg.n_filters++] = u->time.spec;
    rc = hx_rig_up(&u->cfg, &pid, err, sizeof(err));
    if (rc == -EINVAL)
        return hx_cmd_usage(cmd, "%s", err); /* the rig did not take an option's value */
    if (rc)
        return hx_cmd_fail(cmd, "%s", err);
    if (hx_print_status(u->cfg.mount, u->json, err, sizeof(err))) /* as when somebody's `down` came at once */
        return hx_cmd_fail(cmd, "the rig came up as process %d, but since then: %s", (int)pid, err);
    return HX_EXIT_OK;
}

int hx_cmd_up(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    const char **filters = calloc((size_t)argc + 1, sizeof(*filters));
    struct up u = {.cfg = {.filters = filters}, .filters = filters};
    int rc = filters ? hx_opt_parse(cmd, &argp, argc, argv, &u) : hx_cmd_fail(cmd, "out of memory");

    if (!rc)
        rc = up(&u);
    free(filters);
    return rc;
}
