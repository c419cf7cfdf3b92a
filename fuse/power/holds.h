/* Something of which there is only so much, on the machine's virtual clock: who holds how much of it from when to when, and from when
 * on a newcomer can have its share.
 *
 * Calls come in the order in which they were really made, which need not be the order of virtual time.  So holds are kept as
 * intervals, the last HX_HOLDS of them, and a newcomer may fit in before one that was entered earlier. */
#ifndef HX_HOLDS_H
#define HX_HOLDS_H

#include <stdint.h>

enum { HX_HOLDS = 64 };

struct hx_hold {
    uint64_t start_ns, end_ns; /* equal: an empty slot */
    unsigned units;
};

struct hx_holds { /* zeroed: all free */
    struct hx_hold at[HX_HOLDS];
    unsigned next;
};

/* Earliest time from from_ns on at which `units` of `capacity` are free for ns nanoseconds.  More than there are count as all. */
uint64_t hx_holds_fit(const struct hx_holds *h, uint64_t from_ns, uint64_t ns, unsigned units, unsigned capacity);

/* Somebody holds `units` for ns nanoseconds from start_ns on; the oldest entry is forgotten for it. */
void hx_holds_add(struct hx_holds *h, uint64_t start_ns, uint64_t ns, unsigned units);

#endif
