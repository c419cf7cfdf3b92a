/* Perplexity over windows of a text: exp of the mean negative log likelihood.
 *
 * Two ways to lay T ids out in windows, each run in a fresh context:
 *   spread  window i starts at floor(i * (T - ctx - 1) / chunks) and has ctx + 1 ids; all its ctx next-token predictions
 *           count;
 *   llama   as llama.cpp's llama-perplexity does it: window i is the ids i * ctx .. (i + 1) * ctx - 1, for as many whole
 *           ones as there are, the first id of each replaced by BOS where the model wants one; the predictions made at
 *           its positions ctx / 2 .. ctx - 2 count.
 *
 * With a reference each window is run twice, and the two distributions of every prediction that counts are held against each other. */
#ifndef HX_PPL_H
#define HX_PPL_H

#include <stddef.h>
#include <stdint.h>

#include "engine/forward.h"
#include "model/model.h"
#include "base/error.h"

struct hx_ppl {
    double nll;    /* mean over all predictions, nats */
    double ppl;    /* exp(nll) */
    size_t tokens; /* predictions counted */
    size_t chunks; /* windows run */
    double nll_stderr; /* standard error of nll over the predictions, as llama-perplexity has it; 0 for one prediction */
    double ppl_stderr; /* ppl * nll_stderr */
    struct hx_ppl_kl {
        double mean, mean_stderr, max; /* nats per prediction, sum of r log(r/p) over the vocabulary: r the reference's, p */
        double same_top;               /* share of predictions with the same most probable token, the lowest id among equals */
        double ppl;                    /* the reference's */
    } kl; /* zeroes without a reference */
};

struct hx_ppl_cfg {
    size_t ctx;    /* predictions of a window; llama: ids */
    size_t chunks; /* windows; llama: at most so many, 0 = all */
    int llama;     /* 0 spread, 1 llama */
    uint32_t bos;  /* llama: the id, or HX_NO_TOKEN; then ids start with it */
    struct hx_forward *reference; /* of the same model, or NULL; the two are run in turn */
    void (*progress)(void *arg, size_t done, size_t chunks, double ppl); /* after each window: so far; may be NULL */
    void *arg;
};

/* First id of window i of spread ones; needs T >= ctx + 1 and chunks >= 1. */
size_t hx_ppl_window(size_t n_ids, size_t ctx, size_t chunks, size_t i);

/* All windows.  -EINVAL when the text is shorter than one window (llama: two, and a window shorter than 4 ids), or so
 * short that spread windows would start at the same place (chunks > max(1, T - ctx - 1)); -ERANGE when ppl is too large
 * for a double; -ENOMEM; others as hx_forward_run() and hx_forward_logits(). */
int hx_ppl_windows(const struct hx_model *m, struct hx_forward *f, const uint32_t *ids, size_t n_ids,
                   const struct hx_ppl_cfg *cfg, struct hx_ppl *out, struct hx_error *err);

#endif
