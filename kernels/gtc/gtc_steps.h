/* Steps of a library of trajectories on the DSP; where they lie: hx_trajectories.h.
 *
 * Pointers are 128-byte aligned, buffers borrowed for the call, nothing is allocated; any thread; *_hvx need an HVX context. */
#ifndef GTC_STEPS_H
#define GTC_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "hx_trajectories.h"

struct hx_gtc_nearest {
    float d2; /* squared distance */
    uint32_t which;
};

/* The start nearest to x [8], the lower number among equals.  starts: the first block; blocks >= 1.  hvx and ref may differ in which
 * where two are equally far to 2^-18 of it; |hvx - ref| <= 2^-18 d2 of the same one. */
struct hx_gtc_nearest hx_gtc_nearest_ref(const float *starts, uint32_t blocks, const float *x);
struct hx_gtc_nearest hx_gtc_nearest_hvx(const float *starts, uint32_t blocks, const float *x);

/* y [8][n] = end + M (x - q) of x [8][n], n a multiple of 32; q [8], record: float[128].
 * |hvx - ref| <= 2^-18 (|end| + sum of |M| |x - q|). */
void hx_gtc_correct_ref(const float *record, const float *q, const float *x, uint32_t n, float *y);
void hx_gtc_correct_hvx(const float *record, const float *q, const float *x, uint32_t n, float *y);

/* The same of one question: off [8] = x - q, y [8]; nothing of them need be aligned. */
void hx_gtc_correct_one_ref(const float *record, const float *off, float *y);
void hx_gtc_correct_one_hvx(const float *record, const float *off, float *y);

/* --- two stages
 *
 * All of it is f32, rounded after each operation, in this order, so that hvx and ref have the same bits:
 *   off = x - q; d2 = sum over l = 0..7 of off_l^2; g2 = sum over i of (sum over l of g_il off_l) off_i; y_i = end_i, then + M_il off_l
 * |x_l| <= 1e18: beyond, and where x is no number, no record is near, and the answer is record 0 with HX_GTC_NOWHERE. */
enum { HX_GTC_NEAR = 8 };

#define HX_GTC_NOWHERE 3e38f

/* What is looked up in. */
struct hx_gtc_library {
    const float *starts, *records, *metrics; /* hx_trajectories.h */
    uint32_t n, blocks;
};

struct hx_gtc_found {
    uint32_t which;
    float d2, g2; /* squared distances to its start: in coordinates, by its metric */
};

/* x [8]; y [8].  room: floats [blocks * 32], numbers [blocks * 32], for the call. */
struct hx_gtc_found hx_gtc_look_up_ref(const struct hx_gtc_library *l, const float *x, float *y);
struct hx_gtc_found hx_gtc_look_up_hvx(const struct hx_gtc_library *l, const float *x, float *room, uint32_t *numbers, float *y);

#endif
