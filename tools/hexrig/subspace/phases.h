/* The four published files of a model's geometry, each with what noise of the same shape gives. */
#ifndef HX_SUBSPACE_PHASES_H
#define HX_SUBSPACE_PHASES_H

#include <jansson.h>

#include "axioms.h"

/* A sample and its resample, and the same of noise. */
struct hx_phases {
    struct hx_sample own, again, noise, noise_again;
};

/* phase1_manifold.json: the cloud of the last layer's states in three principal components, shares of the variance, dimension.
 * phase2_symmetry.json: similarities of heads, layer by layer.
 * phase3_curvature.json: at each point of the cloud the metric's size, the symbols, the scalar curvature.
 * phase4_axioms.json: statements, whether they were accepted, and survived.
 * Each: 0 and an object, or negative errno with a reason. */
int hx_phase_manifold(const struct hx_phases *p, json_t **out, struct hx_error *err);
int hx_phase_symmetry(const struct hx_phases *p, json_t **out, struct hx_error *err);
int hx_phase_curvature(const struct hx_phases *p, json_t **out, struct hx_error *err);
int hx_phase_axioms(const struct hx_phases *p, json_t **out, struct hx_error *err);

/* Share of what was accepted that survived; 1 of none. */
double hx_axioms_consistency(const struct hx_axioms *x, size_t *accepted);

#endif
