/* Lines of drafters, by gnuplot. */
#include "plot.h"

#include <stdio.h>
#include <string.h>

#include "cli/gnuplot.h"
#include "html/page.h"

/* Both columns of a drafter. */
static const struct kind {
    const char *path, *what, *style;
} kinds[] = {
    {"greedy.tokens_per_step", "greedy texts", "dashtype 1"},
    {"along.tokens_per_step", "along a text", "dashtype 2"},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const char *drafter(const json_t *rows, size_t i)
{
    return hx_page_text(json_array_get(rows, i), "draft");
}

/* The first row behind those of the drafter whose first one is `from`. */
static size_t end_of(const json_t *rows, size_t from)
{
    size_t i = from;

    while (i < json_array_size(rows) && strcmp(drafter(rows, i), drafter(rows, from)) == 0)
        i++;
    return i;
}

static void put_titles(const struct hx_gnuplot *g, const json_t *rows)
{
    const char *separator = "plot ";
    char title[128];
    int color = 0;

    for (size_t i = 0; i < json_array_size(rows); i = end_of(rows, i), color++)
        for (size_t k = 0; k < KINDS; k++) {
            fprintf(g->script, "%s'-' using 1:2 with linespoints linewidth 2 linecolor %d %s title ", separator, color + 1, kinds[k].style);
            snprintf(title, sizeof(title), "%s, %s", drafter(rows, i), kinds[k].what);
            hx_gnuplot_text(g, title);
            separator = ", ";
        }
    fputc('\n', g->script);
}

static void put_data(FILE *f, const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i = end_of(rows, i))
        for (size_t k = 0; k < KINDS; k++) {
            for (size_t row = i; row < end_of(rows, i); row++)
                fprintf(f, "%.0f %.12g\n", hx_page_number(json_array_get(rows, row), "guesses"),
                        hx_page_number(json_array_get(rows, row), kinds[k].path));
            fputs("e\n", f);
        }
}

int hx_spec_plot(const char *cmd, const char *path, const json_t *rows)
{
    struct hx_gnuplot g = {cmd, path, NULL};
    int rc = hx_gnuplot_begin(&g, "What drafters are worth");

    if (rc)
        return rc;
    fputs("set logscale x 2\nset yrange [1:]\nset xlabel 'guesses per step'\nset ylabel 'tokens per step'\n", g.script);
    put_titles(&g, rows);
    put_data(g.script, rows);
    return hx_gnuplot_draw(&g);
}
