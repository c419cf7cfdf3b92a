/* The reader's end of its queue, see hxt_reader.idl. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_compute_res.h"
#include "HAP_perf.h"
#include "HAP_power.h"
#include "dspqueue.h"
#include "hexagon_protos.h"
#include "hexrig_asm.h"
#include "hvx_hexagon_protos.h"
#include "hxt_reader.h"
#include "hxt_reader/job.h"
#include "hxt_reader/spin_team.h"
#include "qurt.h"

enum { STACK_BYTES = 64 << 10, POLL_US = 100, POLLS = 20, PEEK_US = 20000, RING = 8, CHUNK = 4096 };

/* A descriptor of user DMA as a compiler for 64 bits makes it. */
struct descriptor {
    void *next;
    uint32_t length : 24, type : 2, dlbc : 2, bypass : 2, order : 1, done : 1;
    uint32_t src, dst;
};

struct reader {
    dspqueue_t queue;
    qurt_thread_t id;
    atomic_bool ended;
    void *stack;
    unsigned n;
    struct spin_team team;
    struct reader_job job;
    HVX_Vector acc[READER_THREADS];
    uint32_t done_units[READER_THREADS][32]; /* a line each */
    unsigned context;                        /* of VTCM */
    uint8_t *vtcm, *source;
    uint32_t vtcm_bytes;
    struct descriptor ring[RING];
};

int hxt_reader_open(const char *uri, remote_handle64 *h)
{
    (void)uri;
    *h = (remote_handle64)(uintptr_t)memalign(128, sizeof(struct reader));
    if (!*h)
        return AEE_ENOMEMORY;
    memset((void *)(uintptr_t)*h, 0, sizeof(struct reader));
    return AEE_SUCCESS;
}

int hxt_reader_close(remote_handle64 h)
{
    free((void *)(uintptr_t)h);
    return AEE_SUCCESS;
}

/* --- a packet's work ------------------------------------------------------------------------------------------------ */

/* Without qurt_hvx_lock(), as public code of that kind does. */
static void compute(struct reader *r, unsigned who, uint32_t units)
{
    HVX_Vector acc = r->acc[who];

    for (uint32_t i = 0; i < units; i++)
        for (int k = 0; k < READER_UNIT_OPS; k++)
            acc = Q6_Vw_vadd_VwVw(acc, acc);
    r->acc[who] = acc;
    r->done_units[who][0] += units;
}

static void share(unsigned who, void *arg)
{
    struct reader *r = arg;

    compute(r, who, r->job.share[who]);
}

static void push(struct reader *r, unsigned slot, uint32_t at)
{
    struct descriptor *d = &r->ring[slot % RING];

    *d = (struct descriptor){.length = CHUNK, .bypass = 3, .src = (uint32_t)(uintptr_t)r->source + at,
                             .dst = (uint32_t)(uintptr_t)r->vtcm + at};
    hexrig_asm_release(d);
    hexrig_asm_dmlink(&r->ring[(slot + RING - 1) % RING], d);
}

static void pop(struct reader *r, unsigned slot)
{
    const volatile struct descriptor *d = &r->ring[slot % RING];

    while (!d->done)
        hexrig_asm_dmpoll();
}

static void fetch(struct reader *r, uint32_t bytes)
{
    const unsigned chunks = bytes / CHUNK;

    for (unsigned i = 0; i < chunks; i++) {
        if (i >= RING)
            pop(r, i);
        push(r, i, i * CHUNK);
    }
    for (unsigned i = chunks < RING ? 0 : chunks - RING; i < chunks; i++)
        pop(r, i);
}

static void work(struct reader *r)
{
    for (uint32_t i = 0; i < r->job.rounds; i++) {
        if (r->job.dma_bytes && r->job.dma_bytes <= r->vtcm_bytes)
            fetch(r, r->job.dma_bytes);
        compute(r, 0, r->job.alone);
        spin_team_run(&r->team, share, r);
    }
}

static void answer(struct reader *r)
{
    struct reader_done done = {.pcycles = hexrig_asm_upcycle(), .ticks = HAP_perf_get_qtimer_count()};

    memset(r->done_units, 0, sizeof(r->done_units));
    spin_team_wake(&r->team);
    work(r);
    spin_team_rest(&r->team);
    done.pcycles = hexrig_asm_upcycle() - done.pcycles;
    done.ticks = HAP_perf_get_qtimer_count() - done.ticks;
    for (unsigned i = 0; i < r->n; i++)
        done.units += r->done_units[i][0];
    dspqueue_write(r->queue, 0, 0, NULL, sizeof(done), (const uint8_t *)&done, DSPQUEUE_TIMEOUT_NONE);
}

/* Packets as long as they come at short distances. */
static void read_packets(struct reader *r)
{
    uint32_t flags, len;

    for (int polls = 0; polls < POLLS && !atomic_load(&r->ended);) {
        if (dspqueue_read_noblock(r->queue, &flags, 0, NULL, NULL, sizeof(r->job), &len, (uint8_t *)&r->job) == AEE_SUCCESS) {
            polls = 0;
            answer(r);
        } else {
            polls++;
            qurt_sleep(POLL_US);
        }
    }
}

static void read_for_ever(void *arg)
{
    struct reader *r = arg;

    while (!atomic_load(&r->ended))
        if (dspqueue_peek(r->queue, NULL, NULL, NULL, PEEK_US) == AEE_SUCCESS)
            read_packets(r);
}

/* --- methods -------------------------------------------------------------------------------------------------------- */

static int take_vtcm(struct reader *r, int bytes)
{
    compute_res_attr_t a;

    if (!bytes)
        return AEE_SUCCESS;
    HAP_compute_res_attr_init(&a);
    HAP_compute_res_attr_set_vtcm_param(&a, (unsigned)bytes, 1);
    r->context = HAP_compute_res_acquire(&a, 10000);
    r->vtcm = HAP_compute_res_attr_get_vtcm_ptr(&a);
    r->vtcm_bytes = (uint32_t)bytes;
    r->source = memalign(128, (size_t)bytes);
    return r->context && r->source ? AEE_SUCCESS : AEE_ENOMEMORY;
}

static int start_thread(struct reader *r)
{
    qurt_thread_attr_t a;

    r->stack = memalign(128, STACK_BYTES);
    qurt_thread_attr_init(&a);
    qurt_thread_attr_set_name(&a, "reads");
    qurt_thread_attr_set_stack_addr(&a, r->stack);
    qurt_thread_attr_set_stack_size(&a, STACK_BYTES);
    return r->stack && qurt_thread_create(&r->id, &a, read_for_ever, r) == QURT_EOK ? AEE_SUCCESS : AEE_ENOMEMORY;
}

int hxt_reader_start(remote_handle64 h, uint64_t queue, int threads, int vtcm)
{
    struct reader *r = (void *)(uintptr_t)h;
    int rc = threads < 1 || threads > READER_THREADS ? AEE_EBADPARM : AEE_SUCCESS;

    if (rc == AEE_SUCCESS)
        rc = dspqueue_import(queue, NULL, NULL, NULL, &r->queue);
    if (rc == AEE_SUCCESS)
        rc = take_vtcm(r, vtcm);
    r->n = (unsigned)threads;
    atomic_store(&r->ended, 0);
    if (rc == AEE_SUCCESS)
        rc = spin_team_start(&r->team, r->n);
    return rc == AEE_SUCCESS ? start_thread(r) : rc;
}

int hxt_reader_stop(remote_handle64 h)
{
    struct reader *r = (void *)(uintptr_t)h;
    int status;

    atomic_store(&r->ended, 1);
    qurt_thread_join(r->id, &status);
    dspqueue_close(r->queue);
    spin_team_stop(&r->team);
    if (r->context)
        HAP_compute_res_release(r->context);
    r->context = 0;
    free(r->source);
    free(r->stack);
    return AEE_SUCCESS;
}

/* --- HMX ------------------------------------------------------------------------------------------------------------ */

static int vote(int up)
{
    static int context;
    HAP_power_request_t p = {.type = HAP_power_set_HMX, .hmx = {.power_up = up != 0}};

    return HAP_power_set(&context, &p);
}

/* Bytes of VTCM for a table and three tiles. */
static void multiply(uint8_t *vtcm)
{
    hexrig_asm_hmx_bias(vtcm);
    hexrig_asm_hmx_clear();
    hexrig_asm_hmx_multiply(vtcm + 2048, 2047, 0, vtcm + 4096, 2047);
    hexrig_asm_hmx_store(vtcm + 6144, 0);
}

int hxt_reader_hmx(remote_handle64 h, int with_power, int with_lock, int do_multiply, int *power, int *context, int *lock)
{
    compute_res_attr_t a;
    unsigned id;
    void *vtcm;

    (void)h;
    *power = with_power ? vote(1) : 0;
    HAP_compute_res_attr_init(&a);
    HAP_compute_res_attr_set_vtcm_param(&a, 8192, 1);
    *context = HAP_compute_res_attr_set_hmx_param(&a, 1);
    id = HAP_compute_res_acquire(&a, 10000);
    vtcm = HAP_compute_res_attr_get_vtcm_ptr(&a);
    if (!vtcm)
        return AEE_ENOMEMORY;
    *lock = with_lock ? HAP_compute_res_hmx_lock(id) : 0;
    if (do_multiply)
        multiply(vtcm);
    if (with_lock && *lock == 0)
        HAP_compute_res_hmx_unlock(id);
    HAP_compute_res_release(id);
    vote(0);
    return AEE_SUCCESS;
}
