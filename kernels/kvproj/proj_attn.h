/* Steps of attention over projected K and V: one head of one token.
 *
 * Where coefficients lie: hx_kv_proj.h.  All pointers are 128-byte aligned, but rows of V.  rank: of the head, 1 or more.
 *
 * Tolerances are 2^-126 more: qf32 has no 0, only a least number.
 *
 * Buffers are borrowed for the call, nothing is allocated; any thread; *_hvx need an HVX context. */
#ifndef PROJ_ATTN_H
#define PROJ_ATTN_H

#include <stddef.h>
#include <stdint.h>

#include "hx_kv_proj.h"

/* out [32 * vectors] = sum of w[i] times row i, n rows, n even.  |hvx - ref| <= 2^-20 sum of |w| |row|.  Projects with a basis as rows. */
void hx_proj_sum_ref(const float *w, const float *rows, int n, int vectors, float *out);
void hx_proj_sum_hvx(const float *w, const float *rows, int n, int vectors, float *out);

/* x . y of 32 * vectors floats.  |hvx - ref| <= 2^-20 |x| |y|. */
float hx_proj_dot_ref(const float *x, const float *y, int vectors);
float hx_proj_dot_hvx(const float *x, const float *y, int vectors);

/* y += w * x of 32 * vectors floats.  |hvx - ref| <= 2^-20 (|y| + |w x|). */
void hx_proj_mix_ref(float *y, float w, const float *x, int vectors);
void hx_proj_mix_hvx(float *y, float w, const float *x, int vectors);

/* What depends on how a coefficient is kept. */
struct hx_proj_form {
    /* Coefficients [rank] of K and V to position `pos`.  k: the first tile; v: the first row.  z: [rank made a multiple of 64], zeros
     * behind rank.  hvx and ref: the same, or of f16 the next number. */
    void (*put)(void *k, void *v, size_t pos, const float *z_k, const float *z_v, int rank);

    /* s[i] = scale * q . key i of `tiles` whole tiles.  |hvx - ref| <= 2^-19 |scale| |q| |key|. */
    void (*scores)(const float *q, const void *k, int rank, int tiles, float scale, float *s);

    /* out = sum of w[i] times row i, n rows, n even; behind rank there is anything, up to a multiple of 64.
     * |hvx - ref| <= 2^-20 sum of |w v|. */
    void (*values)(const float *w, const void *v, int n, int rank, float *out);
};

/* By how many bytes a coefficient has. */
extern const struct hx_proj_form hx_proj_f16_ref, hx_proj_f32_ref, hx_proj_f16_hvx, hx_proj_f32_hvx;

#endif
