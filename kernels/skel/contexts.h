/* One or two HVX contexts for a kernel: the calling thread ("handler") and a second one ("worker") that waits for
 * work.
 *
 * The worker is made at the first use of two contexts and lives until hx_contexts_stop().  Work is handed over as in
 * the published skels: a sequence number and a futex wake, a completion counter and a futex wait. */
#ifndef CONTEXTS_H
#define CONTEXTS_H

#include <stdint.h>

/* Which share of the work a body does: with two contexts part 0 is the worker's, the lower one. */
struct hx_part {
    int index, count;
};

/* `units` of work divided: the part's first one and how many. */
struct hx_share {
    int first, n;
};
static inline struct hx_share hx_share_of(int units, struct hx_part part)
{
    const int first = (int)((int64_t)units * part.index / part.count);
    const int end = (int)((int64_t)units * (part.index + 1) / part.count);

    return (struct hx_share){first, end - first};
}

/* Runs with an HVX context held.  Returns an AEE code. */
typedef int hx_part_body(void *arg, struct hx_part part);

/* Pcycles inside the bodies; added up. */
struct hx_contexts_time {
    uint64_t handler, worker;
};

/* Runs body(arg, part) on 1 or 2 contexts, the handler's on the calling thread, which holds an HVX context already.
 * Returns the first error of a body, or AEE_EFAILED when there is no second context.  Calls from several threads take
 * turns.  With two contexts the calling thread gives its own away while it waits for the worker. */
int hx_contexts_run(int threads, hx_part_body *body, void *arg, struct hx_contexts_time *time);

/* Ends the worker; no run may be going on.  The next run makes another one. */
void hx_contexts_stop(void);

#endif
