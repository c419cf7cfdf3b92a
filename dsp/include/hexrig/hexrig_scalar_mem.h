/* Memory: circular addressing, and the cache hints.
 *
 * Q6_l2fetch_*, Q6_dcfetch_A and the cleaning and invalidating ones change no data, so they do nothing here but report
 * themselves under -DHEXRIG_COUNT: to hx_cache_hints of the calling thread, and what they prefetch to the cost model.  Q6_dczeroa_A
 * zeroes the 32 bytes of its line, as the instruction does. */
#ifndef HEXRIG_SCALAR_MEM_H
#define HEXRIG_SCALAR_MEM_H

#include "hexrig_scalar.h"

enum hx_cache_hint {
    HX_HINT_DCFETCH,
    HX_HINT_DCCLEAN,
    HX_HINT_DCCLEANINV,
    HX_HINT_DCINV,
    HX_HINT_DCZERO,
    HX_HINT_L2FETCH,
    HX_HINTS
};

struct hx_cache_hints {
    uint64_t n[HX_HINTS];   /* hints given, by kind */
    uint64_t l2fetch_bytes; /* width * height of the boxes that l2fetch named */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Lives in the DSP process; a thread may zero its own. */
extern __thread struct hx_cache_hints hx_cache_hints
    __attribute__((tls_model("initial-exec"), visibility("default")));

/* The lines of `height` rows of `width` bytes, `stride` apart, are on their way to L2. */
void hx_prefetch(uintptr_t address, uint32_t width, uint32_t height, uint32_t stride) __attribute__((visibility("default")));
#ifdef __cplusplus
}
#endif

static inline void hx_cache_hint(enum hx_cache_hint kind, uint64_t bytes)
{
#ifdef HEXRIG_COUNT
    hx_cache_hints.n[kind]++;
    hx_cache_hints.l2fetch_bytes += bytes;
#else
    (void)kind;
    (void)bytes;
#endif
}

static inline void hxs_prefetch(uintptr_t address, uint32_t width, uint32_t height, uint32_t stride)
{
#ifdef HEXRIG_COUNT
    hx_prefetch(address, width, height, stride);
#else
    (void)address;
    (void)width;
    (void)height;
    (void)stride;
#endif
}

/* Addresses are integers of 32 bits on the device and pointers in most code: both are taken. */
#define Q6_dcfetch_A(address) hxs_dcfetch((uintptr_t)(address))
#define Q6_dccleana_A(address) ((void)(address), hx_cache_hint(HX_HINT_DCCLEAN, 0))
#define Q6_dccleaninva_A(address) ((void)(address), hx_cache_hint(HX_HINT_DCCLEANINV, 0))
#define Q6_dcinva_A(address) ((void)(address), hx_cache_hint(HX_HINT_DCINV, 0))
#define Q6_dczeroa_A(address) hxs_dczero((uintptr_t)(address))
#define Q6_l2fetch_AR(address, box) hxs_l2fetch_r((uintptr_t)(address), (uint32_t)(box))
#define Q6_l2fetch_AP(address, box) hxs_l2fetch_p((uintptr_t)(address), (uint64_t)(box))

static inline void hxs_dcfetch(uintptr_t address)
{
    hx_cache_hint(HX_HINT_DCFETCH, 0);
    hxs_prefetch(address, 1, 1, 0);
}

static inline void hxs_dczero(uintptr_t address)
{
    memset((void *)(address & ~(uintptr_t)31), 0, 32);
    hx_cache_hint(HX_HINT_DCZERO, 0);
}

/* stride 31:16, width 15:8, height 7:0, in bytes, bytes and lines */
static inline void hxs_l2fetch_r(uintptr_t address, uint32_t box)
{
    hx_cache_hint(HX_HINT_L2FETCH, (uint64_t)(box >> 8 & 0xff) * (box & 0xff));
    hxs_prefetch(address, box >> 8 & 0xff, box & 0xff, box >> 16);
}

/* direction 48, stride 47:32, width 31:16, height 15:0 */
static inline void hxs_l2fetch_p(uintptr_t address, uint64_t box)
{
    hx_cache_hint(HX_HINT_L2FETCH, (box >> 16 & 0xffff) * (box & 0xffff));
    hxs_prefetch(address, box >> 16 & 0xffff, box & 0xffff, box >> 32 & 0xffff);
}

/* Circular buffers: *rx advances by `by` bytes inside the buffer at `base` whose length is in the modifier m.  Modifiers of
 * the old kind (bits 24..27 not 0, or a length under 4) find the buffer by alignment instead. */
static inline void hxs_circ_add(void *rx, int64_t by, Word32 m, void *base)
{
    const uint64_t length = (uint32_t)m & 0x1ffff, k = (uint32_t)m >> 24 & 15;
    uintptr_t p, start = (uintptr_t)base, end;

    memcpy(&p, rx, sizeof(p));
    if (k || length < 4)
        start = p & ~(((uintptr_t)1 << (k + 2)) - 1);
    end = k || length < 4 ? start | length : start + length;
    p += (uintptr_t)by;
    if (p >= end)
        p -= length;
    else if (p < start)
        p += length;
    memcpy(rx, &p, sizeof(p));
}

/* The increment that a modifier holds: 11 bits, in elements. */
static inline int64_t hxs_circ_step(Word32 m)
{
    return hxs_sxt(((uint32_t)m >> 28 << 7) | ((uint32_t)m >> 17 & 0x7f), 11);
}

#define HXS_CIRC_LOAD(D, what, T)                                                                  \
    static inline HXS_T_##D Q6_##D##_##what##_IM_circ(void *rx, Word32 by, Word32 m, void *base)   \
    {                                                                                              \
        T v;                                                                                       \
        void *p;                                                                                   \
        memcpy(&p, rx, sizeof(p));                                                                 \
        memcpy(&v, p, sizeof(v));                                                                  \
        hxs_circ_add(rx, by, m, base);                                                             \
        return (HXS_T_##D)v;                                                                       \
    }                                                                                              \
    static inline HXS_T_##D Q6_##D##_##what##_M_circ(void *rx, Word32 m, void *base)               \
    {                                                                                              \
        return Q6_##D##_##what##_IM_circ(rx, (Word32)hxs_circ_step(m) * (Word32)sizeof(T), m,      \
                base);                                                                             \
    }
#define HXS_CIRC_STORE(what, S, s, T, e)                                                           \
    static inline void Q6_##what##_IM##s##_circ(void *rx, Word32 by, Word32 m, HXS_T_##S v,        \
            void *base)                                                                            \
    {                                                                                              \
        const T out = (T)(e);                                                                      \
        void *p;                                                                                   \
        memcpy(&p, rx, sizeof(p));                                                                 \
        memcpy(p, &out, sizeof(out));                                                              \
        hxs_circ_add(rx, by, m, base);                                                             \
    }                                                                                              \
    static inline void Q6_##what##_M##s##_circ(void *rx, Word32 m, HXS_T_##S v, void *base)        \
    {                                                                                              \
        Q6_##what##_IM##s##_circ(rx, (Word32)hxs_circ_step(m) * (Word32)sizeof(T), m, v, base);    \
    }
HXS_CIRC_LOAD(R, memb, int8_t)
HXS_CIRC_LOAD(R, memub, uint8_t)
HXS_CIRC_LOAD(R, memh, int16_t)
HXS_CIRC_LOAD(R, memuh, uint16_t)
HXS_CIRC_LOAD(R, memw, int32_t)
HXS_CIRC_LOAD(P, memd, int64_t)
HXS_CIRC_STORE(memb, R, R, int8_t, v)
HXS_CIRC_STORE(memh, R, R, int16_t, v)
HXS_CIRC_STORE(memh, R, Rh, int16_t, v >> 16)
HXS_CIRC_STORE(memw, R, R, int32_t, v)
HXS_CIRC_STORE(memd, P, P, int64_t, v)

#endif
