/* Simulates the in-order issue of a loop's packets until the distance between trips repeats. */
#include "listing.h"

enum {
    WARM_UP = 4,  /* trips until the distances between trips repeat */
    MEASURED = 4, /* trips that count */
    HISTORY = 64, /* packets that hx_vliw_packet.after can reach back */
};

static double latency(const struct hx_cost *c, int unit)
{
    const double of[HX_CODE_UNITS] = {
        [HX_UNIT_LOAD] = c->load_pcycles,
        [HX_UNIT_MPY] = c->mpy_pcycles,
        [HX_UNIT_HVX] = c->hvx_pcycles,
        [HX_UNIT_VLOAD] = c->vtcm_pcycles,
    };

    return of[unit];
}

struct hx_listing_time hx_listing_time(const struct hx_code_level *level, int is_loop,
                                       const struct hx_cost *c)
{
    struct hx_listing_time out = {0};
    double issued[HISTORY], last_trips = 0, t = 0;
    unsigned n = 0, trips = is_loop ? WARM_UP + MEASURED : 1;

    for (unsigned trip = 0; trip < trips; trip++) {
        if (trip == WARM_UP)
            last_trips = t;
        for (unsigned i = 0; i < level->packets; i++, n++) {
            const struct hx_vliw_packet *p = &level->packet[i];

            for (int u = 0; u < HX_CODE_UNITS; u++) {
                unsigned d = p->after[u];
                if (d == 0 || d > n)
                    continue;
                double ready = issued[(n - d) % HISTORY] + latency(c, u);
                if (ready > t)
                    t = ready;
                if (u != HX_UNIT_VLOAD)
                    continue;
                double apart = t - issued[(n - d) % HISTORY];
                if (out.load_to_use == 0 || apart < out.load_to_use)
                    out.load_to_use = apart;
            }
            issued[n % HISTORY] = t;
            t += c->packet_pcycles;
            out.vector_loads += trip == 0 ? p->vector_loads : 0;
        }
    }
    out.trip = is_loop ? (t - last_trips) / MEASURED : t;
    return out;
}
