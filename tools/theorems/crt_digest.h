/* T6b: one number for 100,489 inner products by two primes, so that programs from different compilers can be compared. */
#ifndef HX_CRT_DIGEST_H
#define HX_CRT_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { HX_DIGEST_N = 256, HX_DIGEST_VECTORS = 317 }; /* every pair of vectors: 317^2 products */

/* Integers of the size that K and Q have at Delta = 2^16; a function of i alone.  out: [HX_DIGEST_N]. */
void hx_digest_vector(int32_t *out, size_t i);

/* FNV-1a of the centred coefficients 0 of all pairs, row by row; product, if given, is called for each.  0: no memory. */
uint64_t hx_crt_digest(void (*product)(void *arg, size_t i, size_t j, int64_t c), void *arg);

#endif
