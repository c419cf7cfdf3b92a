/* Holds a command's figures against budgets and baselines. */
#include "gate.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/opt.h"
#include "cli/report.h"
#include "figures.h"

/* --- options */

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Figures against what they should be, exit status 1 when they are not:", 3},
    {"budget", HX_OPT_BUDGET, "FILE", 0, "limits, lines of FIGURE <= LIMIT", 3},
    {"compare", HX_OPT_COMPARE, "FILE", 0, "figures as --save-baseline left them: none missing, new or another", 3},
    {"save-baseline", HX_OPT_SAVE_BASELINE, "FILE", 0, "writes the figures there", 3},
    {"tolerance", HX_OPT_TOLERANCE, "[FIGURE=]PERCENT", 0,
     "by how much figures may differ from a baseline, those that a pattern matches; the last that matches counts; repeatable (0)", 3},
    {0},
};

static int add_tolerance(struct hx_gate *g, const char *spec)
{
    struct hx_tolerance *t = &g->tolerance[g->n_tolerances];
    const char *eq = strrchr(spec, '='), *percent = eq ? eq + 1 : spec;
    const size_t n = strlen(percent);
    char *number;
    int rc;

    if (g->n_tolerances == HX_GATE_TOLERANCES)
        return hx_cmd_usage(g->cmd, "more than %d --tolerance", HX_GATE_TOLERANCES);
    if (eq == spec)
        return hx_cmd_usage(g->cmd, "--tolerance: '%s' is no [FIGURE=]PERCENT", spec);
    t->figure = eq ? strndup(spec, (size_t)(eq - spec)) : strdup("*");
    number = strndup(percent, n && percent[n - 1] == '%' ? n - 1 : n);
    if (t->figure)
        g->n_tolerances++;
    if (!t->figure || !number)
        rc = hx_cmd_fail(g->cmd, "out of memory");
    else
        rc = hx_opt_real(g->cmd, "tolerance", number, 0, HX_LIMIT_PERCENT_MOST, &t->percent);
    free(number);
    return rc;
}

static int option(struct hx_gate *g, int key, const char *arg)
{
    switch (key) {
    case HX_OPT_BUDGET:
        g->budget = arg;
        return 0;
    case HX_OPT_COMPARE:
        g->baseline = arg;
        return 0;
    case HX_OPT_SAVE_BASELINE:
        g->save = arg;
        return 0;
    case HX_OPT_TOLERANCE:
        return add_tolerance(g, arg);
    default:
        return HX_OPT_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    return hx_opt_error(option(state->input, key, arg));
}

const struct argp hx_gate_argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};

/* --- before anything is measured */

int hx_gate_is_on(const struct hx_gate *g)
{
    return g->budget || g->baseline || g->save;
}

static int read_limits(const struct hx_gate *g, struct hx_limits *l, const char *name, const char *path, int baseline)
{
    struct hx_error err = {""};
    int rc = hx_limits_read(l, path, baseline, &err);

    if (rc == -ENOMEM)
        return hx_cmd_fail(g->cmd, "--%s: %s", name, err.text);
    if (rc)
        return hx_cmd_usage(g->cmd, "--%s: %s", name, err.text);
    if (l->command && strcmp(l->command, g->cmd) != 0)
        return hx_cmd_usage(g->cmd, "--%s: %s:%zu: command '%.64s'; legal: %s", name, path, l->command_line, l->command, g->cmd);
    return 0;
}

/* Without making a file that an interrupt would leave empty. */
static int check_writable(const struct hx_gate *g)
{
    const char *slash = strrchr(g->save, '/');
    char *folder;
    int ok;

    if (access(g->save, F_OK) == 0)
        return access(g->save, W_OK) ? hx_cmd_usage(g->cmd, "--save-baseline: %s: %s", g->save, strerror(errno)) : 0;
    folder = slash ? strndup(g->save, (size_t)(slash - g->save) + 1) : strdup(".");
    if (!folder)
        return hx_cmd_fail(g->cmd, "out of memory");
    ok = access(folder, W_OK | X_OK) == 0;
    free(folder);
    return ok ? 0 : hx_cmd_usage(g->cmd, "--save-baseline: %s: %s", g->save, strerror(errno));
}

int hx_gate_begin(struct hx_gate *g)
{
    int rc = 0;

    if (g->n_tolerances && !g->baseline && !g->save)
        return hx_cmd_usage(g->cmd, "--tolerance is of --compare and --save-baseline");
    if (g->budget)
        rc = read_limits(g, &g->limits, "budget", g->budget, 0);
    if (!rc && g->baseline)
        rc = read_limits(g, &g->wanted, "compare", g->baseline, 1);
    return rc || !g->save ? rc : check_writable(g);
}

/* --- a diff */

struct diff {
    const struct hx_gate *g;
    const char *path;
    size_t hunks;
};

static void hunk(struct diff *d, size_t line)
{
    if (d->hunks++ == 0)
        fprintf(stderr, "--- %s\n+++ hexrig %s\n", d->path, d->g->cmd);
    if (line)
        fprintf(stderr, "@@ line %zu @@\n", line);
    else
        fprintf(stderr, "@@ new @@\n");
}

static void print_limit(const struct hx_limit *l, const char *figure)
{
    fprintf(stderr, "-%s %s %.12g", figure, hx_limit_sign(l->how), l->value);
    if (l->percent > 0)
        fprintf(stderr, " +- %.12g%%", l->percent);
    putc('\n', stderr);
}

static void print_got(const struct hx_limit *l, const char *figure, double got)
{
    fprintf(stderr, "+%s = %.12g", figure, got);
    if (l && l->value > 0)
        fprintf(stderr, " (%+.4g %%)", (got / l->value - 1) * 100);
    putc('\n', stderr);
}

/* --- the budget */

static int refuse_figure(const struct hx_gate *g, const struct hx_limit *l, const json_t *figures, const json_t *groups)
{
    char *behind = NULL, *legal = NULL;
    int rc;

    if (hx_figures_legal(figures, groups, l->figure, &behind, &legal))
        rc = hx_cmd_fail(g->cmd, "out of memory");
    else
        rc = hx_cmd_usage(g->cmd, "--budget: %s:%zu: unknown figure '%s'; legal: %s%s%s", g->budget, l->line, l->figure,
                          behind, *behind ? " and one of " : "", legal);
    free(behind);
    free(legal);
    return rc;
}

/* 1: there is a figure that the limit is of. */
static int is_known(const struct hx_limit *l, const json_t *figures)
{
    const char *name;
    json_t *v;

    json_object_foreach((json_t *)figures, name, v)
        if (fnmatch(l->figure, name, 0) == 0)
            return 1;
    return 0;
}

/* All figures that the limit is of. */
static void check_limit(struct diff *d, const struct hx_limit *l, const json_t *figures)
{
    const char *name;
    json_t *v;

    json_object_foreach((json_t *)figures, name, v) {
        const double got = json_number_value(v);

        if (fnmatch(l->figure, name, 0) != 0 || hx_limit_holds(l, got))
            continue;
        hunk(d, l->line);
        print_limit(l, name);
        print_got(l, name, got);
    }
}

static int check_budget(const struct hx_gate *g, const json_t *figures, const json_t *groups)
{
    struct diff d = {g, g->budget, 0};
    int rc = 0;

    for (size_t i = 0; !rc && i < g->limits.n; i++)
        if (!is_known(&g->limits.at[i], figures))
            rc = refuse_figure(g, &g->limits.at[i], figures, groups);
    for (size_t i = 0; !rc && i < g->limits.n; i++)
        check_limit(&d, &g->limits.at[i], figures);
    if (!rc && d.hunks)
        rc = hx_cmd_fail(g->cmd, "--budget: %s: %zu figure%s not within the limits", g->budget, d.hunks,
                         d.hunks == 1 ? " is" : "s are");
    return rc;
}

/* --- the baseline */

/* In percent. */
static double tolerance(const struct hx_gate *g, const char *figure, double otherwise)
{
    for (size_t i = g->n_tolerances; i-- > 0;)
        if (fnmatch(g->tolerance[i].figure, figure, 0) == 0)
            return g->tolerance[i].percent;
    return otherwise;
}

/* What was there before.  Takes it out of `rest`. */
static void compare(struct diff *d, const struct hx_limit *l, const json_t *figures, json_t *rest)
{
    struct hx_limit limit = *l;
    const json_t *v = json_object_get(figures, l->figure);

    json_object_del(rest, l->figure);
    limit.percent = tolerance(d->g, l->figure, l->percent);
    if (v && hx_limit_holds(&limit, json_number_value(v)))
        return;
    hunk(d, l->line);
    print_limit(&limit, l->figure);
    if (v)
        print_got(&limit, l->figure, json_number_value(v));
}

static int check_baseline(const struct hx_gate *g, const json_t *figures)
{
    struct diff d = {g, g->baseline, 0};
    json_t *rest = json_copy((json_t *)figures), *v;
    const char *name;

    if (!rest)
        return hx_cmd_fail(g->cmd, "out of memory");
    for (size_t i = 0; i < g->wanted.n; i++)
        compare(&d, &g->wanted.at[i], figures, rest);
    json_object_foreach(rest, name, v) {
        hunk(&d, 0);
        print_got(NULL, name, json_number_value(v));
    }
    json_decref(rest);
    return d.hunks ? hx_cmd_fail(g->cmd, "--compare: %s: %zu figure%s differ%s; --save-baseline writes them anew", g->baseline, d.hunks,
                                 d.hunks == 1 ? "" : "s", d.hunks == 1 ? "s" : "")
                   : 0;
}

/* By name: what the baseline says of itself, so that saving it anew keeps it. */
static json_t *old_tolerances(const struct hx_gate *g)
{
    json_t *j = json_object();

    for (size_t i = 0; i < g->wanted.n; i++)
        json_object_set_new(j, g->wanted.at[i].figure, json_real(g->wanted.at[i].percent));
    return j;
}

static void write_figures(const struct hx_gate *g, const json_t *figures, FILE *f)
{
    json_t *old = old_tolerances(g), *v;
    const char *name;

    fprintf(f, "# for hexrig %s --compare; FIGURE = VALUE +- PERCENT%% may differ by so much\nversion = %d\ncommand = %s\n", g->cmd,
            HX_LIMITS_VERSION, g->cmd);
    json_object_foreach((json_t *)figures, name, v) {
        const double percent = tolerance(g, name, json_number_value(json_object_get(old, name)));

        fprintf(f, "%s = %.12g", name, json_number_value(v));
        if (percent > 0)
            fprintf(f, " +- %.12g%%", percent);
        putc('\n', f);
    }
    json_decref(old);
}

static int save(const struct hx_gate *g, const json_t *figures)
{
    FILE *f = fopen(g->save, "we");

    if (!f)
        return hx_cmd_fail(g->cmd, "--save-baseline: %s: %s", g->save, strerror(errno));
    write_figures(g, figures, f);
    return ferror(f) | fclose(f) ? hx_cmd_fail(g->cmd, "--save-baseline: %s: cannot write all of it", g->save) : 0;
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

int hx_gate_end(struct hx_gate *g, json_t *groups)
{
    json_t *figures = groups ? hx_figures(groups) : NULL;
    const int lost = !figures || hx_json_lost();
    int rc = lost ? hx_cmd_fail(g->cmd, "out of memory") : 0;

    fflush(stdout); /* in front of what is said about it */
    if (!lost && g->budget)
        rc = check_budget(g, figures, groups);
    if (!lost && g->baseline)
        rc = worse(rc, check_baseline(g, figures));
    if (!lost && g->save)
        rc = worse(rc, save(g, figures));
    json_decref(figures);
    json_decref(groups);
    return rc;
}

void hx_gate_free(struct hx_gate *g)
{
    for (size_t i = 0; i < g->n_tolerances; i++)
        free(g->tolerance[i].figure);
    hx_limits_free(&g->limits);
    hx_limits_free(&g->wanted);
}
