/* Probing: which coordinates tell one topic from the others, which of them can go, and from which share of a state on it is told.
 *
 * Of states in k coordinates z = B^T h:
 *     d_i = |E_topic[z_i] - E_rest[z_i]|      ROI_i = E_topic|z_i| / (E_rest|z_i| + eps)
 * Coordinates are tried by falling d_i ROI_i and kept as long as what they cost the others stays within a budget.
 * Source: published Snipe. */
#ifndef HX_GUARD_PROBE_H
#define HX_GUARD_PROBE_H

#include <stddef.h>

#include "base/error.h"

struct hx_probe_coordinate {
    size_t index;
    double d, roi;
};

/* z [n][k]; in_topic [n]: 1 or 0, both occur; out [k] by falling d * roi, equal ones by index.  0; -EINVAL: one side has no state. */
int hx_probe(const double *z, const unsigned char *in_topic, size_t n, size_t k, struct hx_probe_coordinate *out, struct hx_error *err);

struct hx_snipe_rule {
    double budget;  /* most that others may lose, relative */
    size_t most;    /* coordinates */
};

/* What the removal of these coordinates costs the rest (*loss) and does to the topic (*effect).  0 or negative errno. */
typedef int hx_snipe_fn(void *arg, const size_t *coordinates, size_t n, double *loss, double *effect, struct hx_error *err);

struct hx_snipe_step {
    size_t coordinate;
    double loss, effect; /* with it and all that were kept before */
    int kept;
};

/* Tries the first `tries` of `order` [k]; one that breaks the budget is left out and the next one is tried.  chosen [rule->most] and *n:
 * those that were kept; steps [tries], or NULL, and *n_steps: what was tried.  0, or what fn returned. */
int hx_snipe(const struct hx_probe_coordinate *order, size_t tries, const struct hx_snipe_rule *rule, hx_snipe_fn *fn, void *arg,
             size_t *chosen, size_t *n, struct hx_snipe_step *steps, size_t *n_steps, struct hx_error *err);

/* --- thresholds */

struct hx_teh_roc {
    double threshold; /* TEH above it is told */
    double tpr, fpr, f1;
};

/* The threshold of 0, 0.1, ... 50 % with the largest F1 among those that tell none of the others; the middle one of equals, so that both
 * sides have a margin.  teh [n]; in_topic as above.  What it says of these very texts.  Threshold 1 where each tells some of the others. */
struct hx_teh_roc hx_teh_threshold(const double *teh, const unsigned char *in_topic, size_t n);

/* What a threshold says of texts. */
struct hx_teh_roc hx_teh_at(const double *teh, const unsigned char *in_topic, size_t n, double threshold);

#endif
