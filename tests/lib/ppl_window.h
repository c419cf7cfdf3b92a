/* Short forms of hx_ppl_windows() for tests. */
#ifndef HXT_PPL_WINDOW_H
#define HXT_PPL_WINDOW_H

#include "generate/ppl.h"

/* Spread windows, and nobody watching. */
int hxt_ppl_run(const struct hx_model *m, struct hx_forward *f, const uint32_t *ids, size_t n_ids,
                size_t ctx, size_t chunks, struct hx_ppl *out, struct hx_error *err);

/* One window: adds the negative log likelihoods of its ctx predictions, from ids [ctx + 1], to *nll_sum. */
int hxt_ppl_window(const struct hx_model *m, struct hx_forward *f, const uint32_t *ids, size_t ctx,
                   double *nll_sum, struct hx_error *err);

#endif
