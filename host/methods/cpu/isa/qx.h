/* A buffer for a batch of activations in the forms that matrices need, see isa.h.  Sized at open. */
#ifndef HX_CPU_QX_H
#define HX_CPU_QX_H

#include "isa.h"
#include "base/pool.h"
#include "base/error.h"

enum { HX_QX_F32 = 1, HX_QX_32 = 2, HX_QX_256 = 4 }; /* bits: which forms */

struct hx_qx_buf;

/* Room for max_n vectors of max_cols.  0 or -ENOMEM. */
int hx_qx_buf_open(struct hx_qx_buf **out, size_t max_cols, size_t max_n, struct hx_error *err);

/* Accepts NULL. */
void hx_qx_buf_close(struct hx_qx_buf *b);

/* x [n][cols], borrowed until the next call; n and cols within the buffer's limits.  A form needs cols to be a multiple of
 * its blocks, else it is left out.  The pool may be NULL.  What is returned is the buffer's, until the next call. */
const struct hx_qx *hx_qx_set(struct hx_qx_buf *b, const struct hx_cpu_kernels *isa, struct hx_pool *pool,
                                  const float *x, size_t cols, size_t n, unsigned forms);

#endif
