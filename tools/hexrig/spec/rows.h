/* Rows of `hexrig spec`: a result beside that without a drafter, as an object, and as tables of columns.
 *
 * A row is
 *     {"draft", "guesses",
 *      "greedy": {"tokens_per_step", "accept", "law", "accept_rate", "steps", "emitted", "proposed", "accepted", "verified"},
 *      "along": likewise, along a text that is given,
 *      "calls_per_token", "packets_per_token", "bytes_copied_per_token", "bytes_shared_per_token", "model_us_per_token": {...},
 *      "model": {"t_d_us", "t_v1_us", "t_v_us", "gain", "law"}, "host": {"t_d_s", "t_v1_s", "t_v_s", "gain", "law"}}
 * accept: a of the law (hx_spec_share_right()), law: tokens per step by it.  Of greedy texts: what is per token, and the last two: seconds
 * of a guess, of a pass without guesses, of one with some; how many times as fast as without a drafter, and how many by the law. */
#ifndef HX_SPEC_ROWS_H
#define HX_SPEC_ROWS_H

#include <jansson.h>

#include "measure.h"

/* plain: the row without a drafter; NULL: this is it.  NULL: out of memory. */
json_t *hx_spec_row(const char *draft, size_t guesses, const struct hx_spec_result *r, const json_t *plain);

/* A column of numbers. */
struct hx_spec_column {
    const char *group, *head; /* above it: columns of a group follow each other */
    const char *path;         /* keys with dots between */
    double times;             /* unit of the table over that of the row; CSV has the row's */
    int width, digits;
};

/* What stands above the first row, and a row; csv 1: comma-separated, else columns.  columns end with a NULL head. */
void hx_spec_print_head(const struct hx_spec_column *columns, int csv);
void hx_spec_print_row(const struct hx_spec_column *columns, int csv, const json_t *row);

#endif
