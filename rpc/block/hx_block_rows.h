/* A table of spinor blocks as the numbers that the DSP's tables are made of (spinor.h of the kernels, hx_block_dsp.h): the encoder
 * multiplies columns of f32, the decoder rows of integers, into which padding, predictor and transform are folded.
 *
 * For formats with published shapes.  Any thread may call; nothing is allocated or kept. */
#ifndef HX_BLOCK_ROWS_H
#define HX_BLOCK_ROWS_H

#include "hx_block_codec.h"

enum { HX_ROWS_SKEL = 16 }; /* rows of the skeleton: its 14 lanes, the mean, zeros */

/* One slot's table, taken apart.  Borrows format and table. */
struct hx_rows {
    const struct hx_codec_format *f;
    const uint8_t *table;
    uint16_t skeleton[HX_BLOCK_SKEL];      /* vht2, vht2w */
    uint16_t predicted[HX_BLOCK_MAX_PAD];
    size_t n_predicted;
    int mean_exp;       /* klt: the mean's row is the mean times 2^-mean_exp, between 1/4 and 1/2 where that can be */
    uint16_t mean_half; /* 2^mean_exp as fp16, which lane 14 of the skeleton holds; 0: no mean */
};

/* table: passed hx_codec_check_table(), any alignment.  NULL, but for klt: hx_rows_residual() and hx_rows_column() alone may follow,
 * which do not depend on a slot there. */
void hx_rows_init(struct hx_rows *r, const struct hx_codec_format *f, const void *table);

/* Gets row [dh] of a lane, valid during the call. */
typedef void hx_row_fn(void *to, size_t lane, const int16_t *row);

/* x = mean + sum of skeleton times row + sum of residual times row.
 *
 * skeleton: HX_ROWS_SKEL rows in units of 2^-e, a power of two such that 15 products with values below 2^14 fit int32; returns e.
 * residual: n_res rows in units of the returned value. */
int hx_rows_skeleton(const struct hx_rows *r, hx_row_fn *put, void *to);
float hx_rows_residual(const struct hx_rows *r, hx_row_fn *put, void *to);

/* By so many bits a sum of residual rows, signed magnitudes times integers, may be shifted to the left. */
static inline int hx_rows_residual_room(const struct hx_block_shape *s)
{
    const uint32_t lanes = (s->n_res + 3u) / 4 * 4;
    int room = 0;

    for (uint32_t sum = lanes * 7 * INT16_MAX; sum < 1u << 30; sum *= 2)
        room++;
    return room;
}

/* What x[i] adds to each coefficient, in the order of hx_codec_coefficients(). */
void hx_rows_column(const struct hx_rows *r, size_t i, float *column);

/* What skeleton lane j adds to the prediction of each residual lane: w[n_res].  vht2, vht2w. */
void hx_rows_predictor(const struct hx_rows *r, size_t j, float *w);

/* The mean, [dh].  klt. */
void hx_rows_mean(const struct hx_rows *r, float *mean);

#endif
