/* See ott_readiness.h. */
#include "ott_readiness.h"

static const char straight[] = "not measured: the table's steps are straight lines, which no geometry bends";
static const char reused[] = "1, as published: the table came from its file and is of this model and text";
static const char measured[] = "share of statements about half of the table's states that hold of the other half, too";

static json_t *share(int known, double x)
{
    return known ? json_real(x) : json_null();
}

/* Tables alone make a hybrid: some tokens come through them, the model makes the others. */
json_t *ott_readiness(const struct ott_measured *m)
{
    const struct hx_ott_axioms *a = &m->table->geometry.axioms;
    const int bent = !(m->table->flags & HX_OTT_STRAIGHT), hybrid = m->table->n > 0 && m->accepted > 0;
    const double baked = hx_ott_axioms_share(a->survived, a->accepted), noise = hx_ott_axioms_share(a->noise_survived, a->noise_accepted);
    const double consistency = m->from_file ? 1 : baked;
    const int ready = bent && consistency >= OTT_READY && baked > noise;

    return json_pack("{s:s, s:b, s:b, s:f, s:o, s:s, s:o, s:o, s:I, s:I, s:I}", "status",
                     ready ? "geodesic_ready" : hybrid ? "hybrid" : "cold", "ready", ready, "hybrid_ready", hybrid, "runtime_share",
                     m->emitted ? (double)m->accepted / (double)m->emitted : 0.0, "consistency", share(bent, consistency),
                     "consistency_is", bent ? m->from_file ? reused : measured : straight, "consistency_baked", share(bent, baked),
                     "consistency_of_noise", share(bent, noise), "entries", (json_int_t)m->table->n, "accepted",
                     (json_int_t)m->accepted, "emitted", (json_int_t)m->emitted);
}
