/* Runs a kernel of interface silicon as a call asks for it, see silicon_job.h. */
#include "silicon_job.h"

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_perf.h"
#include "HAP_vtcm_mgr.h"
#include "elementwise.h"
#include "hexrig_code.h"
#include "hexrig_dma.h"
#include "qurt_hvx.h"

enum { ALIGN = 128 };

void hx_job_as_built(const struct hx_silicon_job *job)
{
    hx_code_set_build(job->run->build == SILICON_DEBUG ? HX_BUILD_DEBUG : HX_BUILD_RELEASE);
}

void hx_job_as_library(void)
{
    hx_code_set_build(HX_BUILD_RELEASE);
}

/* --- buffers */

static size_t place_bytes(const struct hx_job_buffer *b)
{
    return (b->bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static int is_misaligned(const struct hx_silicon_job *job)
{
    uintptr_t all = 0;

    for (int i = 0; i < HX_JOB_BUFFERS; i++)
        all |= (uintptr_t)job->buffer[i].in | (uintptr_t)job->buffer[i].out;
    return all % ALIGN != 0;
}

static int dma_copy(void *to, const void *from, size_t bytes)
{
    enum { MOST = (1 << 24) - 128 }; /* of a descriptor's 24 bits, whole vectors */

    while (bytes > 0) {
        const size_t now = bytes < MOST ? bytes : MOST;
        struct hx_dma_type0 d __attribute__((aligned(16))) = {.length = (uint32_t)now,
                                                              .src = (uint32_t)(uintptr_t)from,
                                                              .dst = (uint32_t)(uintptr_t)to};

        Q6_dmstart_A(&d);
        if ((Q6_R_dmwait() & HX_DMA_STATUS_MASK) != HX_DMA_IDLE)
            return AEE_EFAILED;
        to = (uint8_t *)to + now;
        from = (const uint8_t *)from + now;
        bytes -= now;
    }
    return AEE_SUCCESS;
}

int hx_job_move(struct hx_silicon_job *job, void *to, const void *from, size_t bytes)
{
    const uint64_t started = HAP_perf_get_pcycles();
    int rc = AEE_SUCCESS;

    if (job->run->placement == SILICON_DMA)
        rc = dma_copy(to, from, bytes);
    else
        hx_copy_hvx(to, from, (int)bytes);
    job->copies += HAP_perf_get_pcycles() - started;
    return rc;
}

static int move_in(struct hx_silicon_job *job)
{
    size_t total = 0;
    int rc = AEE_SUCCESS;

    for (int i = 0; i < HX_JOB_BUFFERS; i++)
        total += place_bytes(&job->buffer[i]);
    if (total == 0)
        return AEE_SUCCESS;
    job->vtcm = total <= UINT32_MAX ? HAP_request_VTCM((unsigned)total, 1) : NULL;
    if (!job->vtcm) {
        FARF(ERROR, "silicon: no %zu bytes of VTCM for the buffers", total);
        return AEE_ENOMEMORY;
    }

    uint8_t *at = job->vtcm;
    for (int i = 0; i < HX_JOB_BUFFERS && rc == AEE_SUCCESS; i++) {
        struct hx_job_buffer *b = &job->buffer[i];

        b->at = at;
        if (b->in)
            rc = hx_job_move(job, at, b->in, b->bytes);
        at += place_bytes(b);
    }
    return rc;
}

static int place_buffers(struct hx_silicon_job *job)
{
    if (job->run->placement != SILICON_DDR)
        return move_in(job);
    for (int i = 0; i < HX_JOB_BUFFERS; i++) {
        struct hx_job_buffer *b = &job->buffer[i];

        b->at = b->in ? (void *)(uintptr_t)b->in : b->out;
    }
    return AEE_SUCCESS;
}

static int move_out(struct hx_silicon_job *job)
{
    int rc = AEE_SUCCESS;

    for (int i = 0; i < HX_JOB_BUFFERS && rc == AEE_SUCCESS; i++)
        if (job->buffer[i].out)
            rc = hx_job_move(job, job->buffer[i].out, job->buffer[i].at, job->buffer[i].bytes);
    return rc;
}

/* --- the run */

/* What a context gets. */
struct work {
    const struct hx_silicon_job *job;
    hx_job_body *body;
    const void *args;
};

static int run_body(void *arg, struct hx_part part)
{
    const struct work *w = arg;

    hx_job_as_built(w->job);
    int rc = w->body(w->job, w->args, part);
    hx_job_as_library();
    return rc;
}

static int is_way(const silicon_how *run)
{
    return (run->build == SILICON_RELEASE || run->build == SILICON_DEBUG) &&
           run->placement >= SILICON_DDR && run->placement <= SILICON_DMA && run->threads >= 1 &&
           run->threads <= 2;
}

int hx_job_begin(struct hx_silicon_job *job)
{
    const silicon_how *run = job->run;

    if (!is_way(run) || is_misaligned(job)) {
        FARF(ERROR, "silicon: build %d, placement %d, threads %d: no such way to run this kernel, "
             "or misaligned buffers", run->build, run->placement, run->threads);
        return AEE_EBADPARM;
    }
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    int rc = place_buffers(job);
    if (rc == AEE_SUCCESS)
        return rc;
    if (job->vtcm)
        HAP_release_VTCM(job->vtcm);
    qurt_hvx_unlock();
    return rc;
}

int hx_job_share(const struct hx_silicon_job *job, hx_job_body *body, const void *args,
                 struct hx_parallel_time *time)
{
    struct work w = {job, body, args};

    return hx_parallel((unsigned)job->run->threads, run_body, &w, time, &hx_handover_pair);
}

int hx_job_end(struct hx_silicon_job *job, int rc, const struct hx_parallel_time *time, uint64_t total,
               silicon_cycles *cycles)
{
    if (rc == AEE_SUCCESS && job->vtcm)
        rc = move_out(job);
    if (job->vtcm)
        HAP_release_VTCM(job->vtcm);
    qurt_hvx_unlock();
    *cycles = (silicon_cycles){.handler = time->handler, .worker = time->worker, .total = total,
                               .copies = job->copies};
    return rc;
}

int hx_job_run(struct hx_silicon_job *job, hx_job_body *body, const void *args, silicon_cycles *cycles)
{
    struct hx_parallel_time time = {0, 0};
    int rc = hx_job_begin(job);

    if (rc)
        return rc;
    const uint64_t started = HAP_perf_get_pcycles();
    rc = hx_job_share(job, body, args, &time);
    return hx_job_end(job, rc, &time, HAP_perf_get_pcycles() - started, cycles);
}
