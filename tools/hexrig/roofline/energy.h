/* Modelled energy of work: so much for each byte by where it was found, and for each HVX operation, by the profile; and
 * power_idle_w for as long as it takes.  Every constant is assumed: nobody has published this DSP's.  What is left out: scalar code,
 * the host's cores, the screen. */
#ifndef HX_ENERGY_H
#define HX_ENERGY_H

#include <jansson.h>

#include "roofline.h"

struct hx_energy {
    double ddr_uj, l2_uj, vtcm_uj, hvx_uj, idle_uj; /* microjoules */
};

/* wall_us: modelled time from the first call's begin to the last one's end, which idle power lasts. */
struct hx_energy hx_energy_of(const struct hx_roofline_counts *n, double wall_us, const struct hx_profile *p);

double hx_energy_uj(const struct hx_energy *e);

/* {"ddr_uj", "l2_uj", "vtcm_uj", "hvx_uj", "idle_uj", "total_uj", "uj_per_token", "mean_w"}; mean_w over wall_us, 0 without. */
json_t *hx_energy_json(const struct hx_energy *e, double wall_us, double tokens);

#endif
