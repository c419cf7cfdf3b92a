/* Linear method `dsp`: int8 matrices on the DSP. */
#include <string.h>

#include "engine/plan.h"
#include "linear_dsp.h"

const struct hx_option hx_placement_option[] = {
    {.name = "placement", .arg = "ddr|vtcm|dma|resident|auto", .def = "dma", .names = hx_placements,
     .flags = HX_OPTION_REPORTED | HX_OPTION_ON_DSP,
     .help = "where weights on the DSP lie while it works: read from memory, fetched per call, streamed, which is the only way of ok, "
             "or in VTCM from call to call as far as they fit; auto: that, or ddr without any VTCM"},
    {.name = NULL},
};

/* The map has been checked: it is one of them. */
static uint32_t placement_of(const char *arg)
{
    uint32_t i = 0;

    while (strcmp(hx_placements[i], arg) != 0)
        i++;
    return i;
}

static int open_dsp(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                    struct hx_error *err)
{
    const uint32_t placement = set->arg ? placement_of(set->arg) : (uint32_t)hx_plan_index(o->plan, "placement");

    return hx_linear_dsp_open(out, set, placement, hx_plan_packets(o->plan), err);
}

static struct hx_calls calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    (void)pos; /* whatever it is */
    return hx_plan_sends(p, hx_plan_linear_calls(p, &hx_method_linear_dsp, s));
}

const struct hx_method hx_method_linear_dsp = {
    .name = "dsp",
    .seam = HX_SEAM_LINEAR,
    .about = "int8 matrices on the DSP, activations quantised there",
    .arg = "PLACEMENT",
    .arg_of = "placement",
    .options = hx_placement_option,
    .needs = HX_TRAIT_RIG,
    .gives = HX_TRAIT_DSP | HX_TRAIT_ARGMAX,
    .open.linear = open_dsp,
    .reports = "residency",
    .report = hx_linear_dsp_report,
    .calls = calls,
};
