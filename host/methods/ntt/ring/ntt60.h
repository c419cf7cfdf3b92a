/* What ntt60.c and the variants of the transforms share. */
#ifndef HX_HOST_NTT60_H
#define HX_HOST_NTT60_H

#include "ntt.h"

/* Weights w[brv(i)] = psi^i: block i of a stage of m blocks uses w[m + i]; ws = floor(2^64 w / q) (Shoup). */
struct hx_ntt60 {
    size_t n;
    uint64_t q, psi, n_inv, n_inv_s;
    uint64_t w[HX_POLY_N_MAX], ws[HX_POLY_N_MAX];
    uint64_t iw[HX_POLY_N_MAX], iws[HX_POLY_N_MAX]; /* of psi^-1 */
    struct hx_ntt60_lanes {
        _Alignas(64) uint64_t forward[3 * HX_POLY_N_MAX]; /* weights inside vectors, see ntt_lanes.h */
        _Alignas(64) uint64_t inverse[3 * HX_POLY_N_MAX];
    } lanes8;
};

/* w v mod q in 0..2q-1 for any v, with ws = floor(2^64 w / q). */
static inline uint64_t hx_ntt60_shoup(uint64_t v, uint64_t w, uint64_t ws)
{
    return v * w - (uint64_t)(((unsigned __int128)v * ws) >> 64) * HX_NTT60_Q;
}

static inline uint64_t hx_ntt60_less(uint64_t v, uint64_t m)
{
    return v >= m ? v - m : v;
}

extern const struct hx_ntt60_ops hx_ntt60_ref, hx_ntt60_avx512;

#endif
