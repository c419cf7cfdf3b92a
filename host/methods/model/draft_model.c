/* Draft method `model:FILE`: another model with the same vocabulary guesses.  Its weights are applied as they are, its K and V
 * are f32 in memory, whatever the verifier's are. */
#include "engine/method.h"
#include "engine/plan.h"
#include "engine_draft.h"

static int open_model(struct hx_draft **out, const struct hx_open *o, struct hx_error *err)
{
    static const char *const settings[] = {"kv=f32", NULL};
    const struct hx_engine_draft_cfg cfg = {.name = "model", .model = hx_plan_draft_arg(o->plan), .settings = settings};

    return hx_engine_draft_open(out, &cfg, o, err);
}

const struct hx_method hx_method_draft_model = {
    .name = "model",
    .seam = HX_SEAM_DRAFT,
    .about = "another model with the same vocabulary",
    .arg = "FILE",
    .arg_needed = 1,
    .open.draft = open_model,
};
