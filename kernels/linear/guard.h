/* Directions of a vector: steps of guarded calls (hex_linear.idl, `guard`).
 *
 * Directions q are orthonormal rows in f32.  A vector's share of one is z = q . x; what is left without it is x - z q.
 *
 * Vectors and directions are `vectors` HVX vectors, 32 floats each, 0 behind the last element, 128-byte aligned.
 * Float: |hvx - ref| of a product is at most 2^-20 |a| |b|, of what is left 2^-21 |x| in each element; all 2^-120 more, as qf32 has no 0.
 * Nothing is allocated; any thread; *_hvx need an HVX context. */
#ifndef LINEAR_GUARD_H
#define LINEAR_GUARD_H

/* a . b */
float hx_guard_product_ref(const float *a, const float *b, int vectors);
float hx_guard_product_hvx(const float *a, const float *b, int vectors);

/* x -= z q */
void hx_guard_take_ref(const float *q, float z, float *x, int vectors);
void hx_guard_take_hvx(const float *q, float z, float *x, int vectors);

#endif
