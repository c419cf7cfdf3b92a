/* The line of a terminal that says how far a sweep is, on stderr, and nothing where that is no terminal. */
#ifndef HX_DENSITY_BAR_H
#define HX_DENSITY_BAR_H

#include <stddef.h>

struct hx_bar {
    int on;
    double start;       /* hx_report_clock() */
    double done, all;   /* work in any unit; what was known before the start is in neither */
};

void hx_bar_begin(struct hx_bar *b, double all);

/* Draws it anew, after so much more work; i of n rows are there. */
void hx_bar_step(struct hx_bar *b, double work, size_t i, size_t n);

/* Takes the line away, before anything else is printed. */
void hx_bar_clear(const struct hx_bar *b);

#endif
