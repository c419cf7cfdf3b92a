/* One piece of work divided among HVX contexts.
 *
 *     static int sum_part(void *arg, struct hx_part part)
 *     {
 *         const struct hx_share s = hx_share_of(n_rows, part);
 *         ... rows s.first .. s.first + s.n - 1 ...
 *     }
 *     rc = hx_parallel(threads, sum_part, &work, &time, &hx_handover_pair);
 *
 * How a part reaches another thread is a hand-over.  There are two, because what a hand-over costs on the modelled DSP is
 * itself held against published measurements (docs/timing.md), and those were made with the first:
 *
 *                        hx_handover_pair                          hx_handover_pool
 *   threads              one worker beside the caller              a worker pool, one thread per context of the machine
 *   passed on by         a sequence number and a futex wake, a     jobs of worker_pool.h, waited for by its token
 *                        completion counter and a futex wait
 *   parts                1 or 2                                    1 to HX_PARTS_MAX
 *   the caller does      the last part                             the first part
 *   its HVX context      held before and after the call, given     not held; each part takes one while it runs
 *                        away while the caller waits
 *   concurrent callers   take turns where they want two parts      share the pool's threads
 *   measures             the bodies, on both threads               nothing
 *   used by              skels that rebuild a published one        sp_hex
 *
 * With neither does a thread keep a context while it waits for others, so callers cannot block each other.  Results must
 * not depend on how work is divided.  Threads are made at the first use of more than one part and live until
 * hx_parallel_stop().  Any thread may call. */
#ifndef HX_PARALLEL_H
#define HX_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

enum { HX_PARTS_MAX = 16 };

/* Which part of the work a body does. */
struct hx_part {
    unsigned index, count;
};

/* `units` of work divided: the part's first one and how many; 0 where there are fewer units than parts. */
struct hx_share {
    size_t first, n;
};
static inline struct hx_share hx_share_of(size_t units, struct hx_part part)
{
    const size_t first = units * part.index / part.count;

    return (struct hx_share){first, units * (part.index + 1) / part.count - first};
}

/* Runs with an HVX context held.  Returns an AEE code. */
typedef int hx_part_body(void *arg, struct hx_part part);

/* Pcycles inside the bodies: on the calling thread, and on the others, added up. */
struct hx_parallel_time {
    uint64_t handler, worker;
};

struct hx_handover;
extern const struct hx_handover hx_handover_pair, hx_handover_pool;

/* Runs body(arg, part) for all parts and waits for them.  Adds to *time, which is NULL with the pool.  Returns an error of a body (pair:
 * the caller's before the worker's; pool: that of the first part that failed), AEE_EFAILED when there is no thread or context, or
 * AEE_EBADPARM for parts that the hand-over does not have. */
int hx_parallel(unsigned parts, hx_part_body *body, void *arg, struct hx_parallel_time *time,
                const struct hx_handover *how);

/* How many parts are worth it: one for each context of the machine, at most HX_PARTS_MAX, each of `least` units or more; at
 * least 1. */
unsigned hx_parallel_parts(size_t units, size_t least);

/* Ends the threads; no work may be going on.  The next use makes others. */
void hx_parallel_stop(const struct hx_handover *how);

/* --- for parallel_*.c */

struct hx_handover {
    unsigned parts_max;
    int (*run)(unsigned parts, hx_part_body *body, void *arg, struct hx_parallel_time *time);
    void (*stop)(void);
};

#endif
