/* Weights of a model in the DSP's layout, rpc/block/hx_weights.h. */
#ifndef HX_LINEAR_PACK_H
#define HX_LINEAR_PACK_H

#include "hx_weights.h"
#include "engine/linear.h"

/* What w becomes: Q8_0 stays what it is, bit for bit; F16 and F32 are rounded to int8 with one scale per row
 * (max |w| / 127, halves away from zero). */
enum hx_weights_type hx_linear_pack_type(const struct hx_linear *w);

/* Bytes of it; 0: more rows or columns than the layout takes. */
size_t hx_linear_pack_bytes(const struct hx_linear *w);

/* Fills out, hx_linear_pack_bytes(w) bytes at a multiple of 4; row: [cols] f32, scratch.  0; -EDOM with the place: a weight is
 * an infinity or no number, which int8 has not. */
int hx_linear_pack(const struct hx_linear *w, uint8_t *out, float *row, struct hx_error *err);

/* The same of a basis, whose rows are directions: f16 (HX_WEIGHTS_BASIS). */
size_t hx_linear_pack_basis_bytes(const struct hx_linear *w);
int hx_linear_pack_basis(const struct hx_linear *w, uint8_t *out, float *row, struct hx_error *err);

#endif
