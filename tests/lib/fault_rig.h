/* The rig of test_fault_matrix: its processes by name, what it holds, and whether anything of it is left. */
#ifndef FAULT_RIG_H
#define FAULT_RIG_H

#include "fault_client.h"
#include "fault_stage.h"
#include "own_rig.h"

struct fault_rig {
    pid_t driver, root, helper, polite_pd; /* 0: none; helper: FUSE only */
    int driver_fds, root_fds; /* with the polite client alone */
    int root_deaths;
    struct polite_client polite;
};

/* Starts it with the library of stages in every program, and the polite client. */
int fault_rig_start(struct fault_rig *r);

/* The process `name` under `parent`, not `except`; 0: none.  A zombie is none. */
pid_t fault_child(pid_t parent, const char *name, pid_t except);

/* 1 once the root PD is another one that serves; takes it and a new polite client on.  0 when that takes too long. */
int fault_rig_follow_restart(struct fault_rig *r);

/* Waits until the rig holds what it held before.  NULL, or what it has too much or too little of. */
const char *fault_rig_as_before(const struct fault_rig *r);

/* Waits until no process of the rig, no mount and no file is there.  NULL, or what is. */
const char *fault_rig_left(const struct fault_rig *r);

/* Ends it, or takes note of its death, clears with `hexrig down` what a dead one left, then fault_rig_left(). */
const char *fault_rig_end(struct fault_rig *r, int is_dead);

#endif
