/* Units of the core that a thread holds alone: HVX contexts, HMX.  They are shared by all PDs of a rig.
 *
 * A thread really waits until a unit is free, and its virtual clock goes on to the time at which the unit was given
 * back.  Threads of one call get units in the order of virtual time: who gives one back chooses who is next, the
 * thread that has asked first.  Where callers overlap, figures depend on how their threads really interleaved. */
#ifndef HX_UNITS_H
#define HX_UNITS_H

#include "base/machine.h"

#define HX_UNITS_NONE (-1)

struct hx_unit_waiter;

/* Units of a kind, and this PD's line for them; under the machine's lock. */
struct hx_units {
    struct hx_unit_grant *grant; /* [n], shared with other PDs */
    unsigned n;
    struct hx_unit_waiter *line; /* in the order in which they have asked */
};

/* In an operation (dsp/cost/turns.h): a unit, or HX_UNITS_NONE when none is free; wait: until one is, in an operation again then. */
int hx_units_take(struct hx_units *u, int wait);

/* In an operation: gives it back. */
void hx_units_give(struct hx_units *u, int unit);

#endif
