/* Where a roofline's figures come from: what the driver counted for a session. */
#include "roofline.h"

static double at(const struct hx_session_stats *sum, enum hx_traffic_place place)
{
    return (double)hx_traffic_at(&sum->traffic, place);
}

struct hx_roofline_counts hx_roofline_counts(const struct hx_session_stats *sum, const struct hx_ceilings *c)
{
    const double pcycles_per_ns = c->pcycles_per_us / 1e3;
    const uint64_t beside = sum->dispatch_ns + sum->marshal_ns + sum->queue_ns;

    return (struct hx_roofline_counts){
        .calls = (double)sum->invokes,
        .packets = (double)sum->packets,
        .hvx_ops = (double)sum->hvx_ops,
        .ddr_bytes = at(sum, HX_PLACE_DDR),
        .dma_bytes = at(sum, HX_PLACE_DMA),
        .l2_bytes = at(sum, HX_PLACE_L2),
        .vtcm_bytes = at(sum, HX_PLACE_VTCM),
        .exec_pcycles = (double)sum->exec_ns * pcycles_per_ns,
        .all_pcycles = (double)(sum->exec_ns + beside) * pcycles_per_ns,
    };
}
