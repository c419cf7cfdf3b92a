/* Linear method `dsp`: int8 matrices on the DSP. */
#include <errno.h>
#include <string.h>

#include "engine/plan.h"
#include "linear_dsp.h"

const struct hx_option hx_placement_option[] = {
    {.name = "placement", .arg = "P", .def = "dma", .names = hx_placements,
     .flags = HX_OPTION_REPORTED | HX_OPTION_ON_DSP,
     .help = "ddr | vtcm | dma: where weights on the DSP lie while it works: read from memory, fetched per call, streamed"},
    {.name = NULL},
};

static int placement_of(const char *arg, uint32_t *placement, struct hx_error *err)
{
    for (uint32_t i = 0; hx_placements[i]; i++)
        if (strcmp(hx_placements[i], arg) == 0) {
            *placement = i;
            return 0;
        }
    return hx_error_set(err, -EINVAL, "linear dsp:%.32s: unknown placement; legal: ddr, vtcm, dma", arg);
}

static int open_dsp(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                    struct hx_error *err)
{
    uint32_t placement = (uint32_t)hx_plan_index(o->plan, "placement");
    int rc = set->arg ? placement_of(set->arg, &placement, err) : 0;

    return rc ? rc : hx_linear_dsp_open(out, set, placement, err);
}

static struct hx_calls calls(const struct hx_plan *p, const struct hx_shape *s, size_t pos)
{
    (void)pos; /* whatever it is */
    return (struct hx_calls){hx_plan_linear_calls(p, &hx_method_linear_dsp, s), 0};
}

const struct hx_method hx_method_linear_dsp = {
    .name = "dsp",
    .seam = HX_SEAM_LINEAR,
    .about = "int8 matrices on the DSP, activations quantised there",
    .arg = "PLACEMENT",
    .options = hx_placement_option,
    .needs = HX_TRAIT_RIG,
    .gives = HX_TRAIT_DSP | HX_TRAIT_ARGMAX,
    .open.linear = open_dsp,
    .calls = calls,
};
