/* States that are asked of a library, and what its answers are worth. */
#ifndef HX_GEOMETRY_QUESTIONS_H
#define HX_GEOMETRY_QUESTIONS_H

#include "methods/geometry/library.h"
#include "trajectories.h"

/* How near is near: within eps in whitened coordinates, or by the record's metric; within rho, in whitened coordinates, near enough to be
 * corrected. */
struct hx_near {
    double eps, rho;
    int by_metric; /* 1: eps is by the record's metric */
};

extern const char *const hx_near_by[]; /* "whitened", "metric"; NULL-terminated */

/* A library whose records are the points of a cloud with their own metrics: enough to be found, not to be corrected by.
 * 0, -ENOMEM, -ELIBACC, -EDOM. */
int hx_questions_library(struct hx_library **out, const struct hx_cloud *c, const struct hx_near *near, struct hx_error *err);

/* What became of the questions. */
struct hx_substituted {
    size_t asked, misses, hits, corrects; /* hits: within eps, not within rho */
    /* of those that are no miss: */
    double error[2], error_median[2]; /* |corrected - true end| over the way from start to true end; [0] of corrects, [1] of hits */
    double blend_median;        /* the same of a blend of the ends of the 4 nearest points' trajectories, by exp(-distance^2 / 2) */
    double anchor_median;       /* and of the corrections, beside it: of all that are no miss */
    double good;                /* share whose error is at most 5 % */
    double top1_corrected, top1_nearest; /* share where the model says of the state that was made what it says of the true next one */
    double full_us, correct_us; /* measured: a geodesic of one's own, a correction */
};

/* Asks `most` states at most of the text that is scored.  The cloud's metric is there.  0 or negative errno. */
int hx_substitute(struct hx_space *p, const struct hx_made *how, const struct hx_near *near, size_t most, struct hx_substituted *out,
                  struct hx_error *err);

/* The shares alone, of any cloud. */
int hx_substitute_shares(const struct hx_cloud *c, const struct hx_near *near, size_t most, struct hx_substituted *out,
                         struct hx_error *err);

#endif
