#include <stdio.h>

#include "cmd.h"
#include "hx_rig.h"

static const struct option options[] = {
    {"mount", required_argument, NULL, 'm'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void help(void)
{
    printf("usage: hexrig down [--mount DIR]\n\n"
           "Ends the rig at DIR (default: $XDG_RUNTIME_DIR/hexrig, else /tmp/hexrig-UID) and returns\n"
           "when nothing of it is left: no process, no mount, no socket.  What a killed rig left\n"
           "behind is removed too.  Exit 1 when none runs there.\n\n"
           "Example: hexrig down\n");
}

int hx_cmd_down(int argc, char **argv)
{
    const char *mount = NULL;
    char why[1024] = "";
    int c;

    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (c) {
        case 'm':
            mount = optarg;
            break;
        case 'h':
            help();
            return HX_EXIT_OK;
        default:
            return HX_EXIT_USAGE; /* getopt has said why */
        }
    }
    if (optind < argc)
        return hx_cmd_usage("down", "unexpected argument '%s'", argv[optind]);
    if (hx_rig_down(mount, why, sizeof(why)))
        return hx_cmd_fail("down", "%s", why);
    return HX_EXIT_OK;
}
