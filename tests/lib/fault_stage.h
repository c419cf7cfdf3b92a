/* Waiting until a process of a rig gets to a stage (rpc/wire/hx_stage.h), and what may happen to one then. */
#ifndef FAULT_STAGE_H
#define FAULT_STAGE_H

#include <sys/types.h>

#include "fail/stage.h"

enum fault_victim { CLIENT, DRIVER, ROOT, PD, HELPER };
enum fault_action { KILL, STOP, EXIT, HANG }; /* STOP: with SIGCONT once others were seen to go on; HANG: without */

struct fault_column {
    enum fault_victim victim;
    enum fault_action action;
    const char *name;
};

extern struct hxt_stage *fault_stage; /* once it is made */

/* Makes the file; the variables by which a program that is started next finds it and the library that waits there, or not. */
void fault_stage_make(void);
void fault_stage_preload(int on);

/* As a program that was started so: maps the file.  NULL: it cannot. */
struct hxt_stage *fault_stage_join(void);

/* The next who gets to `name` for the nth time, from 1, waits there; NULL: nobody does. */
void fault_stage_arm(const char *name, uint32_t nth);

/* 1: somebody waits there.  0: it takes too long, or has_ended(arg), who was to get there, says so. */
int fault_stage_reach(int (*has_ended)(void *arg), void *arg);

/* Does it to the victim, and lets go on who waits at the stage.  EXIT is SIGTERM for one who is not there. */
void fault_strike(const struct fault_column *col, pid_t victim);

/* Lets go on who still waits. */
void fault_stage_release(void);

/* State letter of a process as /proc has it; 0: there is none. */
int fault_state(pid_t pid);

#endif
