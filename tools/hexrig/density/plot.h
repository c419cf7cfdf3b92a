/* The picture of a sweep, by gnuplot. */
#ifndef HX_DENSITY_PLOT_H
#define HX_DENSITY_PLOT_H

#include "sweep.h"

/* Modelled ms of a token over its position, a line for each density and what is swept.  rows: an array.  Returns an enum hx_exit after
 * a message. */
int hx_plot_rows(const struct hx_sweep *s, const char *path, const json_t *rows);

#endif
