/* The arithmetic of ceilings and points. */
#include "roofline.h"

const char *const hx_roof_names[HX_ROOFS + 1] = {"ddr", "vtcm", "hvx", "dispatch", "none"};

enum { VECTOR = 128 };

struct hx_ceilings hx_ceilings(const struct hx_profile *p)
{
    const double mhz = p->clock_mhz, cycles = p->hvx_contexts / p->cost.hvx_pcycles; /* context cycles per pcycle */

    return (struct hx_ceilings){
        .ddr_bytes = p->cost.dma_bytes_per_pcycle,
        .ddr_load_bytes = VECTOR / p->cost.ddr_line_pcycles,
        .vtcm_bytes = VECTOR * cycles,
        .hvx_ops = HX_HVX_OPS_PER_PACKET * cycles,
        .call_pcycles = p->dispatch_us * mhz,
        .packet_pcycles = p->packet_us * mhz,
        .pcycles_per_us = mhz,
    };
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* The ceiling of the first n that asks for most. */
static enum hx_roof highest(const double *least, int n)
{
    int top = HX_ROOFS;

    for (int i = 0; i < n; i++)
        if (least[i] > (top == HX_ROOFS ? 0 : least[top]))
            top = i;
    return (enum hx_roof)top;
}

struct hx_roofline_point hx_roofline_point(const struct hx_roofline_counts *n, const struct hx_ceilings *c)
{
    const double over_bus = n->ddr_bytes + n->dma_bytes;
    struct hx_roofline_point p = {
        .n = *n,
        .least = {[HX_ROOF_DDR] = ratio(over_bus, c->ddr_bytes),
                  [HX_ROOF_VTCM] = ratio(n->vtcm_bytes, c->vtcm_bytes),
                  [HX_ROOF_HVX] = ratio(n->hvx_ops, c->hvx_ops),
                  [HX_ROOF_DISPATCH] = n->calls * c->call_pcycles + n->packets * c->packet_pcycles},
        .ops_per_pcycle = ratio(n->hvx_ops, n->exec_pcycles),
        .ops_per_byte = ratio(n->hvx_ops, over_bus),
    };

    p.exec_roof = highest(p.least, HX_ROOF_DISPATCH);
    p.roof = highest(p.least, HX_ROOFS);
    p.exec_share = p.exec_roof < HX_ROOFS ? ratio(p.least[p.exec_roof], n->exec_pcycles) : 0;
    p.share = p.roof < HX_ROOFS ? ratio(p.least[p.roof], n->all_pcycles) : 0;
    return p;
}

double hx_roofline_tok_s(const struct hx_profile *p, double bytes)
{
    return ratio(p->cost.dma_bytes_per_pcycle * p->clock_mhz * 1e6, bytes);
}

json_t *hx_ceilings_json(const struct hx_ceilings *c)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "ddr_bytes_per_pcycle", c->ddr_bytes, "ddr_load_bytes_per_pcycle",
                     c->ddr_load_bytes, "vtcm_bytes_per_pcycle", c->vtcm_bytes, "hvx_ops_per_pcycle", c->hvx_ops, "call_pcycles",
                     c->call_pcycles, "packet_pcycles", c->packet_pcycles, "pcycles_per_us", c->pcycles_per_us);
}

json_t *hx_roofline_point_json(const struct hx_roofline_point *p)
{
    const struct hx_roofline_counts *n = &p->n;

    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:f, s:s, s:f}", "calls", n->calls, "packets",
                     n->packets, "hvx_ops", n->hvx_ops, "ddr_bytes", n->ddr_bytes, "dma_bytes", n->dma_bytes, "l2_bytes", n->l2_bytes,
                     "vtcm_bytes", n->vtcm_bytes, "exec_pcycles", n->exec_pcycles, "all_pcycles", n->all_pcycles, "ops_per_pcycle",
                     p->ops_per_pcycle, "ops_per_byte", p->ops_per_byte, "exec_roof", hx_roof_names[p->exec_roof], "exec_percent",
                     100 * p->exec_share, "roof", hx_roof_names[p->roof], "percent", 100 * p->share);
}
