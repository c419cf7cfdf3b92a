/* What ran on the DSP besides the cache, for the reports of commands that compute with a whole model. */
#ifndef HX_OFFLOAD_FIGURES_H
#define HX_OFFLOAD_FIGURES_H

#include <jansson.h>

#include "engine/engine.h"

/* Adds "offload", an --offload list or "none", and, when there is one, "placement". */
void hx_offload_figures(json_t *report, const struct hx_engine_cfg *cfg);

#endif
