/* Loads and stores that step through a circular or a bit-reversed buffer (published names of <hexagon_circ_brev_intrinsics.h>).
 *
 *   Q6_circ_load_update_H(x, p, incr, n, K)    x = *p; p advances by incr elements within a buffer of n
 *   Q6_circ_store_update_H(x, p, incr, n, K)   HL the low half of x, HH the high one
 *
 * The buffer begins at a multiple of its element's size times 2^K, the least power of two that is not below n.
 *
 *   Q6_bitrev_load_update_H(x, p, log2n)       x = the element that p names with its low 16 bits reversed; p counts up
 *
 * over 2^log2n elements in a buffer that begins at a multiple of 64 KiB; p is the address with those bits reversed.
 * The macros are blocks that assign to p, as hexagon-clang's are. */
#ifndef HEXAGON_CIRC_BREV_INTRINSICS_H
#define HEXAGON_CIRC_BREV_INTRINSICS_H

#include "hexagon_protos.h"
#include "hvx_hexagon_protos.h"

#ifdef __cplusplus
#define HX_STEP(p, step) ((p) = (decltype((p) + 0))(step))
#else
#define HX_STEP(p, step) ((p) = (__typeof__((p) + 0))(step))
#endif

/* The pointer after a step.  A modifier holds K - 1 + log2(bytes of an element) - 1 and the length in bytes.  Where that is 0, for a
 * buffer of one word or less, the instruction would ask a register that these intrinsics do not set; here it means the word. */
static inline void *hx_circ_next(void *p, Word32 modifier, Word32 bytes)
{
    hxs_circ_add(&p, bytes, modifier, (void *)((uintptr_t)p & ~(uintptr_t)3));
    return p;
}

static inline void *hx_brev_at(void *p)
{
    const uintptr_t low = 0xffff;

    return (void *)(((uintptr_t)p & ~low) | (uint32_t)Q6_R_brev_R((Word32)((uint32_t)((uintptr_t)p & low) << 16)));
}

#define HX_CIRC_BREV_LOAD(what, T)                                                                 \
    static inline void *HEXAGON_circ_##what(void *p, void *to, Word32 modifier, Word32 bytes)      \
    {                                                                                              \
        memcpy(to, p, sizeof(T));                                                                  \
        return hx_circ_next(p, modifier, bytes);                                                   \
    }                                                                                              \
    static inline void *HEXAGON_brev_##what(void *p, void *to, Word32 step)                        \
    {                                                                                              \
        memcpy(to, hx_brev_at(p), sizeof(T));                                                      \
        return (char *)p + step;                                                                   \
    }
#define HX_CIRC_BREV_STORE(what, V, T, e)                                                          \
    static inline void *HEXAGON_circ_##what(void *p, V value, Word32 modifier, Word32 bytes)       \
    {                                                                                              \
        const T out = (T)(e);                                                                      \
        memcpy(p, &out, sizeof(out));                                                              \
        return hx_circ_next(p, modifier, bytes);                                                   \
    }                                                                                              \
    static inline void *HEXAGON_brev_##what(void *p, V value, Word32 step)                         \
    {                                                                                              \
        const T out = (T)(e);                                                                      \
        memcpy(hx_brev_at(p), &out, sizeof(out));                                                  \
        return (char *)p + step;                                                                   \
    }
HX_CIRC_BREV_LOAD(ldd, int64_t)
HX_CIRC_BREV_LOAD(ldw, int32_t)
HX_CIRC_BREV_LOAD(ldh, int16_t)
HX_CIRC_BREV_LOAD(lduh, uint16_t)
HX_CIRC_BREV_LOAD(ldb, int8_t)
HX_CIRC_BREV_LOAD(ldub, uint8_t)
HX_CIRC_BREV_STORE(std, Word64, int64_t, value)
HX_CIRC_BREV_STORE(stw, Word32, int32_t, value)
HX_CIRC_BREV_STORE(sth, Word32, int16_t, value)
HX_CIRC_BREV_STORE(sthhi, Word32, int16_t, value >> 16)
HX_CIRC_BREV_STORE(stb, Word32, int8_t, value)
#undef HX_CIRC_BREV_LOAD
#undef HX_CIRC_BREV_STORE

/* log2: of the element's bytes */
#define HX_CIRC(call, p, x, incr, n, K, log2) \
    { \
        HX_STEP(p, HEXAGON_circ_##call(p, x, (Word32)((((K) + (log2)-2) << 24) | ((n) << (log2))), (Word32)((incr) * (1 << (log2))))); \
    }
#define Q6_circ_load_update_D(x, p, incr, n, K) HX_CIRC(ldd, p, &(x), incr, n, K, 3)
#define Q6_circ_load_update_W(x, p, incr, n, K) HX_CIRC(ldw, p, &(x), incr, n, K, 2)
#define Q6_circ_load_update_H(x, p, incr, n, K) HX_CIRC(ldh, p, &(x), incr, n, K, 1)
#define Q6_circ_load_update_UH(x, p, incr, n, K) HX_CIRC(lduh, p, &(x), incr, n, K, 1)
#define Q6_circ_load_update_B(x, p, incr, n, K) HX_CIRC(ldb, p, &(x), incr, n, K, 0)
#define Q6_circ_load_update_UB(x, p, incr, n, K) HX_CIRC(ldub, p, &(x), incr, n, K, 0)
#define Q6_circ_store_update_D(x, p, incr, n, K) HX_CIRC(std, p, x, incr, n, K, 3)
#define Q6_circ_store_update_W(x, p, incr, n, K) HX_CIRC(stw, p, x, incr, n, K, 2)
#define Q6_circ_store_update_HL(x, p, incr, n, K) HX_CIRC(sth, p, x, incr, n, K, 1)
#define Q6_circ_store_update_HH(x, p, incr, n, K) HX_CIRC(sthhi, p, x, incr, n, K, 1)
#define Q6_circ_store_update_B(x, p, incr, n, K) HX_CIRC(stb, p, x, incr, n, K, 0)

#define HX_BREV(call, p, x, log2n, log2) \
    { \
        HX_STEP(p, HEXAGON_brev_##call(p, x, 1 << (16 - ((log2n) + (log2))))); \
    }
#define Q6_bitrev_load_update_D(x, p, log2n) HX_BREV(ldd, p, &(x), log2n, 3)
#define Q6_bitrev_load_update_W(x, p, log2n) HX_BREV(ldw, p, &(x), log2n, 2)
#define Q6_bitrev_load_update_H(x, p, log2n) HX_BREV(ldh, p, &(x), log2n, 1)
#define Q6_bitrev_load_update_UH(x, p, log2n) HX_BREV(lduh, p, &(x), log2n, 1)
#define Q6_bitrev_load_update_B(x, p, log2n) HX_BREV(ldb, p, &(x), log2n, 0)
#define Q6_bitrev_load_update_UB(x, p, log2n) HX_BREV(ldub, p, &(x), log2n, 0)
#define Q6_bitrev_store_update_D(x, p, log2n) HX_BREV(std, p, x, log2n, 3)
#define Q6_bitrev_store_update_W(x, p, log2n) HX_BREV(stw, p, x, log2n, 2)
#define Q6_bitrev_store_update_HL(x, p, log2n) HX_BREV(sth, p, x, log2n, 1)
#define Q6_bitrev_store_update_HH(x, p, log2n) HX_BREV(sthhi, p, x, log2n, 1)
#define Q6_bitrev_store_update_B(x, p, log2n) HX_BREV(stb, p, x, log2n, 0)

/* the compiler's own spelling */
#define __builtin_circ_ldd HEXAGON_circ_ldd
#define __builtin_circ_ldw HEXAGON_circ_ldw
#define __builtin_circ_ldh HEXAGON_circ_ldh
#define __builtin_circ_lduh HEXAGON_circ_lduh
#define __builtin_circ_ldb HEXAGON_circ_ldb
#define __builtin_circ_ldub HEXAGON_circ_ldub
#define __builtin_circ_std HEXAGON_circ_std
#define __builtin_circ_stw HEXAGON_circ_stw
#define __builtin_circ_sth HEXAGON_circ_sth
#define __builtin_circ_sthhi HEXAGON_circ_sthhi
#define __builtin_circ_stb HEXAGON_circ_stb
#define __builtin_brev_ldd HEXAGON_brev_ldd
#define __builtin_brev_ldw HEXAGON_brev_ldw
#define __builtin_brev_ldh HEXAGON_brev_ldh
#define __builtin_brev_lduh HEXAGON_brev_lduh
#define __builtin_brev_ldb HEXAGON_brev_ldb
#define __builtin_brev_ldub HEXAGON_brev_ldub
#define __builtin_brev_std HEXAGON_brev_std
#define __builtin_brev_stw HEXAGON_brev_stw
#define __builtin_brev_sth HEXAGON_brev_sth
#define __builtin_brev_sthhi HEXAGON_brev_sthhi
#define __builtin_brev_stb HEXAGON_brev_stb

/* --- the bytes of a vector that a predicate chooses, or those that it does not; as in any vmem the low 7 bits
 * of the address are ignored; nt: a hint */
#define Q6_vmaskedstoreq_QAV(Q, A, V) Q6_vmem_QRIV(Q, (HVX_Vector *)(A), V)
#define Q6_vmaskedstorenq_QAV(Q, A, V) Q6_vmem_QnRIV(Q, (HVX_Vector *)(A), V)
#define Q6_vmaskedstorentq_QAV(Q, A, V) Q6_vmem_QRIV_nt(Q, (HVX_Vector *)(A), V)
#define Q6_vmaskedstorentnq_QAV(Q, A, V) Q6_vmem_QnRIV_nt(Q, (HVX_Vector *)(A), V)

#endif
