/* Fuzz target: a block from a stranger.  Input: one byte that chooses head dimension, basis, code and whether the CRC is
 * repaired; a record.  Whatever fault it has, nothing outside of it is read; a block without fault decodes, and its
 * planes put back give the same bytes where the format has no freedom. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hx_block_codec.h"

enum { FORMATS = HX_BLOCK_SHAPES * HX_BASES * HX_CODES };

int hxt_fuzz_one(const uint8_t *data, size_t n);

/* Codecs whose tables are zeros but for what must not be 0: the skeleton's order, klt's scales. */
static const struct hx_codec *codec_of(size_t n)
{
    static struct hx_codec *all[FORMATS];
    struct hx_codec_format f;
    uint16_t *t;

    if (all[n])
        return all[n];
    hx_codec_format(&f, hx_block_shapes[n / (HX_BASES * HX_CODES)].dh, n / HX_CODES % HX_BASES,
                    n % HX_CODES);
    t = calloc(1, hx_block_table_bytes(f.shape, f.basis));
    for (size_t i = 0; f.basis == HX_BASIS_KLT && i < f.shape->n_res; i++)
        t[f.shape->dh + i] = 0x3c00;
    for (size_t j = 0; f.basis != HX_BASIS_KLT && j < HX_BLOCK_SKEL; j++)
        t[j] = (uint16_t[]){0, 1, 2, 4, 5, 6, 9, 10, 12, 13, 14, 16, 18, 20}[j];
    if (hx_codec_check_table(&f, t))
        abort();
    all[n] = hx_codec_init(malloc(hx_codec_bytes(&f, 1)), &f, t, 1);
    free(t);
    return all[n];
}

/* 0 when planes survive a reading and a writing. */
static int rewrite(const struct hx_block_shape *s, const uint8_t *block)
{
    uint8_t mag[HX_BLOCK_MAX_RES], phase[HX_BLOCK_MAX_RES], again[HX_BLOCK_MAX_SLOT];

    memcpy(again, block, s->slot);
    for (size_t i = 0; i < s->n_res; i++) {
        mag[i] = (uint8_t)hx_block_magnitude(s, block, i);
        phase[i] = (uint8_t)hx_block_phase(s, block, i);
    }
    hx_block_set_planes(s, again, mag, phase);
    for (size_t i = 0; i < s->n_res; i++)
        if (hx_block_magnitude(s, again, i) != mag[i] || hx_block_phase(s, again, i) != phase[i])
            return 1;
    return 0;
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    float x[HX_BLOCK_MAX_DH];
    int rc = 0;

    if (n == 0)
        return 0;
    const struct hx_codec *c = codec_of(data[0] % FORMATS);
    const struct hx_block_shape *s = hx_codec_format_of(c)->shape;
    uint8_t *slot = calloc(1, s->slot); /* of exactly this size for ASan */
    uint8_t *payload = malloc(s->payload);

    if (!slot || !payload)
        abort();
    memcpy(slot, data + 1, n - 1 < s->slot ? n - 1 : s->slot);
    if (data[0] >= 128)
        hx_block_seal(s, slot);
    memcpy(payload, slot, s->payload);
    if (hx_block_fault(s, slot) == HX_BLOCK_GOOD) {
        rc = rewrite(s, slot) || hx_codec_decode(c, 0, slot, x) ||
             hx_block_payload_fault(s, payload);
    } else if (!hx_codec_decode(c, 0, slot, x)) {
        rc = 1;
    }
    if (!hx_block_payload_fault(s, payload))
        rc |= hx_codec_decode_payload(c, 0, payload, x);
    free(slot);
    free(payload);
    return rc;
}
