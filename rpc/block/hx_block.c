/* Shapes of a spinor block, the layout of its tables, and how its bits are set, read and checked. */
#include "hx_block.h"

#include <string.h>

#include "hx_vht2.h"

#define F16_EXPONENT 0x7c00u
#define F32_INFINITY 0x7f800000u

const struct hx_block_shape hx_block_shapes[HX_BLOCK_SHAPES] = {
    {64, 66, 25, 28, 38, 42, 46, 64, HX_BLOCK_SKEL},
    {128, 154, 60, 28, 51, 59, 63, 64, HX_BLOCK_SKEL},
    {256, 330, 127, 28, 76, 92, 96, 128, HX_BLOCK_SKEL},
    {512, 770, 300, 28, 141, 179, 183, 192, HX_BLOCK_SKEL},
};

const char *const hx_block_basis_names[] = {"vht2", "vht2w", "klt", NULL};
const char *const hx_block_code_names[] = {"sign", "sheet", NULL};
const char *const hx_block_fault_names[] = {"good", "crc", "fill", "skeleton", "amax"};

const struct hx_block_shape *hx_block_shape(size_t dh)
{
    for (size_t i = 0; i < HX_BLOCK_SHAPES; i++)
        if (hx_block_shapes[i].dh == dh)
            return &hx_block_shapes[i];
    return NULL;
}

int hx_block_is_published(const struct hx_block_shape *s)
{
    return hx_block_shape(s->dh) == s;
}

/* Rows of vht2w: whatever is neither dropped nor in the skeleton. */
static size_t n_predicted(const struct hx_block_shape *s)
{
    const struct hx_block_shape *published = hx_block_shape(s->dh);
    const size_t dropped = published ? (size_t)published->n_res - s->n_res : 0; /* every shape has a published one */

    return (size_t)s->pad - dropped - s->n_skel;
}

size_t hx_block_table_bytes(const struct hx_block_shape *s, uint32_t basis)
{
    const size_t head = s->n_skel + 2u;
    const size_t values[HX_BASES] = {
        [HX_BASIS_VHT2] = head + (size_t)s->n_res * s->n_skel,
        [HX_BASIS_VHT2W] = head + n_predicted(s) * s->n_skel,
        [HX_BASIS_KLT] = s->dh + s->n_res + (size_t)(s->n_skel + s->n_res) * s->dh,
    };

    return basis < HX_BASES ? values[basis] * sizeof(uint16_t) : 0;
}

void hx_block_residual_rows(const struct hx_block_shape *s, uint16_t *rows)
{
    size_t n = 0;

    for (size_t i = 0; n < s->n_res; i++)
        if (!hx_squarefree_index(i))
            rows[n++] = (uint16_t)i;
}

size_t hx_block_predicted(const struct hx_block_shape *s, uint32_t basis,
                          const uint16_t *skeleton, uint16_t *rows)
{
    size_t n = s->n_res, j = 0;

    hx_block_residual_rows(s, rows);
    if (basis != HX_BASIS_VHT2W)
        return n;
    for (size_t i = 0; i < s->pad; i++) {
        if (!hx_squarefree_index(i))
            continue;
        if (j < s->n_skel && skeleton[j] == i)
            j++;
        else
            rows[n++] = (uint16_t)i;
    }
    return n;
}

uint16_t hx_block_skeleton(const void *block, size_t j)
{
    uint16_t h;

    memcpy(&h, (const uint8_t *)block + 2 * j, sizeof(h));
    return h;
}

float hx_block_amax(const struct hx_block_shape *s, const void *block)
{
    float amax;

    memcpy(&amax, (const uint8_t *)block + s->off_amax, sizeof(amax));
    return amax;
}

enum hx_block_fault hx_block_payload_fault(const struct hx_block_shape *s, const void *payload)
{
    uint32_t amax;

    for (size_t j = 0; j < s->n_skel; j++)
        if ((hx_block_skeleton(payload, j) & F16_EXPONENT) == F16_EXPONENT)
            return HX_BLOCK_BAD_SKELETON;
    memcpy(&amax, (const uint8_t *)payload + s->off_amax, sizeof(amax));
    if (amax >= F32_INFINITY) /* which covers every pattern with the sign bit */
        return HX_BLOCK_BAD_AMAX;
    return HX_BLOCK_GOOD;
}

enum hx_block_fault hx_block_fault(const struct hx_block_shape *s, const void *block)
{
    const uint8_t *b = block;

    if (hx_crc8(b, s->slot - 1u) != b[s->slot - 1])
        return HX_BLOCK_BAD_CRC;
    for (size_t i = s->payload; i < s->slot - 1u; i++)
        if (b[i])
            return HX_BLOCK_BAD_FILL;
    return hx_block_payload_fault(s, block);
}

unsigned hx_block_magnitude(const struct hx_block_shape *s, const void *block, size_t i)
{
    const uint8_t *plane = (const uint8_t *)block + s->off_mag;
    unsigned m = 0;

    for (size_t bit = 3 * i; bit < 3 * i + 3; bit++)
        m |= ((unsigned)plane[bit / 8] >> bit % 8 & 1) << (bit - 3 * i);
    return m;
}

unsigned hx_block_phase(const struct hx_block_shape *s, const void *block, size_t i)
{
    const uint8_t *plane = (const uint8_t *)block + s->off_phase;

    return (unsigned)plane[i / 8] >> i % 8 & 1;
}

void hx_block_set_planes(const struct hx_block_shape *s, void *block, const uint8_t *magnitude,
                         const uint8_t *phase)
{
    uint8_t *mag = (uint8_t *)block + s->off_mag, *ph = (uint8_t *)block + s->off_phase;

    memset(mag, 0, (size_t)(s->off_amax - s->off_mag));
    for (size_t i = 0; i < s->n_res; i++) {
        for (size_t bit = 0; bit < 3; bit++)
            mag[(3 * i + bit) / 8] |= (uint8_t)((magnitude[i] >> bit & 1u) << (3 * i + bit) % 8);
        ph[i / 8] |= (uint8_t)((phase[i] & 1u) << i % 8);
    }
}

void hx_block_seal(const struct hx_block_shape *s, void *block)
{
    uint8_t *b = block;

    memset(b + s->payload, 0, (size_t)(s->slot - s->payload));
    b[s->slot - 1] = hx_crc8(b, s->slot - 1u);
}
