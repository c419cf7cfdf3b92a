/* How far OneDecode's pipeline is ready, in the published words (ott_readiness_report.json): only what was measured has a number.
 *
 * consistency: the share of statements about the space of the table's steps that hold of other states, too (ott_axioms.h), measured when
 * the table was baked; 1 of one that comes from its file and is of this model and text, by the published rule that what is reused is
 * consistent.  A table whose steps are straight lines uses no geometry and has none. */
#ifndef HX_OTT_READINESS_H
#define HX_OTT_READINESS_H

#include <jansson.h>
#include <stdint.h>

#include "ott_table.h"

struct ott_measured {
    const struct hx_ott *table; /* of the model that ran */
    int from_file;              /* it was not baked by this run */
    uint64_t accepted, emitted; /* tokens of the text that the table had proposed, all tokens */
};

/* {"status": "geodesic_ready" | "hybrid" | "cold", "ready", "hybrid_ready", "runtime_share", "consistency", "consistency_is",
 * "consistency_baked", "consistency_of_noise", "entries", "accepted", "emitted"}.  hybrid_ready: tokens came through the table.  ready, and
 * geodesic_ready: its steps are geodesics, and the consistency is at least OTT_READY, the measured one above noise's.  NULL: out of
 * memory. */
#define OTT_READY .9
json_t *ott_readiness(const struct ott_measured *m);

#endif
