#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "figures.h"
#include "hx_rig.h"
#include "status_text.h"

static const struct option options[] = {
    {"mount", required_argument, NULL, 'm'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void help(void)
{
    printf("usage: hexrig status [--mount DIR] [--json]\n\n"
           "Shows the rig at DIR (default: $XDG_RUNTIME_DIR/hexrig, else /tmp/hexrig-UID): state, front\n"
           "end, profile, process ids, sessions, kind of time.  Exit 1 when none runs there.\n\n"
           "Example: hexrig status --json\n");
}

/* A value that is a whole number becomes one. */
static json_t *value(const char *text)
{
    char *end;
    long long n;

    errno = 0;
    n = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0)
        return json_integer(n);
    return hx_figures_text(text);
}

static int print_json(char *text)
{
    json_t *o = json_object();
    char *line, *rest = text;

    while ((line = strsep(&rest, "\n"))) {
        char *eq = strchr(line, '=');

        if (!eq)
            continue;
        *eq = '\0';
        json_object_set_new(o, line, value(eq + 1));
    }
    json_dumpf(o, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(o);
    return HX_EXIT_OK;
}

int hx_print_status(const char *cmd, const char *mount, int json)
{
    char *text = NULL, why[1280] = "";
    int rc = HX_EXIT_OK;

    if (hx_rig_read_why(mount, "status", &text, why, sizeof(why)))
        return hx_cmd_fail(cmd, "%s", why);
    if (json)
        rc = print_json(text);
    else
        fputs(text, stdout);
    free(text);
    return rc;
}

int hx_cmd_status(int argc, char **argv)
{
    const char *mount = NULL;
    int c, json = 0;

    while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (c) {
        case 'm':
            mount = optarg;
            break;
        case 'j':
            json = 1;
            break;
        case 'h':
            help();
            return HX_EXIT_OK;
        default:
            return HX_EXIT_USAGE; /* getopt has said why */
        }
    }
    if (optind < argc)
        return hx_cmd_usage("status", "unexpected argument '%s'", argv[optind]);
    return hx_print_status("status", mount, json);
}
