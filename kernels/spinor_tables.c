/* What the two versions of the spinor codec share: row order, validation, levels, and the HVX version's tables. */
#include "spinor.h"

#include <stdbool.h>
#include <string.h>

#include "hx_f16.h"
#include "hx_vht2.h"

#define F16_EXPONENT 0x7c00u
#define F32_INFINITY 0x7f800000u

void hx_spinor_residual_rows(uint8_t rows[HX_BLOCK_RES])
{
    size_t n = 0;

    for (size_t i = 0; i < HX_BLOCK_PAD; i++)
        if (!hx_squarefree_index(i))
            rows[n++] = (uint8_t)i;
}

static bool f16_finite(uint16_t h)
{
    return (h & F16_EXPONENT) != F16_EXPONENT;
}

int hx_spinor_check_table(const struct hx_block_table *t)
{
    if (t->reserved[0] || t->reserved[1])
        return AEE_EBADPARM;
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
        size_t i = t->skeleton[j];

        if (i >= HX_BLOCK_PAD || !hx_squarefree_index(i) || (j && i <= t->skeleton[j - 1]))
            return AEE_EBADPARM;
    }
    for (size_t r = 0; r < HX_BLOCK_RES; r++)
        for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
            if (!f16_finite(t->w[r][j]))
                return AEE_EBADPARM;
    return AEE_SUCCESS;
}

int hx_spinor_check_block(const struct hx_block *b)
{
    uint32_t amax;

    if (hx_crc8(b, HX_BLOCK_PAYLOAD) != b->crc)
        return AEE_EBADITEM;
    memcpy(&amax, b->amax, sizeof(amax));
    if (amax >= F32_INFINITY) /* also every pattern with the sign bit */
        return AEE_EBADITEM;
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++)
        if (!f16_finite(b->skeleton[j]))
            return AEE_EBADITEM;
    return AEE_SUCCESS;
}

void hx_spinor_levels(float amax, float level[8])
{
    for (int m = 0; m < 8; m++)
        level[m] = (float)(m * (double)amax / 7);
}

/* --- HVX tables */

size_t hx_spinor_bytes(size_t n_slots)
{
    const size_t limit = UINT32_MAX;

    if (n_slots > (limit - sizeof(struct hx_spinor)) / sizeof(struct hx_spinor_slot))
        return 0;
    return sizeof(struct hx_spinor) + n_slots * sizeof(struct hx_spinor_slot);
}

/* row_of[lane]: the coefficient index that a lane holds, for lanes 0..153. */
static void lane_order(uint8_t row_of[HX_BLOCK_PAD])
{
    size_t n = HX_BLOCK_RES;

    hx_spinor_residual_rows(row_of);
    for (size_t i = 0; i < HX_BLOCK_PAD; i++)
        if (hx_squarefree_index(i))
            row_of[n++] = (uint8_t)i;
}

/* The padding is linear in x (each pad value is the mean), so it is folded into the map: column i is the transform of
 * the padded unit vector e_i. */
static void build_analysis(struct hx_spinor *k, const uint8_t *row_of)
{
    for (size_t i = 0; i < HX_BLOCK_DH; i++) {
        double c[HX_BLOCK_PAD] = {0};
        float lanes[HX_SPINOR_COEF_VECTORS * HX_SPINOR_LANES] = {0};

        c[i] = 1;
        for (size_t p = HX_BLOCK_DH; p < HX_BLOCK_PAD; p++)
            c[p] = 1.0 / HX_BLOCK_DH;
        hx_vht2_f64(c, HX_BLOCK_PAD);
        for (size_t lane = 0; lane < HX_BLOCK_PAD; lane++)
            lanes[lane] = (float)c[row_of[lane]];
        memcpy(k->analysis[i], lanes, sizeof(lanes));
    }
}

/* VHT2 is its own inverse: row `lane` is the transform of that coefficient's unit vector, cut to 128. */
static void build_synthesis(struct hx_spinor *k, const uint8_t *row_of)
{
    for (size_t lane = 0; lane < HX_BLOCK_PAD; lane++) {
        double c[HX_BLOCK_PAD] = {0};
        float x[HX_BLOCK_DH];

        c[row_of[lane]] = 1;
        hx_vht2_f64(c, HX_BLOCK_PAD);
        for (size_t i = 0; i < HX_BLOCK_DH; i++)
            x[i] = (float)c[i];
        memcpy(k->synthesis[lane], x, sizeof(x));
    }
}

static void build_constants(struct hx_spinor *k)
{
    uint32_t shift3[HX_SPINOR_LANES], shift1[HX_SPINOR_LANES], mask[HX_SPINOR_LANES];

    for (uint32_t j = 0; j < HX_SPINOR_LANES; j++) {
        shift3[j] = 3 * (j % 8);
        shift1[j] = j;
        mask[j] = j < HX_BLOCK_RES - HX_SPINOR_LANES ? UINT32_MAX : 0;
    }
    memcpy(&k->shift3, shift3, sizeof(shift3));
    memcpy(&k->shift1, shift1, sizeof(shift1));
    memcpy(&k->tail_mask, mask, sizeof(mask));
}

static void build_slot(struct hx_spinor_slot *s, const struct hx_block_table *t,
                       const uint8_t *row_of)
{
    for (size_t j = 0; j < HX_BLOCK_SKEL; j++) {
        float column[HX_SPINOR_RES_VECTORS * HX_SPINOR_LANES] = {0};

        for (size_t r = 0; r < HX_BLOCK_RES; r++)
            column[r] = hx_f32_from_f16(t->w[r][j]);
        memcpy(s->w[j], column, sizeof(column));
        for (size_t lane = HX_BLOCK_RES; lane < HX_BLOCK_PAD; lane++)
            if (row_of[lane] == t->skeleton[j])
                s->skel_lane[j] = (uint8_t)lane;
    }
}

int hx_spinor_init(struct hx_spinor *vtcm, size_t bytes, const struct hx_block_table *tables,
                   size_t n_slots)
{
    uint8_t row_of[HX_BLOCK_PAD];

    if ((uintptr_t)vtcm % sizeof(HVX_Vector) || n_slots == 0)
        return AEE_EBADPARM;
    if (hx_spinor_bytes(n_slots) == 0 || bytes < hx_spinor_bytes(n_slots))
        return AEE_ENOMEMORY;
    for (size_t s = 0; s < n_slots; s++)
        if (hx_spinor_check_table(&tables[s]))
            return AEE_EBADPARM;

    lane_order(row_of);
    build_analysis(vtcm, row_of);
    build_synthesis(vtcm, row_of);
    build_constants(vtcm);
    vtcm->n_slots = (uint32_t)n_slots;
    for (size_t s = 0; s < n_slots; s++)
        build_slot(&vtcm->slot[s], &tables[s], row_of);
    return AEE_SUCCESS;
}
