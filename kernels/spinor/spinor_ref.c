/* The reference codec with AEE codes: batches of any format, and head dimension 128, basis vht2 without tables to keep.
 * See spinor.h. */
#include "spinor.h"

#include <errno.h>
#include <string.h>

static int aee(int rc)
{
    return rc == 0 ? AEE_SUCCESS : rc == -EBADMSG ? AEE_EBADITEM : AEE_EBADPARM;
}

static int in_range(const struct hx_codec *c, size_t first, size_t n_slots)
{
    return n_slots <= hx_codec_slots(c) && first <= hx_codec_slots(c) - n_slots;
}

int hx_spinor_encode_batch_ref(const struct hx_codec *c, size_t first, size_t n_slots, size_t n_pos,
                               const float *x, void *blocks, struct hx_spinor_faults *faults)
{
    const struct hx_block_shape *s = hx_codec_format_of(c)->shape;
    uint8_t *out = blocks;

    faults->n = 0;
    if (!in_range(c, first, n_slots) || (uintptr_t)x % sizeof(*x))
        return AEE_EBADPARM;
    for (size_t i = 0; i < n_slots * n_pos; i++) {
        int rc = hx_codec_encode(c, first + i % n_slots, x + i * s->dh, out + i * s->slot);

        if (rc) {
            hx_spinor_note(faults, i);
            return aee(rc);
        }
    }
    return AEE_SUCCESS;
}

int hx_spinor_decode_batch_ref(const struct hx_codec *c, size_t first, size_t n_slots, size_t n_pos,
                               const void *blocks, float *x, struct hx_spinor_faults *faults)
{
    const struct hx_block_shape *s = hx_codec_format_of(c)->shape;
    const uint8_t *in = blocks;

    faults->n = 0;
    if (!in_range(c, first, n_slots) || (uintptr_t)x % sizeof(*x))
        return AEE_EBADPARM;
    for (size_t i = 0; i < n_slots * n_pos; i++) {
        uint8_t copy[HX_BLOCK_MAX_SLOT]; /* the client may be writing: what was checked is what is used */

        memcpy(copy, in + i * s->slot, s->slot);
        int rc = hx_codec_decode(c, first + i % n_slots, copy, x + i * s->dh);

        if (rc)
            hx_spinor_note(faults, i);
    }
    return faults->n ? AEE_EBADITEM : AEE_SUCCESS;
}

/* The residual of coefficients that are 0 is minus the prediction. */
void hx_spinor_predict_ref(const struct hx_codec *c, size_t slot,
                           const uint16_t *skeleton, float *prediction)
{
    static const double zero[HX_BLOCK_MAX_PAD];
    struct hx_codec_residual r;

    hx_codec_residual(c, slot, zero, skeleton, &r);
    for (size_t i = 0; i < hx_codec_format_of(c)->shape->n_res; i++)
        prediction[i] = r.r[i] == 0 ? 0 : r.sheet[i] ? r.r[i] : -r.r[i];
}

/* --- head dimension 128, basis vht2 */

/* A codec of one table on the stack. */
struct one {
    _Alignas(16) uint8_t memory[8192];
    const struct hx_codec *codec;
};

static const struct hx_codec *open_one(struct one *o, const struct hx_block_table *t)
{
    struct hx_codec_format f;

    hx_codec_format(&f, HX_BLOCK_DH, HX_BASIS_VHT2, HX_CODE_SIGN);
    _Static_assert(sizeof(o->memory) > sizeof(*t) * 2 + HX_BLOCK_MAX_PAD * 2 + 512, "one slot");
    return hx_codec_init(o->memory, &f, t, 1);
}

void hx_spinor_coefficients_ref(const float x[HX_BLOCK_DH], double c[HX_BLOCK_PAD])
{
    static const struct hx_block_table none; /* the transform needs no table */
    struct one o;

    hx_codec_coefficients(open_one(&o, &none), 0, x, c);
}

void hx_spinor_residual_ref(const struct hx_block_table *t, const double c[HX_BLOCK_PAD],
                            const uint16_t skeleton[HX_BLOCK_SKEL], float residual[HX_BLOCK_RES],
                            float *amax)
{
    struct hx_codec_residual r;
    struct one o;

    hx_codec_residual(open_one(&o, t), 0, c, skeleton, &r);
    memcpy(residual, r.r, HX_BLOCK_RES * sizeof(*residual));
    *amax = r.amax;
}

void hx_spinor_pack_ref(const float residual[HX_BLOCK_RES], float amax, struct hx_block *b)
{
    struct hx_codec_residual r = {.amax = amax};
    struct hx_codec_format f;

    hx_codec_format(&f, HX_BLOCK_DH, HX_BASIS_VHT2, HX_CODE_SIGN);
    memcpy(r.r, residual, HX_BLOCK_RES * sizeof(*residual));
    hx_codec_pack(&f, &r, b);
}

int hx_spinor_encode_ref(const struct hx_block_table *t, const float x[HX_BLOCK_DH],
                         struct hx_block *out)
{
    struct one o;

    return aee(hx_codec_encode(open_one(&o, t), 0, x, out));
}

int hx_spinor_decode_ref(const struct hx_block_table *t, const struct hx_block *in,
                         float x[HX_BLOCK_DH])
{
    struct one o;

    return aee(hx_codec_decode(open_one(&o, t), 0, in, x));
}
