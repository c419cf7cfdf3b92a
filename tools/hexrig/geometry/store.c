/* hexrig geometry store: trajectories of a text's states, in a file. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/json_text.h"
#include "base/keyed.h"
#include "cmd_geometry.h"
#include "methods/geometry/head.h"
#include "methods/geometry/store.h"
#include "trajectories.h"

enum { OPT_STORE = HX_MADE_OPT_FREE, OPT_RECORDS };
enum { LADDER = 7, TURNS = 4, AT_ONCE = 16, PUBLISHED_RANK = 5 };

static const double ladder[LADDER] = {.05, .1, .2, .4, .8, 1.6, 3.2}, tau = .05;

static const struct argp_option options[] = {
    HX_SPACE_OPTIONS,
    HX_MADE_OPTIONS,
    {"store", OPT_STORE, "FILE", 0, "that they are written to, or appended", 0},
    {"records", OPT_RECORDS, "N", 0, "trajectories that are to be in the file (64)", 0},
    {0},
};

static const char doc[] =
    "Geodesics from states of the cloud towards the next token's, with what their Jacobi propagators make of a displacement, how "
    "far that holds (rho: to 5 %), and what the model says at the state they aim at, one record each.  A file with fewer records "
    "of the same cloud gets the others, so a run that was killed is gone on with. rank_5: what a propagator loses as a product "
    "of rank 5, and what its difference from 1 loses.  rho_rank_correlation: of rho with the distance of conjugate points, pi "
    "over the root of the largest curvature on the way (Spearman).  With -o also CASE_record_store.json."
    "\vExample: hexrig geometry store --store tiny.gtc --points 4096 --records 256";

struct run {
    struct hx_space p; /* first */
    struct hx_made how;
    const char *path;
    size_t records;
    struct hx_store_frame frame; /* borrowed parts */
    struct hx_store_record *at;  /* [AT_ONCE] */
    size_t first;                /* number of at[0] */
};

static int option(struct run *r, int key, char *arg)
{
    int rc;

    switch (key) {
    case OPT_STORE:
        r->path = arg;
        return 0;
    case OPT_RECORDS:
        return hx_opt_size(r->p.s.cmd, "records", arg, 1, 65536, &r->records);
    default:
        rc = hx_made_option(r->p.s.cmd, &r->how, key, arg);
        return rc == HX_OPT_UNKNOWN ? hx_space_option(&r->p, key, arg) : rc;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- records */

/* A geodesic that leaves the numbers is kept as a straight line which corrects nothing. */
static void straight(const struct hx_cloud *c, size_t i, double length, struct hx_trajectory *t)
{
    const double *x = c->x + i * c->n, *to = c->x_next + i * c->n;
    double g[HX_METRIC_MOST * HX_METRIC_MOST];

    memcpy(g, t->g, sizeof(g));
    memset(t, 0, sizeof(*t));
    memcpy(t->g, g, sizeof(g));
    t->n = c->n;
    t->drift = INFINITY;
    for (size_t k = 0; k < c->n; k++) {
        t->q[k] = x[k];
        t->end[k] = to[k];
        t->v[k] = (to[k] - x[k]) / length;
        t->correct[k * c->n + k] = 1;
        for (size_t p = 0; p < HX_TRAJECTORY_POINTS; p++)
            t->way[p][k] = x[k] + (to[k] - x[k]) * (double)p / (HX_TRAJECTORY_POINTS - 1);
    }
}

static int make_record(void *arg, size_t i, struct hx_error *err)
{
    const struct run *r = arg;
    const struct hx_space *p = &r->p;
    const struct hx_metric m = hx_cloud_metric_field(&p->cloud.metric);
    const size_t point = r->first + i, width = p->s.m->width;
    struct hx_store_record *to = &r->at[i];
    int rc = hx_trajectory_of(&p->cloud, &r->how, point, &to->t, err);

    to->rho = 0;
    if (!rc)
        rc = hx_radius_of(&m, &to->t, &r->how, ladder, LADDER, tau, TURNS, hx_keyed(hx_space_key(p, HX_SPACE_KEY_OWN), point), &to->rho,
                          err);
    if (rc == -EDOM) {
        if (!isfinite(to->t.end[0]) || to->rho == 0)
            straight(&p->cloud, point, r->how.step * (double)r->how.steps, &to->t);
        rc = 0;
    }
    to->token = p->fits.tokens[point];
    memcpy(to->state, p->fits.rows + (2 * point + 1) * width, width * sizeof(float));
    return rc;
}

static int append_some(struct run *r, struct hx_store_writer *w, struct hx_head *head, size_t n, struct hx_error *err)
{
    int rc = hx_subject_each(&r->p.s, n, make_record, r, err);

    for (size_t i = 0; i < n && !rc; i++) {
        const float *logits = hx_head_logits(head, r->at[i].state, err);

        rc = logits ? 0 : -EDOM;
        if (!rc)
            hx_head_best(logits, r->p.s.m->vocab, r->frame.candidates, &r->at[i]);
        if (!rc)
            rc = hx_store_append(w, &r->at[i], err);
    }
    return rc;
}

static int append_all(struct run *r, struct hx_store_writer *w, size_t there, struct hx_error *err)
{
    const size_t width = r->p.s.m->width;
    float *states = malloc(AT_ONCE * width * sizeof(*states));
    struct hx_head *head = NULL;
    int rc;

    r->at = calloc(AT_ONCE, sizeof(*r->at));
    rc = states && r->at ? hx_head_open(&head, r->p.s.m, err) : hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < AT_ONCE && !rc; i++)
        r->at[i].state = states + i * width;
    for (r->first = there; r->first < r->records && !rc; r->first += AT_ONCE) {
        const size_t left = r->records - r->first, n = left < AT_ONCE ? left : AT_ONCE;

        rc = append_some(r, w, head, n, err);
        hx_watch_step(&r->p.watch, "trajectories", r->first + n, r->records);
    }
    hx_head_close(head);
    free(states);
    free(r->at);
    return rc;
}

/* --- the file */

/* Of the cloud and of how geodesics are made: a file of others is not appended to. */
static uint64_t made_of(const struct run *r)
{
    const double how[] = {r->how.step, (double)r->how.steps, (double)r->p.neighbours};
    const uint64_t h = hx_digest(0, r->p.cloud.x, r->p.points * r->p.axes * sizeof(double));

    return hx_digest(h, how, sizeof(how));
}

static int check_made_of(const struct run *r, struct hx_error *err)
{
    struct hx_store *s = NULL;
    int rc = hx_store_read(&s, r->path, r->frame.model, err);

    if (!rc && s->frame.text != r->frame.text)
        rc = hx_error_set(err, -EINVAL, "%s: the store is of another cloud: another text, or other points, axes, neighbours, steps or seed",
                          r->path);
    if (!rc && s->torn)
        hx_watch_note(&r->p.watch, "%s: %zu bytes of a record that was never finished are cut off", r->path, s->torn);
    hx_store_close(s);
    return rc;
}

static int fill_file(struct run *r, struct hx_error *err)
{
    struct hx_store_writer *w = NULL;
    struct hx_error ignored = {""};
    size_t there = 0;
    int rc = access(r->path, F_OK) == 0 ? check_made_of(r, err) : hx_store_create(r->path, &r->frame, err);

    if (!rc)
        rc = hx_store_append_open(&w, r->path, r->frame.model, &there, err);
    if (!rc)
        rc = append_all(r, w, there, err);
    return hx_store_append_close(w, rc ? &ignored : err) && !rc ? -EIO : rc;
}

/* --- answers */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Ranks of x [n], the mean among equals: to [n]. */
static void rank(const double *x, size_t n, double *to)
{
    for (size_t i = 0; i < n; i++) {
        double below = 0, equal = 0;

        for (size_t k = 0; k < n; k++) {
            below += x[k] < x[i];
            equal += x[k] == x[i];
        }
        to[i] = below + (equal - 1) / 2;
    }
}

/* Spearman's, 0 where one of them is constant.  room: [2 n]. */
static double rank_correlation(const double *a, const double *b, size_t n, double *room)
{
    double ab = 0, aa = 0, bb = 0;

    rank(a, n, room);
    rank(b, n, room + n);
    for (size_t i = 0; i < n; i++) {
        const double x = room[i] - (double)(n - 1) / 2, y = room[n + i] - (double)(n - 1) / 2;

        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

static json_t *figures(const struct hx_store *s, double *room, struct hx_error *err)
{
    double *rho = room, *reach = room + s->n, of_m = 0, of_change = 0, median;
    size_t useful = 0, diverged = 0;

    for (size_t i = 0; i < s->n; i++) {
        double m = 0, change = 0;

        if (hx_trajectory_rank_error(&s->at[i].t, PUBLISHED_RANK, &m, &change, err))
            return NULL;
        of_m += m / (double)s->n;
        of_change += change / (double)s->n;
        rho[i] = s->at[i].rho;
        reach[i] = fmin(s->at[i].t.reach, 1e6);
        useful += rho[i] > 0;
        diverged += !isfinite(s->at[i].t.drift);
    }
    const double correlation = rank_correlation(rho, reach, s->n, room + 2 * s->n);

    qsort(rho, s->n, sizeof(*rho), by_size);
    median = rho[s->n / 2];
    return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "records", (json_int_t)s->n, "bytes_per_record",
                     (json_int_t)hx_store_record_bytes(&s->frame), "rank_5_error", of_m, "rank_5_error_of_change", of_change, "rho_median",
                     median, "rho_above_0", (double)useful / (double)s->n, "diverged", (double)diverged / (double)s->n,
                     "rho_rank_correlation", correlation);
}

static int answer(const struct run *r)
{
    struct hx_error err = {""};
    struct hx_store *s = NULL;
    double *room = NULL;
    json_t *j = NULL, *own = NULL;
    int rc = hx_store_read(&s, r->path, r->frame.model, &err);

    if (!rc && !(room = malloc(4 * (s->n + 1) * sizeof(*room))))
        rc = hx_error_set(&err, -ENOMEM, "out of memory");
    if (!rc && !(own = figures(s, room, &err)))
        rc = -ENOMEM;
    hx_store_close(s);
    free(room);
    if (rc)
        return hx_cmd_fail(r->p.s.cmd, "%s", *err.text ? err.text : "out of memory");
    j = hx_space_json(&r->p);
    json_object_set_new(j, "store", hx_json_text(r->path));
    json_object_update(j, own);
    json_decref(own);
    return hx_space_answer(&r->p, "record_store", j);
}

static int fill_and_tell(struct run *r)
{
    struct hx_error err = {""};
    int rc = hx_space_metric(&r->p, &r->p.cloud);

    if (rc)
        return rc;
    r->frame = (struct hx_store_frame){.steps = r->how.steps, .neighbours = r->p.neighbours, .candidates = HX_STORE_BEST,
                                       .step = r->how.step, .model = hx_store_model(r->p.s.m), .text = made_of(r), .w = r->p.w};
    return fill_file(r, &err) ? hx_cmd_fail(r->p.s.cmd, "%s", err.text) : answer(r);
}

int hx_geometry_cmd_store(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct run r = {.p = hx_space_of("geometry store", 1024), .how = {.05, 16}, .records = 64};
    int rc = hx_opt_parse(r.p.s.cmd, &argp, argc, argv, &r);

    if (!rc && !r.path)
        rc = hx_cmd_usage(r.p.s.cmd, "--store FILE is missing");
    if (!rc && r.records > r.p.points)
        rc = hx_cmd_usage(r.p.s.cmd, "--records %zu of --points %zu", r.records, r.p.points);
    if (!rc)
        rc = hx_space_open(&r.p);
    if (!rc)
        rc = fill_and_tell(&r);
    hx_space_close(&r.p);
    return rc;
}
