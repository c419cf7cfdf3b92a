/* Lines and points on two axes, as SVG within a page. */
#ifndef HX_CHART_H
#define HX_CHART_H

#include <stddef.h>
#include <stdio.h>

struct hx_chart_line {
    const char *name;
    int is_dots;          /* 1: points without a line through them */
    double (*at)[2];      /* [n], x and y */
    size_t n;
};

struct hx_chart {
    const char *caption, *x, *y; /* what is shown, and what the axes are, with units */
    const struct hx_chart_line *line;
    size_t n;
};

/* An axis is logarithmic where all values are positive and the largest is eight times the smallest or more.  Writes nothing when there is
 * no point. */
void hx_chart(FILE *f, const struct hx_chart *c);

#endif
