/* Up to 32 blocks, taken apart on HVX with integer operations only (spinor_group_hvx.c): what
 * decode, scores and attention have in common.  Lane i of every vector here belongs to block i.  The sequence of operations
 * does not depend on the data.  HVX code: the calling thread holds a context. */
#ifndef SPINOR_GROUP_H
#define SPINOR_GROUP_H

#include <stdbool.h>
#include <string.h>

#include <hvx_hexagon_protos.h>

#include "spinor.h"

#define HX_SPINOR_FN static inline __attribute__((always_inline))
#define HX_SPINOR_LISTED static __attribute__((noinline)) /* a function with a listing */

/* One vector as scalar code sees it. */
union hx_spinor_lanes {
    HVX_Vector v;
    uint32_t u[HX_SPINOR_LANES];
    int32_t i[HX_SPINOR_LANES];
    float f[HX_SPINOR_LANES];
};

/* Skeleton lane j is the integer 256 high + low, of which 1 means 2^(exponent - 28).  A word holds four lanes: of quad q 4q,
 * 4q + 2, 4q + 1, 4q + 3.  A word of `residual` holds lanes 4q..4q+3 as signed bytes, of which 1 means amax / 7. */
struct hx_spinor_group {
    union hx_spinor_lanes word[HX_SPINOR_MAX_WORDS]; /* the slots' words */
    union hx_spinor_lanes high[HX_SPINOR_SKEL_QUADS], low[HX_SPINOR_SKEL_QUADS];
    union hx_spinor_lanes residual[HX_SPINOR_MAX_QUADS];
    union hx_spinor_lanes skel_fix, res_fix; /* takes back the 2^15 that the rows have too much */
    union hx_spinor_lanes exponent;          /* 1..31 */
    union hx_spinor_lanes amax;              /* f32 */
    union hx_spinor_lanes bad;               /* not 0: corrupt */
};

HX_SPINOR_FN const struct hx_spinor_slot *hx_spinor_slot(const struct hx_spinor *k, size_t slot)
{
    return (const void *)((const char *)k + k->slot_at + slot * k->slot_bytes);
}

/* Splats of a 32-bit pattern. */
HX_SPINOR_FN HVX_Vector hx_spinor_splat(uint32_t u)
{
    return Q6_V_vsplat_R((int)u);
}

/* By a union and not memcpy, which would be a call where the compiler may know no library. */
HX_SPINOR_FN uint32_t hx_spinor_bits(float f)
{
    const union {
        float f;
        uint32_t u;
    } v = {.f = f};

    return v.u;
}

/* The qf32 word nearest to a finite f >= 0: (2s + 1) 2^(e - 150). */
HX_SPINOR_FN uint32_t hx_spinor_qf32(float f)
{
    const uint32_t u = hx_spinor_bits(f), e = u >> 23;

    return e ? ((u & 0x7fffff) | 0x800000) >> 1 << 8 | e : 0;
}

/* Words of a vector as qf32, of which 1 means 2^(e - 157); the low 7 bits round.  0 becomes next to nothing. */
HX_SPINOR_FN HVX_Vector hx_spinor_qf32_lanes(HVX_Vector w, HVX_Vector e)
{
    const HVX_VectorPred zero = Q6_Q_vcmp_eq_VwVw(w, Q6_V_vzero());
    const HVX_Vector q = Q6_V_vor_VV(Q6_V_vand_VV(w, Q6_V_vsplat_R(~0xff)), e);

    return Q6_V_vmux_QVV(zero, Q6_V_vzero(), q);
}

HX_SPINOR_FN HVX_Vector hx_spinor_qf32_words(HVX_Vector w, int e)
{
    return hx_spinor_qf32_lanes(w, Q6_V_vsplat_R(e));
}

enum { HX_SPINOR_UNIT = 157 }; /* the exponent at which 1 means 1 */

HX_SPINOR_FN const struct hx_spinor_rows *hx_spinor_skel_rows(const struct hx_spinor *k,
                                                              const struct hx_spinor_slot *s)
{
    return (const void *)((const char *)s + k->skel_rows_in);
}

HX_SPINOR_FN const struct hx_spinor_rows *hx_spinor_res_rows(const struct hx_spinor *k,
                                                             const struct hx_spinor_slot *s)
{
    return k->res_rows_in ? (const void *)((const char *)s + k->res_rows_in)
                          : (const void *)((const char *)k + k->res_rows_at);
}

/* Swaps the upper blocks of `bytes` bytes in each 2 * bytes of *a with the lower ones of *b. */
HX_SPINOR_FN void hx_spinor_exchange(HVX_Vector *a, HVX_Vector *b, int bytes)
{
    const HVX_VectorPair p = Q6_W_vshuff_VVR(*b, *a, bytes);

    *a = Q6_V_lo_W(p);
    *b = Q6_V_hi_W(p);
}

/* Largest lane of a vector of non-negative words. */
HX_SPINOR_FN uint32_t hx_spinor_largest(HVX_Vector m)
{
    union hx_spinor_lanes out;

    for (int step = 4; step < 128; step *= 2)
        m = Q6_Vw_vmax_VwVw(m, Q6_V_vror_VR(m, step));
    out.v = m;
    return out.u[0];
}

/* What comes from the client's buffers (spinor_load_hvx.c), the one part whose loads are traced: tables lie in VTCM.
 *
 * x[i]: 64 bytes from offset `at` of blocks 2i and 2i + 1, as far as there are n blocks, and zeros. */
void hx_spinor_load_pairs(const uint8_t *const *blocks, size_t at, size_t n, HVX_Vector x[16]);

/* Copies a vector and takes its mean off; false when a value is out of range. */
bool hx_spinor_load_centred(const struct hx_spinor *k, const struct hx_spinor_slot *s,
                            const float *x, union hx_spinor_lanes *to);

/* Takes n blocks (1..32) apart; lanes from n on are to be ignored.  Two that follow each other are one vector load.  means: per
 * block the fp16 of its slot's mean lane, in the low half (struct hx_spinor_slot). */
void hx_spinor_unpack(const struct hx_spinor *k, const uint8_t *const *blocks, size_t n,
                      HVX_Vector means, struct hx_spinor_group *g);

#endif
