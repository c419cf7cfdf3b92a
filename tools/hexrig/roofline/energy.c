/* Bytes and operations times what the profile says that one costs. */
#include "energy.h"

struct hx_energy hx_energy_of(const struct hx_roofline_counts *n, double wall_us, const struct hx_profile *p)
{
    const double uj_per_pj = 1e-6;

    return (struct hx_energy){
        .ddr_uj = (n->ddr_bytes + n->dma_bytes) * p->ddr_pj_per_byte * uj_per_pj,
        .l2_uj = n->l2_bytes * p->l2_pj_per_byte * uj_per_pj,
        .vtcm_uj = n->vtcm_bytes * p->vtcm_pj_per_byte * uj_per_pj,
        .hvx_uj = n->hvx_ops * p->hvx_pj_per_op * uj_per_pj,
        .idle_uj = p->power_idle_w * wall_us,
    };
}

double hx_energy_uj(const struct hx_energy *e)
{
    return e->ddr_uj + e->l2_uj + e->vtcm_uj + e->hvx_uj + e->idle_uj;
}

json_t *hx_energy_json(const struct hx_energy *e, double wall_us, double tokens)
{
    const double all = hx_energy_uj(e);

    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "ddr_uj", e->ddr_uj, "l2_uj", e->l2_uj, "vtcm_uj", e->vtcm_uj, "hvx_uj",
                     e->hvx_uj, "idle_uj", e->idle_uj, "total_uj", all, "uj_per_token", tokens > 0 ? all / tokens : 0, "mean_w",
                     wall_us > 0 ? all / wall_us : 0);
}
