/* Every published row beside what the model says, and whether that is near enough. */
#include "timing_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/report.h"

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

double hx_timing_median(double *of, size_t n)
{
    qsort(of, n, sizeof(*of), by_size);
    return n % 2 ? of[n / 2] : (of[n / 2 - 1] + of[n / 2]) / 2;
}

struct hx_timing_spread hx_timing_spread(const double *predicted, enum hx_timing_group_index group)
{
    const struct hx_timing_group *bar = &hx_timing_groups[group];
    struct hx_timing_spread s = {.ok = 1};
    double errors[hx_timing_n_rows];

    for (size_t i = 0; i < hx_timing_n_rows; i++) {
        const struct hx_timing_row *row = &hx_timing_rows[i];

        if (group == HX_TIMING_ALL || row->group == group)
            errors[s.n++] = fabs(predicted[i] / row->measured - 1);
    }
    if (s.n) {
        s.median = hx_timing_median(errors, s.n);
        s.worst = errors[s.n - 1];
        s.ok = s.median <= bar->median && s.worst <= bar->worst;
    }
    return s;
}

/* --- text */

static const char *group_name(const struct hx_timing_row *row)
{
    return hx_timing_groups[row->group].name;
}

void hx_timing_print_rows(const struct hx_timing_columns *c)
{
    printf("%-4s %-7s %-46s %13s %11s %-7s %6s%s%s\n", "id", "group", "what", "predicted", "measured", "unit", "ratio",
           c->without ? " without" : "", c->low ? "  about 9 in 10 measured lie in" : "");
    for (size_t i = 0; i < hx_timing_n_rows; i++) {
        const struct hx_timing_row *row = &hx_timing_rows[i];

        printf("%-4s %-7s %-46s %13.1f %11.0f %-7s %6.3f", row->id, group_name(row), row->what, c->predicted[i],
               row->measured, hx_timing_unit(row), c->predicted[i] / row->measured);
        if (c->without)
            printf(" %6.1f%%", 100 * c->without[i]);
        if (c->low)
            printf("  [%.1f .. %.1f]", c->low[i], c->high[i]);
        puts(row->ask.first ? "  first call" : "");
    }
}

void hx_timing_print_groups(const double *predicted)
{
    printf("\n%-8s %5s %8s %8s   %s\n", "group", "rows", "median", "worst", "bars");
    for (int g = 0; g < HX_TIMING_N_GROUPS; g++) {
        const struct hx_timing_group *group = &hx_timing_groups[g];
        const struct hx_timing_spread s = hx_timing_spread(predicted, (enum hx_timing_group_index)g);

        if (s.n)
            printf("%-8s %5zu %7.1f%% %7.1f%%   %.0f%% %.0f%%  %s\n", group->name, s.n, 100 * s.median, 100 * s.worst,
                   100 * group->median, 100 * group->worst, s.ok ? "ok" : "FAIL");
        else
            printf("%-8s %5zu\n", group->name, s.n);
    }
    puts("");
}

int hx_timing_check(const char *cmd, const double *predicted)
{
    int rc = HX_EXIT_OK;

    for (int g = 0; g < HX_TIMING_N_GROUPS; g++) {
        const struct hx_timing_group *group = &hx_timing_groups[g];
        const struct hx_timing_spread s = hx_timing_spread(predicted, (enum hx_timing_group_index)g);

        if (!s.ok)
            rc = hx_cmd_fail(cmd, "rows of group %s: median error %.1f%%, worst %.1f%%; the bars are %.0f%% and %.0f%%",
                             group->name, 100 * s.median, 100 * s.worst, 100 * group->median, 100 * group->worst);
    }
    return rc;
}

/* --- JSON */

static json_t *row_json(const struct hx_timing_columns *c, size_t i)
{
    const struct hx_timing_row *row = &hx_timing_rows[i];
    char ask[256];
    json_t *j;

    hx_timing_print_ask(&row->ask, ask, sizeof(ask));
    j = json_pack("{s:s, s:s, s:s, s:s, s:b, s:f, s:f, s:s, s:f}", "id", row->id, "group", group_name(row), "what",
                  row->what, "ask", ask, "first_call", row->ask.first, "predicted", c->predicted[i], "measured",
                  row->measured, "unit", hx_timing_unit(row), "ratio", c->predicted[i] / row->measured);
    if (j && c->without)
        json_object_set_new(j, "without", json_real(c->without[i]));
    if (j && c->low)
        json_object_set_new(j, "interval", json_pack("[f, f]", c->low[i], c->high[i]));
    return j;
}

static json_t *group_json(const double *predicted, enum hx_timing_group_index g)
{
    const struct hx_timing_group *group = &hx_timing_groups[g];
    const struct hx_timing_spread s = hx_timing_spread(predicted, g);

    return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:b}", "name", group->name, "n_rows", (json_int_t)s.n,
                     "median_error", s.median, "worst_error", s.worst, "median_bar", group->median, "worst_bar",
                     group->worst, "ok", s.ok);
}

json_t *hx_timing_table_json(const struct hx_timing_columns *c, const struct hx_timing_params *params, int json)
{
    const struct hx_timing_spread all = hx_timing_spread(c->predicted, HX_TIMING_ALL);
    json_t *rows = json_array(), *groups = json_array(), *j;
    int ok = 1;

    for (int g = 0; g < HX_TIMING_N_GROUPS; g++) {
        ok = ok && hx_timing_spread(c->predicted, (enum hx_timing_group_index)g).ok;
        json_array_append_new(groups, group_json(c->predicted, (enum hx_timing_group_index)g));
    }
    for (size_t i = 0; i < hx_timing_n_rows; i++)
        json_array_append_new(rows, row_json(c, i));
    j = json_pack("{s:f, s:f, s:I, s:I, s:b}", "median_error", all.median, "worst_error", all.worst,
                  "free_parameters", (json_int_t)hx_timing_n_fitted(params), "n_rows", (json_int_t)hx_timing_n_rows, "ok", ok);
    if (j && json) {
        json_object_set(j, "groups", groups);
        json_object_set(j, "rows", rows);
    }
    json_decref(groups);
    json_decref(rows);
    return j;
}

static int print_table(const char *cmd, const struct hx_timing_params *params, int json, int check)
{
    double predicted[hx_timing_n_rows];
    const struct hx_timing_columns columns = {.predicted = predicted};
    const struct hx_timing_row *failed;
    int rc = hx_timing_predict(predicted, NULL, NULL, 0, &failed);

    if (rc)
        return hx_cmd_fail(cmd, "%s: error 0x%x; the DSP's log says why", failed->id, (unsigned)rc);
    if (!json) {
        hx_timing_print_rows(&columns);
        hx_timing_print_groups(predicted);
    }
    rc = hx_report_print(cmd, hx_timing_table_json(&columns, params, json), json);
    return rc || !check ? rc : hx_timing_check(cmd, predicted);
}

int hx_timing_table(const char *cmd, const char *profile, int json, int check)
{
    struct hx_timing_params params;
    char why[600];
    int rc = hx_timing_params_read(&params, profile, why, sizeof(why));

    rc = rc ? hx_cmd_fail(cmd, "%s", why) : print_table(cmd, &params, json, check);
    hx_timing_params_free(&params);
    return rc;
}
