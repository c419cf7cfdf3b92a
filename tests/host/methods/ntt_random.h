/* Random polynomials for tests of host/methods/ntt. */
#ifndef NTT_RANDOM_H
#define NTT_RANDOM_H

#include "hxt.h"

/* -(below - 1) .. below - 1 */
static inline void fill_coefficients(struct hxt_rng *rng, int32_t *a, size_t n, uint32_t below)
{
    for (size_t i = 0; i < n; i++)
        a[i] = (int32_t)((int64_t)(hxt_u64(rng) % (2 * (uint64_t)below - 1)) - (below - 1ll));
}

#endif
