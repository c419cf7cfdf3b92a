/* What a matrix makes of a basis: W V, kept direction by direction, so that a direction more is a row more.
 *
 * Numbers are f32, f16 or Q8_0 along a row; products and sums are f32, in the order of the directions. */
#ifndef HX_IMAGE_H
#define HX_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/linear.h"

enum { HX_IMAGE_STRIP = 256 }; /* outputs that are made at a time, a multiple of all formats' blocks */

struct hx_image {
    uint8_t *at; /* [room][rows] */
    uint32_t type;
    size_t rows, row_bytes; /* rows: of the matrix */
};

/* rows is a multiple of the type's block.  0 or -ENOMEM; to be freed in any case. */
int hx_image_open(struct hx_image *im, uint32_t type, size_t rows, size_t room);

/* Accepts zeros. */
void hx_image_free(struct hx_image *im);

/* Direction j: column [rows] = W v_j. */
void hx_image_set(struct hx_image *im, size_t j, const float *column);

/* column [rows] = W v by the reference; scratch: [cols]. */
int hx_image_column(const struct hx_linear *w, const float *v, float *column, float *scratch, struct hx_error *err);

/* A few vectors of a batch. */
struct hx_image_in {
    const float *z;     /* [..][stride] coefficients, 0 for directions that a vector does not use */
    size_t stride, k;   /* directions */
    const size_t *at;   /* [n] which of them */
    size_t n;
};

/* y[at[i]][r] = sum over j of z[at[i]][j] * image[j][r], for r in strip number `strip`.  y: [..][rows].  Any thread. */
void hx_image_apply(const struct hx_image *im, const struct hx_image_in *in, float *y, size_t strip);

static inline size_t hx_image_strips(const struct hx_image *im)
{
    return (im->rows + HX_IMAGE_STRIP - 1) / HX_IMAGE_STRIP;
}

#endif
