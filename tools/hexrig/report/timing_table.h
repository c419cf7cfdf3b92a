/* The table of `hexrig report timing`: rows, and groups of rows beside their bars. */
#ifndef HX_TIMING_TABLE_H
#define HX_TIMING_TABLE_H

#include <jansson.h>

#include "timing.h"
#include "timing_params.h"

/* One number per published row each; all but `predicted` may be NULL. */
struct hx_timing_columns {
    const double *predicted;
    const double *without;    /* error of the row if its question had not been fitted to */
    const double *low, *high; /* interval of what the model predicts */
};

/* Errors of a group's rows, |predicted / measured - 1|.  ok: within the group's bars, also when it has no rows. */
struct hx_timing_spread {
    size_t n;
    double median, worst;
    int ok;
};

/* group: HX_TIMING_ALL takes all rows. */
struct hx_timing_spread hx_timing_spread(const double *predicted, enum hx_timing_group_index group);

/* Of n numbers, which it sorts; n > 0. */
double hx_timing_median(double *of, size_t n);

void hx_timing_print_rows(const struct hx_timing_columns *columns);
void hx_timing_print_groups(const double *predicted);

/* median_error, worst_error, free_parameters, n_rows and ok; with `rows` and `groups` for `json`. */
json_t *hx_timing_table_json(const struct hx_timing_columns *columns, const struct hx_timing_params *params, int json);

/* HX_EXIT_FAILED, after a line for each, when groups miss their bars. */
int hx_timing_check(const char *cmd, const double *predicted);

/* Asks this process's rig, which has that profile, for every row and prints all of that.  Returns an enum hx_exit; messages in
 * the name of `cmd`.  check: a missed bar is a failure. */
int hx_timing_table(const char *cmd, const char *profile, int json, int check);

#endif
