/* Rank by temperature, see thermal_rank.h. */
#include "thermal_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t cut(const struct hx_thermal_rank_cfg *cfg, double rank)
{
    const double whole = floor(rank + .5);

    return whole <= (double)cfg->least ? cfg->least : whole >= (double)cfg->most ? cfg->most : (size_t)whole;
}

size_t hx_thermal_rank_at(const struct hx_thermal_rank_cfg *cfg, double celsius, double watt)
{
    const double span = (double)cfg->most - (double)cfg->least;
    const size_t rank = cut(cfg, (double)cfg->most - span * (celsius - cfg->low_c) / (cfg->high_c - cfg->low_c));

    if (!(cfg->budget_w > 0) || !(watt > cfg->budget_w))
        return rank;
    return cut(cfg, fmin((double)rank, floor((double)rank * cfg->budget_w / watt + .5)));
}

/* 1: the node has a line NAME=NUMBER. */
static int read_line(const char *node, const char *name, double *to)
{
    const size_t n = strlen(name);

    for (const char *line = node; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, name, n) == 0 && line[n] == '=') {
            char *end;

            *to = strtod(line + n + 1, &end);
            return end > line + n + 1 && isfinite(*to);
        }
    return 0;
}

size_t hx_thermal_rank_look(struct hx_thermal_rank *t, const char *node)
{
    double celsius, ms, joules, watt = 0;
    size_t rank;

    t->sensor = node && read_line(node, "temperature_c", &celsius) && read_line(node, "virtual_ms", &ms) &&
                read_line(node, "energy_j", &joules);
    if (!t->sensor)
        return t->rank = t->cfg.most;
    if (t->looks && ms - t->looked_ms < HX_THERMAL_POLL_MS)
        return t->rank;
    if (t->looks)
        watt = (joules - t->looked_j) / (ms - t->looked_ms) * 1e3;
    rank = hx_thermal_rank_at(&t->cfg, celsius, watt);
    t->switches += rank != t->rank;
    t->looks++;
    t->looked_ms = ms;
    t->looked_j = joules;
    return t->rank = rank;
}
