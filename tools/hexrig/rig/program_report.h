/* What a program that ran beside us has called on the connected rig: `hexrig run-with --report`. */
#ifndef HX_PROGRAM_REPORT_H
#define HX_PROGRAM_REPORT_H

#include <stddef.h>
#include <sys/types.h>

#include "budget/gate.h"
#include "method_stats.h"

enum { HX_REPORT_IDLS = 16 };

struct hx_program_report { /* zeroed: none is wanted */
    int wanted, json;     /* wanted: to be printed */
    struct hx_gate *gate; /* limits for the figures, printed or not, borrowed; NULL: there are none */
    const char *file; /* NULL: stderr */
    const char *idl[HX_REPORT_IDLS];
    size_t n_idl;
    /* the rest is its own */
    struct hx_method_stats before;
    pid_t *others; /* [n_others] clients that were there before, owned */
    size_t n_others;
};

/* Before the program starts, and after it has ended, when its rig still runs.  Each returns HX_EXIT_OK, or another after a message
 * in the name of `cmd`; the second frees what the first has got. */
int hx_program_report_begin(struct hx_program_report *r, const char *cmd);
int hx_program_report_end(struct hx_program_report *r, const char *cmd);

#endif
