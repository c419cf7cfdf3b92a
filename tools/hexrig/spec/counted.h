/* A drafter that another one stands behind: what guessing costs by itself, measured here and modelled on the DSP. */
#ifndef HX_SPEC_COUNTED_H
#define HX_SPEC_COUNTED_H

#include "engine/draft.h"

struct hx_spec_cost {
    double s;  /* host seconds, measured */
    double us; /* of DSP calls, modelled */
};

struct hx_spec_counted {
    struct hx_draft draft; /* first: it is asked instead of the other one */
    struct hx_draft_ops ops;
    struct hx_draft *of;
    struct hx_spec_cost cost; /* of all that it was asked so far */
};

/* of: kept, and the caller's to close; there is nothing else to close. */
void hx_spec_counted_open(struct hx_spec_counted *c, struct hx_draft *of);

/* All that this process has cost so far.  0 or negative errno with a reason. */
int hx_spec_cost_now(struct hx_spec_cost *c, struct hx_error *err);

/* Adds what was used since `before`.  0 or negative errno with a reason. */
int hx_spec_cost_add(struct hx_spec_cost *to, const struct hx_spec_cost *before, struct hx_error *err);

#endif
