/* Products modulo a 30-bit prime q: of matrices, and element by element.  See mod30.h for the range of values. */
#ifndef MODMATMUL_H
#define MODMATMUL_H

#include <stdint.h>

/* y[b][j] = sum over k of x[b][k] * w[k][j] mod q; x: [batch][inner], w: [inner][outer], y: [batch][outer].
 * HVX: outer a multiple of 32, w and y 128-byte aligned, else AEE_EBADPARM. */
struct hx_modmatmul {
    int batch, inner, outer;
    uint32_t q;
};
int hx_modmatmul_ref(const struct hx_modmatmul *shape, const uint32_t *x, const uint32_t *w,
                     uint32_t *y);
int hx_modmatmul_hvx(const struct hx_modmatmul *shape, const uint32_t *x, const uint32_t *w,
                     uint32_t *y);

/* r[i] = a[i] * b[i] mod q; HVX: n a multiple of 32, all 128-byte aligned, else AEE_EBADPARM. */
int hx_barrett_ref(const uint32_t *a, const uint32_t *b, uint32_t *r, int n, uint32_t q);
int hx_barrett_hvx(const uint32_t *a, const uint32_t *b, uint32_t *r, int n, uint32_t q);

#endif
