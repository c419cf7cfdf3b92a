/* See ott_readiness.h. */
#include "ott_readiness.h"

static const char not_measured[] =
    "not measured: the share of axioms that survive a disjoint resample needs the geometry of the states, which the table does not use yet";

/* Tables alone make a hybrid: some tokens come through them, the model makes the others. */
json_t *ott_readiness(const struct ott_measured *m)
{
    const int hybrid = m->table->n > 0 && m->accepted > 0;

    return json_pack("{s:s, s:b, s:b, s:f, s:n, s:s, s:I, s:I, s:I}", "status", hybrid ? "hybrid" : "cold", "ready", 0,
                     "hybrid_ready", hybrid, "runtime_share", m->emitted ? (double)m->accepted / (double)m->emitted : 0.0,
                     "consistency", "consistency_is", not_measured, "entries", (json_int_t)m->table->n, "accepted",
                     (json_int_t)m->accepted, "emitted", (json_int_t)m->emitted);
}
