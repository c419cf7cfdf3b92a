/* What a command's terminal shows of what takes long: notes as lines of stderr, progress as a bar where stderr is a terminal. */
#ifndef HX_CLI_TERMINAL_WATCH_H
#define HX_CLI_TERMINAL_WATCH_H

#include "base/watch.h"

/* cmd: for messages, kept. */
struct hx_watch hx_terminal_watch(const char *cmd);

#endif
