/* hexrig help, which runs other commands for their --help. */
#ifndef HX_CMD_HELP_H
#define HX_CMD_HELP_H

#include "commands.h"

/* How it runs a command: argv[0] is the command's name, argv[argc] is NULL.  Set once, by main. */
void hx_cmd_help_runs(int (*run)(const struct hx_command *c, int argc, char **argv));

#endif
