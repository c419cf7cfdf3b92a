/* `hexrig report timing --identify` and `--interval`: what a fit (timing_fit.h) says, printed. */
#ifndef HX_TIMING_IDENTIFY_H
#define HX_TIMING_IDENTIFY_H

#include "timing_fit.h"

struct hx_timing_views {
    int identify, interval; /* what to print beside the rows: parameters; intervals */
    int json, check;
};

/* The rows, and what else is asked for.  Returns an enum hx_exit; messages in the name of `cmd`.  check: a failure when groups miss
 * their bars, or, with identify, the rows left out theirs, or when no row determines a parameter that is said to be fitted. */
int hx_timing_identify(const char *cmd, const struct hx_timing_fit *f, const struct hx_timing_views *views);

/* The answer to a question, each figure with its interval.  Returns an enum hx_exit. */
int hx_timing_print_interval(const char *cmd, const struct hx_timing_fit *f, int json);

#endif
