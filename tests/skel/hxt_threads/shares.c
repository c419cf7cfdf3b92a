/* Independent work that threads divide evenly, see hxt_threads.idl: what the machine has of each thing shows in how much faster more
 * threads are. */
#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_vtcm_mgr.h"
#include "hexagon_protos.h"
#include "hexrig_dma.h"
#include "hvx_hexagon_protos.h"
#include "hxt_threads.h"
#include "hxt_threads/team.h"
#include "qurt.h"

enum {
    KIB = 1 << 10,
    VECTOR = 128,
    ALU_TRIPS = 1 << 18,
    HVX_TRIPS = 1 << 16,
    NEAR_BYTES = 256 * KIB, /* L2 and VTCM */
    PASSES = 32,
    FAR_BYTES = 4096 * KIB, /* DDR */
    BOX_BYTES = 32 * KIB,
    DMA_BYTES = 64 * KIB,
};

struct member {
    hxt_share what;
    int unroll, listed;
    unsigned index, of; /* its share */
    uint8_t *far, *near, *vtcm; /* all threads', of FAR_BYTES, NEAR_BYTES, NEAR_BYTES */
    uint64_t bytes;
    int rc;
    uint32_t word;
    HVX_Vector sum;
};

/* The member's part of so many bytes. */
static size_t share_of(const struct member *m, size_t all)
{
    return all / m->of / VECTOR * VECTOR;
}

/* --- arithmetic */

static const struct hx_vliw_packet alu_packets[2] = {{{HX_WAIT(HX_UNIT_ALU, 0, 1)}, 0, 0}, {{HX_WAIT(HX_UNIT_ALU, 0, 1)}, 0, 0}};
static const struct hx_vliw_packet hvx_packets[2] = {{{HX_WAIT(HX_UNIT_HVX, 0, 1)}, 1, 0}, {{HX_WAIT(HX_UNIT_HVX, 0, 1)}, 1, 0}};
TEAM_TABLE(alu, alu_packets, 2);
TEAM_TABLE(hvx, hvx_packets, 2);

static uint32_t alu(uint32_t x, unsigned trips, int listed)
{
    TEAM_CODE(listed, alu);
    HX_TRIPS(1, trips);
    for (unsigned i = 0; i < trips; i++)
        x = (x ^ i) + (x << 5);
    return x;
}

static HVX_Vector hvx(HVX_Vector v, unsigned trips, int listed)
{
    TEAM_CODE(listed, hvx);
    HX_TRIPS(1, trips);
    for (unsigned i = 0; i < trips; i++)
        v = Q6_V_vxor_VV(Q6_Vw_vadd_VwVw(v, Q6_V_vsplat_R((Word32)i)), v);
    return v;
}

/* --- sums of vectors, 1 to 16 in a trip */

#define ADD {{HX_WAIT(HX_UNIT_HVX, 0, 1), HX_WAIT(HX_UNIT_VLOAD, 0, 1)}, 1, 1}
static const struct hx_vliw_packet adds[16] = {ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD, ADD};

#define SUM(n)                                                                                     \
    TEAM_TABLE(sum_##n, adds, n);                                                                  \
    static HVX_Vector sum_##n(const HVX_Vector *v, size_t vectors, int listed)                     \
    {                                                                                              \
        HVX_Vector sum = Q6_V_vzero();                                                             \
                                                                                                   \
        TEAM_CODE(listed, sum_##n);                                                                \
        HX_TRIPS(1, vectors / (n));                                                                \
        for (size_t i = 0; i < vectors; i += (n)) {                                                \
            _Pragma("GCC unroll 16")                                                               \
            for (size_t k = 0; k < (n); k++)                                                       \
                sum = Q6_Vw_vadd_VwVw(sum, v[i + k]);                                              \
        }                                                                                          \
        return sum;                                                                                \
    }
SUM(1)
SUM(2)
SUM(4)
SUM(8)
SUM(16)

static void add_up(struct member *m, const uint8_t *from, size_t bytes)
{
    const HVX_Vector *v = (const HVX_Vector *)from;
    const size_t vectors = bytes / VECTOR;

    switch (m->unroll) {
    case 1:
        m->sum = sum_1(v, vectors, m->listed);
        break;
    case 2:
        m->sum = sum_2(v, vectors, m->listed);
        break;
    case 4:
        m->sum = sum_4(v, vectors, m->listed);
        break;
    case 8:
        m->sum = sum_8(v, vectors, m->listed);
        break;
    default:
        m->sum = sum_16(v, vectors, m->listed);
    }
    m->bytes += bytes;
}

static void add_up_near(struct member *m, const uint8_t *all)
{
    const size_t bytes = share_of(m, NEAR_BYTES);

    for (int pass = 0; pass < PASSES; pass++)
        add_up(m, all + m->index * bytes, bytes);
}

/* --- DDR */

static void prefetch(const uint8_t *from, size_t bytes)
{
    const uint64_t stride = VECTOR, width = VECTOR, height = bytes / VECTOR;

    Q6_l2fetch_AP(from, stride << 32 | width << 16 | height);
}

static void add_up_fetched(struct member *m)
{
    const size_t bytes = share_of(m, FAR_BYTES);
    const uint8_t *from = m->far + m->index * bytes;

    prefetch(from, BOX_BYTES);
    for (size_t at = 0; at < bytes; at += BOX_BYTES) {
        if (at + BOX_BYTES < bytes)
            prefetch(from + at + BOX_BYTES, BOX_BYTES);
        add_up(m, from + at, bytes - at < BOX_BYTES ? bytes - at : BOX_BYTES);
    }
}

static void copy_by_dma(struct member *m)
{
    const size_t bytes = share_of(m, FAR_BYTES), slot = share_of(m, NEAR_BYTES), piece = slot < DMA_BYTES ? slot : DMA_BYTES;
    const uint8_t *from = m->far + m->index * bytes;

    for (size_t at = 0; at < bytes; at += piece) {
        struct hx_dma_type0 d __attribute__((aligned(16))) = {
            .length = (uint32_t)(bytes - at < piece ? bytes - at : piece),
            .src = (uint32_t)(uintptr_t)(from + at),
            .dst = (uint32_t)(uintptr_t)(m->vtcm + m->index * slot)};

        Q6_dmstart_A(&d);
        if ((Q6_R_dmwait() & HX_DMA_STATUS_MASK) != HX_DMA_IDLE)
            m->rc = AEE_EFAILED;
    }
    m->bytes += bytes;
}

/* --- a call */

static void work(void *member)
{
    struct member *m = member;

    if (m->what != HXT_ALU && qurt_hvx_lock(QURT_HVX_MODE_128B)) {
        m->rc = AEE_EFAILED;
        return;
    }
    switch (m->what) {
    case HXT_ALU:
        m->word = alu(m->index, ALU_TRIPS / m->of, m->listed);
        break;
    case HXT_HVX:
        m->sum = hvx(m->sum, HVX_TRIPS / m->of, m->listed);
        break;
    case HXT_L2:
        add_up_near(m, m->near);
        break;
    case HXT_VTCM:
        add_up_near(m, m->vtcm);
        break;
    case HXT_DDR:
        add_up(m, m->far + m->index * share_of(m, FAR_BYTES), share_of(m, FAR_BYTES));
        break;
    case HXT_FETCHED:
        add_up_fetched(m);
        break;
    default:
        copy_by_dma(m);
    }
    if (m->what != HXT_ALU)
        qurt_hvx_unlock();
}

static int is_power(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static int is_question(hxt_share what, int threads, int unroll, int listed)
{
    return (int)what >= HXT_ALU && what <= HXT_DMA && is_power(threads) && threads <= TEAM_THREADS && is_power(unroll) &&
           unroll <= 16 && (listed == 0 || listed == 1);
}

int hxt_threads_share(remote_handle64 h, hxt_share what, int threads, int unroll, int listed, int64_t *pcycles, int64_t *bytes)
{
    uint8_t *memory = aligned_alloc(VECTOR, FAR_BYTES + NEAR_BYTES);
    struct member *m = aligned_alloc(VECTOR, TEAM_THREADS * sizeof(*m));
    uint8_t *vtcm = HAP_request_VTCM(NEAR_BYTES, 1);
    int rc = memory && m && vtcm ? AEE_SUCCESS : AEE_ENOMEMORY;

    (void)h;
    if (!is_question(what, threads, unroll, listed))
        rc = AEE_EBADPARM;
    for (int i = 0; i < threads && rc == AEE_SUCCESS; i++)
        m[i] = (struct member){.what = what, .unroll = unroll, .listed = listed, .index = (unsigned)i, .of = (unsigned)threads,
                               .far = memory, .near = memory + FAR_BYTES, .vtcm = vtcm};
    if (rc == AEE_SUCCESS)
        rc = team_run((unsigned)threads, work, m, sizeof(*m), pcycles);
    *bytes = 0;
    for (int i = 0; i < threads && rc == AEE_SUCCESS; i++) {
        rc = m[i].rc;
        *bytes += (int64_t)m[i].bytes;
    }
    if (vtcm)
        HAP_release_VTCM(vtcm);
    free(m);
    free(memory);
    return rc;
}
