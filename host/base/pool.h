/* A pool of threads for the parts of one operation.  Threads are made once, at open. */
#ifndef HX_POOL_H
#define HX_POOL_H

#include <stddef.h>

#include "error.h"

struct hx_pool;

/* Part 0..n_parts-1 of an operation; parts run in any order, on any of the pool's threads, the caller included. */
typedef void hx_pool_fn(void *arg, size_t part, size_t n_parts);

/* n_threads >= 1, the caller of hx_pool_run() included: 1 makes no thread at all.  With as many threads as this process has
 * CPUs each of them gets one for itself; the caller is left where it is.  0, -ENOMEM or -EAGAIN. */
int hx_pool_open(struct hx_pool **out, size_t n_threads, struct hx_error *err);

/* Accepts NULL. */
void hx_pool_close(struct hx_pool *p);

/* Threads; 1 for NULL. */
size_t hx_pool_threads(const struct hx_pool *p);

/* Runs all parts and returns when the last has ended.  NULL p, or one part: on the calling thread.  One thread at a time
 * may call, and fn must not. */
void hx_pool_run(struct hx_pool *p, size_t n_parts, hx_pool_fn *fn, void *arg);

#endif
