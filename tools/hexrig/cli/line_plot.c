/* Lines as gnuplot's script. */
#include "line_plot.h"

#include "gnuplot.h"

static void put_label(const struct hx_gnuplot *g, const char *axis, const char *text)
{
    fprintf(g->script, "set %slabel ", axis);
    hx_gnuplot_text(g, text);
    fputc('\n', g->script);
}

static void put_lines(const struct hx_gnuplot *g, const struct hx_plot *p)
{
    for (size_t i = 0; i < p->n; i++) {
        fprintf(g->script, "%s'-' using 1:2 with linespoints linewidth 2 title ", i ? ", " : "plot ");
        hx_gnuplot_text(g, p->line[i].name);
    }
    fputc('\n', g->script);
    for (size_t i = 0; i < p->n; i++) {
        for (size_t k = 0; k < p->line[i].n; k++)
            fprintf(g->script, "%.12g %.12g\n", p->line[i].at[k][0], p->line[i].at[k][1]);
        fputs("e\n", g->script);
    }
}

int hx_plot_draw(const char *cmd, const char *path, const struct hx_plot *p)
{
    struct hx_gnuplot g = {cmd, path, NULL};
    int rc = hx_gnuplot_begin(&g, p->title);

    if (rc)
        return rc;
    put_label(&g, "x", p->x);
    put_label(&g, "y", p->y);
    fputs(p->log_x ? "set logscale x 2\n" : "", g.script);
    fputs(p->log_y ? "set logscale y\n" : "", g.script);
    put_lines(&g, p);
    return hx_gnuplot_draw(&g);
}
