/* How far OneDecode's pipeline is ready, in the published words (ott_readiness_report.json): only what was measured has a number, and
 * what needs the geometry of the states, which the table does not use yet, says so. */
#ifndef HX_OTT_READINESS_H
#define HX_OTT_READINESS_H

#include <jansson.h>
#include <stdint.h>

#include "ott_table.h"

struct ott_measured {
    const struct hx_ott *table; /* of the model that ran */
    uint64_t accepted, emitted; /* tokens of the text that the table had proposed, all tokens */
};

/* {"status": "hybrid" | "cold", "ready", "hybrid_ready", "runtime_share", "consistency", "consistency_is", "entries", "accepted",
 * "emitted"}.  `geodesic_ready` is the third published status; it needs a consistency.  NULL: out of memory. */
json_t *ott_readiness(const struct ott_measured *m);

#endif
