/* Figures of a far position from two near ones.
 *
 * Each position of the past costs a token the same: so many calls, or so many vectors in calls that are made anyway.  So figures are
 * straight lines over positions, once the tables of all layers have been met; two tokens that are counted give them.  What is not
 * straight is a call's overhead where it depends on how long the call executes (hx_overhead.h): that follows from the profile.
 * tests/tools/test_density_analytic.c holds both ways against each other. */
#ifndef HX_DENSITY_ANALYTIC_H
#define HX_DENSITY_ANALYTIC_H

#include "answer.h"

/* The positions that are counted, ascending: as far out as takes about a second. */
struct hx_density_near {
    size_t pos[2];
};

/* shape: of q's geometry. */
struct hx_density_near hx_density_near(const struct hx_density_question *q, const struct hx_shape *shape);

/* 1: counting it takes much longer than an analytic answer. */
int hx_density_is_far(const struct hx_density_question *q, const struct hx_shape *shape, const struct hx_density_near *near);

/* q->pos is behind both.  0 or negative errno with a reason. */
int hx_density_analytic(const struct hx_density_question *q, const struct hx_shape *shape, const struct hx_density_near *near,
                        struct hx_density_answer *a, struct hx_error *err);

#endif
