/* The picture of a sweep. */
#include "plot.h"

#include <stdlib.h>
#include <string.h>

#include "cli/gnuplot.h"

/* What rows of one line have in common: all that is swept, and the density.  The caller frees. */
static char *label(const struct hx_sweep *s, const json_t *row)
{
    char *text = strdup(json_string_value(json_object_get(row, "density"))), *longer;

    for (size_t i = 0; text && i < s->n_swept; i++) {
        const char *value = json_string_value(json_object_get(row, s->swept[i].name));
        int rc = asprintf(&longer, "%s, %s", text, value ? value : "none");

        free(text);
        text = rc < 0 ? NULL : longer;
    }
    return text;
}

/* Rows of a line follow each other. */
static void put_lines(const struct hx_gnuplot *g, const struct hx_sweep *s, const json_t *rows)
{
    const size_t n = json_array_size(rows);
    const char *separator = "plot ";

    for (size_t i = 0, next; i < n; i = next) {
        char *name = label(s, json_array_get(rows, i));

        fprintf(g->script, "%s'-' using 1:2 with linespoints linewidth 2 title ", separator);
        hx_gnuplot_text(g, name ? name : "");
        separator = ", ";
        for (next = i + 1; next < n; next++) {
            char *other = label(s, json_array_get(rows, next));
            const int same = name && other && strcmp(name, other) == 0;

            free(other);
            if (!same)
                break;
        }
        free(name);
    }
    fputc('\n', g->script);
}

static void put_data(FILE *f, const struct hx_sweep *s, const json_t *rows)
{
    char *last = NULL;
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) {
        char *name = label(s, row);

        if (last && name && strcmp(last, name) != 0)
            fputs("e\n", f);
        fprintf(f, "%lld %.12g\n", (long long)json_integer_value(json_object_get(row, "pos")),
                json_number_value(json_object_get(json_object_get(row, "model_us_per_token"), "total")) / 1000);
        free(last);
        last = name;
    }
    free(last);
    fputs("e\n", f);
}

static int put_script(struct hx_gnuplot *g, const struct hx_sweep *s, const json_t *rows)
{
    const struct hx_sweep_case *c = &s->cases[0];
    char title[256];
    int rc;

    snprintf(title, sizeof(title), "What a token costs by dispatch density: %s", c->shape.name ? c->shape.name : s->o.model);
    rc = hx_gnuplot_begin(g, title);
    if (rc)
        return rc;
    fputs("set logscale y\nset xlabel 'position'\nset ylabel 'ms per token, modelled'\n", g->script);
    if (s->pos[0] > 0)
        fputs("set logscale x 2\n", g->script);
    put_lines(g, s, rows);
    put_data(g->script, s, rows);
    return 0;
}

int hx_plot_rows(const struct hx_sweep *s, const char *path, const json_t *rows)
{
    struct hx_gnuplot g = {s->o.cmd, path, NULL};
    int rc;

    if (!json_array_size(rows))
        return hx_cmd_fail(s->o.cmd, "--plot: there is no row to draw");
    rc = put_script(&g, s, rows);
    return rc ? rc : hx_gnuplot_draw(&g);
}
