/* Perplexity of windows that a test chooses, see ppl_window.h. */
#include "ppl_window.h"

int hxt_ppl_run(const struct hx_model *m, struct hx_forward *f, const uint32_t *ids, size_t n_ids,
                size_t ctx, size_t chunks, struct hx_ppl *out, struct hx_error *err)
{
    const struct hx_ppl_cfg cfg = {.ctx = ctx, .chunks = chunks};

    return hx_ppl_windows(m, f, ids, n_ids, &cfg, out, err);
}

int hxt_ppl_window(const struct hx_model *m, struct hx_forward *f, const uint32_t *ids, size_t ctx,
                   double *nll_sum, struct hx_error *err)
{
    struct hx_ppl out;
    int rc = hxt_ppl_run(m, f, ids, ctx + 1, ctx, 1, &out, err);

    if (!rc)
        *nll_sum += out.nll * (double)out.tokens;
    return rc;
}
