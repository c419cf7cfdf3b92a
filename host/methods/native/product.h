/* Products of row-major matrices by BLAS (base/blas.h), and the numbers that bases start from. */
#ifndef HX_NATIVE_PRODUCT_H
#define HX_NATIVE_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "base/blas.h"

/* c [m][n] = op(a) op(b), op(a) [m][k], op(b) [k][n]; how: "NN", "NT", "TN", T for one that lies transposed.  hx_blas() has been there. */
void hx_product(const char *how, size_t m, size_t n, size_t k, const double *a, const double *b, double *c);

/* The sum of a[i] b[i]. */
double hx_product_inner(const double *a, const double *b, size_t n);

/* Normal number i of a key (Box & Muller 1958). */
double hx_product_normal(uint64_t key, size_t i);

#endif
