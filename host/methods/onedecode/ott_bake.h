/* Bakes OneDecode's table: states of single tokens, a step from each towards what follows it, and what the model's output matrix says
 * there.
 *
 * Of the V_bake most frequent tokens of a text (lower id among equals), each run alone, behind the beginning token where the model
 * has one, h is the state that the output matrix reads.  A principal component analysis of these states gives up to HX_OTT_AXES
 * axes; x0 is h in them.  One step (ott_space.h) leads from x0 towards the mean of the states of the tokens that followed in the text: a
 * straight line, or a geodesic of the metric that is fitted to these states.  The end point, lifted back to the state's width, goes through
 * the output matrix; the entry has the most probable tokens there.  A token that nothing followed makes no step.
 *
 * All of it by the plain fp32 reference, so that the table depends on model and text alone: the same bytes each time. */
#ifndef HX_OTT_BAKE_H
#define HX_OTT_BAKE_H

#include "base/error.h"
#include "model/model.h"
#include "ott_space.h"
#include "ott_table.h"

enum { HX_OTT_TOKENS = 2048 };

/* Digest of a model: its fingerprint, and of each matrix the type, the shape, the first and the last row. */
uint64_t hx_ott_of_model(const struct hx_model *m);

/* How a table is baked. */
struct hx_ott_how {
    size_t n_tokens; /* V_bake; of more than the vocabulary has, all */
    int geodesic;    /* 0: steps are straight lines */
};

/* Digest of what hx_ott_bake() has besides the model. */
uint64_t hx_ott_of_text(const uint32_t *ids, size_t n, const struct hx_ott_how *how);

/* ids [n]: the text.  The caller frees *out.  space: NULL, or becomes what the steps were made in, to be freed by the caller in any case.
 * 0; -EINVAL: a text without pairs, or fewer states than a metric needs; -ENOMEM; -ELIBACC: no LAPACK; -EDOM: what hx_forward_run()
 * refuses. */
int hx_ott_bake(struct hx_ott **out, struct hx_ott_space *space, const struct hx_model *m, const uint32_t *ids, size_t n,
                const struct hx_ott_how *how, struct hx_error *err);

/* The space of such a table alone, which takes the greater part of the time. */
int hx_ott_bake_space(struct hx_ott_space *space, const struct hx_model *m, const uint32_t *ids, size_t n, const struct hx_ott_how *how,
                      struct hx_error *err);

/* Entries for the tokens of a prompt [n], n <= the model's context, from the states that it has there itself, of a token's last place.
 * space: NULL: without a step; else one in it, towards the mean of the states of the tokens that followed in the prompt. */
int hx_ott_bake_prompt(struct hx_ott **out, const struct hx_model *m, const struct hx_ott_space *space, const uint32_t *ids, size_t n,
                       struct hx_error *err);

#endif
