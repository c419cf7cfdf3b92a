#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "hx_rig.h"
#include "options/rig_time.h"
#include "cli/status_text.h"

static const struct option options[] = {
    {"mount", required_argument, NULL, 'm'},   {"front-end", required_argument, NULL, 'f'},
    {"profile", required_argument, NULL, 'p'}, {"filter", required_argument, NULL, 'F'},
    {"mode", required_argument, NULL, 'M'},    {"owner", required_argument, NULL, 'O'},
    {"time", required_argument, NULL, 't'},    {"host-us", required_argument, NULL, 'u'},
    {"farf", optional_argument, NULL, 'a'},    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
};

static void help(void)
{
    printf("usage: hexrig up [OPTION]...\n\n"
           "Starts a rig in the background and returns when it serves.  Its messages go to\n"
           "$XDG_RUNTIME_DIR/hexrig.log, else /tmp/hexrig-UID.log, with its pid in each line.\n\n"
           "  --mount DIR       where its nodes appear (default: $XDG_RUNTIME_DIR/hexrig, else\n"
           "                    /tmp/hexrig-UID); empty, no link; made if missing\n"
           "  --front-end F     auto, fuse, socket or cuse (default: auto = fuse, else socket)\n"
           "  --profile P       name or path of a cost profile (default: s22u-577)\n"
           "  --filter SPEC     one more filter, NAME:KEY=VALUE,...; may be repeated\n"
           "  --mode MODE       octal mode of the device nodes; lets other users in (default: 0660 with\n"
           "                    --owner; without both the rig is for who starts it)\n"
           "  --owner USER[:GROUP]  owner of the device nodes, by names or numbers; also :GROUP\n"
           "  --time MODE       virtual (default): nobody waits for the modelled time; real: calls really\n"
           "                    take it; off: no model\n"
           "  --host-us N       modelled work of a client before each call, us (default: 0)\n"
           "  --farf[=LEVEL]    messages of DSP code to the log, from LOW, MEDIUM, HIGH or ERROR on\n"
           "                    (default: HIGH)\n"
           "  --json            print one JSON object\n"
           "  --help\n\n"
           "Example: hexrig up --profile s22u-sync; cat /tmp/hexrig-$UID/status; hexrig down\n");
}

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

/* Appends name[n] in numbers, as the rig wants it.  0, or the exit of a name that nobody has. */
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
        return hx_cmd_usage("up", "--owner: there is no %s '%s'", kind, word);
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

static int up(const struct hx_rig_cfg *cfg, int json)
{
    char err[1024] = "";
    pid_t pid;
    int rc = hx_rig_up(cfg, &pid, err, sizeof(err));

    if (rc == -EINVAL)
        return hx_cmd_usage("up", "%s", err); /* the rig did not take an option's value */
    if (rc)
        return hx_cmd_fail("up", "%s", err);
    return hx_print_status("up", cfg->mount, json);
}

int hx_cmd_up(int argc, char **argv)
{
    const char **filters = calloc((size_t)argc, sizeof(*filters));
    struct hx_rig_cfg cfg = {.filters = filters};
    struct hx_rig_time time = {0};
    char owner[320];
    int c, json = 0, rc = -1;

    if (!filters)
        return hx_cmd_fail("up", "out of memory");
    while (rc < 0 && (c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (c) {
        case 'm':
            cfg.mount = optarg;
            break;
        case 'f':
            cfg.front_end = optarg;
            if (!hx_cmd_front_end_ok(optarg))
                rc = hx_cmd_bad_value("up", "front-end", optarg, HX_FRONT_ENDS);
            break;
        case 'p':
            cfg.profile = optarg;
            break;
        case 'F':
            filters[cfg.n_filters++] = optarg;
            break;
        case 'M':
            cfg.mode = optarg;
            break;
        case 'O':
            cfg.owner = owner;
            rc = owner_in_numbers(owner, sizeof(owner), optarg) ? HX_EXIT_USAGE : -1;
            break;
        case 't':
            rc = hx_rig_time_mode(&time, "up", optarg) ? HX_EXIT_USAGE : -1;
            break;
        case 'u':
            rc = hx_rig_time_host(&time, "up", optarg) ? HX_EXIT_USAGE : -1;
            break;
        case 'a':
            rc = hx_rig_farf("up", optarg) ? HX_EXIT_USAGE : -1;
            break;
        case 'j':
            json = 1;
            break;
        case 'h':
            help();
            rc = HX_EXIT_OK;
            break;
        default:
            rc = HX_EXIT_USAGE; /* getopt has said why */
        }
    }
    if (rc < 0 && optind < argc)
        rc = hx_cmd_usage("up", "unexpected argument '%s'", argv[optind]);
    if (rc < 0 && hx_rig_time_filter(&time))
        filters[cfg.n_filters++] = time.spec;
    if (rc < 0)
        rc = up(&cfg, json);
    free(filters);
    return rc;
}
