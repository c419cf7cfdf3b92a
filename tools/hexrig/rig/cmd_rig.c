/* Commands about a rig that runs: down, status, filter. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "cli/status_text.h"
#include "hx_rig.h"

/* --- their command lines */

enum { OPT_MOUNT = HX_OPT_FREE };

static const struct argp_option options[] = {
    {"mount", OPT_MOUNT, "DIR", 0, "the rig's nodes ($XDG_RUNTIME_DIR/hexrig, else /tmp/hexrig-UID)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

struct args {
    const char *mount;
    int json;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;

    switch (key) {
    case OPT_MOUNT:
        a->mount = arg;
        return 0;
    case HX_OPT_JSON:
        a->json = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* For a command that takes these options and nothing else. */
static int parse(struct args *a, const char *cmd, const char *doc, int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};

    return hx_opt_parse(cmd, &argp, argc, argv, a);
}

/* --- down */

int hx_cmd_down(int argc, char **argv)
{
    static const char doc[] =
        "Ends a rig and returns when nothing of it is left: no process, no mount, no socket.  What a killed rig left "
        "behind is removed, too.  Exit 1 when none runs there."
        "\vExample: hexrig down";
    struct args a = {NULL, 0};
    char err[1280] = "";
    int rc = parse(&a, "down", doc, argc, argv);

    if (rc)
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

int hx_print_status(const char *mount, int json, char *why, size_t why_bytes)
{
    char *text = NULL;
    int rc = hx_rig_read_why(mount, "status", &text, why, why_bytes);

    if (rc)
        return rc;
    if (json)
        print_json(text);
    else
        fputs(text, stdout);
    free(text);
    return 0;
}

int hx_cmd_status(int argc, char **argv)
{
    static const char doc[] =
        "Shows a rig: state, front end, profile, process ids, sessions, kind of time.  Exit 1 when none runs there."
        "\vExample: hexrig status --json";
    struct args a = {NULL, 0};
    char err[1280] = "";
    int rc = parse(&a, "status", doc, argc, argv);

    if (rc)
        return rc;
    return hx_print_status(a.mount, a.json, err, sizeof(err)) ? hx_cmd_fail("status", "%s", err) : HX_EXIT_OK;
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

/* `-NAME`, which would be taken for options. */
static int is_removal(const char *arg)
{
    return arg[0] == '-' && isalpha((unsigned char)arg[1]) && strcmp(arg, "-h") != 0;
}

/* The command's line; *words becomes the index of the first change, or of `list`. */
static int parse_filter(struct args *a, int argc, char **argv, int *words)
{
    static const char doc[] =
        "Lists or changes the filters of a rig, whatever its front end: + adds one behind the others, - removes the last "
        "one of that name.  Prints the filters that are there then.  Only the rig's owner may change them."
        "\vFilters: count, cost (both stay), delay, error, log, trace; see docs/filters.md\n\n"
        "Example: hexrig filter +delay:us=500 && hexrig filter -delay";
    const struct argp argp = {options, parse_option, "list\n+NAME:KEY=VALUE,...|-NAME...", doc, NULL, NULL, NULL};
    int end = 1, rc;

    while (end < argc && !is_removal(argv[end]))
        end++;
    rc = hx_opt_parse_some(&argp, ARGP_IN_ORDER, end, argv, a, words);
    if (rc)
        return rc;
    if (*words == argc)
        return hx_cmd_usage("filter", "no filter, and not `list`");
    if (strcmp(argv[*words], "list") == 0 && *words + 1 < argc)
        return hx_cmd_usage("filter", "unexpected argument '%s'", argv[*words + 1]);
    for (int i = *words; i < argc; i++)
        if (argv[i][0] != '+' && !is_removal(argv[i]) && strcmp(argv[i], "list") != 0)
            return hx_cmd_usage("filter", "'%s' is not +NAME:KEY=VALUE,..., -NAME or list", argv[i]);
    return 0;
}

int hx_cmd_filter(int argc, char **argv)
{
    struct args a = {NULL, 0};
    int words = argc, rc = parse_filter(&a, argc, argv, &words);

    for (int i = words; !rc && i < argc && strcmp(argv[i], "list") != 0; i++)
        rc = change(&a, argv[i]);
    return rc ? rc : list(&a);
}
