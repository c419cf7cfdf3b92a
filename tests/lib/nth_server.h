/* Test support: `hexrig serve` for a test of n-th failures, which has to go on serving after what failed. */
#ifndef NTH_SERVER_H
#define NTH_SERVER_H

#include "hxt_proc.h"

/* Runs the server of cmd: a request while calls fail, then a second one while none does (nth_disarm()), SIGTERM.  res as hxt_run()
 * has it, but its `out` is what the server answered: a line `text=...`, twice if the first answer was a text and another one.
 * Returns as hxt_run(). */
int nth_server_run(struct hxt_result *res, const struct hxt_cmd *cmd);

#endif
