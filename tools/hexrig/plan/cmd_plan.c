/* hexrig plan: the cheapest way for a geometry's token through the DSP that is fast enough, or what would have to change. */
#include <math.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/report.h"
#include "cli/share.h"
#include "density/bar.h"
#include "hx_rig.h"
#include "near.h"
#include "rows.h"

/* Beside those of enum hx_exit: all went well, and nothing is fast enough. */
enum { EXIT_TOO_SLOW = 3 };

enum { OPT_GEOMETRY = HX_OPT_FREE, OPT_TARGET, OPT_POS, OPT_DENSITY, OPT_ALL };

static const struct argp_option options[] = {
    {"geometry", OPT_GEOMETRY, "NAME", 0, "as of hexrig density: qwen3-4b | llama3-8b | gemma3-1b | smollm2-135m | gptj-6b | FILE | "
     "its numbers, as 24x16/4x128x2048x5632x32000", 0},
    {"target", OPT_TARGET, "N", 0, "tokens per second that it has to reach", 0},
    {"pos", OPT_POS, "N", 0, "position of the token, from 0 (128)", 0},
    {"density", OPT_DENSITY, "LIST", 0,
     "only these: per-vector,per-layer,batched,per-token,queue, of caches with this option; layer: whole layers", 0},
    {"all", OPT_ALL, NULL, 0, "look at all choices, not only at those up to the cheapest that is fast enough", 0},
    {0},
};

static const char doc[] =
    "Looks for the cheapest way in which a token of a model that is not here goes through the DSP fast enough: how its work is cut into "
    "calls, as packets or not, where matrices lie, where attention is computed.  What is given as an option stays as it is.  Prints what "
    "bounds the token, and what would have to change where nothing is fast enough."
    "\vTimes are modelled, and those of hexrig density for the same options.  What stays on the host has none.\n\n"
    "Exit status: 0: something is fast enough; 3: nothing is; 1: it failed; 2: wrong usage.\n\n"
    "Example: hexrig plan --geometry qwen3-4b --target 5";

static const char cmd[] = "plan";

struct plan {
    struct hx_sweep s;
    struct hx_plan *base;  /* what was said, not resolved */
    int all;
    struct hx_profile profile;
    struct hx_choices choices;
    struct hx_plan_found f;
    struct hx_near near;
    struct hx_bar bar;
};

/* --- options */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    static const double least = 1e-6, most = 1e6;
    struct plan *p = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &p->s.o;
        return 0;
    case OPT_GEOMETRY:
        p->s.geometry = arg;
        return 0;
    case OPT_TARGET:
        return hx_opt_error(hx_opt_real(cmd, "target", arg, least, most, &p->f.target));
    case OPT_POS:
        p->s.positions = arg;
        return 0;
    case OPT_DENSITY:
        p->s.densities = arg;
        return 0;
    case OPT_ALL:
        p->all = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int find_choices(struct plan *p)
{
    struct hx_error err = {""};
    int rc = hx_choices_find(&p->choices, &p->s, p->base, &err);

    if (rc)
        return hx_cmd_fail(cmd, "%s", err.text);
    p->f.n_choices = p->choices.n;
    p->f.rows = calloc(p->choices.n, sizeof(*p->f.rows));
    return p->f.rows ? HX_EXIT_OK : hx_cmd_fail(cmd, "out of memory");
}

static int parse(struct plan *p, int argc, char **argv)
{
    const struct argp_child children[] = {{hx_engine_argp(&p->s.o), 0, NULL, 0}, {0}};
    const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};
    struct hx_error err = {""};
    int rc = hx_opt_parse(cmd, &argp, argc, argv, p);

    if (!rc && !p->s.geometry)
        rc = hx_cmd_usage(cmd, "--geometry is missing: what is it a plan for?");
    if (!rc && p->f.target <= 0)
        rc = hx_cmd_usage(cmd, "--target is missing: how many tokens per second?");
    if (!rc && hx_plan_copy(&p->base, p->s.o.plan, &err))
        rc = hx_cmd_fail(cmd, "%s", err.text);
    if (!rc)
        rc = hx_sweep_check(&p->s);
    if (!rc && p->s.n_pos > 1)
        rc = hx_cmd_usage(cmd, "--pos: a plan is for one position");
    return rc ? rc : find_choices(p);
}

/* --- the search */

static int load_profile(struct plan *p)
{
    char *folder = hx_share("profiles"), why[256] = "out of memory";
    const char *name = p->s.o.profile ? p->s.o.profile : hx_rig_profile();
    int rc = folder && name ? hx_profile_load(&p->profile, folder, name, why, sizeof(why)) : -1;

    free(folder);
    if (rc)
        return hx_cmd_fail(cmd, "%s", name ? why : "the rig's profile is not known");
    p->f.c = hx_ceilings(&p->profile);
    p->f.profile = p->profile.name;
    p->f.matrix_bytes = hx_choice_matrix_bytes(&p->choices.at[0], &p->s.cases[0].shape);
    p->f.kept_bytes = 1024.0 * (p->profile.vtcm_kib + p->profile.cost.l2_kib);
    p->f.front_end = hx_rig_front_end() ? hx_rig_front_end() : "none";
    return HX_EXIT_OK;
}

/* What shapes tell, without a call. */
static struct hx_planned look(const struct plan *p, const struct hx_choice *c)
{
    const struct hx_geometry *g = &p->s.cases[0].shape;
    struct hx_planned row = {.choice = c, .formula = hx_choice_calls(c, g, p->s.pos[0])};

    row.least_us = hx_least_us(&p->f.c, row.formula.invokes, row.formula.packets,
                               fmax(hx_choice_matrix_bytes(c, g) - p->f.kept_bytes, 0), &row.least);
    return row;
}

/* What two near tokens tell of a choice that shapes do not rule out. */
static int look_near(struct plan *p, struct hx_planned *row)
{
    struct hx_error err = {""};
    int rc = hx_near_look(&p->near, row->choice, &p->s, &p->f.c, &err);

    if (rc < 0)
        return hx_cmd_fail(cmd, "%s: %s", row->choice->options, err.text);
    if (rc && p->near.least_us > row->least_us) {
        row->least_us = p->near.least_us;
        row->least = p->near.bound;
        row->near = 1;
    }
    return HX_EXIT_OK;
}

static int count(struct plan *p, struct hx_planned *row)
{
    const struct hx_density_question q = {.plan = row->choice->plan, .geometry = &p->s.cases[0].shape, .pos = p->s.pos[0],
                                          .profile = p->s.o.profile};
    struct hx_error err = {""};

    if (hx_density_answer(&q, &row->answer, &err))
        return hx_cmd_fail(cmd, "%s: %s", row->choice->options, err.text);
    row->counted = 1;
    row->verdict = hx_verdict(&row->answer.sum, &p->f.c, p->f.budget_us);
    return HX_EXIT_OK;
}

static void print(struct plan *p, const struct hx_planned *row)
{
    hx_bar_clear(&p->bar);
    if (!p->s.o.json)
        hx_plan_print_row(&p->f, row);
}

/* Of those that are too slow for the same reason the last one: it makes the fewest calls. */
static int is_faster(const struct hx_planned *a, const struct hx_planned *b)
{
    if (!b || a->counted != b->counted)
        return !b || a->counted;
    return a->counted ? a->verdict.total_us < b->verdict.total_us : a->least_us <= b->least_us;
}

/* 1: they differ in nothing but where matrices lie. */
static int differ_in_placement(const struct hx_choice *a, const struct hx_choice *b)
{
    return a->density == b->density && a->attn == b->attn && a->packets == b->packets;
}

/* The first choice behind i that is another one wherever matrices lie. */
static size_t pass_placements(const struct plan *p, size_t i)
{
    const struct hx_choice *c = p->choices.at;
    size_t to = i + 1;

    while (to < p->choices.n && differ_in_placement(&c[i], &c[to]))
        to++;
    return to;
}

/* The next choice behind one that was looked at: of one that is too slow wherever matrices lie, other placements are passed over. */
static size_t next(const struct plan *p, const struct hx_planned *row, size_t i)
{
    return row->counted ? i + 1 : pass_placements(p, i);
}

/* Looks at a choice; what cannot be fast enough is not counted. */
static int look_at(struct plan *p, const struct hx_choice *c)
{
    struct hx_plan_found *f = &p->f;
    struct hx_planned *row = &f->rows[f->n_rows];
    int rc = 0;

    *row = look(p, c);
    if (row->least_us <= f->budget_us)
        rc = look_near(p, row);
    if (!rc && row->least_us <= f->budget_us)
        rc = count(p, row);
    if (rc)
        return rc;
    f->n_rows++;
    print(p, row);
    if (is_faster(row, f->nearest))
        f->nearest = row;
    if (!f->cheapest && row->counted && row->verdict.total_us <= f->budget_us)
        f->cheapest = row;
    return HX_EXIT_OK;
}

/* Up to the first one that is fast enough, or all. */
static int search(struct plan *p)
{
    int rc = 0;

    hx_bar_begin(&p->bar, (double)p->choices.n);
    for (size_t i = 0, before = 0; !rc && i < p->choices.n && (p->all || !p->f.cheapest);) {
        hx_bar_step(&p->bar, (double)(i - before), i, p->choices.n);
        rc = look_at(p, &p->choices.at[i]);
        before = i;
        i = rc ? p->choices.n : next(p, &p->f.rows[p->f.n_rows - 1], i);
    }
    hx_bar_clear(&p->bar);
    return rc;
}

/* Counts one that was ruled out, with as much in VTCM as can be, and what it says then is what counts. */
static int settle_row(struct plan *p, struct hx_planned *row)
{
    int rc;

    row->choice = &p->choices.at[pass_placements(p, (size_t)(row->choice - p->choices.at)) - 1];
    rc = count(p, row);
    if (!rc && is_faster(row, p->f.nearest))
        p->f.nearest = row;
    return rc;
}

/* Of the nearest one all is wanted.  Where that was counted before, one that two near tokens have ruled out may be nearer. */
static int settle(struct plan *p)
{
    struct hx_plan_found *f = &p->f;
    int rc = 0;

    if (f->cheapest) {
        f->nearest = NULL;
        return HX_EXIT_OK;
    }
    if (!f->nearest->counted)
        return settle_row(p, &f->rows[f->nearest - f->rows]);
    for (size_t i = 0; !rc && i < f->n_rows; i++)
        if (!f->rows[i].counted && f->rows[i].near && f->rows[i].least_us < f->nearest->verdict.total_us)
            rc = settle_row(p, &f->rows[i]);
    return rc;
}

static int run(struct plan *p)
{
    int rc = load_profile(p);

    p->f.s = &p->s;
    p->f.budget_us = 1e6 / p->f.target;
    if (!rc && !p->s.o.json)
        hx_plan_print_head(&p->f);
    if (!rc)
        rc = search(p);
    if (!rc)
        rc = settle(p);
    if (rc)
        return rc;
    if (p->s.o.json)
        rc = hx_report_print(cmd, hx_plan_json(&p->f), 1);
    else
        hx_plan_print_end(&p->f);
    return rc || p->f.cheapest ? rc : EXIT_TOO_SLOW;
}

int hx_cmd_plan(int argc, char **argv)
{
    struct plan p = {.s.positions = "128"};
    int rc = hx_engine_opts_init(&p.s.o, cmd, 0);

    if (!rc)
        rc = parse(&p, argc, argv);
    if (!rc)
        rc = hx_engine_opts_prepare(&p.s.o);
    if (!rc)
        rc = hx_cmd_connect(cmd);
    if (!rc)
        rc = run(&p);
    free(p.f.rows);
    hx_choices_free(&p.choices);
    hx_plan_close(p.base);
    hx_sweep_free(&p.s);
    return rc;
}
