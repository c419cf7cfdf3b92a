/* How guesses do along a text that is given: behind each of its tokens the drafter guesses and the model verifies, but the text goes
 * on as it is.  Greedy texts of small models go round in circles, which is easy to guess; this is the other end. */
#ifndef HX_SPEC_ALONG_H
#define HX_SPEC_ALONG_H

#include "generate.h"

/* ids [n] is run from its beginning, with a step behind each of the tokens from - 1..n - 1 (1 <= from <= n <= n_ctx).  g->spec counts:
 * emitted / steps are tokens per step.  0, -ENOMEM, or as hx_generate_step(). */
int hx_spec_along(const struct hx_generate *g, const uint32_t *ids, size_t n, size_t from, struct hx_error *err);

#endif
