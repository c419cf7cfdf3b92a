/* Rows of an answer's figures. */
#include "row.h"

#include <string.h>

#include "cli/report.h"

/* What methods say of a token; of one with guesses they say nothing. */
static void add_formula(json_t *j, const struct hx_density_answer *a)
{
    if (a->guesses) {
        json_object_set_new(j, "guesses", json_integer((json_int_t)a->guesses));
        json_object_set_new(j, "accept", json_real(a->accept));
        json_object_set_new(j, "tokens_per_step", json_real(a->tokens));
        return;
    }
    json_object_set_new(j, "formula_calls_per_token", json_real(a->formula.invokes));
    json_object_set_new(j, "formula_packets_per_token", json_real(a->formula.packets));
}

json_t *hx_density_row(const char *density, size_t pos, const struct hx_density_answer *a)
{
    const struct hx_session_stats *sum = &a->sum;
    const double n = (a->clients ? a->clients : 1) * a->tokens;
    json_t *j = json_pack("{s:s, s:I, s:s, s:f, s:f, s:f, s:f}", "density", density, "pos", (json_int_t)pos, "how",
                          hx_density_how_names[a->how], "calls_per_token", (double)sum->invokes / n, "packets_per_token",
                          (double)sum->packets / n, "bytes_copied_per_token", (double)sum->bytes_copied / n, "bytes_shared_per_token",
                          (double)sum->bytes_shared / n);

    add_formula(j, a);
    json_object_set_new(j, "model_us_per_token", hx_report_model_us(sum, n));
    if (strcmp(density, "layer") == 0) /* not what the rest of the report says */
        json_object_set_new(j, "kv", json_string("layer"));
    hx_report_add_traffic(j, sum, n);
    return j;
}
