/* Commands that consist of actions: hexrig block ACTION, hexrig model ACTION, hexrig bench ACTION. */
#ifndef HX_ACTION_H
#define HX_ACTION_H

#include <stddef.h>

struct hx_action {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] = "hexrig COMMAND NAME"; returns an enum hx_exit */
    const char *what;                  /* it does, for --help */
};

struct hx_actions {
    const char *cmd;
    const char *about, *example; /* a sentence and a command line, for --help */
    const struct hx_action *list;
    size_t n;
};

/* Runs the action that argv[1] names, or prints the command's --help.  Returns an enum hx_exit. */
int hx_action_run(const struct hx_actions *a, int argc, char **argv);

#endif
