/* hexrig geometry lookup: how long it takes to find what a question is near to, and whether it is what a scan finds. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "cli/report.h"
#include "cmd_geometry.h"
#include "questions.h"

enum { OPT_STORE = HX_SPACE_OPT_FREE, OPT_EPS, OPT_BY };
enum { ROUNDS = 7, UNUSED = 128 };

static const struct argp_option options[] = {
    HX_SPACE_OPTIONS,
    {"store", OPT_STORE, "FILE", 0, "whose records are looked up (the points of the cloud)", 0},
    {"eps", OPT_EPS, "E", 0, "how near is a hit (3)", 0},
    {"by", OPT_BY, "HOW", 0, "whitened | metric: coordinates, or the record's own metric (whitened)", 0},
    {0},
};

static const char doc[] =
    "Looks states of the text that is scored up in a library: of the 8 records that are nearest in whitened coordinates, by a "
    "tree, the one that is nearest by its own metric.  recall: how often that is what looking at every record finds, which has "
    "to be always; recall_of_least: how often it is the record of the least distance by its own metric among all, not 8.  "
    "lookup_us: measured on this machine, the least of 7 rounds.  With -o also CASE_lookup.json."
    "\vExample: hexrig geometry lookup --points 65536";

struct run {
    struct hx_space p; /* first */
    const char *store;
    struct hx_near near;
};

static int option(struct run *r, int key, char *arg)
{
    size_t by = 0;
    int rc;

    switch (key) {
    case OPT_STORE:
        r->store = arg;
        return 0;
    case OPT_EPS:
        return hx_opt_real(r->p.s.cmd, "eps", arg, 0, 1e6, &r->near.eps);
    case OPT_BY:
        rc = hx_opt_name(r->p.s.cmd, "by", arg, hx_near_by, &by);
        r->near.by_metric = (int)by;
        return rc;
    default:
        return hx_space_option(&r->p, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* Microseconds of a look-up: the least of some rounds. */
static double time_of(struct hx_library *l, const double *y, size_t held, size_t n)
{
    double least = INFINITY;

    for (size_t r = 0; r < ROUNDS; r++) {
        const double start = hx_report_clock();

        for (size_t i = 0; i < held; i++)
            hx_library_ask(l, y + i * n);
        least = fmin(least, hx_report_clock() - start);
    }
    return least * 1e6 / (double)held;
}

/* Questions y [held][n]. */
static json_t *measure(struct hx_library *l, const double *y, size_t held, size_t n)
{
    size_t same = 0, least = 0, verdicts[3] = {0};
    const double us = time_of(l, y, held, n);

    for (size_t i = 0; i < held; i++) {
        const struct hx_library_found f = hx_library_ask(l, y + i * n);
        const size_t which = f.which;

        verdicts[f.verdict]++;
        same += which == hx_library_scan(l, y + i * n, 0).which;
        least += which == hx_library_scan(l, y + i * n, 1).which;
    }
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "records", (json_int_t)hx_library_size(l), "recall",
                     (double)same / (double)held, "recall_of_least", (double)least / (double)held, "lookup_us", us, "miss",
                     (double)verdicts[HX_LIBRARY_MISS] / (double)held, "hit", (double)verdicts[HX_LIBRARY_HIT] / (double)held, "correct",
                     (double)verdicts[HX_LIBRARY_CORRECT] / (double)held);
}

static int of_cloud(struct run *r, struct hx_library **l, struct hx_error *err)
{
    return hx_questions_library(l, &r->p.cloud, &r->near, err);
}

/* The store has coordinates of its own. */
static int of_store(struct run *r, struct hx_library **l, struct hx_error *err)
{
    struct hx_library_cfg cfg = {.eps = r->near.eps, .by_metric = r->near.by_metric};
    struct hx_store *s = NULL;
    int rc = hx_store_read(&s, r->store, hx_store_model(r->p.s.m), err);

    if (!rc && !s->n)
        rc = hx_error_set(err, -EINVAL, "%s: there is no record", r->store);
    if (!rc && (s->frame.w.n != r->p.axes || s->frame.w.width != r->p.s.m->width))
        rc = hx_error_set(err, -EINVAL, "%s: a store of %zu axes; --axes %zu", r->store, s->frame.w.n, r->p.axes);
    if (!rc) {
        cfg.n = s->frame.w.n;
        cfg.width = s->frame.w.width;
        cfg.capacity = s->n;
        rc = hx_library_open(l, &cfg, err);
    }
    if (!rc)
        rc = hx_library_fill(*l, s, err);
    for (size_t i = 0; i < r->p.held && !rc; i++)
        hx_whitening_place(&s->frame.w, r->p.scores.rows + 2 * i * s->frame.w.width, 1, r->p.cloud.y + i * s->frame.w.n);
    hx_store_close(s);
    return rc;
}

static int answer(struct run *r)
{
    struct hx_library *l = NULL;
    struct hx_error err = {""};
    json_t *j, *own;
    int rc = r->store ? HX_EXIT_OK : hx_space_metric(&r->p, &r->p.cloud);

    if (!rc && (r->store ? of_store(r, &l, &err) : of_cloud(r, &l, &err)))
        rc = hx_cmd_fail(r->p.s.cmd, "%s", err.text);
    if (!rc) {
        j = hx_space_json(&r->p);
        if (r->store)
            json_object_set_new(j, "store", hx_json_text(r->store));
        own = measure(l, r->p.cloud.y, r->p.held, r->p.axes);
        json_object_set_new(j, "eps", json_real(r->near.eps));
        json_object_update(j, own);
        json_decref(own);
        rc = hx_space_answer(&r->p, "lookup", j);
    }
    hx_library_close(l);
    return rc;
}

int hx_geometry_cmd_lookup(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct run r = {.p = hx_space_of("geometry lookup", 4096), .near = {3, .4, 0}};
    int rc = hx_opt_parse(r.p.s.cmd, &argp, argc, argv, &r);

    if (!rc && r.store)
        r.p.points = UNUSED; /* of a cloud that nobody asks */
    if (!rc)
        rc = hx_space_open(&r.p);
    if (!rc)
        rc = answer(&r);
    hx_space_close(&r.p);
    return rc;
}
