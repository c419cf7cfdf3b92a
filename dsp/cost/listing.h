/* How many pcycles a loop of a listing takes per trip; the part of the cost model (cost.h) that knows no thread. */
#ifndef HX_LISTING_H
#define HX_LISTING_H

#include "hexrig_code.h"
#include "hx_profile.h"

struct hx_listing_time {
    double trip;         /* pcycles of a trip in the steady state; of level 0: of the whole level */
    double load_to_use;  /* pcycles from a vector load to the first use of it, the least of the trip's loads */
    unsigned vector_loads; /* per trip */
};

/* `is_loop`: trips follow each other, so that results of the trip before count. */
struct hx_listing_time hx_listing_time(const struct hx_code_level *level, int is_loop,
                                       const struct hx_cost *cost);

#endif
