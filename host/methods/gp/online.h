/* Bases of a drafter of low rank that follow its mistakes: the published Online Basis.
 *
 * Where a guess was wrong, drafter and model have both run the token behind which it was made.  What came into wq, wk and wv of each layer
 * there, in the model less in the drafter (or the model's alone), is a sample; up to HX_ONLINE_QUEUE of them wait, the oldest goes when
 * more come.  Before the next guesses, from the HX_ONLINE_LEAST-th mistake on, each is a step of Oja's rule (adaptive/oja.h) for the basis
 * of its layer, and factors of the bases that have turned are made anew.  K and V that the drafter has of the text stay as they are: it
 * is a drafter, and the text the model's.
 *
 * What the papers take is one residual of final states for all layers; its place in the layers is not said.  Ours. */
#ifndef HX_ONLINE_H
#define HX_ONLINE_H

#include <jansson.h>

#include "engine/method.h"
#include "methods/adaptive/oja.h"
#include "methods/model/engine_draft.h"

enum { HX_ONLINE_QUEUE = 256, HX_ONLINE_LEAST = 4 };

struct hx_online_cfg {
    double eta0;               /* published: 0.01 */
    enum hx_oja_decay decay;
    int whole;                 /* 1: samples are what came into the model's matrices, not the difference */
};

struct hx_online;

/* For a drafter over m.  0 or -ENOMEM. */
int hx_online_open(struct hx_online **out, const struct hx_model *m, const struct hx_online_cfg *cfg, struct hx_error *err);

/* Whom engine_draft.h is to have. */
struct hx_engine_draft_follower hx_online_follower(struct hx_online *o);

/* Once the drafter's matrices are there: linear method lowrank, opened with `turns`.  Kept.  0, -ENOMEM. */
int hx_online_begin(struct hx_online *o, struct hx_linear_method *lowrank, struct hx_error *err);

/* For reports.  NULL: out of memory. */
json_t *hx_online_json(const struct hx_online *o);

#endif
