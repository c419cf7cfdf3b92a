/* Rounds of the driver's loop in a fuzz target.  While the clients are several processes a large copy takes many: what may happen between
 * two of its pieces, and what is known of the bytes then. */
#ifndef FUZZ_ROUNDS_H
#define FUZZ_ROUNDS_H

#include "fuzz_ioctls.h"

/* One round of the loop and of what its tick does, and what has to hold after it.  A DSP that has failed is restarted. */
void fuzz_round(void);

/* The same, and more while a process has a reply that waits for its turn. */
void fuzz_rounds(void);

/* The DSP, which has failed, goes down and comes up again. */
void fuzz_restart(void);
extern unsigned fuzz_restarts; /* how often */

/* The driver copies the call's inputs and has not sent it so far. */
bool fuzz_is_copied_in(const struct fuzz_call *fc);

/* The client's memory changes: what calls whose inputs are on their way will bring to the DSP is known only there. */
void fuzz_memory_changes(const struct fuzz_client *c);

/* The PD has the call: its inputs are what came, if it is not known what they were. */
void fuzz_inputs_arrived(struct fuzz_call *fc, const struct fuzz_pd *pd);

/* Rounds until all outputs of the call are copied, with what `how` says in between: a signal, the client's end, its PD's, a second reply, a
 * restart of the DSP.  The result that the call has to have; without any of it, `want`. */
int fuzz_copied_out(struct fuzz_pd *pd, struct fuzz_call *fc, int want, unsigned how);

#endif
