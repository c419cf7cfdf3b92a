/* hexrig trace --replay. */
#ifndef HX_CMD_REPLAY_H
#define HX_CMD_REPLAY_H

#include <stddef.h>

struct hx_replay_args { /* borrowed */
    const char *file;
    const char *profile; /* NULL: the recording's */
    size_t batch;
    int packets, json;
};

/* Prints what the recorded calls took, and would take.  Returns an enum hx_exit, after a message in the name of `cmd`. */
int hx_cmd_replay(const char *cmd, const struct hx_replay_args *a);

#endif
