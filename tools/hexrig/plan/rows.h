/* What a plan has found, as text and as JSON. */
#ifndef HX_PLAN_ROWS_H
#define HX_PLAN_ROWS_H

#include <jansson.h>

#include "choice.h"
#include "verdict.h"

enum { HX_PLAN_JSON_VERSION = 1 };

/* A choice that was looked at. */
struct hx_planned {
    const struct hx_choice *choice;
    int counted;                     /* 0: least_us alone says that it is too slow, with every placement */
    double least_us;                 /* what its calls, its matrices, or what it executes, take at least */
    enum hx_bound least;             /* which of them */
    int near;                        /* 1: that is what it executes, by two near tokens */
    struct hx_calls formula;
    struct hx_density_answer answer; /* of one that is counted */
    struct hx_verdict verdict;
};

/* All of it. */
struct hx_plan_found {
    const struct hx_sweep *s;
    const char *profile, *front_end;
    struct hx_ceilings c;
    double target, budget_us;        /* tokens/s, and what that leaves for one */
    double matrix_bytes, kept_bytes; /* of a token's matrices on the DSP, by the first choice; and what VTCM and L2 hold */
    size_t n_choices;
    struct hx_planned *rows;         /* [n_rows] */
    size_t n_rows;
    const struct hx_planned *cheapest, *nearest; /* the first one that reaches the target, NULL: none does; the fastest one, if none does */
};

void hx_plan_print_head(const struct hx_plan_found *f);
void hx_plan_print_row(const struct hx_plan_found *f, const struct hx_planned *row);
void hx_plan_print_end(const struct hx_plan_found *f);

/* NULL: out of memory. */
json_t *hx_plan_json(const struct hx_plan_found *f);

#endif
