/* Bases from layer to layer: a layer begins with the basis of the same input of the layer before, and adds what that misses.
 * Source: the published Gated Subspace Inference, whose deep layers need few directions of their own. */
#ifndef HX_GSI_CASCADE_H
#define HX_GSI_CASCADE_H

#include "classes.h"

enum { HX_GSI_CASCADE_VECTORS = 512 };

/* rows[i]: [n][cols] what a text puts into class i.  A class takes over the directions of the one before it, then each vector of which more
 * than eps of its length lies outside adds its own, as long as the class has fewer than `made`; that becomes how many it has, and `own` how
 * many it has added.  0 or -ENOMEM. */
int hx_gsi_cascade(struct hx_gsi_classes *c, float *const *rows, size_t n, double eps, struct hx_error *err);

/* Cosines of the angles between two subspaces of the same space: the singular values of the one's basis times the other's. */
struct hx_gsi_coherence {
    double mean, least;
};

/* 0; -ELIBACC: no LAPACK; -EDOM; -ENOMEM. */
int hx_gsi_coherence(const struct hx_subspace *a, const struct hx_subspace *b, struct hx_gsi_coherence *out, struct hx_error *err);

/* The same of two subspaces of k directions that have nothing to do with each other. */
int hx_gsi_coherence_of_chance(size_t cols, size_t k, struct hx_gsi_coherence *out, struct hx_error *err);

#endif
