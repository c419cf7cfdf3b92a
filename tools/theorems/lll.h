/* Lattice basis reduction of Lenstra, Lenstra and Lovasz (1982), in floating point over integer vectors. */
#ifndef HX_LLL_H
#define HX_LLL_H

#include <stddef.h>
#include <stdint.h>

enum { HX_LLL_MAX = 16 }; /* vectors */

/* Reduces rows b[n][dim] in place, n <= HX_LLL_MAX, delta = 3/4; entries below 2^20 in size.  Returns swaps made; -1: the rows
 * are not independent. */
long hx_lll(int64_t *b, size_t n, size_t dim);

#endif
