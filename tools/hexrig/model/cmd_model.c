/* hexrig model: looks into GGUF files, changes their number format, captures what flows through a model.  This file chooses the action. */
#include "cmd_model.h"

#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"

static const char help[] =
    "usage: hexrig model ACTION [OPTION]...\n\n"
    "Works on GGUF model files.\n\n"
    "  inspect   shows metadata and tensors\n"
    "  convert   writes the weights in another number format\n"
    "  capture   runs a text and writes what flows through the model\n\n"
    "Each has --help.\n\n"
    "Example: hexrig model inspect --tensors model.gguf\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} actions[] = {
    {"inspect", hx_model_cmd_inspect},
    {"convert", hx_model_cmd_convert},
    {"capture", hx_model_cmd_capture},
};

#define ACTIONS "inspect, convert, capture"

int hx_cmd_model(int argc, char **argv)
{
    char name[64];

    if (argc < 2)
        return hx_cmd_usage("model", "one action is needed; legal: " ACTIONS);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fputs(help, stdout);
        return HX_EXIT_OK;
    }
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strcmp(actions[i].name, argv[1]))
            continue;
        snprintf(name, sizeof(name), "hexrig model %s", argv[1]);
        argv[1] = name;
        return actions[i].run(argc - 1, argv + 1);
    }
    return hx_cmd_usage("model", "unknown action '%s'; legal: " ACTIONS, argv[1]);
}
