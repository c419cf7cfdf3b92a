/* Every published row beside what the model says. */
#include "timing_table.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/report.h"
#include "timing.h"

struct errors {
    double *of;
    size_t n;
};

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(struct errors *e)
{
    qsort(e->of, e->n, sizeof(*e->of), by_size);
    return e->n % 2 ? e->of[e->n / 2] : (e->of[e->n / 2 - 1] + e->of[e->n / 2]) / 2;
}

static json_t *row_json(const struct hx_timing_row *row, double predicted)
{
    char ask[256];

    hx_timing_print_ask(&row->ask, ask, sizeof(ask));
    return json_pack("{s:s, s:s, s:s, s:b, s:f, s:f, s:s, s:f}", "id", row->id, "what", row->what, "ask", ask,
                     "first_call", row->ask.first, "predicted", predicted, "measured", row->measured, "unit",
                     row->figure == HX_TIMING_WALL ? "us" : "pcycles", "ratio", predicted / row->measured);
}

static void print_row(const struct hx_timing_row *row, double predicted)
{
    printf("%-4s %-46s %14.1f %14.1f %-8s %6.3f%s\n", row->id, row->what, predicted, row->measured,
           row->figure == HX_TIMING_WALL ? "us" : "pcycles", predicted / row->measured,
           row->ask.first ? "  first call" : "");
}

int hx_timing_table(const char *cmd, int json)
{
    struct errors e = {calloc(hx_timing_n_rows, sizeof(double)), 0};
    json_t *rows = json_array();
    int rc = e.of ? 0 : HX_EXIT_FAILED;

    if (!json)
        printf("%-4s %-46s %14s %14s %-8s %6s\n", "id", "what", "predicted", "measured", "unit", "ratio");
    for (size_t i = 0; !rc && i < hx_timing_n_rows; i++) {
        const struct hx_timing_row *row = &hx_timing_rows[i];
        struct hx_timing t;
        int err = hx_timing_ask(&row->ask, &t);

        if (err) {
            rc = hx_cmd_fail(cmd, "%s: error 0x%x; the DSP's log says why", row->id, (unsigned)err);
            break;
        }
        const double predicted = hx_timing_figure(row, &t);
        e.of[e.n++] = fabs(predicted / row->measured - 1);
        json_array_append_new(rows, row_json(row, predicted));
        if (!json)
            print_row(row, predicted);
    }
    if (!rc) {
        const double middle = median(&e), worst = e.of[e.n - 1];
        json_t *sum = json_pack("{s:f, s:f, s:I, s:I}", "median_error", middle, "worst_error", worst,
                                "free_parameters", (json_int_t)hx_timing_n_fitted, "n_rows",
                                (json_int_t)hx_timing_n_rows);
        if (sum && json)
            json_object_set(sum, "rows", rows);
        rc = hx_report_print(cmd, sum, json);
    }
    json_decref(rows);
    free(e.of);
    return rc;
}
