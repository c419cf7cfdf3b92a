/* What the layers of a model make of a text, kept for analysis; and noise of the same shape. */
#ifndef HX_SUBSPACE_ACTIVATIONS_H
#define HX_SUBSPACE_ACTIVATIONS_H

#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "model/model.h"

struct hx_activations {
    size_t n_layer, width, n_head, dh, tokens;
    float *states; /* [n_layer][tokens][width] the residual stream behind each layer */
    float *heads;  /* [n_layer][tokens][n_head * dh] what attention made */
};

enum { HX_ACTIVATIONS_CTX = 128 }; /* tokens of a window; each has a fresh context */

/* Of the first `tokens` of a text, whole windows.  0; -EINVAL: it has fewer than a window; -ENOMEM; others as hx_forward_run().  In any
 * case to be freed. */
int hx_activations_take(struct hx_activations *a, const struct hx_model *m, struct hx_pool *pool, const uint32_t *ids, size_t n_ids,
                        size_t tokens, struct hx_error *err);

/* Independent normal numbers in the shape of `like`, with so many tokens. */
int hx_activations_noise(struct hx_activations *a, const struct hx_activations *like, size_t tokens, uint64_t key, struct hx_error *err);

/* Accepts zeroes. */
void hx_activations_free(struct hx_activations *a);

/* Normal number i of a key. */
double hx_normal_at(uint64_t key, size_t i);

/* at[n]: different numbers below `of`, n <= of, by key.  0 or -ENOMEM. */
int hx_choose(size_t *at, size_t n, size_t of, uint64_t key);

/* Rows `at` [n] of x [..][cols], columns from..from+d-1: to [n][d]. */
void hx_rows_of(double *to, const float *x, size_t cols, const size_t *at, size_t n, size_t from, size_t d);

#endif
