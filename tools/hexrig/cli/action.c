/* Chooses the action of a command that consists of several, and lists them. */
#include "action.h"

#include <stdio.h>
#include <string.h>

#include "cmd.h"

static int help(const struct hx_actions *a)
{
    printf("Usage: hexrig %s ACTION [OPTION...]\n%s\n\n", a->cmd, a->about);
    for (size_t i = 0; i < a->n; i++)
        printf("  %-10s  %s\n", a->list[i].name, a->list[i].what);
    printf("\nhexrig %s ACTION --help tells the options.\n\nExample: %s\n", a->cmd, a->example);
    return HX_EXIT_HELP;
}

static int unknown(const struct hx_actions *a, const char *name)
{
    char legal[128] = "";

    for (size_t i = 0; i < a->n; i++)
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%s", i ? ", " : "", a->list[i].name);
    return name ? hx_cmd_usage(a->cmd, "unknown action '%s'; legal: %s", name, legal)
                : hx_cmd_usage(a->cmd, "no action; legal: %s", legal);
}

int hx_action_run(const struct hx_actions *a, int argc, char **argv)
{
    char name[64];

    if (argc < 2)
        return unknown(a, NULL);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(a);
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->list[i].name, argv[1]) == 0) {
            snprintf(name, sizeof(name), "hexrig %s %s", a->cmd, argv[1]);
            argv[1] = name;
            return a->list[i].run(argc - 1, argv + 1);
        }
    return unknown(a, argv[1]);
}
