/* What the rest of the PD sees of HAP_power_set().  Thread-safe. */
#ifndef HX_HAP_POWER_H
#define HX_HAP_POWER_H

#include "hx_msg.h"

/* The votes of all contexts of this PD, for the driver. */
struct hx_power_vote hx_power_vote(void);

/* 1 when HVX has power: nobody voted it off, or somebody wants it on. */
int hx_power_hvx_on(void);

/* 1 when somebody has voted for HMX. */
int hx_power_hmx_on(void);

#endif
