/* Between crt.c and its AVX2 and AVX-512 versions. */
#ifndef HX_HOST_CRT_H
#define HX_HOST_CRT_H

#include "ntt.h"

enum {
    HX_CRT_SIZES = 4,      /* N = 64 << i */
    HX_CRT_LANE_STAGES = 4 /* of 16 lanes: distances 8, 4, 2, 1 */
};

/* Weights inside vectors, see ntt_lanes.h. */
struct hx_crt_lanes {
    _Alignas(64) uint32_t forward[HX_POLY_N_MAX * HX_CRT_LANE_STAGES];
    _Alignas(64) uint32_t inverse[HX_POLY_N_MAX * HX_CRT_LANE_STAGES];
};

/* Weights w[brv(i)] = psi^i: block i of a stage of m blocks uses w[m + i]; ws = floor(2^32 w / q) (Shoup). */
struct hx_crt_prime {
    uint32_t q, mu, psi, n_inv, n_inv_s; /* mu = floor(2^60 / q) */
    uint32_t w[HX_POLY_N_MAX], ws[HX_POLY_N_MAX];
    uint32_t iw[HX_POLY_N_MAX], iws[HX_POLY_N_MAX]; /* of psi^-1 */
    struct hx_crt_lanes lanes8, lanes16;
};

struct hx_crt {
    size_t n;
    struct hx_crt_prime p[HX_CRT_PRIMES];
};

extern const struct hx_crt_ops hx_crt_ref, hx_crt_avx2, hx_crt_avx512;

/* r mod prime p of hi 2^32 + lo, for sums of fewer than 2^10 words each. */
static inline uint32_t hx_crt_fold(int prime, uint64_t hi, uint64_t lo)
{
    /* two constants, so that the compiler divides by multiplying */
    return (uint32_t)(prime ? (hi % HX_CRT_Q2 * ((1ull << 32) % HX_CRT_Q2) + lo) % HX_CRT_Q2
                            : (hi % HX_CRT_Q1 * ((1ull << 32) % HX_CRT_Q1) + lo) % HX_CRT_Q1);
}

#endif
