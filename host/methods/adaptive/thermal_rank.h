/* A rank that follows the temperature, so that heat need not take the clock: the published Thermal Rank.
 *
 *     r(T) = most - (most - least) (T - low) / (high - low), cut to least..most, halves up
 *
 * and with a power budget, when more than that was drawn, r P_budget / P.  The sensor is the rig's node `thermal` (docs/power.md), by its
 * text; it is looked at once in HX_THERMAL_POLL_MS of the rig's own time.  Without a sensor the rank stays `most`.
 *
 * A lower rank is the beginning of the same factors (factors.h): rows of down and columns of up, by falling eigenvalue. */
#ifndef HX_THERMAL_RANK_H
#define HX_THERMAL_RANK_H

#include <stddef.h>

enum { HX_THERMAL_POLL_MS = 500 };

struct hx_thermal_rank_cfg {
    size_t least, most;     /* published: 8 and 256 */
    double low_c, high_c;   /* 65 and 85; low < high */
    double budget_w;        /* 0: none */
};

struct hx_thermal_rank {    /* zeroed but for cfg and rank = cfg.most */
    struct hx_thermal_rank_cfg cfg;
    size_t rank;
    int sensor;             /* 1: there is one */
    size_t looks, switches; /* times that it was read, and that the rank became another */
    double looked_ms, looked_j; /* what it said then */
};

/* watt: drawn since the last look; 0: not known. */
size_t hx_thermal_rank_at(const struct hx_thermal_rank_cfg *cfg, double celsius, double watt);

/* node: the text of `thermal`; NULL, or one without a temperature: there is no sensor.  Returns the rank. */
size_t hx_thermal_rank_look(struct hx_thermal_rank *t, const char *node);

#endif
