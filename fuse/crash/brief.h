/* What the driver tells hexrig-crash, on its standard input, of a user PD that waits in the handler of a fatal signal.  Descriptor 3
 * is its memory (/proc/PID/mem), where the driver could open it.  The program's standard output is lines for the log; the first one
 * says all in short. */
#ifndef HX_CRASH_BRIEF_H
#define HX_CRASH_BRIEF_H

#include "hx_crash.h"

enum { HX_CRASH_TITLE = 128, HX_CRASH_MEMORY_FD = 3, HX_CRASH_LOOK_S = 30 /* so long it looks, at most */ };

struct hx_crash_brief {
    int32_t pid;                /* of the PD, as the kernel says */
    char title[HX_CRASH_TITLE]; /* the method that it served, "" = none that is known; terminated */
    struct hx_crash crash;      /* a copy of what the PD wrote: any numbers at all */
};

#endif
