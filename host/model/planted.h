/* Keys of models that `hexrig model synth` has made: what was planted, for whoever must not take such a model for a trained one. */
#ifndef HX_MODEL_PLANTED_H
#define HX_MODEL_PLANTED_H

#include "gguf/gguf.h"

#define HX_PLANTED "hexrig.planted."
#define HX_PLANTED_TRIGGER_ID HX_PLANTED "trigger" /* u32; a token with a direction of its own, where there is one */
#define HX_PLANTED_ANSWER_ID HX_PLANTED "answer"   /* u32; what is likely behind it */
#define HX_PLANTED_RANK HX_PLANTED "act_rank" /* u32; every planted model has it */

/* 1: the file is such a model. */
static inline int hx_gguf_is_planted(const struct hx_gguf *g)
{
    return hx_gguf_find(g, HX_PLANTED_RANK) != NULL;
}

#endif
