/* How a drafter does with so many guesses a step, over texts. */
#ifndef HX_SPEC_MEASURE_H
#define HX_SPEC_MEASURE_H

#include "counted.h"
#include "engine/engine.h"
#include "generate/spec.h"
#include "hx_session_stats.h"
#include "texts.h"

struct hx_spec_question {
    struct hx_engine *e;
    const struct hx_spec_texts *texts;
    size_t tokens;  /* of each greedy text */
    size_t guesses; /* of each step, at most; 0: the engine has no drafter */
    double thresh;  /* as in struct hx_spec_cfg */
};

struct hx_spec_result {
    struct hx_spec_stats greedy, along; /* of all texts together; without a drafter steps and emitted alone */
    struct hx_session_stats sum;        /* while the greedy texts were made, without their prompts */
    struct hx_spec_cost draft, pass[2]; /* of it, guessing; passes without and with guesses */
    size_t n_pass[2];
};

/* 0 or negative errno with a reason: a context that is too short, a drafter that fails, or as hx_generate_step(). */
int hx_spec_measure(struct hx_spec_result *r, const struct hx_spec_question *q, struct hx_error *err);

#endif
