/* What a matrix makes of a basis, see image.h. */
#include "image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "quant/quant.h"

int hx_image_open(struct hx_image *im, uint32_t type, size_t rows, size_t room)
{
    *im = (struct hx_image){.type = type, .rows = rows, .row_bytes = hx_quant_row_bytes(type, rows)};
    im->at = calloc(room * im->row_bytes + 1, 1);
    return im->at ? 0 : -ENOMEM;
}

void hx_image_free(struct hx_image *im)
{
    free(im->at);
    *im = (struct hx_image){0};
}

void hx_image_set(struct hx_image *im, size_t j, const float *column)
{
    hx_quant_info(im->type)->narrow(im->at + j * im->row_bytes, column, im->rows);
}

int hx_image_column(const struct hx_linear *w, const float *v, float *column, float *scratch, struct hx_error *err)
{
    return hx_linear_ref.apply(&w, &column, 1, v, 1, scratch, err);
}

static void add_scaled(float *to, const float *row, float z, size_t n)
{
    size_t r = 0;

    for (; r + 16 <= n; r += 16) {
        const hx_v16 sum = hx_v16_load(to + r) + z * hx_v16_load(row + r);

        memcpy(to + r, &sum, sizeof(sum));
    }
    for (; r < n; r++)
        to[r] += z * row[r];
}

/* Direction j's part of all vectors that use it. */
static void add_row(const float *row, const struct hx_image_in *in, size_t j, float *y, size_t rows, size_t n)
{
    for (size_t i = 0; i < in->n; i++) {
        const float z = in->z[in->at[i] * in->stride + j];

        if (z != 0)
            add_scaled(y + in->at[i] * rows, row, z, n);
    }
}

void hx_image_apply(const struct hx_image *im, const struct hx_image_in *in, float *y, size_t strip)
{
    const struct hx_quant_info *q = hx_quant_info(im->type);
    const size_t first = strip * HX_IMAGE_STRIP, left = im->rows - first;
    const size_t n = left < HX_IMAGE_STRIP ? left : HX_IMAGE_STRIP;
    float row[HX_IMAGE_STRIP];

    for (size_t i = 0; i < in->n; i++)
        memset(y + in->at[i] * im->rows + first, 0, n * sizeof(*y));
    for (size_t j = 0; j < in->k; j++) {
        const uint8_t *from = im->at + j * im->row_bytes + first / q->weights * q->bytes;

        if (im->type == HX_QUANT_F32) {
            add_row((const float *)from, in, j, y + first, im->rows, n);
            continue;
        }
        q->widen(row, from, n);
        add_row(row, in, j, y + first, im->rows, n);
    }
}
