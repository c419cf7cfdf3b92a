/* HVX intrinsics that touch memory: conditional stores. */
#ifndef HEXRIG_HVX_MEM_H
#define HEXRIG_HVX_MEM_H

#include "hexrig_hvx_lanes.h"

/* Only the chosen bytes are written; the low 7 address bits are ignored, as in any vmem. */
#define HX_VMEM_Q(name, q) \
    HX_BIG_FN void name(HVX_VectorPred Qv, HVX_Vector *Rt, HVX_Vector Vs) \
    { \
        int8_t *p = (int8_t *)((uintptr_t)Rt & ~(uintptr_t)127); \
        union hx_v m, s; \
        HX_HVX_COUNT(ST); \
        m.v = (q); \
        s.v = Vs; \
        for (int i = 0; i < 128; i++) \
            if (m.b[i]) \
                p[i] = s.b[i]; \
    }
HX_VMEM_Q(Q6_vmem_QRIV, Qv)
HX_VMEM_Q(Q6_vmem_QRIV_nt, Qv)
HX_VMEM_Q(Q6_vmem_QnRIV, ~Qv)
HX_VMEM_Q(Q6_vmem_QnRIV_nt, ~Qv)
#undef HX_VMEM_Q

/* --- gather and scatter.  Addresses are 32 bits wide, as the DSP's are: Rt is the start of a
 * region whose last byte has offset Mu.  An element that does not lie in it whole is dropped: a
 * scatter writes nothing, a gather leaves its bytes of the target as they are.  Addresses need no
 * alignment, except that scatter-accumulate ignores their low bits.  Predicates choose bytes.
 * Elements go in ascending order, so of two that scatter to one place the higher lane wins. */
HX_FN unsigned char *hx_element(Word32 rt, Word32 mu, uint32_t offset, unsigned int bytes,
                                int aligned)
{
    const uint32_t at = (uint32_t)rt + offset, mask = aligned ? bytes - 1 : 0;

    if ((uint64_t)offset + bytes - 1 > ((uint32_t)mu | mask))
        return NULL;
    return (unsigned char *)(uintptr_t)(at & ~mask);
}

/* The bytes of `old` where the predicate bytes q are clear, those of x elsewhere. */
#define HX_MERGE(T, q, x, old) ((T)(((q) & (x)) | (~(q) & (old))))

/* n elements of type T (lanes L of a vector); Q: bytes that take part; index: declares v; offset:
 * of element i. */
#define HX_GATHER(name, cls, T, L, n, params, Q, index, offset) \
    HX_BIG_FN void name params \
    { \
        union hx_v *const to = (union hx_v *)((uintptr_t)Rs & ~(uintptr_t)127); \
        union hx_v q; \
        index; \
        HX_HVX_COUNT(cls); \
        HX_CHECK_VTCM(to, sizeof(*to)); \
        q.v = (Q); \
        for (int i = 0; i < n; i++) { \
            const unsigned char *const p = hx_element(Rt, Mu, (offset), sizeof(T), 0); \
            T x; \
            if (!p || !q.L[i]) \
                continue; \
            HX_CHECK_VTCM(p, sizeof(x)); \
            memcpy(&x, p, sizeof(x)); \
            to->L[i] = HX_MERGE(T, q.L[i], x, to->L[i]); \
        } \
    }
#define HX_SCATTER(name, cls, T, L, n, params, Q, index, offset, value, aligned) \
    HX_BIG_FN void name params \
    { \
        union hx_v q, w; \
        index; \
        HX_HVX_COUNT(cls); \
        q.v = (Q); \
        w.v = Vw; \
        for (int i = 0; i < n; i++) { \
            unsigned char *const p = hx_element(Rt, Mu, (offset), sizeof(T), aligned); \
            T x; \
            if (!p || !q.L[i]) \
                continue; \
            HX_CHECK_VTCM(p, sizeof(x)); \
            memcpy(&x, p, sizeof(x)); \
            x = HX_MERGE(T, q.L[i], value, x); \
            memcpy(p, &x, sizeof(x)); \
        } \
    }
#define HX_ALL ((HVX_Vector){0} - 1)
#define HX_IDX_V \
    union hx_v v; \
    v.v = Vv
#define HX_IDX_W \
    union hx_w v; \
    v.w = Vvv
/* word offsets for halves: those of the low vector belong to even halves */
#define HX_W_AT v.u[i & 1].uw[i >> 1]

#define HX_GATHERS(kind, cls, T, L, n, arg, index, offset) \
    HX_GATHER(Q6_vgather_ARM##kind, cls, T, L, n, (HVX_Vector *Rs, Word32 Rt, Word32 Mu, arg), \
              HX_ALL, index, offset) \
    HX_GATHER(Q6_vgather_AQRM##kind, cls, T, L, n, \
              (HVX_Vector *Rs, HVX_VectorPred Qs, Word32 Rt, Word32 Mu, arg), Qs, index, offset)
HX_GATHERS(Vw, GATHER, uint32_t, uw, 32, HVX_Vector Vv, HX_IDX_V, v.uw[i])
HX_GATHERS(Vh, GATHER, uint16_t, uh, 64, HVX_Vector Vv, HX_IDX_V, v.uh[i])
HX_GATHERS(Ww, GATHER_DV, uint16_t, uh, 64, HVX_VectorPair Vvv, HX_IDX_W, HX_W_AT)

#define HX_SCATTERS(kind, cls, T, L, n, arg, index, offset) \
    HX_SCATTER(Q6_vscatter_RM##kind##V, cls, T, L, n, (Word32 Rt, Word32 Mu, arg, HVX_Vector Vw), \
               HX_ALL, index, offset, w.L[i], 0) \
    HX_SCATTER(Q6_vscatter_QRM##kind##V, cls, T, L, n, \
               (HVX_VectorPred Qs, Word32 Rt, Word32 Mu, arg, HVX_Vector Vw), Qs, index, offset, \
               w.L[i], 0) \
    HX_SCATTER(Q6_vscatteracc_RM##kind##V, cls, T, L, n, \
               (Word32 Rt, Word32 Mu, arg, HVX_Vector Vw), HX_ALL, index, offset, x + w.L[i], 1)
HX_SCATTERS(Vw, SCATTER, uint32_t, uw, 32, HVX_Vector Vv, HX_IDX_V, v.uw[i])
HX_SCATTERS(Vh, SCATTER, uint16_t, uh, 64, HVX_Vector Vv, HX_IDX_V, v.uh[i])
HX_SCATTERS(Ww, SCATTER_DV, uint16_t, uh, 64, HVX_VectorPair Vvv, HX_IDX_W, HX_W_AT)
#undef HX_GATHER
#undef HX_GATHERS
#undef HX_SCATTER
#undef HX_SCATTERS
#undef HX_MERGE
#undef HX_ALL
#undef HX_IDX_V
#undef HX_IDX_W
#undef HX_W_AT

#endif
