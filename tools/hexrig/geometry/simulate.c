/* hexrig geometry simulate: how soon a library that keeps what it missed has what is asked of it. */
#include "simulate.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "cli/opt.h"
#include "cli/report.h"
#include "cmd_geometry.h"
#include "subspace/activations.h"
#include "subspace/subject.h"

enum { OPT_QUERIES = HX_OPT_FREE, OPT_CLUSTERS, OPT_SPREAD, OPT_FAR, OPT_EPS, OPT_AXES, OPT_SEED };
enum { MOST_QUERIES = 1 << 17, MOST_AXES = 64 };

static const struct argp_option options[] = {
    {"queries", OPT_QUERIES, "N", 0, "that are asked (1024)", 0},
    {"clusters", OPT_CLUSTERS, "N", 0, "that they lie in (64)", 0},
    {"spread", OPT_SPREAD, "S", 0, "standard deviation within a cluster, by axis (0.5)", 0},
    {"far", OPT_FAR, "S", 0, "that of the clusters' middles (4)", 0},
    {"eps", OPT_EPS, "E", 0, "how near a kept one has to be (3)", 0},
    {"axes", OPT_AXES, "N", 0, "coordinates (8)", 0},
    {"seed", OPT_SEED, "S", 0, "of the queries (1)", 0},
    {"output", 'o', "DIR", 0, "also writes files there", 0},
    {"json", HX_OPT_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char doc[] =
    "Queries come one after the other from a mixture of normal clusters; one with a kept one within --eps is a hit, any other is "
    "kept. Prints the shares of hits and of kept ones, at the end and by quarters, beside queries without clusters (one normal "
    "cloud as wide). This is arithmetic on made-up queries: it says what clusters are worth, nothing about a model. With -o also "
    "simulated_hit_rate.json."
    "\vExample: hexrig geometry simulate --clusters 16";

struct run {
    struct hx_subject s; /* folder and json of it */
    struct hx_mixture mix;
    double eps;
    uint64_t seed;
};

static int option(struct run *r, int key, char *arg)
{
    const char *cmd = r->s.cmd;

    switch (key) {
    case OPT_QUERIES:
        return hx_opt_size(cmd, "queries", arg, HX_SIMULATED_PARTS, MOST_QUERIES, &r->mix.queries);
    case OPT_CLUSTERS:
        return hx_opt_size(cmd, "clusters", arg, 1, MOST_QUERIES, &r->mix.clusters);
    case OPT_SPREAD:
        return hx_opt_real(cmd, "spread", arg, 0, 1e6, &r->mix.spread);
    case OPT_FAR:
        return hx_opt_real(cmd, "far", arg, 0, 1e6, &r->mix.far);
    case OPT_EPS:
        return hx_opt_real(cmd, "eps", arg, 0, 1e6, &r->eps);
    case OPT_AXES:
        return hx_opt_size(cmd, "axes", arg, 1, MOST_AXES, &r->mix.axes);
    case OPT_SEED:
        return hx_opt_u64(cmd, "seed", arg, 0, INT64_MAX, &r->seed);
    default:
        return hx_subject_option(&r->s, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- the simulation */

/* Query i; clusters 0: none, one cloud of the same variance. */
static void draw(const struct hx_mixture *m, uint64_t key, size_t i, int clusters, double *x)
{
    const uint64_t cluster = hx_keyed(hx_keyed(key, 0), i) % m->clusters;
    const double wide = sqrt(m->far * m->far + m->spread * m->spread);

    for (size_t k = 0; k < m->axes; k++) {
        const double z = hx_normal_at(hx_keyed(key, 1), i * m->axes + k);

        x[k] = clusters ? m->far * hx_normal_at(hx_keyed(key, 2), cluster * m->axes + k) + m->spread * z : wide * z;
    }
}

static int is_kept(const double *kept, size_t n, size_t axes, const double *x, double eps)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;

        for (size_t k = 0; k < axes && sum <= eps * eps; k++)
            sum += (kept[i * axes + k] - x[k]) * (kept[i * axes + k] - x[k]);
        if (sum <= eps * eps)
            return 1;
    }
    return 0;
}

int hx_simulate(const struct hx_mixture *m, double eps, int clusters, uint64_t key, struct hx_simulated *out, struct hx_error *err)
{
    double *kept = malloc((m->queries + 1) * m->axes * sizeof(*kept));
    size_t n = 0;

    *out = (struct hx_simulated){0};
    if (!kept)
        return hx_error_set(err, -ENOMEM, "no memory for %zu queries", m->queries);
    for (size_t i = 0; i < m->queries; i++) {
        const size_t part = i * HX_SIMULATED_PARTS / m->queries;

        draw(m, key, i, clusters, kept + n * m->axes);
        out->asked_of[part]++;
        if (is_kept(kept, n, m->axes, kept + n * m->axes, eps)) {
            out->hits++;
            out->hits_of[part]++;
        } else {
            n++;
        }
    }
    out->kept = n;
    free(kept);
    return 0;
}

/* --- answers */

static json_t *shares(const struct hx_simulated *s, size_t queries)
{
    json_t *parts = json_array();

    for (size_t i = 0; i < HX_SIMULATED_PARTS; i++)
        json_array_append_new(parts, json_real((double)s->hits_of[i] / (double)s->asked_of[i]));
    return json_pack("{s:f, s:f, s:o}", "hits", (double)s->hits / (double)queries, "kept", (double)s->kept / (double)queries,
                     "hits_by_quarter", parts);
}

static int answer(const struct run *r)
{
    const struct hx_mixture *m = &r->mix;
    struct hx_simulated own, control;
    struct hx_error err = {""};
    json_t *j;
    int rc;

    if (hx_simulate(m, r->eps, 1, r->seed, &own, &err) || hx_simulate(m, r->eps, 0, r->seed, &control, &err))
        return hx_cmd_fail(r->s.cmd, "%s", err.text);
    j = json_pack("{s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:o, s:o}", "queries", (json_int_t)m->queries, "clusters", (json_int_t)m->clusters,
                  "spread", m->spread, "far", m->far, "eps", r->eps, "axes", (json_int_t)m->axes, "seed", (json_int_t)r->seed, "clustered",
                  shares(&own, m->queries), "without_clusters", shares(&control, m->queries));
    rc = hx_subject_write_json(&r->s, "simulated_hit_rate.json", j);
    if (!rc)
        return hx_report_print(r->s.cmd, j, r->s.json);
    json_decref(j);
    return rc;
}

int hx_geometry_cmd_simulate(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct run r = {.s = {.cmd = "geometry simulate"}, .mix = HX_MIXTURE_INIT, .eps = 3, .seed = 1};
    int rc = hx_opt_parse(r.s.cmd, &argp, argc, argv, &r);

    return rc ? rc : answer(&r);
}
