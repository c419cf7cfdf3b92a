/* Attention of a query over f32 keys and values that stay on the DSP: one head of one token.
 *
 * Where they lie: hx_layer.h.  K is in tiles, so that a vector holds one element of 32 keys and no product crosses lanes.  dh: a
 * multiple of 64.  All of it 128-byte aligned.
 *
 * Buffers are borrowed for the call, nothing is allocated; any thread; *_hvx need an HVX context. */
#ifndef LAYER_ATTN_H
#define LAYER_ATTN_H

#include <stddef.h>
#include <stdint.h>

#include "hx_layer.h"

/* --- the softmax by integers: tables and room to work in */

enum { HX_LAYER_EXP_BITS = 10, HX_LAYER_EXP_ENTRIES = 1 << HX_LAYER_EXP_BITS };

/* In VTCM, which gathers read.  2^(-i / 2^10) and 2^(-i / 2^20) in units of 2^-30, from hx_layer_exp_init(). */
struct hx_layer_exp {
    int32_t coarse[HX_LAYER_EXP_ENTRIES], fine[HX_LAYER_EXP_ENTRIES];
} __attribute__((aligned(128)));

/* Where a thread's gathers go, in VTCM, too. */
struct hx_layer_gathered {
    int32_t coarse[HX_LAYER_TILE], fine[HX_LAYER_TILE];
} __attribute__((aligned(128)));

void hx_layer_exp_init(struct hx_layer_exp *e);

/* --- steps */

/* Key and value [dh] of position `pos`. */
void hx_layer_put_ref(float *k, float *v, size_t pos, const float *key, const float *value, int dh);
void hx_layer_put_hvx(float *k, float *v, size_t pos, const float *key, const float *value, int dh);

/* s[i] = scale * q . key i of `tiles` whole tiles.  k: of the first.
 * |hvx - ref| <= 2^-20 |scale| |q| |key|. */
void hx_layer_scores_ref(const float *q, const float *k, int dh, int tiles, float scale, float *s);
void hx_layer_scores_hvx(const float *q, const float *k, int dh, int tiles, float scale, float *s);

/* In place: s[i] = exp(s[i] - max) / sum, over first <= i < end; whole vectors are written, with 0 in front of `first` and behind
 * `end`.  first < 32, first < end.  |hvx - ref| <= 2^-21 ref (4 + |max| + |s|) + 2^-125:
 * a difference has the last bits of the larger score. */
void hx_layer_softmax_ref(float *s, int first, int end);
void hx_layer_softmax_hvx(float *s, int first, int end);

/* The same without an exponential: max - s becomes an integer t of 2^-20 units of a power of 2 (31 at most), and 2^-t in units
 * of 2^-29 is a product of two table entries, 10 bits of t each, shifted right by what remains of t; their sum is exact.
 * KL(softmax || this) is at most 1e-6 nats.  end <= 2^15. */
void hx_layer_softmax_int_hvx(float *s, int first, int end, const struct hx_layer_exp *tables, struct hx_layer_gathered *room);

/* out [dh] = sum of w[i] * v[i], n rows.  |hvx - ref| <= 2^-20 sum of |w v|. */
void hx_layer_values_ref(const float *w, const float *v, int n, int dh, float *out);
void hx_layer_values_hvx(const float *w, const float *v, int n, int dh, float *out);

#endif
