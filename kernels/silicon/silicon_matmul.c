/* The matmul of interface silicon: its variants, placement of its weights, and the table of row sums that the first
 * call builds. */
#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_perf.h"
#include "HAP_vtcm_mgr.h"
#include "hexrig_dma.h"
#include "skel/kernel.h"
#include "qf32_dot.h"
#include "qurt_mutex.h"
#include "silicon_job.h"
#include "silicon_matmul.h"
#include "silicon_state.h"

static hx_matmul_kernel *const variants[] = {
    [SILICON_SINGLE] = hx_matmul_single_hvx,
    [SILICON_ROW_SUMS] = hx_matmul_half_hvx,
    [SILICON_QF32] = hx_qf32_matmul_hvx,
};

/* --- row sums */

/* The table of the last cold call.  A warm call brings the same matrix again; only its shape can be checked. */
static struct {
    qurt_mutex_t lock; /* held for the length of a call that uses the table */
    int32_t *sum;      /* in DDR */
    int rows, stride;
} table = {.lock = QURT_MUTEX_INIT};

void hx_matmul_drop_table(void)
{
    qurt_mutex_lock(&table.lock);
    free(table.sum);
    table.sum = NULL;
    qurt_mutex_unlock(&table.lock);
}

/* Whole pages: where in a page the heap would put a table differs from run to run, and with it the cache lines. */
static void *alloc_pages(size_t bytes)
{
    enum { PAGE = 4096 };

    return aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
}

static int build_table(const struct hx_matmul *m)
{
    const int rows = m->shape.rows, stride = hx_matmul_stride(m->shape.in);
    int32_t *sum = alloc_pages((size_t)rows * sizeof(*sum));

    if (!sum)
        return AEE_ENOMEMORY;
    free(table.sum);
    table.sum = sum;
    table.rows = rows;
    table.stride = stride;
    hx_matmul_row_sums(m->w, rows, stride, sum);
    return AEE_SUCCESS;
}

/* *once: what building it took. */
static int ready_table(const silicon_how *run, struct hx_matmul *m, uint64_t *once)
{
    const uint64_t started = HAP_perf_get_pcycles();
    int rc = run->cold ? build_table(m) : AEE_SUCCESS;

    if (run->cold)
        *once = HAP_perf_get_pcycles() - started;
    if (rc)
        return rc;
    if (!table.sum || table.rows != m->shape.rows ||
        table.stride != hx_matmul_stride(m->shape.in)) {
        FARF(ERROR, "silicon: no row sums of %d rows of %d; the first call must be a cold one",
             m->shape.rows, m->shape.in);
        return AEE_EBADSTATE;
    }
    m->sum = table.sum;
    return AEE_SUCCESS;
}

/* --- weights in one piece */

static int whole_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    const struct hx_matmul *m = args;
    const struct hx_share s = hx_share_of(m->shape.rows, part);
    const struct hx_matmul_half half = {m->shape, (int)s.first, (int)s.n};
    const int8_t *w = (const int8_t *)job->buffer[0].at +
                      s.first * hx_matmul_stride(m->shape.in);

    return m->kernel(&half, m->x, w, m->sum, m->w_scale, m->y, m->scratch[part.index]);
}

int hx_matmul_rows(struct hx_silicon_job *job, const struct hx_matmul *m, struct hx_parallel_time *time)
{
    job->buffer[0].at = (void *)(uintptr_t)m->w;
    return hx_job_share(job, whole_share, m, time);
}

static int run_whole(const silicon_how *run, const struct hx_matmul *m, silicon_cycles *pcycles)
{
    struct hx_silicon_job job = {.run = run};

    job.buffer[0].in = m->w;
    job.buffer[0].bytes = (size_t)m->shape.rows * hx_matmul_stride(m->shape.in);
    return hx_job_run(&job, whole_share, m, pcycles);
}

/* --- weights in tiles, as published: while one tile is worked on, user DMA fetches the next into the other slot */

struct tile {
    const struct hx_matmul *m;
    const int8_t *w;
    int first, rows;
};

static int tile_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    const struct tile *t = args;
    const struct hx_matmul *m = t->m;
    const struct hx_share s = hx_share_of(t->rows, part);
    const struct hx_matmul_half half = {m->shape, t->first + (int)s.first, (int)s.n};

    (void)job;
    return m->kernel(&half, m->x, t->w + s.first * hx_matmul_stride(m->shape.in), m->sum,
                     m->w_scale, m->y, m->scratch[part.index]);
}

/* The tile after t, in the other slot; rows 0: none. */
static struct tile next_tile(const struct tile *t, int rows_per_tile, uint8_t *vtcm)
{
    const int first = t->first + t->rows, left = t->m->shape.rows - first;
    const int8_t *slot0 = (const int8_t *)vtcm, *slot1 = slot0 + HX_MATMUL_SLOT_BYTES;

    return (struct tile){t->m, t->w == slot0 ? slot1 : slot0, first,
                         left < rows_per_tile ? left : rows_per_tile};
}

static void start_fetch(const struct tile *t, struct hx_dma_type0 *d)
{
    const size_t stride = (size_t)hx_matmul_stride(t->m->shape.in);

    *d = (struct hx_dma_type0){.length = (uint32_t)(t->rows * stride),
                               .src = (uint32_t)(uintptr_t)(t->m->w + t->first * stride),
                               .dst = (uint32_t)(uintptr_t)t->w};
    Q6_dmstart_A(d);
}

static int finish_fetch(void)
{
    return (Q6_R_dmwait() & HX_DMA_STATUS_MASK) == HX_DMA_IDLE ? AEE_SUCCESS : AEE_EFAILED;
}

int hx_matmul_stream(const struct hx_silicon_job *job, const struct hx_matmul *m, uint8_t *vtcm,
                     struct hx_parallel_time *time)
{
    const int rows_per_tile = (HX_MATMUL_SLOT_BYTES / hx_matmul_stride(m->shape.in)) & ~3;
    struct hx_dma_type0 d __attribute__((aligned(16)));
    struct tile now = {.m = m}, next = next_tile(&now, rows_per_tile, vtcm);

    start_fetch(&next, &d);
    int rc = finish_fetch();
    while (rc == AEE_SUCCESS && next.rows > 0) {
        now = next;
        next = next_tile(&now, rows_per_tile, vtcm);
        if (next.rows > 0)
            start_fetch(&next, &d);
        rc = hx_job_share(job, tile_share, &now, time);
        int fetched = next.rows > 0 ? finish_fetch() : AEE_SUCCESS;
        rc = rc ? rc : fetched;
    }
    return rc;
}

static int run_tiled(const silicon_how *run, const struct hx_matmul *m, silicon_cycles *pcycles)
{
    struct hx_parallel_time time = {0, 0};
    struct hx_silicon_job job = {.run = run};

    if (hx_matmul_stride(m->shape.in) > HX_MATMUL_SLOT_BYTES / 4)
        return AEE_EBADPARM;
    int rc = hx_job_begin(&job);
    if (rc)
        return rc;
    uint8_t *vtcm = HAP_request_VTCM(2 * HX_MATMUL_SLOT_BYTES, 1);
    if (!vtcm)
        return hx_job_end(&job, AEE_ENOMEMORY, &time, 0, pcycles);
    const uint64_t started = HAP_perf_get_pcycles();
    rc = hx_matmul_stream(&job, m, vtcm, &time);
    const uint64_t total = HAP_perf_get_pcycles() - started;
    HAP_release_VTCM(vtcm);
    return hx_job_end(&job, rc, &time, total, pcycles);
}

/* --- the method */

static int run_placed(const silicon_how *run, const struct hx_matmul *m, silicon_cycles *pcycles)
{
    return (run->placement == SILICON_DMA ? run_tiled : run_whole)(run, m, pcycles);
}

static int run_with_table(const silicon_how *run, struct hx_matmul *m, silicon_cycles *pcycles)
{
    uint64_t once = 0;

    qurt_mutex_lock(&table.lock);
    int rc = ready_table(run, m, &once);
    if (!rc)
        rc = run_placed(run, m, pcycles);
    pcycles->once = once;
    qurt_mutex_unlock(&table.lock);
    return rc;
}

static int alloc_scratch(struct hx_matmul *m)
{
    const size_t stride = (size_t)hx_matmul_stride(m->shape.in);

    m->scratch[0] = alloc_pages(2 * stride);
    if (!m->scratch[0])
        return AEE_ENOMEMORY;
    m->scratch[1] = m->scratch[0] + stride;
    return AEE_SUCCESS;
}

int silicon_matmul(remote_handle64 h, const silicon_how *run, int variant, int tokens, int inner,
                   int rows, const float *x, int xLen, const unsigned char *w, int wLen,
                   const float *w_scale, int w_scaleLen, float *y, int yLen,
                   silicon_cycles *pcycles)
{
    enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };
    struct hx_matmul m = {{tokens, inner, rows}, NULL, x, w_scale, (const int8_t *)w, y, NULL, {0}};

    (void)h;
    if (variant < 0 || variant >= VARIANTS || tokens < 1 || inner < 1 || rows < 1 ||
        inner > INT32_MAX - 127 || (int64_t)tokens * inner != xLen ||
        (int64_t)rows * hx_matmul_stride(inner) != wLen || w_scaleLen != rows ||
        (int64_t)tokens * rows != yLen)
        return AEE_EBADPARM;
    m.kernel = variants[variant];
    if (alloc_scratch(&m))
        return AEE_ENOMEMORY;
    int rc = (variant == SILICON_ROW_SUMS ? run_with_table(run, &m, pcycles)
                                          : run_placed(run, &m, pcycles));
    free(m.scratch[0]);
    return rc;
}
