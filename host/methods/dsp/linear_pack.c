/* Weights in the DSP's layout, see linear_pack.h. */
#include "linear_pack.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "gguf/gguf.h"
#include "hx_f16.h"

enum { BLOCK_CODES = HX_WEIGHTS_CODE_VECTORS * HX_WEIGHTS_VECTOR };

enum hx_weights_type hx_linear_pack_type(const struct hx_linear *w)
{
    return w->type == HX_QUANT_Q8_0 ? HX_WEIGHTS_Q8_0 : HX_WEIGHTS_ROW8;
}

size_t hx_linear_pack_bytes(const struct hx_linear *w)
{
    return hx_weights_bytes(hx_linear_pack_type(w), w->rows, w->cols);
}

/* Weight i of lane l in a block. */
static void put_code(uint8_t *block, size_t l, size_t i, int weight)
{
    block[i / 4 * HX_WEIGHTS_VECTOR + 4 * l + i % 4] = (uint8_t)(weight + HX_WEIGHTS_ZERO);
}

static void put_scale(uint8_t *scales, size_t l, float scale)
{
    memcpy(scales + l * sizeof(scale), &scale, sizeof(scale));
}

static int bad_row(size_t r, struct hx_error *err)
{
    return hx_error_set(err, -EDOM, "row %zu holds an infinity or NaN: the model is damaged", r);
}

static int pack_q8(const struct hx_linear *w, size_t r, uint8_t *group, struct hx_error *err)
{
    const size_t blocks = w->cols / HX_Q8_0_WEIGHTS, l = r % HX_WEIGHTS_ROWS;
    const uint8_t *from = (const uint8_t *)w->w + r * blocks * HX_Q8_0_BYTES;

    for (size_t b = 0; b < blocks; b++, from += HX_Q8_0_BYTES) {
        uint8_t *to = group + b * (BLOCK_CODES + HX_WEIGHTS_VECTOR);
        uint16_t half;

        memcpy(&half, from, sizeof(half));
        if (!isfinite(hx_f32_from_f16(half)))
            return bad_row(r, err);
        for (size_t i = 0; i < HX_Q8_0_WEIGHTS; i++)
            put_code(to, l, i, (int8_t)from[2 + i]);
        put_scale(to + BLOCK_CODES, l, hx_f32_from_f16(half));
    }
    return 0;
}

static int pack_row8(const struct hx_linear *w, size_t r, uint8_t *group, float *row,
                     struct hx_error *err)
{
    const size_t l = r % HX_WEIGHTS_ROWS;
    float top = 0;

    hx_linear_row(w, r, row);
    for (size_t i = 0; i < w->cols; i++) {
        if (!isfinite(row[i]))
            return bad_row(r, err);
        top = fmaxf(top, fabsf(row[i]));
    }
    for (size_t i = 0; i < w->cols; i++) {
        const int code = top > 0 ? (int)roundf(row[i] * 127 / top) : 0;

        put_code(group + i / HX_WEIGHTS_BLOCK * BLOCK_CODES, l, i % HX_WEIGHTS_BLOCK, code);
    }
    put_scale(group + hx_weights_blocks(w->cols) * BLOCK_CODES, l, top / 127);
    return 0;
}

/* Weights 0, scales 0. */
static void clear_group(enum hx_weights_type type, size_t blocks, uint8_t *group)
{
    const size_t step = BLOCK_CODES + (type == HX_WEIGHTS_Q8_0 ? HX_WEIGHTS_VECTOR : 0);

    memset(group, 0, hx_weights_group_bytes(type, blocks * HX_WEIGHTS_BLOCK));
    for (size_t b = 0; b < blocks; b++)
        memset(group + b * step, HX_WEIGHTS_ZERO, BLOCK_CODES);
}

int hx_linear_pack(const struct hx_linear *w, uint8_t *out, float *row, struct hx_error *err)
{
    const enum hx_weights_type type = hx_linear_pack_type(w);
    const size_t bytes = hx_weights_group_bytes(type, w->cols);
    int rc = 0;

    for (size_t r = 0; !rc && r < w->rows; r++) {
        uint8_t *group = out + r / HX_WEIGHTS_ROWS * bytes;

        if (r % HX_WEIGHTS_ROWS == 0)
            clear_group(type, hx_weights_blocks(w->cols), group);
        rc = type == HX_WEIGHTS_Q8_0 ? pack_q8(w, r, group, err) : pack_row8(w, r, group, row, err);
    }
    return rc;
}

size_t hx_linear_pack_basis_bytes(const struct hx_linear *w)
{
    return hx_weights_bytes(HX_WEIGHTS_BASIS, w->rows, w->cols);
}

int hx_linear_pack_basis(const struct hx_linear *w, uint8_t *out, float *row, struct hx_error *err)
{
    uint16_t *to = (uint16_t *)out;

    memset(out, 0, hx_linear_pack_basis_bytes(w));
    for (size_t r = 0; r < w->rows; r++, to += hx_weights_direction_vectors(w->cols) * HX_WEIGHTS_HALVES) {
        hx_linear_row(w, r, row);
        for (size_t i = 0; i < w->cols; i++) {
            to[i] = hx_f16_from_f32(row[i]);
            if (!isfinite(hx_f32_from_f16(to[i])))
                return bad_row(r, err);
        }
    }
    return 0;
}
