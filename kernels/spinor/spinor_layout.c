/* Layout and constants of the HVX tables of spinor blocks, see spinor.h.  No floating point, no C library but memory. */
#include "spinor.h"

#include <string.h>

#include "hx_block_rows.h"

void hx_spinor_note(struct hx_spinor_faults *faults, size_t index)
{
    if (faults->n < HX_SPINOR_FAULTS)
        faults->at[faults->n] = index;
    faults->n++;
}

int hx_spinor_has_hvx(const struct hx_codec_format *f)
{
    return hx_block_is_published(f->shape) && (f->code == HX_CODE_SIGN || f->basis == HX_BASIS_KLT);
}

/* --- layout */

static size_t vectors_of(size_t lanes)
{
    return (lanes + HX_SPINOR_LANES - 1) / HX_SPINOR_LANES;
}

/* Places n vectors at *end, which moves on. */
static size_t place(size_t *end, size_t n)
{
    const size_t at = *end;

    *end += n * sizeof(HVX_Vector);
    return at;
}

static size_t row_vectors(const struct hx_spinor *k, size_t quads)
{
    return k->out_vectors * quads * (sizeof(struct hx_spinor_rows) / sizeof(HVX_Vector));
}

static void build_constants(struct hx_spinor *k)
{
    const size_t lanes = k->f.shape->n_res - (k->res_vectors - 1u) * HX_SPINOR_LANES;
    uint32_t shift3[HX_SPINOR_LANES], shift1[HX_SPINOR_LANES], mask[HX_SPINOR_LANES];

    for (uint32_t j = 0; j < HX_SPINOR_LANES; j++) {
        shift3[j] = 3 * (j % 8);
        shift1[j] = j;
        mask[j] = j < lanes ? UINT32_MAX : 0;
    }
    memcpy(&k->shift3, shift3, sizeof(shift3));
    memcpy(&k->shift1, shift1, sizeof(shift1));
    memcpy(&k->tail_mask, mask, sizeof(mask));
}

/* CRC-8 with init 0 is linear: each bit of a slot flips a fixed set of its bits. */
static void build_checks(struct hx_spinor *k)
{
    const size_t bytes = k->f.shape->slot;
    uint8_t slot[HX_BLOCK_MAX_SLOT] = {0};

    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        const uint32_t one = 1u << bit % 32;

        slot[bit / 8] = (uint8_t)(1u << bit % 8);
        const unsigned flips = hx_crc8(slot, bytes - 1) ^ slot[bytes - 1];
        slot[bit / 8] = 0;
        for (unsigned c = 0; c < 8; c++)
            k->crc[c][bit / 32] |= flips >> c & 1 ? one : 0;
        if (bit / 8 >= k->f.shape->payload && bit / 8 < bytes - 1)
            k->fill[bit / 32] |= one;
    }
}

size_t hx_spinor_common(void)
{
    return vectors_of(sizeof(struct hx_spinor) / sizeof(float) + HX_SPINOR_LANES) *
           sizeof(HVX_Vector);
}

size_t hx_spinor_lay_out(struct hx_spinor *k, const struct hx_codec_format *f, size_t n_slots)
{
    const struct hx_block_shape *s = f->shape;
    const int klt = f->basis == HX_BASIS_KLT;
    size_t end = hx_spinor_common(), in_slot = sizeof(HVX_Vector), columns;

    memset(k, 0, sizeof(*k));
    k->f = *f;
    k->n_slots = (uint32_t)n_slots;
    k->out_vectors = s->dh / HX_SPINOR_LANES;
    k->res_vectors = (uint16_t)vectors_of(s->n_res);
    k->coef_vectors =
        (uint16_t)(k->res_vectors + vectors_of(klt ? HX_BLOCK_SKEL : s->pad - s->n_res));
    k->quads = (uint16_t)((s->n_res + 3) / 4);
    k->slot_words = s->slot / 4;
    k->res_shift = (uint16_t)hx_rows_residual_room(s);
    columns = (size_t)s->dh * k->coef_vectors;
    if (!klt) {
        k->columns_at = place(&end, columns);
        k->res_rows_at = place(&end, row_vectors(k, k->quads));
    }
    k->slot_at = end;
    k->skel_rows_in = place(&in_slot, row_vectors(k, HX_SPINOR_SKEL_QUADS));
    if (klt)
        k->res_rows_in = place(&in_slot, row_vectors(k, k->quads));
    k->encode_in = in_slot;
    if (klt) {
        k->mean_in = place(&in_slot, k->out_vectors);
        k->columns_in = place(&in_slot, columns);
    } else {
        k->w_in = place(&in_slot, (size_t)HX_BLOCK_SKEL * k->res_vectors);
    }
    k->slot_bytes = in_slot;
    build_constants(k);
    build_checks(k);
    if (n_slots > UINT32_MAX / in_slot)
        return 0;
    return k->slot_at + n_slots * in_slot;
}

size_t hx_spinor_bytes(const struct hx_codec_format *f, size_t n_slots)
{
    struct hx_spinor k;
    const size_t bytes = hx_spinor_has_hvx(f) ? hx_spinor_lay_out(&k, f, n_slots) : 0;

    return bytes <= UINT32_MAX ? bytes : 0;
}
