/* What one token costs at one position, by a plan: a question, and its answer.
 *
 * The figures are what the driver counts while the token goes through its methods; what came before (opening, the tokens at earlier
 * positions) is not in them.  Times are modelled.  An answer follows from its question and the rig's profile, not from questions that
 * were asked before: every one finds a session of its own.
 *
 * The rig is the process's (hx_engine_opts_prepare()).  One thread at a time. */
#ifndef HX_DENSITY_ANSWER_H
#define HX_DENSITY_ANSWER_H

#include "engine/engine.h"
#include "hx_session_stats.h"
#include "model/geometry.h"

struct hx_density_question {
    const struct hx_plan *plan;         /* resolved: methods, density, placement, --offload.  Borrowed for the call, like the others */
    const struct hx_geometry *geometry; /* NULL: a model */
    const struct hx_engine_cfg *model;  /* how to open that; its plan and n_ctx do not matter.  NULL with a geometry */
    size_t pos;                         /* of the token, 0-based */

    /* Called before the first call, with how many there will be, those that fill the cache before the token included.  NULL: nobody
     * wants to know. */
    void (*begins)(void *arg, double calls);
    void *arg;
};

struct hx_density_answer {
    char basis[16];              /* of blocks; "none" */
    size_t n_layer;              /* of the model or geometry */
    struct hx_calls formula;     /* what the methods' formulas say */
    struct hx_session_stats sum; /* for the token */
};

/* 0 or negative errno with a reason; -EINVAL: the position is beyond the model's context. */
int hx_density_answer(const struct hx_density_question *q, struct hx_density_answer *a, struct hx_error *err);

#endif
