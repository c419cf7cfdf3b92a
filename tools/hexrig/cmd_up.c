#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"
#include "hx_rig.h"
#include "status_text.h"

static const struct option options[] = {
    {"mount", required_argument, NULL, 'm'},   {"front-end", required_argument, NULL, 'f'},
    {"profile", required_argument, NULL, 'p'}, {"filter", required_argument, NULL, 'F'},
    {"json", no_argument, NULL, 'j'},          {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void help(void)
{
    printf("usage: hexrig up [OPTION]...\n\n"
           "Starts a rig in the background and returns when it serves.\n\n"
           "  --mount DIR       where its nodes appear (default: $XDG_RUNTIME_DIR/hexrig, else\n"
           "                    /tmp/hexrig-UID); made if missing\n"
           "  --front-end F     auto, fuse, socket or cuse (default: auto = fuse, else socket)\n"
           "  --profile P       name or path of a cost profile (default: s22u-577)\n"
           "  --filter SPEC     one more filter, NAME:KEY=VALUE,...; may be repeated\n"
           "  --json            print one JSON object\n"
           "  --help\n\n"
           "Example: hexrig up --profile s22u-sync; cat /tmp/hexrig-$UID/status; hexrig down\n");
}

static int up(const struct hx_rig_cfg *cfg, int json)
{
    char why[1024] = "";
    pid_t pid;
    int rc = hx_rig_up(cfg, &pid, why, sizeof(why));

    if (rc)
        return hx_cmd_fail("up", "%s", why);
    return hx_print_status("up", cfg->mount, json);
}

int hx_cmd_up(int argc, char **argv)
{
    const char **filters = calloc((size_t)argc, sizeof(*filters));
    struct hx_rig_cfg cfg = {.filters = filters};
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
    if (rc < 0)
        rc = up(&cfg, json);
    free(filters);
    return rc;
}
