/* The cost model beside what was measured on a phone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "page.h"
#include "sections.h"

static void put_groups(FILE *f, const json_t *groups)
{
    static const char *const heads[] = {"<group", "rows", "median error %", "bar", "worst error %", "bar", "<result"};
    json_t *g;
    size_t i;

    hx_page_table_begin(f, "Errors of groups of rows, and the bars that they have to clear", heads, sizeof(heads) / sizeof(heads[0]));
    json_array_foreach(groups, i, g) {
        hx_page_row_begin(f);
        hx_page_cell_text(f, hx_page_text(g, "name"));
        hx_page_cell(f, "%.0f", hx_page_number(g, "n_rows"));
        hx_page_cell(f, "%.1f", 100 * hx_page_number(g, "median_error"));
        hx_page_cell(f, "%.0f", 100 * hx_page_number(g, "median_bar"));
        hx_page_cell(f, "%.1f", 100 * hx_page_number(g, "worst_error"));
        hx_page_cell(f, "%.0f", 100 * hx_page_number(g, "worst_bar"));
        hx_page_cell_text(f, json_is_true(json_object_get(g, "ok")) ? "ok" : "FAIL");
        hx_page_row_end(f);
    }
    hx_page_table_end(f);
}

static void put_rows(FILE *f, const json_t *rows)
{
    static const char *const heads[] = {"<id", "<group", "<what", "predicted", "measured", "<unit", "ratio", "<call",
                                        "<hexrig report timing"};
    json_t *r;
    size_t i;

    hx_page_table_begin(f, "Published rows of a Galaxy S22 Ultra", heads, sizeof(heads) / sizeof(heads[0]));
    json_array_foreach(rows, i, r) {
        hx_page_row_begin(f);
        hx_page_cell_text(f, hx_page_text(r, "id"));
        hx_page_cell_text(f, hx_page_text(r, "group"));
        hx_page_cell_text(f, hx_page_text(r, "what"));
        hx_page_cell(f, "%.1f", hx_page_number(r, "predicted"));
        hx_page_cell(f, "%.0f", hx_page_number(r, "measured"));
        hx_page_cell_text(f, hx_page_text(r, "unit"));
        hx_page_cell(f, "%.3f", hx_page_number(r, "ratio"));
        hx_page_cell_text(f, json_is_true(json_object_get(r, "first_call")) ? "first call" : "");
        hx_page_cell_text(f, hx_page_text(r, "ask"));
        hx_page_row_end(f);
    }
    hx_page_table_end(f);
}

/* --- the picture */

enum { US, PCYCLES, EQUAL, LINES };

/* Both ends of where they would lie if all predictions were right. */
static void widen(struct hx_chart_line *equal, double v)
{
    const double low = equal->n ? equal->at[0][0] : v, high = equal->n ? equal->at[1][0] : v;

    equal->at[0][0] = equal->at[0][1] = v < low ? v : low;
    equal->at[1][0] = equal->at[1][1] = v > high ? v : high;
    equal->n = 2;
}

static int draw(FILE *f, const json_t *rows)
{
    const size_t n = json_array_size(rows);
    double (*at)[2] = calloc(2 * n + 2, sizeof(*at));
    struct hx_chart_line line[LINES] = {{"microseconds", 1, at, 0}, {"pcycles", 1, at + n, 0}, {"equal", 0, at + 2 * n, 0}};
    json_t *r;
    size_t i;

    if (!at)
        return -ENOMEM;
    json_array_foreach(rows, i, r) {
        struct hx_chart_line *l = &line[strcmp(hx_page_text(r, "unit"), "us") == 0 ? US : PCYCLES];
        const double measured = hx_page_number(r, "measured"), predicted = hx_page_number(r, "predicted");

        l->at[l->n][0] = measured;
        l->at[l->n++][1] = predicted;
        widen(&line[EQUAL], measured);
    }
    hx_chart(f, &(struct hx_chart){"What the model predicts over what was measured", "measured", "predicted", line, LINES});
    free(at);
    return 0;
}

int hx_section_timing(FILE *f, const json_t *answer)
{
    const json_t *rows = json_object_get(answer, "rows");

    hx_page_says(f, "%.0f rows, %.0f parameters fitted to some of them: the median error is %.1f %%, the worst %.1f %%; %s",
                 hx_page_number(answer, "n_rows"), hx_page_number(answer, "free_parameters"), 100 * hx_page_number(answer, "median_error"),
                 100 * hx_page_number(answer, "worst_error"),
                 json_is_true(json_object_get(answer, "ok")) ? "all groups clear their bars." : "a group misses its bar.");
    put_groups(f, json_object_get(answer, "groups"));
    if (draw(f, rows))
        return -ENOMEM;
    put_rows(f, rows);
    return 0;
}
