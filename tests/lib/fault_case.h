/* One case of the fault matrix: a client works up to a stage, something happens to a process, and everybody is looked at. */
#ifndef FAULT_CASE_H
#define FAULT_CASE_H

#include "fault_stage.h"

enum {
    NO_PD = 1,     /* there is no PD yet, or no longer for sure: nobody whom the client needs waits there */
    NO_CLIENT = 2, /* the client may have ended */
    DONE = 4,      /* the client needs nobody any more */
    SOCKET_ONLY = 8,
    LATE = 16,     /* nothing that is left asks the root PD, and its PDs live a moment longer: the client may be told nothing */
};

struct fault_place {
    const char *name; /* rpc/wire/hx_stage.h */
    uint32_t nth;     /* of the times that a client gets there, from 1 */
    int flags;
};

/* `main` of the client under test, which fault_case_run() starts as this program with the one argument "client". */
int fault_case_client(void);

/* On a rig that stays for the next case if it is well.  NULL: all is as promised (docs/reliability.md), or what is not. */
const char *fault_case_run(const struct fault_place *s, const struct fault_column *col);

/* Ends the rig that the last case left.  NULL: nothing of it is there. */
const char *fault_case_end(void);

#endif
