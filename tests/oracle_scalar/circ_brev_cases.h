/* Steps through circular and bit-reversed buffers, for <hexagon_circ_brev_intrinsics.h> of both compilers: run_circ_brev() gives a number
 * for all that a case loads, writes and where its pointer goes. */
#ifndef CIRC_BREV_CASES_H
#define CIRC_BREV_CASES_H

enum { STEPS = 40 };

/* name, access, type of the element, where it starts (elements), step, elements, K */
#define CIRC_CASES(X) \
    X(circ_load_D, circ_load_update_D, int64_t, 0, 1, 7, 3) X(circ_load_D_back, circ_load_update_D, int64_t, 5, -3, 8, 3) \
    X(circ_load_W, circ_load_update_W, int32_t, 2, 3, 11, 4) X(circ_load_W_back, circ_load_update_W, int32_t, 0, -1, 16, 4) \
    X(circ_load_H, circ_load_update_H, int16_t, 1, 2, 9, 4) X(circ_load_H_back, circ_load_update_H, int16_t, 8, -5, 13, 4) \
    X(circ_load_UH, circ_load_update_UH, uint16_t, 3, 4, 30, 5) X(circ_load_B, circ_load_update_B, int8_t, 0, 5, 17, 5) \
    X(circ_load_UB, circ_load_update_UB, uint8_t, 60, -6, 63, 6)
#define CIRC_STORES(X) \
    X(circ_store_D, circ_store_update_D, int64_t, 0, 1, 7, 3) X(circ_store_W, circ_store_update_W, int32_t, 1, -2, 9, 4) \
    X(circ_store_HL, circ_store_update_HL, int16_t, 0, 3, 10, 4) X(circ_store_HH, circ_store_update_HH, int16_t, 4, -3, 16, 4) \
    X(circ_store_B, circ_store_update_B, int8_t, 0, 7, 50, 6)
/* name, access, type, log2 of the elements */
#define BREV_CASES(X) \
    X(brev_load_D, bitrev_load_update_D, int64_t, 5) X(brev_load_W, bitrev_load_update_W, int32_t, 6) \
    X(brev_load_H, bitrev_load_update_H, int16_t, 7) X(brev_load_UH, bitrev_load_update_UH, uint16_t, 4) \
    X(brev_load_B, bitrev_load_update_B, int8_t, 8) X(brev_load_UB, bitrev_load_update_UB, uint8_t, 3)
#define BREV_STORES(X) \
    X(brev_store_D, bitrev_store_update_D, int64_t, 5) X(brev_store_W, bitrev_store_update_W, int32_t, 6) \
    X(brev_store_HL, bitrev_store_update_HL, int16_t, 7) X(brev_store_HH, bitrev_store_update_HH, int16_t, 6) \
    X(brev_store_B, bitrev_store_update_B, int8_t, 6)

#define CASE_NAME(name, ...) #name,
static const char *const circ_brev_name[] = {CIRC_CASES(CASE_NAME) CIRC_STORES(CASE_NAME) BREV_CASES(CASE_NAME) BREV_STORES(CASE_NAME)};
enum { CIRC_BREV_CASES = sizeof(circ_brev_name) / sizeof(circ_brev_name[0]) };

#define CIRC_CASE(name, access, T, first, incr, n, K) \
    if (i == at++) { \
        T *p = (T *)(void *)base + first, x = 0; \
        for (int k = 0; k < STEPS; k++) { \
            Q6_##access(x, p, incr, n, K); \
            hash = mixed(mixed(hash, (uint64_t)x), (uint64_t)((uint8_t *)p - base)); \
        } \
    }
#define CIRC_STORE(name, access, T, first, incr, n, K) \
    if (i == at++) { \
        T *p = (T *)(void *)base + first; \
        for (int k = 0; k < STEPS; k++) { \
            Q6_##access(k * 0x01020304 + 0x7654321, p, incr, n, K); \
            hash = mixed(hash, (uint64_t)((uint8_t *)p - base)); \
        } \
    }
#define BREV_CASE(name, access, T, log2n) \
    if (i == at++) { \
        T *p = (T *)(void *)base, x = 0; \
        for (int k = 0; k < STEPS && k < 1 << log2n; k++) { \
            Q6_##access(x, p, log2n); \
            hash = mixed(mixed(hash, (uint64_t)x), (uint64_t)((uint8_t *)p - base)); \
        } \
    }
#define BREV_STORE(name, access, T, log2n) \
    if (i == at++) { \
        T *p = (T *)(void *)base; \
        for (int k = 0; k < STEPS && k < 1 << log2n; k++) { \
            Q6_##access(k * 0x01020304 + 0x7654321, p, log2n); \
            hash = mixed(hash, (uint64_t)((uint8_t *)p - base)); \
        } \
    }

/* base: 64 KiB at a multiple of that */
static uint32_t run_circ_brev(int i, uint8_t *base)
{
    uint32_t hash = 2166136261u;
    int at = 0;

    CIRC_CASES(CIRC_CASE)
    CIRC_STORES(CIRC_STORE)
    BREV_CASES(BREV_CASE)
    BREV_STORES(BREV_STORE)
    for (int k = 0; k < 1024; k++)
        hash = mixed(hash, base[k]);
    return hash;
}

#endif
