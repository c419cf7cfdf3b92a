/* Chooses the action of a command that consists of several, and lists them. */
#include "action.h"

#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "help.h"
#include "near.h"

enum { COLUMNS = 79 };

/* One sentence in lines of 79 columns at most, all but the first behind `indent` spaces. */
static void print_wrapped(const char *text, size_t indent)
{
    const size_t room = COLUMNS - indent;

    while (strlen(text) > room) {
        size_t n = room;

        while (n && text[n] != ' ')
            n--;
        printf("%.*s\n%*s", (int)(n ? n : room), text, (int)indent, "");
        text += n ? n + 1 : room;
    }
    puts(text);
}

static int run(const struct hx_actions *a, const struct hx_action *action, int argc, char **argv)
{
    char name[64];

    snprintf(name, sizeof(name), "hexrig %s %s", a->cmd, action->name);
    argv[0] = name;
    return action->run(argc, argv);
}

/* Every action's help behind one another; HX_EXIT_HELP, or what stopped it. */
static int help_of_all(const struct hx_actions *a)
{
    int rc = HX_EXIT_HELP;

    for (size_t i = 0; rc == HX_EXIT_HELP && i < a->n; i++) {
        char *argv[] = {NULL, (char *)"--help", NULL};

        rc = run(a, &a->list[i], 2, argv);
    }
    return rc;
}

static int help_man(const struct hx_actions *a)
{
    printf(".SH SYNOPSIS\n.B hexrig %s\n\\fIACTION\\fR [\\fIOPTION\\fR]...\n.SH DESCRIPTION\n", a->cmd);
    hx_help_man_text(a->about, strlen(a->about));
    for (size_t i = 0; i < a->n; i++) {
        printf("\n.TP\n.B %s\n", a->list[i].name);
        hx_help_man_text(a->list[i].what, strlen(a->list[i].what));
    }
    printf("\n.PP\n");
    hx_help_man_text(a->example, strlen(a->example));
    putchar('\n');
    return help_of_all(a);
}

static int help_words(const struct hx_actions *a)
{
    printf("%s:", a->cmd);
    for (size_t i = 0; i < a->n; i++)
        printf(" %s", a->list[i].name);
    printf(" --help\n");
    return help_of_all(a);
}

static int help(const struct hx_actions *a)
{
    if (hx_help_form() == HX_HELP_MAN)
        return help_man(a);
    if (hx_help_form() == HX_HELP_WORDS)
        return help_words(a);
    printf("Usage: hexrig %s ACTION [OPTION...]\n", a->cmd);
    print_wrapped(a->about, 0);
    putchar('\n');
    for (size_t i = 0; i < a->n; i++) {
        printf("  %-10s  ", a->list[i].name);
        print_wrapped(a->list[i].what, 14);
    }
    printf("\nhexrig %s ACTION --help tells the options.\n\nExample: %s\n", a->cmd, a->example);
    return HX_EXIT_HELP;
}

static int unknown(const struct hx_actions *a, const char *name)
{
    struct hx_near near = {.word = name};
    char legal[128] = "";

    for (size_t i = 0; i < a->n; i++) {
        if (name)
            hx_near_try(&near, a->list[i].name);
        snprintf(legal + strlen(legal), sizeof(legal) - strlen(legal), "%s%s", i ? ", " : "", a->list[i].name);
    }
    if (!name)
        return hx_cmd_usage(a->cmd, "no action; legal: %s", legal);
    return hx_cmd_usage(a->cmd, "unknown action '%s'%s%s%s; legal: %s", name, near.name ? " (did you mean '" : "",
                        near.name ? near.name : "", near.name ? "'?)" : "", legal);
}

int hx_action_run(const struct hx_actions *a, int argc, char **argv)
{
    if (argc < 2)
        return unknown(a, NULL);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(a);
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->list[i].name, argv[1]) == 0)
            return run(a, &a->list[i], argc - 1, argv + 1);
    return unknown(a, argv[1]);
}
