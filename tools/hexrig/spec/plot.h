/* The picture of `hexrig spec sweep`. */
#ifndef HX_SPEC_PLOT_H
#define HX_SPEC_PLOT_H

#include <jansson.h>

/* Tokens per step over guesses per step, for each drafter a line of greedy texts and one along a given text.  rows: an array (rows.h),
 * those of a drafter one behind the other.  Returns an enum hx_exit after a message. */
int hx_spec_plot(const char *cmd, const char *path, const json_t *rows);

#endif
