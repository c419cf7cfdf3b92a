/* Draft method `none`, the reference: nobody guesses, one token per step. */
#include "engine/draft.h"
#include "engine/method.h"

static void close_none(struct hx_draft *d)
{
    (void)d; /* there is one for all */
}

static const struct hx_draft_ops ops = {.name = "none", .close = close_none};
static struct hx_draft none = {.ops = &ops};

static int open_none(struct hx_draft **out, const struct hx_open *o, struct hx_error *err)
{
    (void)o;
    (void)err;
    *out = &none;
    return 0;
}

const struct hx_method hx_method_draft_none = {
    .name = "none", .seam = HX_SEAM_DRAFT, .about = "nobody guesses: one token per step", .open.draft = open_none,
};
