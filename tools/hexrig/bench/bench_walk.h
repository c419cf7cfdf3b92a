/* The walk that `hexrig bench prefetch` makes: the weights of a forward pass, in its order, cut into items of rows, and the
 * arithmetic that is done with each. */
#ifndef HX_BENCH_WALK_H
#define HX_BENCH_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "pager/prefetch.h"
#include "base/error.h"

struct hx_walk_item {
    struct hx_prefetch_item at;
    uint32_t type; /* enum hx_quant of its rows */
    size_t rows, cols;
};

struct hx_walk {
    struct hx_walk_item *items; /* [n] */
    struct hx_prefetch_item *plan; /* [n], the items' places */
    size_t n, cap;
    size_t layers;
    uint64_t bytes; /* of all items */
    size_t tokens;  /* vectors that each item is multiplied with */
    float *x;       /* [tokens][widest cols] */
    float *y;       /* [tokens][most rows] */
    float *scratch; /* [widest cols] */
};

/* Layer by layer the matrices of a GGUF model, at last the output matrix; a matrix of more than item_bytes is cut between rows.
 * 0 or negative errno; hx_walk_free() in either case. */
int hx_walk_model(struct hx_walk *w, const char *path, size_t item_bytes, struct hx_error *err);

/* Any file, as one layer of F16 rows of 1024; what is left behind the last whole row is not walked. */
int hx_walk_file(struct hx_walk *w, const char *path, size_t item_bytes, struct hx_error *err);

/* Makes the vectors that hx_walk_compute() needs; the same ones every time.  0 or -ENOMEM. */
int hx_walk_prepare(struct hx_walk *w, size_t tokens, struct hx_error *err);

/* y = W x for the item's rows, by the engine's own fp32 layer; returns a checksum of y. */
uint64_t hx_walk_compute(const struct hx_walk *w, const struct hx_walk_item *item, const void *bytes);

void hx_walk_free(struct hx_walk *w);

#endif
