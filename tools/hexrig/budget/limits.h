/* Limits of figures, as a budget or a baseline has them in a file.
 *
 * Lines, where `#` begins a comment:
 *     version = 1
 *     command = density                  whose figures these are; may be left out of a budget
 *     FIGURE COMPARISON LIMIT            comparison: <= < >= > =
 *     FIGURE = LIMIT +- PERCENT%
 * FIGURE is a figure's name, or in a budget a pattern as of file names (* ? [...]).  A baseline has figures and = alone. */
#ifndef HX_LIMITS_H
#define HX_LIMITS_H

#include <stddef.h>

#include "base/error.h"

enum { HX_LIMITS_VERSION = 1, HX_LIMIT_PERCENT_MOST = 1000 };

enum hx_limit_how { HX_LIMIT_AT_MOST, HX_LIMIT_BELOW, HX_LIMIT_AT_LEAST, HX_LIMIT_ABOVE, HX_LIMIT_EQUAL };

struct hx_limit {
    const char *figure;
    enum hx_limit_how how;
    double value, percent; /* percent: of the value, by which an equal figure may differ */
    size_t line;
};

struct hx_limits { /* zeroed = none */
    const char *path;    /* borrowed */
    const char *command; /* NULL: not said */
    size_t command_line;
    struct hx_limit *at; /* [n], owned, in the order of the file */
    size_t n;
    char *text;          /* what the strings point into, owned */
};

/* baseline 1: refuses what a baseline has not.  0; what reading the file says; -EINVAL with file, line, and what is legal; -ENOMEM.
 * hx_limits_free() in any case. */
int hx_limits_read(struct hx_limits *l, const char *path, int baseline, struct hx_error *err);
void hx_limits_free(struct hx_limits *l);

/* 1: the figure keeps the limit.  Both are printed with twelve digits, so that what looks the same is the same. */
int hx_limit_holds(const struct hx_limit *l, double figure);

/* "<=" */
const char *hx_limit_sign(enum hx_limit_how how);

/* A number from 0 to `most` and nothing behind it.  -1: it is none. */
int hx_limit_number(const char *text, double most, double *out);

#endif
