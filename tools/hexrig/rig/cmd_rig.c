/* Commands about a rig that runs: down, status, filter. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/report.h"
#include "hx_rig.h"
#include "cli/status_text.h"

#define WHERE "DIR (default: $XDG_RUNTIME_DIR/hexrig, else /tmp/hexrig-UID)"

/* --- their command lines */

struct args {
    const char *cmd;
    const char *help;
    const char *mount;
    int json;
};

static const struct option options[] = {
    {"mount", required_argument, NULL, 'm'},
    {"help", no_argument, NULL, 'h'},
    {"json", no_argument, NULL, 'j'},
    {NULL, 0, NULL, 0},
};

/* `-NAME`, which getopt would take for options. */
static int is_removal(const char *arg)
{
    return arg[0] == '-' && isalpha((unsigned char)arg[1]) && strcmp(arg, "-h") != 0;
}

/* -1: go on with argv[optind], the first argument that is no option; else the command is done, with this exit. */
static int parse(struct args *a, int argc, char **argv)
{
    int c;

    while (optind < argc && !is_removal(argv[optind]) &&
           (c = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        switch (c) {
        case 'm':
            a->mount = optarg;
            break;
        case 'j':
            a->json = 1;
            break;
        case 'h':
            fputs(a->help, stdout);
            return HX_EXIT_OK;
        default:
            return HX_EXIT_USAGE; /* getopt has said why */
        }
    }
    return -1;
}

/* The same for a command that takes no other arguments. */
static int parse_all(struct args *a, int argc, char **argv)
{
    int rc = parse(a, argc, argv);

    return rc < 0 && optind < argc
               ? hx_cmd_usage(a->cmd, "unexpected argument '%s'", argv[optind])
               : rc;
}

/* --- down */

int hx_cmd_down(int argc, char **argv)
{
    struct args a = {
        .cmd = "down",
        .help = "usage: hexrig down [--mount DIR] [--json]\n\n"
                "Ends the rig at " WHERE " and returns\n"
                "when nothing of it is left: no process, no mount, no socket.  What a killed rig left\n"
                "behind is removed too.  Exit 1 when none runs there.\n\n"
                "  --json            print one JSON object\n\n"
                "Example: hexrig down\n",
    };
    char err[1280] = "";
    int rc = parse_all(&a, argc, argv);

    if (rc >= 0)
        return rc;
    if (hx_rig_down(a.mount, err, sizeof(err)))
        return hx_cmd_fail("down", "%s", err);
    if (a.json)
        puts("{\n  \"state\": \"down\"\n}");
    return HX_EXIT_OK;
}

/* --- status */

/* A value that is a whole number becomes one. */
static json_t *value(const char *text)
{
    char *end;
    long long n;

    errno = 0;
    n = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0)
        return json_integer(n);
    return hx_json_text(text);
}

static void print_object(json_t *o)
{
    json_dumpf(o, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(o);
}

static void print_json(char *text)
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
    print_object(o);
}

int hx_print_status(const char *cmd, const char *mount, int json)
{
    char *text = NULL, err[1280] = "";

    if (hx_rig_read_why(mount, "status", &text, err, sizeof(err)))
        return hx_cmd_fail(cmd, "%s", err);
    if (json)
        print_json(text);
    else
        fputs(text, stdout);
    free(text);
    return HX_EXIT_OK;
}

int hx_cmd_status(int argc, char **argv)
{
    struct args a = {
        .cmd = "status",
        .help = "usage: hexrig status [--mount DIR] [--json]\n\n"
                "Shows the rig at " WHERE ": state, front\n"
                "end, profile, process ids, sessions, kind of time.  Exit 1 when none runs there.\n\n"
                "Example: hexrig status --json\n",
    };
    int rc = parse_all(&a, argc, argv);

    return rc >= 0 ? rc : hx_print_status("status", a.mount, a.json);
}

/* --- filter */

/* +NAME:... or -NAME; 0 or an enum hx_exit. */
static int change(const struct args *a, const char *what)
{
    char *text, err[1280] = "";
    int rc;

    if (asprintf(&text, "filter %s", what) < 0)
        return hx_cmd_fail("filter", "out of memory");
    rc = hx_rig_write(a->mount, "control", text, err, sizeof(err));
    free(text);
    if (rc == -EINVAL)
        return hx_cmd_usage("filter", "%s", err);
    return rc ? hx_cmd_fail("filter", "%s", err) : 0;
}

/* The rig's filters, one per line, in the order in which calls meet them. */
static int list(const struct args *a)
{
    char *status, *line, *rest, *name, err[1280] = "";
    json_t *names = json_array();

    if (hx_rig_read_why(a->mount, "status", &status, err, sizeof(err))) {
        json_decref(names);
        return hx_cmd_fail("filter", "%s", err);
    }
    rest = status;
    while ((line = strsep(&rest, "\n")) && strncmp(line, "filters=", 8) != 0)
        ;
    line = line ? line + 8 : NULL;
    while ((name = strsep(&line, "+")))
        json_array_append_new(names, hx_json_text(name));
    for (size_t i = 0; !a->json && i < json_array_size(names); i++)
        puts(json_string_value(json_array_get(names, i)));
    free(status);
    if (a->json)
        print_object(json_pack("{s:o}", "filters", names));
    else
        json_decref(names);
    return HX_EXIT_OK;
}

int hx_cmd_filter(int argc, char **argv)
{
    struct args a = {
        .cmd = "filter",
        .help = "usage: hexrig filter [--mount DIR] [--json] list\n"
                "       hexrig filter [--mount DIR] [--json] +NAME:KEY=VALUE,...|-NAME...\n\n"
                "Lists or changes the filters of the rig at " WHERE ",\n"
                "whatever its front end: + adds one behind the others, - removes the last one of that\n"
                "name.  Prints the filters that are there then.  Only the rig's owner may change them.\n\n"
                "Filters: count, cost (both stay), delay, error, log, trace; see docs/filters.md\n\n"
                "Example: hexrig filter +delay:us=500 && hexrig filter -delay\n",
    };
    int rc = parse(&a, argc, argv);

    if (rc >= 0)
        return rc;
    if (optind == argc)
        return hx_cmd_usage("filter", "no filter, and not `list`");
    if (strcmp(argv[optind], "list") == 0 && optind + 1 < argc)
        return hx_cmd_usage("filter", "unexpected argument '%s'", argv[optind + 1]);
    for (int i = optind; i < argc; i++)
        if (argv[i][0] != '+' && !is_removal(argv[i]) && strcmp(argv[i], "list") != 0)
            return hx_cmd_usage("filter", "'%s' is not +NAME:KEY=VALUE,..., -NAME or list", argv[i]);
    for (int i = optind; i < argc && strcmp(argv[i], "list") != 0; i++) {
        rc = change(&a, argv[i]);
        if (rc > 0)
            return rc;
    }
    return list(&a);
}
