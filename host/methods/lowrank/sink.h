/* Sinks: the few states of a text that are much longer than all others, which attention rests on, and which bases of weights know nothing
 * about.  What the matrices of a basis get in such a state is a direction; a basis that misses it is begun with it (factorize.h).
 *
 * A state is one where its norm behind the middle layer is beyond mean + 3 sigma over the text, or, of the first token of a text,
 * mean + 1.5 sigma.  Source: the published sink bypass.  Looked at are HX_SINK_WINDOWS windows of HX_SINK_CTX tokens at most, each begun
 * with the model's BOS if it adds one, run as in methods/moments/text_pass.h. */
#ifndef HX_LOWRANK_SINK_H
#define HX_LOWRANK_SINK_H

#include "factors.h"

enum { HX_SINK_WINDOWS = 16, HX_SINK_CTX = 128 };

struct hx_sinks {
    double **of;             /* [n] of each basis that reads the stream: [cols], of length 1; NULL: another one, or there is no sink */
    size_t n;
    size_t tokens, found;    /* that were looked at, that are sinks */
    double most_sigma;       /* of the longest state */
};

/* ids [n_ids]: the text.  0, also without a sink; -EINVAL: the text has no tokens; -ENOMEM; others as hx_text_pass_run().  In any case to
 * be freed. */
int hx_sinks_find(struct hx_sinks *s, const struct hx_lowrank_factors *f, const struct hx_open *o, const uint32_t *ids, size_t n_ids,
                  struct hx_error *err);

/* Accepts zeros. */
void hx_sinks_free(struct hx_sinks *s);

#endif
