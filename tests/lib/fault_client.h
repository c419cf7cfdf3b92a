/* Clients for test_fault_matrix: one that does everything once and checks every byte that comes back, and a polite one that calls
 * when it is told to, while others suffer. */
#ifndef FAULT_CLIENT_H
#define FAULT_CLIENT_H

#include <sys/types.h>

#include "fail/stage.h"

enum client_step { STEP_OPEN, STEP_MAP, STEP_INVOKE, STEP_VTCM, STEP_QUEUE_OPEN, STEP_PACKETS, STEP_QUEUE_CLOSE, STEP_UNMAP, STEP_CLOSE };
extern const char *const client_step_names[];

/* Opens, maps, invokes, asks for VTCM, talks by a queue and closes all of it, with libcdsprpc.so, on the rig that HEXRIG_DEVICE
 * names.  Says in *s what came of it.  What follows a failure is still closed. */
void fault_client_run(struct hxt_stage *s);

struct polite_client {
    pid_t pid; /* 0: none */
    int fd;
};

/* A process with a session of its own.  0, or an AEE code: it could not open one, and is gone. */
int polite_start(struct polite_client *p);

/* One call, its bytes checked.  Its AEE code; -1: wrong bytes, or no answer within a few seconds. */
int polite_call(struct polite_client *p);

void polite_stop(struct polite_client *p); /* accepts one that is stopped */

#endif
