/* What a model's output matrix says of a state. */
#ifndef HX_HEAD_H
#define HX_HEAD_H

#include "store.h"

struct hx_head;

/* m is kept.  0 or -ENOMEM. */
int hx_head_open(struct hx_head **out, const struct hx_model *m, struct hx_error *err);
void hx_head_close(struct hx_head *h);

/* Logits [vocab] of a state [width] before the last norm, by the plain reference; the head's until the next call.  One thread at a time.
 * NULL with a reason: what hx_linear_apply() says. */
const float *hx_head_logits(struct hx_head *h, const float *state, struct hx_error *err);

/* The n largest of logits [vocab], the lower id among equals. */
void hx_head_best(const float *logits, size_t vocab, size_t n, struct hx_store_record *to);

/* The largest. */
uint32_t hx_head_first(const float *logits, size_t vocab);

#endif
