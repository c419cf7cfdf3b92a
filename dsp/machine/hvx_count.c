/* Storage behind dsp/include/hexrig/hexrig_hvx_count.h. */
#include "hexrig_hvx_count.h"

#include <stddef.h>
#include <string.h>

__thread struct hx_hvx_counts hx_hvx_counts;

void hx_hvx_reset(void)
{
    memset(&hx_hvx_counts, 0, sizeof(hx_hvx_counts));
}

uint64_t hx_hvx_ops(const struct hx_hvx_counts *c)
{
    uint64_t sum = 0;

    for (int i = 0; i < HX_SLOT_CLASSES; i++)
        sum += c->op[i];
    return sum;
}

const char *hx_slot_class_name(unsigned int cls)
{
    static const char *const name[HX_SLOT_CLASSES] = {
        [HX_SLOT_VA] = "va",           [HX_SLOT_VA_DV] = "va_dv",
        [HX_SLOT_VX] = "vx",           [HX_SLOT_VX_DV] = "vx_dv",
        [HX_SLOT_VX_LATE] = "vx_late", [HX_SLOT_VS] = "vs",
        [HX_SLOT_VP] = "vp",           [HX_SLOT_VP_VS] = "vp_vs",
        [HX_SLOT_LD] = "ld",           [HX_SLOT_ST] = "st",
        [HX_SLOT_GATHER] = "gather",   [HX_SLOT_GATHER_DV] = "gather_dv",
        [HX_SLOT_SCATTER] = "scatter", [HX_SLOT_SCATTER_DV] = "scatter_dv",
    };

    return cls < HX_SLOT_CLASSES ? name[cls] : NULL;
}
