/* hexrig geometry substitute: whether a kept trajectory can stand for one that is not, by how dense the cloud is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_geometry.h"
#include "questions.h"

enum { OPT_SIZES = HX_MADE_OPT_FREE, OPT_EPS, OPT_RHO, OPT_QUESTIONS, OPT_BY };
enum { MOST = 8 };

static const struct argp_option options[] = {
    HX_SPACE_OPTIONS,
    HX_MADE_OPTIONS,
    {"sizes", OPT_SIZES, "LIST", 0, "points of the clouds, up to 8 of them, instead of --points (64,4096)", 0},
    {"questions", OPT_QUESTIONS, "N", 0, "states that are asked for, of --held (32)", 0},
    {"eps", OPT_EPS, "E", 0, "how near is a hit (3)", 0},
    {"by", OPT_BY, "HOW", 0, "whitened | metric: coordinates, or the kept point's own metric (whitened)", 0},
    {"rho", OPT_RHO, "R", 0, "how near is near enough to correct, in whitened coordinates (0.4)", 0},
    {0},
};

static const char doc[] =
    "Asks a cloud for states of another text.  miss: no point within --eps; hit: one, but not within --rho; correct: within "
    "that. The trajectory from that point is corrected, and its end held against that of the state's own geodesic with the same "
    "velocity: error, as a share of the way; good: the share of errors up to 5 %, of all that were no miss.  block_end: the "
    "median error of corrections, anchor, beside that of a blend of the 4 nearest points' ends.  top1_corrected: how often the "
    "model says of the next state that was made so what it says of the true next one; top1_nearest: the same of the next state "
    "of the nearest point, uncorrected.  noise: the shares of a cloud of normal numbers.  full_us, correct_us: measured, a "
    "geodesic and a correction.  With -o also CASE_decode_substitution.json."
    "\vExample: hexrig geometry substitute --sizes 64,4096,65536";

struct run {
    struct hx_space p; /* first; of each size anew */
    struct hx_made how;
    struct hx_near near;
    size_t questions, sizes[MOST], n_sizes;
};

static int read_sizes(struct run *r, char *list)
{
    char *word;
    int rc = 0;

    for (r->n_sizes = 0; !rc && (word = strsep(&list, ",")); r->n_sizes++) {
        if (r->n_sizes == MOST)
            return hx_cmd_usage(r->p.s.cmd, "--sizes: more than %d", MOST);
        rc = hx_opt_size(r->p.s.cmd, "sizes", word, 2, 65536, &r->sizes[r->n_sizes]);
    }
    return rc;
}

static int option(struct run *r, int key, char *arg)
{
    const char *cmd = r->p.s.cmd;
    size_t by = 0;
    int rc;

    switch (key) {
    case OPT_SIZES:
        return read_sizes(r, arg);
    case OPT_EPS:
        return hx_opt_real(cmd, "eps", arg, 0, 1e6, &r->near.eps);
    case OPT_BY:
        rc = hx_opt_name(cmd, "by", arg, hx_near_by, &by);
        r->near.by_metric = (int)by;
        return rc;
    case OPT_RHO:
        return hx_opt_real(cmd, "rho", arg, 0, 1e6, &r->near.rho);
    case OPT_QUESTIONS:
        return hx_opt_size(cmd, "questions", arg, 1, 65536, &r->questions);
    default:
        rc = hx_made_option(cmd, &r->how, key, arg);
        return rc == HX_OPT_UNKNOWN ? hx_space_option(&r->p, key, arg) : rc;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

static json_t *shares(const struct hx_substituted *s)
{
    const double n = (double)s->asked;

    return json_pack("{s:f, s:f, s:f}", "miss", (double)s->misses / n, "hit", (double)s->hits / n, "correct", (double)s->corrects / n);
}

static json_t *figures(const struct hx_substituted *own, const struct hx_substituted *noise)
{
    json_t *j = shares(own);

    json_object_set_new(j, "noise", shares(noise));
    json_object_set_new(j, "error_of_corrects", json_pack("{s:f, s:f}", "mean", own->error[0], "median", own->error_median[0]));
    json_object_set_new(j, "error_of_hits", json_pack("{s:f, s:f}", "mean", own->error[1], "median", own->error_median[1]));
    json_object_set_new(j, "good", json_real(own->good));
    json_object_set_new(j, "top1_corrected", json_real(own->top1_corrected));
    json_object_set_new(j, "top1_nearest", json_real(own->top1_nearest));
    json_object_set_new(j, "full_us", json_real(own->full_us));
    json_object_set_new(j, "correct_us", json_real(own->correct_us));
    return j;
}

/* A cloud of its own; the last one stays open for the report's head. */
static int of_size(struct run *r, size_t size, json_t **out)
{
    struct hx_substituted own, noise;
    struct hx_error err = {""};
    int rc;

    r->p.points = size;
    rc = hx_space_open(&r->p);
    if (!rc)
        rc = hx_space_metric(&r->p, &r->p.cloud);
    if (!rc)
        rc = hx_space_metric(&r->p, &r->p.noise);
    if (!rc && (hx_substitute(&r->p, &r->how, &r->near, r->questions, &own, &err) ||
                hx_substitute_shares(&r->p.noise, &r->near, r->questions, &noise, &err)))
        rc = hx_cmd_fail(r->p.s.cmd, "%s", err.text);
    if (!rc)
        *out = figures(&own, &noise);
    return rc;
}

static int measure(struct run *r)
{
    const struct hx_space asked = r->p;
    json_t *all = json_object(), *j, *one = NULL;
    char name[32];
    int rc = 0;

    for (size_t i = 0; i < r->n_sizes && !rc; i++) {
        if (i) {
            hx_space_close(&r->p);
            r->p = asked;
        }
        rc = of_size(r, r->sizes[i], &one);
        snprintf(name, sizeof(name), "points_%zu", r->sizes[i]);
        if (!rc)
            json_object_set_new(all, name, one);
    }
    if (!rc) {
        j = hx_space_json(&r->p);
        json_object_del(j, "points");
        json_object_set_new(j, "eps", json_real(r->near.eps));
        json_object_set_new(j, "rho", json_real(r->near.rho));
        json_object_update(j, all);
        rc = hx_space_answer(&r->p, "decode_substitution", j);
    }
    json_decref(all);
    return rc;
}

int hx_geometry_cmd_substitute(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct run r = {.p = hx_space_of("geometry substitute", 64), .how = {.05, 16}, .near = {3, .4, 0}, .questions = 32,
                    .sizes = {64, 4096}, .n_sizes = 2};
    int rc = hx_opt_parse(r.p.s.cmd, &argp, argc, argv, &r);

    if (!rc)
        rc = measure(&r);
    hx_space_close(&r.p);
    return rc;
}
