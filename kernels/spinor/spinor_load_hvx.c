/* Vectors and blocks as they come from the client's buffers, see spinor_group.h.  This file is built with the memory trace
 * (Makefile), so that loads from DDR cost modelled time. */
#include "spinor_group.h"

#define MAX_ABS_BITS 0x71800000u /* HX_SPINOR_MAX_ABS, 2^100 */

/* By assignment: what a compiler makes of memcpy() is a load that the trace sees only where the host has registers of 64 bytes. */
struct half_vector {
    uint8_t b[64];
};

/* Of one block and of the next one. */
static HVX_Vector two(const uint8_t *const *blocks, size_t at, size_t there)
{
    union {
        HVX_Vector v;
        struct half_vector half[2];
    } both;

    if (there >= 2 && blocks[1] == blocks[0] + 64)
        return *(const HVX_UVector *)(blocks[0] + at);
    both.v = Q6_V_vzero();
    for (size_t i = 0; i < 2 && i < there; i++)
        both.half[i] = *(const struct half_vector *)(blocks[i] + at);
    return both.v;
}

void hx_spinor_load_pairs(const uint8_t *const *blocks, size_t at, size_t n, HVX_Vector x[16])
{
    for (size_t i = 0; i < 16; i++)
        x[i] = two(blocks + 2 * i, at, n > 2 * i ? n - 2 * i : 0);
}

bool hx_spinor_load_centred(const struct hx_spinor *k, const struct hx_spinor_slot *s,
                            const float *x, union hx_spinor_lanes *to)
{
    const HVX_Vector *mean = (const void *)((const char *)s + k->mean_in);
    const HVX_Vector limit = hx_spinor_splat(MAX_ABS_BITS), mask = Q6_V_vsplat_R(0x7fffffff);
    HVX_Vector top = Q6_V_vzero();

    for (size_t v = 0; v < k->out_vectors; v++) {
        to[v].v = ((const HVX_Vector *)x)[v];
        top = Q6_Vw_vmax_VwVw(top, Q6_V_vand_VV(to[v].v, mask));
        if (k->mean_in)
            to[v].v = Q6_Vsf_equals_Vqf32(Q6_Vqf32_vsub_VsfVsf(to[v].v, mean[v]));
    }
    return hx_spinor_largest(Q6_Vw_vmax_VwVw(top, limit)) == MAX_ABS_BITS;
}
