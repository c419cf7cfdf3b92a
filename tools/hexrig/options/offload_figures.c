/* See offload_figures.h. */
#include "offload_figures.h"

#include "dsp/offload.h"

void hx_offload_figures(json_t *report, const struct hx_engine_cfg *cfg)
{
    char text[HX_OFFLOAD_TEXT];

    hx_offload_text(cfg->offload, text);
    json_object_set_new(report, "offload", json_string(text));
    if (cfg->offload & HX_OFFLOAD_LINEAR)
        json_object_set_new(report, "placement",
                            json_string(hx_offload_placements[cfg->placement]));
}
