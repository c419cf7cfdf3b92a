/* Pictures of lines over one axis, by gnuplot. */
#ifndef HX_LINE_PLOT_H
#define HX_LINE_PLOT_H

#include <stddef.h>

struct hx_plot_line {
    const char *name;
    double (*at)[2]; /* [n] x and y */
    size_t n;
};

struct hx_plot {
    const char *title, *x, *y;
    int log_x, log_y;                /* 1: base 2, base 10 */
    const struct hx_plot_line *line; /* [n] */
    size_t n;
};

/* path: one that hx_gnuplot_check() has let pass.  Returns an enum hx_exit after a message. */
int hx_plot_draw(const char *cmd, const char *path, const struct hx_plot *p);

#endif
