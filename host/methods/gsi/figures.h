/* What counts of classes (classes.h) come to.
 *
 * phi: the share of vectors that took the image.  The published speedup is 1 / (phi k/d + 1 - phi) of a matrix, and of several the quotient
 * of sums: numbers of weights without a gate over numbers of weights and images that were read with one.  That leaves out that the gate
 * itself reads the basis, k d numbers a vector, whatever its verdict: s_real has it in. */
#ifndef HX_GSI_FIGURES_H
#define HX_GSI_FIGURES_H

#include "classes.h"

struct hx_gsi_sums {
    size_t classes, off;
    double vectors, gated, fast; /* of all classes together */
    double full, read_seed, read_real; /* numbers: without a gate; with one, without and with the basis and what additions cost */
    double parameters;           /* of the matrices */
    double full_bytes, bytes;    /* per token, each class's own mean: as they lie in the file; as they were read */
    double whole_bytes;          /* per token: without a gate, where the matrices are applied */
    double added, added_bytes, checked, violations, worst;
};

/* Adds a class; to: zeros at first. */
void hx_gsi_add(struct hx_gsi_sums *to, const struct hx_gsi_classes *c, const struct hx_gsi_class *of);

/* All classes of an input, HX_TAP_POINTS: of all. */
struct hx_gsi_sums hx_gsi_sum(const struct hx_gsi_classes *c, enum hx_tap_point input);

/* Numbers of weights and images that a token reads on the mean, the published effective parameters; all of them where nothing was applied
 * yet. */
double hx_gsi_effective(const struct hx_gsi_sums *s);

/* 1 where nothing was applied yet. */
double hx_gsi_phi(const struct hx_gsi_sums *s);
double hx_gsi_s_seed(const struct hx_gsi_sums *s);
double hx_gsi_s_real(const struct hx_gsi_sums *s);

/* s_real of bytes, whose formats are different ones. */
double hx_gsi_s_bytes(const struct hx_gsi_sums *s);

#endif
