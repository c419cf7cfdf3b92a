/* Commands that end with exit status 1 when their figures are not what a file says: --budget, --compare, --save-baseline, --tolerance
 * (docs/budgets.md).
 *
 * A command makes hx_gate_argp a child of its options, with a struct hx_gate as the child's input; calls hx_gate_begin() before
 * anything is measured, and hx_gate_end() with the figures, when its own output is out.  What is wrong with figures goes to stderr, in
 * the form of a diff. */
#ifndef HX_GATE_H
#define HX_GATE_H

#include <argp.h>
#include <jansson.h>
#include <stddef.h>

#include "limits.h"

enum { HX_GATE_TOLERANCES = 16 };

struct hx_tolerance {
    char *figure;   /* pattern, owned */
    double percent;
};

struct hx_gate {
    const char *cmd;                         /* for messages; set before parsing, the rest is zero */
    const char *budget, *baseline, *save;    /* paths; NULL: not asked for */
    struct hx_tolerance tolerance[HX_GATE_TOLERANCES];
    size_t n_tolerances;
    struct hx_limits limits, wanted;         /* of the budget, and of the baseline */
};

extern const struct argp hx_gate_argp;

/* 1: there is something to check or to save. */
int hx_gate_is_on(const struct hx_gate *g);

/* Reads the files.  Returns an enum hx_exit after a message: usage, when a file or what was asked for is wrong. */
int hx_gate_begin(struct hx_gate *g);

/* groups: of figures.h, released; NULL: out of memory.  HX_EXIT_OK; HX_EXIT_FAILED after a message, above all because figures are not
 * what they should be; HX_EXIT_USAGE: the budget names figures that there are none of. */
int hx_gate_end(struct hx_gate *g, json_t *groups);

/* Accepts what was never begun. */
void hx_gate_free(struct hx_gate *g);

#endif
