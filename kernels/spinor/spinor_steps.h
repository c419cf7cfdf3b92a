/* Encode and decode of blocks that have no tables of rows and columns (hx_spinor_has_hvx()): code sheet with a predictor, and other
 * numbers of lanes than the published ones.
 *
 * The codec's own tables, step by step in f32: the transform of vht2_pad.h, or products with the rows of klt; prediction;
 * planes by hx_spinor_pack_hvx() and back.  Slower than the tables, some thousand pcycles a vector, but all of it has a listing.
 * Blocks are those of hx_codec_encode() but for the neighbours that spinor.h allows (residuals that are all below 2^-118 are coded as
 * 0), decoded values are within 2^-17 of the largest one times sqrt of the padded length.
 *
 * k: laid out for the codec's format, without tables (hx_spinor_lay_out()).  Functions return AEE codes and allocate nothing;
 * buffers are borrowed for the call, any alignment.  The calling thread holds an HVX context. */
#ifndef SPINOR_STEPS_H
#define SPINOR_STEPS_H

#include "spinor.h"

/* x [dh], block: one slot.  AEE_EBADPARM as of an encode in spinor.h, AEE_EBADITEM: a corrupt block; then nothing is written. */
int hx_steps_encode(const struct hx_spinor *k, const struct hx_codec *c, size_t slot, const float *x, void *block);
int hx_steps_decode(const struct hx_spinor *k, const struct hx_codec *c, size_t slot, const void *block, float *x);

/* Prediction of the residual lanes, [n_res]; zeros for klt. */
void hx_steps_predict(const struct hx_codec *c, size_t slot, const uint16_t *skeleton, float *prediction);

#endif
