/* The names of hexrig's commands, from commands.inc. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "near.h"

#define COMMAND(name, run, what) {name, what},
const struct hx_command hx_commands[] = {
#include "commands.inc"
};
#undef COMMAND

const size_t hx_n_commands = sizeof(hx_commands) / sizeof(hx_commands[0]);

static void unknown(const char *me, const char *name)
{
    struct hx_near near = {.word = name};

    for (size_t i = 0; i < hx_n_commands; i++)
        hx_near_try(&near, hx_commands[i].name);
    fprintf(stderr, "%s: unknown command '%s'", me, name);
    if (near.name)
        fprintf(stderr, " (did you mean '%s'?)", near.name);
    fprintf(stderr, "; legal:");
    for (size_t i = 0; i < hx_n_commands; i++)
        fprintf(stderr, "%s %s", i ? "," : "", hx_commands[i].name);
    fputc('\n', stderr);
}

const struct hx_command *hx_command(const char *me, const char *name)
{
    for (size_t i = 0; i < hx_n_commands; i++)
        if (strcmp(name, hx_commands[i].name) == 0)
            return &hx_commands[i];
    if (me)
        unknown(me, name);
    return NULL;
}

void hx_commands_print(void)
{
    printf("usage: hexrig COMMAND [OPTION]...\n\n"
           "A Hexagon V69 cDSP on this machine, and an LLM engine that offloads to it.\n\n");
    for (size_t i = 0; i < hx_n_commands; i++)
        printf("  %-13s %s\n", hx_commands[i].name, hx_commands[i].what);
    printf("\n"
           "hexrig help COMMAND tells the options.  A command that needs a rig and finds\n"
           "none starts a private one and ends it.\n"
           "Example: hexrig run -p \"The king was\" -n 32 --kv spinor\n");
}
