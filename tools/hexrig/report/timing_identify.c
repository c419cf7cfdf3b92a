/* What the published rows determine, in numbers: parameters with their errors, what cannot be told apart, and rows left
 * out of the fit. */
#include "timing_identify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/report.h"
#include "timing.h"
#include "timing_table.h"

enum { TOLD_BY = 3, CORRELATIONS = 8, COMPONENTS = 3, NAMED_MAX = 16 };

/* A slope below this is none: moving the parameter by its whole range would not show. */
#define SLOPE_MIN 0.02
#define KNOWN_WELL 0.1
/* Correlations below this are not worth a line. */
#define CORRELATION_MIN 0.7

struct pair {
    size_t a, b;
    double r;
};

static const struct hx_timing_param *param(const struct hx_timing_fit *f, size_t k)
{
    return &f->params.of[k];
}

static double covariance(const struct hx_timing_fit *f, size_t k, size_t l)
{
    return f->estimate.covariance[k * f->params.n_varying + l];
}

/* Relative standard error, after the rows. */
static double error_of(const struct hx_timing_fit *f, size_t k)
{
    return sqrt(covariance(f, k, k));
}

/* The rows that a parameter moves most, each id once; returns how many. */
static int told_by(const struct hx_timing_fit *f, size_t k, const char *ids[TOLD_BY])
{
    int n = 0;

    while (n < TOLD_BY) {
        double most = SLOPE_MIN;
        const char *id = NULL;

        for (size_t i = 0; i < hx_timing_n_rows; i++) {
            const double slope = fabs(f->slopes[i * f->params.n_varying + k]);
            int known = 0;

            for (int t = 0; t < n; t++)
                known = known || strcmp(ids[t], hx_timing_rows[i].id) == 0;
            if (!known && slope > most) {
                most = slope;
                id = hx_timing_rows[i].id;
            }
        }
        if (!id)
            break;
        ids[n++] = id;
    }
    return n;
}

/* The rows tell a parameter when they say at least as much of it as was known before, or when it is known well and a row
 * moves by it. */
static int determined(const struct hx_timing_fit *f, size_t k)
{
    const char *ids[TOLD_BY];

    return error_of(f, k) <= hx_estimate_sd_before(&f->param[k]) * M_SQRT1_2 ||
           (error_of(f, k) <= KNOWN_WELL && told_by(f, k, ids) > 0);
}

/* Where a value is from when the rows have been asked, too. */
static const char *standing(const struct hx_timing_fit *f, size_t k)
{
    const enum hx_timing_origin origin = param(f, k)->origin;

    return hx_timing_origin(origin == HX_TIMING_FITTED && !determined(f, k) ? HX_TIMING_ASSUMED : origin);
}

static int by_strength(const void *a, const void *b)
{
    const double x = fabs(((const struct pair *)a)->r), y = fabs(((const struct pair *)b)->r);

    return x > y ? -1 : x < y;
}

/* Pairs that the rows cannot tell apart well, the strongest first; returns how many. */
static size_t correlations(const struct hx_timing_fit *f, struct pair strongest[CORRELATIONS])
{
    const size_t n = f->params.n_varying;
    struct pair *all = malloc((n * n + 1) * sizeof(*all));
    size_t found = 0;

    for (size_t a = 0; all && a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            const struct pair p = {a, b, covariance(f, a, b) / error_of(f, a) / error_of(f, b)};

            if (fabs(p.r) >= CORRELATION_MIN)
                all[found++] = p;
        }
    if (found)
        qsort(all, found, sizeof(*all), by_strength);
    found = found < CORRELATIONS ? found : CORRELATIONS;
    for (size_t i = 0; i < found; i++)
        strongest[i] = all[i];
    free(all);
    return found;
}

/* The median of the rows' errors when they are left out. */
static double without_median(const struct hx_timing_fit *f)
{
    double errors[hx_timing_n_rows];

    memcpy(errors, f->estimate.without, sizeof(errors));
    return hx_timing_median(errors, hx_timing_n_rows);
}

/* --- text */

static void print_params(const struct hx_timing_fit *f)
{
    printf("\n%-22s %10s %16s  %-9s %7s %7s %10s  %s\n", "parameter", "value", "range", "is", "before", "after", "a step to",
           "told by");
    for (size_t k = 0; k < f->params.n_varying; k++) {
        const struct hx_timing_param *p = param(f, k);
        const char *ids[TOLD_BY];
        const int n = told_by(f, k, ids);
        char range[40], next[24] = "";

        if (f->param[k].fitted)
            snprintf(next, sizeof(next), "%.4g", f->estimate.next[k]);
        snprintf(range, sizeof(range), "%.4g..%.4g", p->low, p->high);
        printf("%-22s %10.6g %16s  %-9s %6.0f%% %6.0f%% %10s ", p->name, p->value, range, standing(f, k),
               100 * hx_estimate_sd_before(&f->param[k]), 100 * error_of(f, k), next);
        for (int i = 0; i < n; i++)
            printf(" %s", ids[i]);
        puts(n ? "" : " no row");
    }
    puts("");
    for (size_t k = f->params.n_varying; k < f->params.n; k++)
        printf("%s%s", k == f->params.n_varying ? "taken as they are: " : " ", param(f, k)->name);
    puts("");
}

/* The largest components of a direction. */
static void print_direction(const struct hx_timing_fit *f, const double *of)
{
    double last = INFINITY;

    for (int c = 0; c < COMPONENTS; c++) {
        size_t best = 0;
        double most = 0;

        for (size_t k = 0; k < f->params.n_varying; k++)
            if (fabs(of[k]) < last && fabs(of[k]) > most) {
                most = fabs(of[k]);
                best = k;
            }
        if (most < 0.2)
            break;
        printf("  %+.2f %s", of[best], param(f, best)->name);
        last = most;
    }
    puts("");
}

static void print_directions(const struct hx_timing_fit *f)
{
    const struct hx_estimate *e = &f->estimate;

    printf("\n%-10s %-12s %s\n", "singular", "known to", "combination of ln(fitted parameter)");
    for (size_t i = 0; i < e->n_fitted; i++) {
        const double error = e->scatter / e->singular[i];
        char known[24];

        snprintf(known, sizeof(known), error < 9.995 ? "+-%.0f%%" : "nothing", 100 * error);
        printf("%-10.4f %-12s", e->singular[i], known);
        print_direction(f, e->direction + i * f->params.n_varying);
    }
}

static void print_correlations(const struct hx_timing_fit *f)
{
    struct pair strongest[CORRELATIONS];
    const size_t n = correlations(f, strongest);

    puts("");
    for (size_t i = 0; i < n; i++)
        printf("correlation %+.2f  %s  %s\n", strongest[i].r, param(f, strongest[i].a)->name, param(f, strongest[i].b)->name);
}

/* --- JSON */

static json_t *slopes_json(const struct hx_timing_fit *f, size_t k)
{
    json_t *j = json_array();

    for (size_t i = 0; i < hx_timing_n_rows; i++)
        json_array_append_new(j, json_real(f->slopes[i * f->params.n_varying + k]));
    return j;
}

/* The rows that the profile names. */
static json_t *named_json(const struct hx_timing_param *p)
{
    char ids[NAMED_MAX][4];
    const size_t n = p->origin == HX_TIMING_FITTED ? hx_timing_note_rows(p->note, ids, NAMED_MAX) : 0;
    json_t *j = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(j, json_string(ids[i]));
    return j;
}

static json_t *told_json(const struct hx_timing_fit *f, size_t k)
{
    const char *ids[TOLD_BY];
    json_t *j = json_array();

    for (int i = 0, n = told_by(f, k, ids); i < n; i++)
        json_array_append_new(j, json_string(ids[i]));
    return j;
}

static json_t *param_json(const struct hx_timing_fit *f, size_t k)
{
    const struct hx_timing_param *p = param(f, k);
    json_t *j = json_pack("{s:s, s:f, s:b, s:s, s:s, s:o, s:b}", "name", p->name, "value", p->value, "whole",
                          hx_profile_is_count(p->key), "origin", hx_timing_origin(p->origin), "note", p->note, "rows",
                          named_json(p), "varies", p->varies);

    if (j && p->varies)
        json_object_update_new(j, json_pack("{s:f, s:f, s:s, s:f, s:f, s:f, s:o, s:o}", "low", p->low, "high", p->high, "is",
                                            standing(f, k), "error_before", hx_estimate_sd_before(&f->param[k]), "error",
                                            error_of(f, k), "next", f->estimate.next[k], "told_by", told_json(f, k),
                                            "slopes", slopes_json(f, k)));
    return j;
}

static json_t *direction_json(const struct hx_timing_fit *f, size_t i)
{
    const struct hx_estimate *e = &f->estimate;
    json_t *of = json_object();

    for (size_t k = 0; k < f->params.n_varying; k++)
        if (f->param[k].fitted)
            json_object_set_new(of, param(f, k)->name, json_real(e->direction[i * f->params.n_varying + k]));
    return json_pack("{s:f, s:f, s:o}", "singular", e->singular[i], "error", fmin(e->scatter / e->singular[i], 1e9), "of", of);
}

static void add_identify(json_t *to, const struct hx_timing_fit *f)
{
    json_t *params = json_array(), *directions = json_array(), *correlated = json_array();
    struct pair strongest[CORRELATIONS];
    const size_t n = correlations(f, strongest);

    for (size_t k = 0; k < f->params.n; k++)
        json_array_append_new(params, param_json(f, k));
    for (size_t i = 0; i < f->estimate.n_fitted; i++)
        json_array_append_new(directions, direction_json(f, i));
    for (size_t i = 0; i < n; i++)
        json_array_append_new(correlated, json_pack("{s:s, s:s, s:f}", "a", param(f, strongest[i].a)->name, "b",
                                                    param(f, strongest[i].b)->name, "correlation", strongest[i].r));
    json_object_set_new(to, "parameters", params);
    json_object_set_new(to, "directions", directions);
    json_object_set_new(to, "correlations", correlated);
}

/* --- both */

/* What of `low` and `high` rows' measured figures lie within. */
static int intervals(const struct hx_timing_fit *f, double *low, double *high)
{
    int inside = 0;

    for (size_t i = 0; i < hx_timing_n_rows; i++) {
        const double by = exp(HX_ESTIMATE_90 * hx_timing_sd(f, f->slopes + i * f->params.n_varying));

        low[i] = f->predicted[i] / by;
        high[i] = f->predicted[i] * by;
        inside += low[i] <= hx_timing_rows[i].measured && hx_timing_rows[i].measured <= high[i];
    }
    return inside;
}

static int check(const char *cmd, const struct hx_timing_fit *f, int identify)
{
    int rc = hx_timing_check(cmd, f->predicted);

    if (identify && without_median(f) > hx_timing_without_bar)
        rc = hx_cmd_fail(cmd, "rows that are left out: median error %.1f%%; the bar is %.0f%%", 100 * without_median(f),
                         100 * hx_timing_without_bar);
    for (size_t k = 0; identify && k < f->params.n_varying; k++)
        if (param(f, k)->origin == HX_TIMING_FITTED && !determined(f, k))
            rc = hx_cmd_fail(cmd, "%s: the profile says fitted, but no row tells it", param(f, k)->name);
    return rc;
}

int hx_timing_identify(const char *cmd, const struct hx_timing_fit *f, const struct hx_timing_views *v)
{
    double low[hx_timing_n_rows], high[hx_timing_n_rows];
    const int inside = intervals(f, low, high);
    const struct hx_timing_columns columns = {
        .predicted = f->predicted,
        .without = v->identify ? f->estimate.without : NULL,
        .low = v->interval ? low : NULL,
        .high = high,
    };
    json_t *j = hx_timing_table_json(&columns, &f->params, v->json);
    int rc;

    if (j && v->identify)
        json_object_update_new(j, json_pack("{s:f, s:f}", "without_median_error", without_median(f), "without_median_bar",
                                            hx_timing_without_bar));
    if (j)
        json_object_update_new(j, json_pack("{s:f, s:I}", "scatter", f->estimate.scatter, "rows_in_interval",
                                            (json_int_t)inside));
    if (v->json && v->identify && j) {
        add_identify(j, f);
    } else if (!v->json) {
        hx_timing_print_rows(&columns);
        hx_timing_print_groups(f->predicted);
    }
    if (!v->json && v->identify) {
        print_params(f);
        print_directions(f);
        print_correlations(f);
        puts("");
    }
    rc = hx_report_print(cmd, j, v->json);
    return rc || !v->check ? rc : check(cmd, f, v->identify);
}
