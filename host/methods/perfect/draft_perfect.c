/* Draft method `perfect`: a twin of the engine guesses.  Its methods are the verifier's, so its logits have the same bits and every
 * guess is right: what is left is what guessing costs and the most that verifying can gain. */
#include "engine/method.h"
#include "methods/model/engine_draft.h"

static int open_perfect(struct hx_draft **out, const struct hx_open *o, struct hx_error *err)
{
    const struct hx_engine_draft_cfg cfg = {.name = "perfect", .certain = 1};

    return hx_engine_draft_open(out, &cfg, o, err);
}

const struct hx_method hx_method_draft_perfect = {
    .name = "perfect",
    .seam = HX_SEAM_DRAFT,
    .about = "the model itself, a second time: every guess is right, and costs as much as it saves",
    .open.draft = open_perfect,
};
