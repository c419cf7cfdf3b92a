/* What ranks and gains do to a model on a text that they were not made of: the text is run by the model as it is and by one with the plan,
 * and their distributions of each token are compared.  A plan is worth having when that distance falls, whatever else it makes less. */
#ifndef HX_HELD_OUT_H
#define HX_HELD_OUT_H

#include "engine/engine.h"
#include "generate/ppl.h"
#include "methods/adaptive/rank_plan.h"
#include "subject.h"

enum { HX_HELD_OUT_CTX = 128 }; /* predictions of a window */

struct hx_held_out {
    const struct hx_subject *s;
    const char *text;        /* file; NULL: the shipped books-holdout.txt */
    size_t chunks;           /* windows; 0: 24 */
    char *shipped;
    int planted;             /* 1: perplexities say nothing, distances do */
    struct hx_engine *plain; /* the model as it is */
    uint32_t *ids;
    size_t n_ids;
};

/* s and text are set.  0 or negative errno with a reason; in any case to be closed. */
int hx_held_out_open(struct hx_held_out *h, struct hx_error *err);
void hx_held_out_close(struct hx_held_out *h);

/* settings: of linear method lowrank, NULL-terminated, 8 at most.  error: the sum of |W - up down|^2 over its matrices.  0 or negative
 * errno with a reason. */
int hx_held_out_score(const struct hx_held_out *h, const char *const *settings, const struct hx_rank_plan *plan, struct hx_ppl *got,
                      double *error, struct hx_error *err);

/* A plan that something has chosen beside a plain one. */
struct hx_compared {
    struct hx_ppl plain, chosen;
    double plain_error, chosen_error;
    int accepted; /* 1: the chosen one is nearer to the model, by more than rounding */
};

/* As above, of both.  If the chosen one is not accepted, the plain one's ranks say so; who: what has chosen. */
int hx_held_out_compare(const struct hx_held_out *h, const char *const *settings, struct hx_rank_plan *plain,
                        const struct hx_rank_plan *chosen, const char *who, struct hx_compared *c, struct hx_error *err);

/* "ACCEPTED" or "REJECTED". */
const char *hx_compared_verdict(const struct hx_compared *c);

/* {"kl", "top1"} and, where it says something, "ppl", "ppl_ratio". */
json_t *hx_held_out_json(const struct hx_held_out *h, const struct hx_ppl *got);

#endif
