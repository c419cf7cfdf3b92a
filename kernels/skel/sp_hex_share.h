/* One piece of work divided among the machine's HVX contexts: the calling thread does the first part, threads of a worker pool
 * the others.  Each part holds a context while it runs; nobody holds one while waiting for others, so callers cannot block
 * each other.  The results must not depend on how work is divided.
 *
 * The pool is made at the first use of more than one part and lives until hx_sp_share_stop().  Any thread. */
#ifndef SP_HEX_SHARE_H
#define SP_HEX_SHARE_H

#include <stddef.h>

enum { HX_SP_PARTS = 16 };

struct hx_sp_part {
    unsigned index, count;
};

/* `units` of work divided: the part's first one and how many. */
static inline size_t hx_sp_share_first(size_t units, struct hx_sp_part part)
{
    return units * part.index / part.count;
}

static inline size_t hx_sp_share_n(size_t units, struct hx_sp_part part)
{
    return units * (part.index + 1) / part.count - hx_sp_share_first(units, part);
}

/* How many parts are worth it: one for each context (at most HX_SP_PARTS), each of `least` units or more; at least 1. */
unsigned hx_sp_share_parts(size_t units, size_t least);

/* Runs with an HVX context held; returns an AEE code. */
typedef int hx_sp_part_fn(void *arg, struct hx_sp_part part);

/* Runs all parts (1..HX_SP_PARTS) and waits for them; the calling thread holds no context.  Returns the code of the first part
 * that failed, AEE_EFAILED where there was no context. */
int hx_sp_share(unsigned parts, hx_sp_part_fn *fn, void *arg);

/* Ends the pool's threads; nothing may be running. */
void hx_sp_share_stop(void);

#endif
