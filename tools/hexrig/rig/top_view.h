/* One frame of `hexrig top`: what the nodes of a rig say, as lines of plain ASCII for a terminal of any size. */
#ifndef HX_TOP_VIEW_H
#define HX_TOP_VIEW_H

#include <stddef.h>
#include <stdio.h>

#include "method_stats.h"

enum { HX_TOP_ROWS = 24, HX_TOP_COLUMNS = 80 };

struct hx_top_nodes { /* texts of the nodes of these names, borrowed; thermal may be NULL: the temperature is not known */
    const char *status, *stats, *sessions, *clock, *thermal, *vtcm;
};

struct hx_top_frame {
    struct hx_top_nodes nodes;
    const struct hx_method_stats *methods;    /* added up (hx_method_stats_merge()) */
    const struct hx_method_stats *before;     /* likewise, of the frame before; NULL: this is the first one */
    size_t rows, columns;
};

/* At most `rows` lines of at most `columns` characters.  What comes from skels and has no place in a line of text is a `?`. */
void hx_top_print(const struct hx_top_frame *t, FILE *f);

#endif
