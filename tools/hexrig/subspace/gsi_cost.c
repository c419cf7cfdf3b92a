/* hexrig subspace gsi-cost: what a token reads with a gate in front of every matrix, out of a model's shapes alone. */
#include <jansson.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "cmd_subspace.h"
#include "model/geometry.h"

enum { OPT_GEOMETRY = HX_OPT_FREE, OPT_K, OPT_PHI, OPT_BYTES, OPT_BANDWIDTH, OPT_CALL_US, OPT_PARALLEL };
enum { INPUTS = 4 };

static const struct argp_option options[] = {
    {"geometry", OPT_GEOMETRY, "NAME", 0, "shapes, as in hexrig density (gptj-6b)", 0},
    {"k", OPT_K, "K", 0, "directions of a basis (256)", 0},
    {"phi", OPT_PHI, "PHI", 0, "share of vectors that take the images (0.998)", 0},
    {"parallel", OPT_PARALLEL, NULL, 0, "attention and feed-forward of a layer have one input", 0},
    {"bytes", OPT_BYTES, "B", 0, "of a number, of weights, images and bases alike (2)", 0},
    {"bandwidth", OPT_BANDWIDTH, "GB/S", 0, "that they are read with (10.7: V69 from DDR)", 0},
    {"call-us", OPT_CALL_US, "US", 0, "of a call to the DSP, of which each input of a layer makes one (0)", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Numbers that a token reads of the matrices of all layers, without a gate and with one: s_published = 1 / (phi k / width + 1 - phi), "
    "s_seed, the same with each matrix' own input, s_real, with the basis that the gate reads; what bases and images take beside the "
    "weights; and modelled times, bytes over bandwidth and the calls."
    "\vExample: hexrig subspace gsi-cost --geometry gptj-6b --parallel --k 256 --phi 0.998";

struct cost {
    const char *cmd, *name;
    size_t k, parallel, json;
    double phi, bytes, bandwidth, call_us;
    struct hx_geometry g;
    struct input {
        const char *name;
        double in, out; /* widths; of all its matrices together */
    } input[INPUTS];
    size_t n;
};

static int option(struct cost *c, int key, char *arg)
{
    switch (key) {
    case OPT_GEOMETRY:
        c->name = arg;
        return 0;
    case OPT_K:
        return hx_opt_size(c->cmd, "k", arg, 1, 65536, &c->k);
    case OPT_PHI:
        return hx_opt_real(c->cmd, "phi", arg, 0, 1, &c->phi);
    case OPT_BYTES:
        return hx_opt_real(c->cmd, "bytes", arg, .1, 8, &c->bytes);
    case OPT_BANDWIDTH:
        return hx_opt_real(c->cmd, "bandwidth", arg, .001, 1e6, &c->bandwidth);
    case OPT_CALL_US:
        return hx_opt_real(c->cmd, "call-us", arg, 0, 1e6, &c->call_us);
    case OPT_PARALLEL:
        c->parallel = 1;
        return 0;
    case HX_OPT_JSON:
        c->json = 1;
        return 0;
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static void add(struct cost *c, const char *name, size_t in, size_t out)
{
    if (in && out)
        c->input[c->n++] = (struct input){name, (double)in, (double)out};
}

static void list_inputs(struct cost *c)
{
    const struct hx_geometry *g = &c->g;
    const size_t q = g->n_head * g->dh, qkv = q + 2 * g->n_kv * g->dh, ffn = g->ffn * (g->gated ? 2 : 1);

    add(c, c->parallel ? "in_qkv_ffn" : "in_qkv", g->width, c->parallel ? qkv + ffn : qkv);
    add(c, "in_o", q, g->width);
    if (!c->parallel)
        add(c, "in_ffn", g->width, ffn);
    add(c, "in_down", g->ffn, g->width);
}

/* Numbers of one layer that a token reads. */
struct numbers {
    double full, fast_and_slow, gate, basis, images;
};

static struct numbers count(const struct cost *c)
{
    struct numbers n = {0, 0, 0, 0, 0};
    const double k = (double)c->k;

    for (size_t i = 0; i < c->n; i++) {
        const double full = c->input[i].in * c->input[i].out;

        n.full += full;
        n.fast_and_slow += c->phi * k * c->input[i].out + (1 - c->phi) * full;
        n.gate += k * c->input[i].in;
        n.basis += k * c->input[i].in;
        n.images += k * c->input[i].out;
    }
    return n;
}

static json_t *json_of(const struct cost *c)
{
    const struct numbers n = count(c);
    const double layers = (double)c->g.n_layer, bytes = layers * c->bytes, ms = 1e-6 / c->bandwidth; /* GB/s are bytes per ns */
    const double calls = layers * (double)c->n, real = n.fast_and_slow + n.gate, call_ms = calls * c->call_us * 1e-3;

    return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:f, s:f}", "geometry", c->name, "k",
                     (json_int_t)c->k, "phi", c->phi, "s_published",
                     1 / (c->phi * (double)c->k / (double)c->g.width + 1 - c->phi), "s_seed", n.full / n.fast_and_slow, "s_real",
                     n.full / real, "numbers", layers * n.full, "effective_numbers", layers * n.fast_and_slow, "bytes_per_token",
                     bytes * n.full, "gated_bytes_per_token", bytes * real, "storage_share", (n.basis + n.images) / n.full, "calls",
                     (json_int_t)calls, "model_ms", bytes * n.full * ms + call_ms, "gated_model_ms", bytes * real * ms + call_ms);
}

static int check(struct cost *c)
{
    struct hx_error err = {""};

    if (hx_geometry_find(&c->g, c->name, &err))
        return hx_cmd_usage(c->cmd, "--geometry: %s", err.text);
    list_inputs(c);
    if (!c->g.width)
        return hx_cmd_usage(c->cmd, "--geometry %s has no width: its matrices are not known", c->name);
    for (size_t i = 0; i < c->n; i++)
        if ((double)c->k > c->input[i].in)
            return hx_cmd_usage(c->cmd, "--k %zu: %s of %s is %.0f wide", c->k, c->input[i].name, c->name, c->input[i].in);
    return HX_EXIT_OK;
}

int hx_subspace_cmd_gsi_cost(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct cost c = {.cmd = "subspace gsi-cost", .name = "gptj-6b", .k = 256, .phi = .998, .bytes = 2, .bandwidth = 10.7};
    int rc = hx_opt_parse(c.cmd, &argp, argc, argv, &c);

    if (!rc)
        rc = check(&c);
    return rc ? rc : hx_report_print(c.cmd, json_of(&c), (int)c.json);
}
