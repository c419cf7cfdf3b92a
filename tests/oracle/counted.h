/* Does a case count as the table says?  Host side, with -DHEXRIG_COUNT. */
#ifndef ORACLE_COUNTED_H
#define ORACLE_COUNTED_H

#include "hexrig_hvx_count.h"
#include "oracle.h"

/* The counter of the table's class, and no other, moves by one.  Cases make and show predicates too
 * (VX_LATE), so a few of those are allowed for. */
static inline int oracle_counted(const struct oracle_case *t, unsigned int c)
{
    struct input in;
    struct output out;

    if (t->slot < 0)
        return 1;
    oracle_input(&in, c, 5000, t->memory);
    hx_hvx_reset();
    t->run(&in, &out);
    if (hx_hvx_counts.op[t->slot] < 1)
        return 0;
    hx_hvx_counts.op[t->slot]--;
    for (int i = 0; i < HX_SLOT_CLASSES; i++)
        if (i != HX_SLOT_VX_LATE && hx_hvx_counts.op[i])
            return 0;
    return hx_hvx_counts.op[HX_SLOT_VX_LATE] <= 3;
}

#endif
