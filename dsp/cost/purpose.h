/* What memory of the PD is for, as its skels have said: pieces that do not overlap. */
#ifndef HX_COST_PURPOSE_H
#define HX_COST_PURPOSE_H

#include <stdint.h>

#include "hx_traffic.h"

/* Addresses from..to-1, which are all for the same. */
struct hx_stretch_of_purpose {
    uint64_t from, to;
    enum hx_purpose purpose;
};

/* The longest such stretch around `at`. */
struct hx_stretch_of_purpose hx_purpose_of(uint64_t at);

/* Changes with whatever is said: what was found before may no longer hold. */
unsigned hx_purpose_changes(void);

#endif
