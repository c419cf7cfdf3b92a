/* hexrig subspace thermal: a decode on the modelled phone for some seconds of its own time, with a rank that follows the temperature, and
 * without. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "cli/share.h"
#include "cmd_subspace.h"
#include "methods/adaptive/thermal_rank.h"
#include "model/geometry.h"
#include "power/thermal.h"
#include "quant/quant.h"

enum { OPT_GEOMETRY = HX_OPT_FREE, OPT_SECS, OPT_MOST, OPT_LEAST, OPT_LOW, OPT_HIGH, OPT_POWER };
enum { MAX_RANK = 65536, CALLS_OF_A_LAYER = 4, LEAST = 8 };

static const char cmd[] = "subspace thermal";

static const struct argp_option options[] = {
    {"geometry", OPT_GEOMETRY, "G", 0, "shapes, as hexrig density has them (qwen3-4b)", 0},
    {"profile", HX_OPT_PROFILE, "P", 0, "of the modelled phone (s22u-sync)", 0},
    {"secs", OPT_SECS, "S", 0, "of the phone's time (60)", 0},
    {"rank", OPT_MOST, "R", 0, "of all matrices of a layer while it is cool (half of the width)", 0},
    {"least", OPT_LEAST, "R", 0, "while it is hot (8)", 0},
    {"low", OPT_LOW, "C", 0, "up to here the rank stays; published: --axex-thermal-low (65)", 0},
    {"high", OPT_HIGH, "C", 0, "from here on it is the least; published: --axex-thermal-high (85)", 0},
    {"power", OPT_POWER, "W", 0, "budget; published: --axex-thermal-power (0: none)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Decodes on the model of the phone's heat that the rig has (docs/power.md), for shapes that need not be here: a token waits for its "
    "calls and executes for as long as its factors, in Q8_0, take from DDR at the clock of the moment.  plain: at the full rank, with the "
    "profile's governor; clamped: the same, and at --high the clock falls by 40 % until it is 5 degrees cooler; ranked: the rank follows "
    "the temperature, which is looked at every 500 ms.  verdict: PASS when ranked stays at or below --high and makes more tokens than "
    "clamped, else FAIL; COOL: plain never gets that hot."
    "\vAll of it is modelled, and says nothing about what the lower rank does to the text.\n\n"
    "Example: hexrig subspace thermal --geometry llama3-8b --secs 120";

struct thermal {
    const char *geometry, *profile;
    double secs;
    int json;
    struct hx_geometry g;
    struct hx_profile p;
    struct hx_thermal_rank_cfg cfg;
};

static int option(struct thermal *a, int key, char *arg)
{
    switch (key) {
    case OPT_GEOMETRY:
        a->geometry = arg;
        return 0;
    case HX_OPT_PROFILE:
        a->profile = arg;
        return 0;
    case OPT_SECS:
        return hx_opt_real(cmd, "secs", arg, 1, 1e5, &a->secs);
    case OPT_MOST:
        return hx_opt_size(cmd, "rank", arg, 1, MAX_RANK, &a->cfg.most);
    case OPT_LEAST:
        return hx_opt_size(cmd, "least", arg, 1, MAX_RANK, &a->cfg.least);
    case OPT_LOW:
        return hx_opt_real(cmd, "low", arg, -50, 200, &a->cfg.low_c);
    case OPT_HIGH:
        return hx_opt_real(cmd, "high", arg, -50, 200, &a->cfg.high_c);
    case OPT_POWER:
        return hx_opt_real(cmd, "power", arg, 0, 1e3, &a->cfg.budget_w);
    case HX_OPT_JSON:
        a->json = 1;
        return 0;
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- a token */

/* What it reads: factors of wq, wk, wv with one basis and of the others with one each, and the output matrix. */
static double bytes_of(const struct hx_geometry *g, size_t rank)
{
    const double width = (double)g->width, q = (double)(g->n_head * g->dh), kv = (double)(g->n_kv * g->dh), ffn = (double)g->ffn;
    const double per_rank = (width + q + 2 * kv) + (q + width) + (g->gated ? 2 : 1) * (width + ffn) + (ffn + width);
    const struct hx_quant_info *type = hx_quant_info(HX_QUANT_Q8_0);

    return ((double)g->n_layer * per_rank * (double)rank + (double)g->vocab * width) * type->bytes / type->weights;
}

static double calls_of(const struct hx_geometry *g)
{
    return (double)g->n_layer * CALLS_OF_A_LAYER + (g->vocab > 0);
}

/* --- a decode */

struct decode {
    const struct hx_profile *p;
    struct hx_thermal heat;
    uint64_t now_ns;
    size_t tokens;
    double rank_sum;
    size_t rank_least;
    struct hx_thermal_rank *ranked; /* NULL: the rank stays */
};

/* Looks at the node as anybody would. */
static int look(struct decode *d, struct hx_error *err)
{
    char *node = NULL;
    size_t n;
    FILE *f = open_memstream(&node, &n);

    if (!f)
        return hx_error_set(err, -ENOMEM, "out of memory");
    hx_thermal_print(&d->heat, d->p, f);
    if (fclose(f))
        return hx_error_set(err, -ENOMEM, "out of memory");
    hx_thermal_rank_look(d->ranked, node);
    free(node);
    return 0;
}

static void make_token(struct decode *d, const struct hx_geometry *g, size_t rank)
{
    const unsigned level = hx_levels(d->p) - 1 - d->heat.taken;
    const double wait_us = calls_of(g) * d->p->dispatch_us;
    const double exec_us = bytes_of(g, rank) / (d->p->cost.dma_bytes_per_pcycle * hx_level_mhz(d->p, level));
    const uint64_t start_ns = d->now_ns + (uint64_t)(wait_us * 1e3), end_ns = start_ns + (uint64_t)(exec_us * 1e3);

    hx_thermal_idle(&d->heat, d->p, start_ns);
    hx_thermal_busy(&d->heat, d->p, start_ns, end_ns, level, 1);
    d->now_ns = end_ns;
    d->tokens++;
    d->rank_sum += (double)rank;
    d->rank_least = rank < d->rank_least ? rank : d->rank_least;
}

static int run_decode(const struct thermal *a, struct decode *d, struct hx_error *err)
{
    int rc = 0;

    d->rank_least = a->cfg.most;
    while (!rc && (double)d->now_ns < a->secs * 1e9) {
        rc = d->ranked ? look(d, err) : 0;
        make_token(d, &a->g, d->ranked ? d->ranked->rank : a->cfg.most);
    }
    return rc;
}

static json_t *decode_json(const struct decode *d)
{
    const double secs = (double)d->now_ns * 1e-9;
    json_t *j = json_pack("{s:I, s:f, s:f, s:f, s:f, s:I}", "tokens", (json_int_t)d->tokens, "tokens_per_s", (double)d->tokens / secs,
                          "peak_c", d->p->ambient_c + d->heat.peak_k, "last_c", hx_thermal_celsius(&d->heat, d->p), "joules_per_token",
                          d->heat.energy_j / (double)d->tokens, "levels_taken", (json_int_t)d->heat.taken);

    if (d->ranked) {
        json_object_set_new(j, "rank_mean", json_real(d->rank_sum / (double)d->tokens));
        json_object_set_new(j, "rank_least", json_integer((json_int_t)d->rank_least));
        json_object_set_new(j, "switches", json_integer((json_int_t)d->ranked->switches));
    }
    return j;
}

/* --- the command */

static int fill_in(struct thermal *a)
{
    char *folder = hx_share("profiles"), why[256] = "out of memory";
    struct hx_error err = {""};
    int rc = hx_geometry_find(&a->g, a->geometry, &err);

    if (rc)
        rc = hx_cmd_usage(cmd, "--geometry: %s", err.text);
    else if (!a->g.width || !a->g.ffn)
        rc = hx_cmd_usage(cmd, "--geometry %s has no matrices", a->geometry);
    else if (!folder || hx_profile_load(&a->p, folder, a->profile, why, sizeof(why)))
        rc = hx_cmd_usage(cmd, "--profile: %s", why);
    free(folder);
    if (rc)
        return rc;
    a->cfg.most = a->cfg.most ? a->cfg.most : a->g.width / 2;
    a->cfg.least = a->cfg.least ? a->cfg.least : a->cfg.most < LEAST ? a->cfg.most : LEAST;
    if (a->cfg.most > a->g.width)
        return hx_cmd_usage(cmd, "--rank %zu; the width is %zu", a->cfg.most, a->g.width);
    if (a->cfg.least > a->cfg.most)
        return hx_cmd_usage(cmd, "--least %zu; --rank is %zu", a->cfg.least, a->cfg.most);
    if (a->cfg.low_c >= a->cfg.high_c)
        return hx_cmd_usage(cmd, "--low %g; --high is %g", a->cfg.low_c, a->cfg.high_c);
    return 0;
}

/* Two levels of clock: all of it, and 40 % less. */
static struct hx_profile clamped(const struct thermal *a)
{
    struct hx_profile p = a->p;

    p.clock_levels = 2;
    p.clock_low_mhz = .6 * p.clock_mhz;
    p.throttle_c = a->cfg.high_c;
    p.recover_c = a->cfg.high_c - 5;
    return p;
}

static const char *verdict(const struct thermal *a, const struct decode *plain, const struct decode *clamp, const struct decode *ranked)
{
    if (a->p.ambient_c + plain->heat.peak_k <= a->cfg.high_c)
        return "COOL";
    return a->p.ambient_c + ranked->heat.peak_k <= a->cfg.high_c && ranked->tokens > clamp->tokens ? "PASS" : "FAIL";
}

static int run(const struct thermal *a)
{
    const struct hx_profile at_40 = clamped(a);
    struct hx_thermal_rank rank = {.cfg = a->cfg, .rank = a->cfg.most};
    struct decode plain = {.p = &a->p}, clamp = {.p = &at_40}, ranked = {.p = &a->p, .ranked = &rank};
    struct hx_error err = {""};
    int rc = run_decode(a, &plain, &err);

    if (!rc)
        rc = run_decode(a, &clamp, &err);
    if (!rc)
        rc = run_decode(a, &ranked, &err);
    if (rc)
        return hx_cmd_fail(cmd, "%s", err.text);
    return hx_report_print(cmd, json_pack("{s:o, s:s, s:f, s:I, s:I, s:o, s:o, s:o, s:s}", "geometry", hx_json_text(a->geometry), "profile",
                                          a->p.name, "secs", a->secs, "rank", (json_int_t)a->cfg.most, "least",
                                          (json_int_t)a->cfg.least, "plain", decode_json(&plain), "clamped", decode_json(&clamp), "ranked",
                                          decode_json(&ranked), "verdict", verdict(a, &plain, &clamp, &ranked)), a->json);
}

int hx_subspace_cmd_thermal(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct thermal a = {.geometry = "qwen3-4b", .profile = "s22u-sync", .secs = 60, .cfg = {.low_c = 65, .high_c = 85}};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, &a);

    if (!rc)
        rc = fill_in(&a);
    return rc ? rc : run(&a);
}
