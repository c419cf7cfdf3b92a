/* hexrig subspace gauge: gains of the stream for matrices of low rank, accepted where a held-out text says that they help. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cmd_subspace.h"
#include "held_out.h"
#include "methods/adaptive/gauge.h"

enum { OPT_HELD_OUT = HX_OPT_FREE, OPT_CHUNKS, OPT_RANK, OPT_PLAN, OPT_STEPS };
enum { MAX_RANK = 65536, MAX_CHUNKS = 1 << 20, MAX_STEPS = 1000 };

static const struct argp_option options[] = {
    HX_SUBJECT_OPTIONS,
    {"rank", OPT_RANK, "R", 0, "of all seven matrices of a layer (half of the width)", 0},
    {"rank-plan", OPT_PLAN, "FILE", 0, "ranks of the matrices that it has, as hexrig subspace mcr or learn writes it", 0},
    {"steps", OPT_STEPS, "N", 0, "at most; published: --axex-gauge-iter (10; 1 for a width above 1024 or a feed-forward above 2048)", 0},
    {"held-out", OPT_HELD_OUT, "FILE", 0, "that is scored (books-holdout.txt)", 0},
    {"chunks", OPT_CHUNKS, "M", 0, "windows of 128 predictions (24)", 0},
    {0},
};

static const char doc[] =
    "Looks for gains of the residual stream with which matrices of a layer, a basis each, leave less beyond a rank, makes them of that "
    "rank with these gains and without, and prints three ratios: tail (what gauged matrices leave), error (what the matrices themselves "
    "leave), kl (mean distance from the whole model over the held-out text, nats per token).  verdict is ACCEPTED when kl falls, else "
    "REJECTED.  With -o also gauge.json, and rank_plan.txt for --axex-rank-plan, with gains if they were accepted."
    "\vExample: hexrig subspace gauge --rank 128 -o gauge; hexrig run --axex-full-compress --axex-rank-plan gauge/rank_plan.txt";

struct gauge {
    struct hx_subject s;
    struct hx_held_out h;
    size_t rank, steps;
    const char *path;           /* of a plan of ranks; NULL: none */
    struct hx_rank_plan ranks;  /* that plan */
    struct hx_gauge_matrix *at; /* of the subject's set */
    struct hx_gauge g;
    double *log_gain;
    struct hx_gauge_told told;
    struct hx_rank_plan plain, gained;
    struct hx_compared c;
};

static int option(struct gauge *p, int key, char *arg)
{
    switch (key) {
    case OPT_RANK:
        return hx_opt_size(p->s.cmd, "rank", arg, 1, MAX_RANK, &p->rank);
    case OPT_PLAN:
        p->path = arg;
        return 0;
    case OPT_STEPS:
        return hx_opt_size(p->s.cmd, "steps", arg, 1, MAX_STEPS, &p->steps);
    case OPT_HELD_OUT:
        p->h.text = arg;
        return 0;
    case OPT_CHUNKS:
        return hx_opt_size(p->s.cmd, "chunks", arg, 1, MAX_CHUNKS, &p->h.chunks);
    default:
        return hx_subject_option(&p->s, key, arg);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

/* --- gains */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t rank_of(const struct gauge *p, size_t layer, enum hx_matrix which)
{
    const size_t planned = hx_rank_plan_find(&p->ranks, layer, which);

    return planned ? planned : p->rank;
}

/* The layers' matrices. */
static int list_matrices(struct gauge *p, struct hx_error *err)
{
    p->at = calloc(p->s.set.n + 1, sizeof(*p->at));
    p->log_gain = calloc(p->s.m->width, sizeof(*p->log_gain));
    if (!p->at || !p->log_gain)
        return hx_error_set(err, -ENOMEM, "out of memory");
    p->g = (struct hx_gauge){.at = p->at, .width = p->s.m->width, .pool = p->s.pool};
    for (size_t i = 0; i < p->s.set.n; i++) {
        const enum hx_matrix which = p->s.set.at[i].which;
        const struct hx_linear *w = p->s.set.at[i].w;

        if (which != HX_OUT)
            p->at[p->g.n++] = (struct hx_gauge_matrix){w, least(rank_of(p, p->s.set.at[i].layer, which), least(w->rows, w->cols)),
                                                       which == HX_WO || which == HX_DOWN};
    }
    return 0;
}

static int fill_plan(const struct gauge *p, struct hx_rank_plan *to, const char *why, struct hx_error *err)
{
    if (hx_rank_plan_alloc(to, p->s.m, p->g.n))
        return hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < p->g.n; i++) {
        const enum hx_matrix which = p->s.set.at[i].which;
        const struct hx_rank *planned = hx_rank_plan_entry(&p->ranks, p->s.set.at[i].layer, which);

        to->at[i] = (struct hx_rank){.layer = p->s.set.at[i].layer, .matrices = 1u << which, .rank = p->at[i].rank};
        to->at[i].phase = planned ? planned->phase : HX_PHASE_NONE;
        snprintf(to->at[i].why, sizeof(to->at[i].why), "%s", why);
    }
    return 0;
}

static int fill_plans(struct gauge *p, struct hx_error *err)
{
    int rc = fill_plan(p, &p->plain, "", err);

    if (!rc)
        rc = fill_plan(p, &p->gained, "gauge accepted", err);
    if (!rc && !(p->gained.gain = calloc(p->g.width, sizeof(*p->gained.gain))))
        rc = hx_error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < p->g.width && !rc; i++)
        p->gained.gain[i] = exp(p->log_gain[i]);
    p->gained.n_gain = rc ? 0 : p->g.width;
    return rc;
}

/* --- verdict */

static int compare(struct gauge *p, struct hx_error *err)
{
    static const char *const settings[] = {"axex-full-compress", "grc-basis=per-slot", NULL};
    int rc = hx_held_out_open(&p->h, err);

    return rc ? rc : hx_held_out_compare(&p->h, settings, &p->plain, &p->gained, "gauge", &p->c, err);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 1;
}

static json_t *all_json(const struct gauge *p)
{
    double low = 0, high = 0;

    for (size_t i = 0; i < p->g.width; i++) {
        low = fmin(low, p->log_gain[i]);
        high = fmax(high, p->log_gain[i]);
    }
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:s}", "model", hx_json_text(p->s.path), "held_out",
                     hx_json_text(p->h.text), "rank", (json_int_t)p->rank, "sum",
                     (json_int_t)hx_rank_plan_sum(&p->gained), "steps", (json_int_t)p->told.steps, "gain_least", exp(low),
                     "gain_most", exp(high), "tail_ratio", ratio(p->told.after, p->told.before), "error_ratio",
                     ratio(p->c.chosen_error, p->c.plain_error), "kl_ratio", ratio(p->c.chosen.kl.mean, p->c.plain.kl.mean), "without",
                     hx_held_out_json(&p->h, &p->c.plain), "gauge", hx_held_out_json(&p->h, &p->c.chosen), "verdict",
                     hx_compared_verdict(&p->c));
}

static int answer(const struct gauge *p)
{
    json_t *j = all_json(p);
    int rc = hx_subject_write_json(&p->s, "gauge.json", j);

    if (!rc)
        rc = hx_subject_write_plan(&p->s, p->c.accepted ? &p->gained : &p->plain);
    if (!rc)
        return hx_report_print(p->s.cmd, j, p->s.json);
    json_decref(j);
    return rc;
}

/* --- the command */

static int run(struct gauge *p)
{
    struct hx_error err = {""};
    int rc;

    p->rank = p->rank ? p->rank : p->s.m->width / 2;
    p->steps = p->steps ? p->steps : p->s.m->width > 1024 || p->s.m->ffn > 2048 ? 1 : 10;
    if (p->rank > p->s.m->width)
        return hx_cmd_usage(p->s.cmd, "--rank %zu; the model's width is %zu", p->rank, p->s.m->width);
    rc = p->path ? hx_rank_plan_read(&p->ranks, p->path, p->s.m, &err) : 0;
    if (!rc)
        rc = list_matrices(p, &err);
    if (!rc)
        rc = hx_gauge_find(&p->g, p->steps, p->log_gain, &p->told, &err);
    if (!rc)
        rc = fill_plans(p, &err);
    if (!rc)
        rc = compare(p, &err);
    return rc ? hx_cmd_fail(p->s.cmd, "%s", err.text) : answer(p);
}

int hx_subspace_cmd_gauge(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct gauge p = {.s = {.cmd = "subspace gauge"}};
    int rc = hx_opt_parse(p.s.cmd, &argp, argc, argv, &p);

    if (!rc)
        rc = hx_subject_open(&p.s);
    p.h.s = &p.s;
    if (!rc)
        rc = run(&p);
    hx_held_out_close(&p.h);
    hx_rank_plan_free(&p.ranks);
    hx_rank_plan_free(&p.plain);
    hx_rank_plan_free(&p.gained);
    free(p.at);
    free(p.log_gain);
    hx_subject_close(&p.s);
    return rc;
}
