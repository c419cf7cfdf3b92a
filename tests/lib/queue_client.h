/* The host's end of test queues: the queue skel (skel/hxt_queue.h) opened, given commands, and closed. */
#ifndef QUEUE_CLIENT_H
#define QUEUE_CLIENT_H

#include "dspqueue.h"
#include "own_rig.h"
#include "remote.h"
#include "rpcmem.h"
#include "skel/hxt_queue.h"

extern remote_handle64 queue_skel; /* the one that the functions below mean; a test may set it */

/* Group set-up and tear-down: the skel in a session of its own.  0 or an AEE code. */
int open_queue_skel(void **state);
int close_queue_skel(void **state);

/* Calls a method of the skel about queue `id`; out: [2] or NULL.  Its AEE code. */
int call_queue_skel(uint32_t method, uint64_t id, uint32_t flags, uint32_t *out);

/* A queue that the skel has imported and serves with skel_flags (hxt_queue.h). */
dspqueue_t open_queue(uint32_t req, uint32_t resp, uint32_t skel_flags, uint64_t *id);

/* Stops the skel and closes the queue. */
void close_queue(dspqueue_t q, uint64_t id);

#endif
