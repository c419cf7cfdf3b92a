/* A buffer for a batch of activations in the forms that matrices need, see isa.h.  Sized at open. */
#ifndef HX_CPU_ACTS_H
#define HX_CPU_ACTS_H

#include "isa.h"
#include "base/pool.h"
#include "base/why.h"

enum { HX_ACTS_F32 = 1, HX_ACTS_32 = 2, HX_ACTS_256 = 4 }; /* bits: which forms */

struct hx_acts_buf;

/* Room for max_n vectors of max_cols.  0 or -ENOMEM. */
int hx_acts_buf_open(struct hx_acts_buf **out, size_t max_cols, size_t max_n, struct hx_why *why);

/* Accepts NULL. */
void hx_acts_buf_close(struct hx_acts_buf *b);

/* x [n][cols], borrowed until the next call; n and cols within the buffer's limits.  A form needs cols to be a multiple of
 * its blocks, else it is left out.  The pool may be NULL.  What is returned is the buffer's, until the next call. */
const struct hx_acts *hx_acts_set(struct hx_acts_buf *b, const struct hx_isa_ops *isa, struct hx_pool *pool,
                                  const float *x, size_t cols, size_t n, unsigned forms);

#endif
