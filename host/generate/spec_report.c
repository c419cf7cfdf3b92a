/* What speculation was worth, as commands report it. */
#include "spec.h"

#include <stdio.h>

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* Passes by their number of rows, the known token's among them. */
static json_t *passes(const struct hx_spec_stats *n)
{
    json_t *all = json_object();
    char rows[8];

    for (size_t i = 0; i <= HX_DRAFT_MAX; i++) {
        if (!n->pass[i].n)
            continue;
        snprintf(rows, sizeof(rows), "%zu", 1 + i);
        json_object_set_new(all, rows, json_pack("{s:I, s:f}", "n", (json_int_t)n->pass[i].n, "s", n->pass[i].s / (double)n->pass[i].n));
    }
    return all;
}

/* Mean seconds of the passes that verified guesses. */
static double verify_s(const struct hx_spec_stats *n)
{
    double s = 0;
    uint64_t all = 0;

    for (size_t i = 1; i <= HX_DRAFT_MAX; i++) {
        s += n->pass[i].s;
        all += n->pass[i].n;
    }
    return ratio(s, (double)all);
}

json_t *hx_spec_report(const struct hx_spec *s)
{
    const struct hx_spec_cfg *cfg = hx_spec_cfg(s);
    const struct hx_spec_stats *n = hx_spec_stats(s);

    json_t *j = json_pack("{s:b, s:I, s:f, s:I, s:b, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:I}", "verifier", !cfg->alone, "batch",
                          (json_int_t)cfg->batch, "thresh", cfg->thresh, "warmup", (json_int_t)cfg->warmup, "adapt",
                          cfg->adapt, "steps", (json_int_t)n->steps, "emitted", (json_int_t)n->emitted, "proposed",
                          (json_int_t)n->proposed, "verified", (json_int_t)n->verified, "accepted", (json_int_t)n->accepted,
                          "accept_rate", ratio((double)n->accepted, (double)n->proposed), "draft_share",
                          ratio((double)n->accepted, (double)n->emitted), "tokens_per_step",
                          ratio((double)n->emitted, (double)n->steps), "final_batch", (json_int_t)n->final_batch);

    if (j && *n->off)
        json_object_set_new(j, "off", json_string(n->off));
    if (j)
        json_object_set_new(j, "host", json_pack("{s:f, s:f, s:f, s:o}", "t_d_s", ratio(n->draft_s, (double)n->proposed), "t_v1_s",
                                                 ratio(n->pass[0].s, (double)n->pass[0].n), "t_v_s", verify_s(n), "passes",
                                                 passes(n)));
    return j;
}
