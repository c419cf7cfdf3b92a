/* What other commands of hexrig answer, for commands that put several answers together. */
#ifndef HX_RUN_JSON_H
#define HX_RUN_JSON_H

#include <jansson.h>

/* Runs this program with argv (argv[0] = "hexrig", NULL-terminated) and returns the JSON object that it prints, which the caller
 * releases.  It ends with its parent, and so does its private rig.  NULL when it failed, after a message: its own, or in the name of
 * `cmd`.
 * err: -1, or a descriptor that takes its stderr; code: NULL, or where its exit status goes when it failed, HX_EXIT_FAILED if it has
 * none. */
json_t *hx_run_json(const char *cmd, const char *const *argv, int err, int *code);

#endif
