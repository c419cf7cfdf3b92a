/* Fuzz target: a .cal file from a stranger.  Its CRC-32 is repaired, so that what lies behind it is reached; what parses
 * must write back as the same bytes and make a codec that encodes and decodes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "methods/spinor/cal_file.h"

enum { MIN_BYTES = 44, MAX_SLOTS = 64 };

int hxt_fuzz_one(const uint8_t *data, size_t n);

static int use(const struct hx_cal *cal)
{
    const size_t dh = cal->format.shape->dh;
    struct hx_codec *c = cal->n_slots <= MAX_SLOTS ? hx_cal_codec(cal) : NULL;
    float x[HX_BLOCK_MAX_DH], back[HX_BLOCK_MAX_DH];
    uint8_t block[HX_BLOCK_MAX_SLOT];
    int rc = 0;

    if (!c)
        return 0;
    for (size_t i = 0; i < dh; i++)
        x[i] = (float)(i * 37 % 64) / 16 - 2;
    for (size_t slot = 0; !rc && slot < cal->n_slots; slot++)
        if (!hx_codec_encode(c, slot, x, block)) /* else: wild tables, a residual beyond f32 */
            rc = hx_codec_decode(c, slot, block, back) != 0;
    free(c);
    return rc;
}

int hxt_fuzz_one(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1); /* of exactly this size for ASan */
    struct hx_cal *cal = NULL;
    struct hx_error err;
    int rc = 0;

    if (!copy)
        return 0;
    memcpy(copy, data, n);
    if (n >= MIN_BYTES) {
        const uint32_t crc = hx_crc32(0, copy, n - 4);

        memcpy(copy + n - 4, &crc, sizeof(crc));
    }
    if (!hx_cal_parse(&cal, "fuzz.cal", copy, n, &err))
        rc = cal->n_slots * cal->table_bytes + MIN_BYTES != n || use(cal);
    hx_cal_free(cal);
    free(copy);
    return rc;
}
