/* Bakes OneDecode's table: states of single tokens, a step from each towards what follows it, and what the model's output matrix says
 * there.
 *
 * Of the V_bake most frequent tokens of a text (lower id among equals), each run alone, behind the beginning token where the model
 * has one, h is the state that the output matrix reads.  A principal component analysis of these states gives up to HX_OTT_AXES
 * axes; x0 is h in them, v0 the direction from x0 to the mean of the states of the tokens that followed in the text.  One geodesic step of
 * length HX_OTT_STEP times the mean variance along the axes leads from x0 along v0; with the flat metric, the only one it uses so far,
 * it is a straight line.  The end point, lifted back to the state's width, goes through the output matrix; the entry has the most
 * probable tokens there.  A token that nothing followed makes no step.
 *
 * All of it by the plain fp32 reference, so that the table depends on model and text alone: the same bytes each time. */
#ifndef HX_OTT_BAKE_H
#define HX_OTT_BAKE_H

#include "base/error.h"
#include "model/model.h"
#include "ott_table.h"

enum { HX_OTT_TOKENS = 2048 };

/* Digest of a model: its fingerprint, and of each matrix the type, the shape, the first and the last row. */
uint64_t hx_ott_of_model(const struct hx_model *m);

/* Digest of what hx_ott_bake() has besides the model. */
uint64_t hx_ott_of_text(const uint32_t *ids, size_t n, size_t n_tokens);

/* ids [n]: the text.  n_tokens: V_bake, at most the vocabulary.  The caller frees *out.  0; -EINVAL: a text without pairs;
 * -ENOMEM; -ELIBACC: no LAPACK; -EDOM: what hx_forward_run() refuses. */
int hx_ott_bake(struct hx_ott **out, const struct hx_model *m, const uint32_t *ids, size_t n, size_t n_tokens,
                struct hx_error *err);

/* Entries for the tokens of a prompt [n], n <= the model's context, from the states that it has there itself, of a token's last place;
 * without a step.  What followed is of the prompt, too. */
int hx_ott_bake_prompt(struct hx_ott **out, const struct hx_model *m, const uint32_t *ids, size_t n, struct hx_error *err);

#endif
