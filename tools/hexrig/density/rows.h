/* What a sweep prints: a table or CSV, row by row as they are done, or one object at the end. */
#ifndef HX_DENSITY_ROWS_H
#define HX_DENSITY_ROWS_H

#include <stdio.h>

#include "sweep.h"

enum { HX_DENSITY_JSON_VERSION = 1 };

enum hx_rows_form { HX_ROWS_TABLE, HX_ROWS_CSV, HX_ROWS_JSON };

/* The line of a row (work.h) with the values of what is swept: {"profile": ..., "density": ...} in front of the others.  NULL: out of
 * memory, or the line has no row. */
json_t *hx_rows_of_line(const struct hx_sweep *s, const struct hx_sweep_point *p, const json_t *line);

/* What stands above the first row, whose line this is. */
void hx_rows_head(const struct hx_sweep *s, enum hx_rows_form form, const json_t *line);
void hx_rows_print(const struct hx_sweep *s, enum hx_rows_form form, const json_t *row);

/* What is swept, density and position, as in "s22u-sync/queue@16".  The caller frees; NULL: out of memory. */
char *hx_rows_name(const struct hx_sweep *s, const struct hx_sweep_point *p);

/* Adds a line's "uncosted" (NULL: there is none) to an array of such: figures of the same name and reason are added up.  0 or -1. */
int hx_rows_add_uncosted(json_t *to, const json_t *more);

/* For budgets: what was counted and modelled, by row: {"batched@16": {...}, "s22u-sync/queue@16": {...}}, what is swept in front.  rows: an
 * array.  NULL: out of memory. */
json_t *hx_rows_figures(const struct hx_sweep *s, const json_t *rows);

/* rows: an array, borrowed; line: of the first row, NULL: there is none; uncosted: an array, or NULL.  NULL: out of memory. */
json_t *hx_rows_report(const struct hx_sweep *s, json_t *rows, const json_t *line, json_t *uncosted);

#endif
