/* Perplexity over windows of a text.
 *
 * T ids give `chunks` windows: window i starts at floor(i * (T - ctx - 1) / chunks) and has ctx + 1 ids; each is run
 * in a fresh context and all its ctx next-token predictions count.  ppl = exp(mean nll). */
#ifndef HX_PPL_H
#define HX_PPL_H

#include <stddef.h>
#include <stdint.h>

#include "forward.h"
#include "model.h"
#include "why.h"

struct hx_ppl {
    double nll;    /* mean over all predictions, nats */
    double ppl;    /* exp(nll) */
    size_t tokens; /* predictions counted */
};

/* First id of window i; needs T >= ctx + 1 and chunks >= 1. */
size_t hx_ppl_window(size_t n_ids, size_t ctx, size_t chunks, size_t i);

/* Scores one window: adds the ctx predictions of ids [ctx + 1] to *nll_sum.  logits: [HX_PPL_ROWS][vocab] scratch. */
enum { HX_PPL_ROWS = 16 }; /* predictions whose logits are made at once */
int hx_ppl_score(const struct hx_model *m, struct hx_forward *f, const uint32_t *ids, size_t ctx,
                 float *logits, double *nll_sum, struct hx_why *why);

/* All windows.  -EINVAL when the text is shorter than one window, or so short that windows would start at the same
 * place (chunks > max(1, T - ctx - 1)); -ERANGE when ppl is too large for a double; others as hx_forward_run() and
 * hx_forward_logits(). */
int hx_ppl_run(const struct hx_model *m, struct hx_forward *f, const uint32_t *ids, size_t n_ids,
               size_t ctx, size_t chunks, struct hx_ppl *out, struct hx_why *why);

#endif
