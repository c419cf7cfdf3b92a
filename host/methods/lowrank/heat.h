/* Ranks that follow the rig's own temperature while the engine runs (methods/adaptive/thermal_rank.h): before each pass the node `thermal`
 * of the process's rig is read, and a basis has the slices that the rank of the moment allows; never more than its own rank, so what a
 * plan gave a layer is a ceiling.  Nothing is made or handed over for a change: all slices are where they have been since open. */
#ifndef HX_LOWRANK_HEAT_H
#define HX_LOWRANK_HEAT_H

#include <jansson.h>

#include "factors.h"
#include "methods/adaptive/thermal_rank.h"

struct hx_lowrank_heat {
    struct hx_thermal_rank rank;
    size_t passes, limit, least; /* limit: now; least: so far */
    double sum;                  /* of limits, over the passes */
};

/* cfg->most becomes the largest rank of f; cfg->least at most that. */
void hx_lowrank_heat_begin(struct hx_lowrank_heat *h, const struct hx_thermal_rank_cfg *cfg, const struct hx_lowrank_factors *f);

/* A pass begins.  Returns the most directions of a basis.  Without a rig they are all. */
size_t hx_lowrank_heat_look(struct hx_lowrank_heat *h);

/* For reports.  NULL: out of memory. */
json_t *hx_lowrank_heat_json(const struct hx_lowrank_heat *h, const struct hx_lowrank_factors *f);

#endif
