/* The kernels one by one; ok_kernels.c has the list. */
#ifndef HX_OK_KERNELS_H
#define HX_OK_KERNELS_H

#include "ok_planes.h"

#if defined(__x86_64__)
extern const struct hx_ok_kernel hx_ok_avx2, hx_ok_avx512;
#endif

/* a = ac - 41 bd, b = ad + bc + bd, from the four sums. */
static inline struct hx_ok hx_ok_of_sums(uint64_t ac, uint64_t bd, uint64_t ad, uint64_t bc)
{
    return (struct hx_ok){(int64_t)(ac - 41 * bd), (int64_t)(ad + bc + bd)};
}

#endif
