/* Ranks by temperature at work, see heat.h. */
#include "heat.h"

#include <stdlib.h>

#include "hx_rig.h"

void hx_lowrank_heat_begin(struct hx_lowrank_heat *h, const struct hx_thermal_rank_cfg *cfg, const struct hx_lowrank_factors *f)
{
    *h = (struct hx_lowrank_heat){.rank.cfg = *cfg};
    h->rank.cfg.most = 0;
    for (size_t i = 0; i < f->n_bases; i++)
        h->rank.cfg.most = f->bases[i].rank > h->rank.cfg.most ? f->bases[i].rank : h->rank.cfg.most;
    if (h->rank.cfg.least > h->rank.cfg.most)
        h->rank.cfg.least = h->rank.cfg.most;
    h->rank.rank = h->limit = h->least = h->rank.cfg.most;
}

size_t hx_lowrank_heat_look(struct hx_lowrank_heat *h)
{
    char *node = NULL;

    if (hx_rig_device() && hx_rig_read(NULL, "thermal", &node))
        node = NULL;
    h->limit = hx_thermal_rank_look(&h->rank, node);
    free(node);
    h->passes++;
    h->sum += (double)h->limit;
    h->least = h->limit < h->least ? h->limit : h->least;
    return h->limit;
}

/* Directions of each basis: by its plan, and those that count now. */
static int add_bases(json_t *j, const struct hx_lowrank_heat *h, const struct hx_lowrank_factors *f)
{
    json_t *planned = json_array(), *active = json_array();
    json_int_t sum_planned = 0, sum_active = 0;

    for (size_t i = 0; i < f->n_bases; i++) {
        const struct hx_lowrank_basis *b = &f->bases[i];
        const size_t now = b->cut[hx_lowrank_slices(b, h->limit)];

        json_array_append_new(planned, json_integer((json_int_t)b->rank));
        json_array_append_new(active, json_integer((json_int_t)now));
        sum_planned += (json_int_t)b->rank;
        sum_active += (json_int_t)now;
    }
    return json_object_set_new(j, "planned_by_basis", planned) || json_object_set_new(j, "active_by_basis", active) ||
           json_object_set_new(j, "planned_sum", json_integer(sum_planned)) ||
           json_object_set_new(j, "active_sum", json_integer(sum_active));
}

json_t *hx_lowrank_heat_json(const struct hx_lowrank_heat *h, const struct hx_lowrank_factors *f)
{
    json_t *j = json_pack("{s:b, s:I, s:I, s:I, s:I, s:f, s:I, s:I}", "sensor", h->rank.sensor, "passes", (json_int_t)h->passes, "looks",
                          (json_int_t)h->rank.looks, "switches", (json_int_t)h->rank.switches, "rank", (json_int_t)h->limit, "rank_mean",
                          h->passes ? h->sum / (double)h->passes : (double)h->limit, "rank_least", (json_int_t)h->least, "rank_most",
                          (json_int_t)h->rank.cfg.most);

    if (j && add_bases(j, h, f)) {
        json_decref(j);
        return NULL;
    }
    return j;
}
