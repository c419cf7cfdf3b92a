/* The methods of interface silicon for what a forward pass does beside its matmuls: row operations, attention, row sums, and
 * staging in VTCM. */
#include <stdint.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_perf.h"
#include "HAP_vtcm_mgr.h"
#include "layer.h"
#include "silicon_job.h"
#include "skel/kernel.h"
#include "vrmpy_matmul.h"

#define IN(pointer, elements) {.in = (pointer), .bytes = (size_t)(elements) * sizeof(*(pointer))}
#define OUT(pointer, elements) {.out = (pointer), .bytes = (size_t)(elements) * sizeof(*(pointer))}

/* --- rows */

enum other { NONE, ONE, EACH };

static const struct operation {
    hx_row_op *version[2]; /* scalar, HVX */
    enum other other[2];
} operations[] = {
    [SILICON_RMSNORM] = {{hx_rmsnorm_scalar, hx_rmsnorm_hvx}, {ONE, ONE}},
    [SILICON_ROPE] = {{hx_rope_scalar, hx_rope_hvx}, {NONE, EACH}},
    [SILICON_SOFTMAX] = {{hx_softmax_scalar, hx_softmax_hvx}, {NONE, NONE}},
    [SILICON_GELU] = {{hx_gelu_scalar, hx_gelu_hvx}, {EACH, EACH}},
    [SILICON_SILU] = {{hx_silu_scalar, hx_silu_hvx}, {EACH, EACH}},
    [SILICON_ADD] = {{hx_add_scalar, hx_add_hvx}, {EACH, EACH}},
};

struct rows {
    hx_row_op *op;
    enum other other;
    int n, stride, count;
};

static int rows_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    const struct rows *r = args;
    const struct hx_share s = hx_share_of(r->count, part);
    int rc = AEE_SUCCESS;

    for (size_t i = s.first; i < s.first + s.n && rc == AEE_SUCCESS; i++) {
        const size_t at = i * r->stride, other = r->other == EACH ? at : 0;

        rc = r->op((const float *)job->buffer[0].at + at, (const float *)job->buffer[1].at + other, r->n,
                   (int)i, (float *)job->buffer[2].at + at);
    }
    return rc;
}

int silicon_rows(remote_handle64 h, const silicon_how *run, int operation, int hvx, int n, const float *x, int xLen,
                 const float *other, int otherLen, float *y, int yLen, silicon_cycles *pcycles)
{
    enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]), MOST = 1 << 24 };
    struct hx_silicon_job job = {.run = run, .buffer = {IN(x, xLen), IN(other, otherLen), OUT(y, yLen)}};
    struct rows r = {.n = n};

    (void)h;
    if (operation < 0 || operation >= OPERATIONS || hvx < 0 || hvx > 1 || n < 1 || n > MOST)
        return AEE_EBADPARM;
    r.op = operations[operation].version[hvx];
    r.other = operations[operation].other[hvx];
    r.stride = (n + HX_VECTOR_WORDS - 1) / HX_VECTOR_WORDS * HX_VECTOR_WORDS;
    r.count = xLen / r.stride;
    if (xLen % r.stride || yLen != xLen || otherLen != (r.other == EACH ? xLen : r.other == ONE ? r.stride : 0))
        return AEE_EBADPARM;
    return hx_job_run(&job, rows_share, &r, pcycles);
}

/* --- attention */

enum { MAX_TOKENS = 512 }; /* scores lie on the stack */

struct attend {
    int heads, dh, tokens;
    float scale;
};

/* Divided by queries: token t has t + 1 positions, so the lower half is the cheaper one. */
static int attend_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    const struct attend *a = args;
    const struct hx_share s = hx_share_of((size_t)a->tokens * a->heads, part);
    float weight[MAX_TOKENS];

    for (size_t i = s.first; i < s.first + s.n; i++) {
        const int n = (int)(i / a->heads) + 1;

        hx_scores_scalar((const float *)job->buffer[0].at + i * a->dh, job->buffer[1].at, a->dh, n, a->dh,
                         a->scale, weight);
        hx_softmax_scalar(weight, NULL, n, 0, weight);
        hx_weighted_scalar(weight, job->buffer[2].at, a->dh, n, a->dh, (float *)job->buffer[3].at + i * a->dh);
    }
    return AEE_SUCCESS;
}

int silicon_attend(remote_handle64 h, const silicon_how *run, int heads, int dh, const float *q, int qLen,
                   const float *k, int kLen, const float *v, int vLen, float *y, int yLen, silicon_cycles *pcycles)
{
    struct hx_silicon_job job = {.run = run, .buffer = {IN(q, qLen), IN(k, kLen), IN(v, vLen), OUT(y, yLen)}};

    (void)h;
    if (heads < 1 || dh < 1 || kLen % dh || kLen / dh > MAX_TOKENS || vLen != kLen || yLen != qLen ||
        (int64_t)kLen * heads != qLen)
        return AEE_EBADPARM;
    const struct attend a = {heads, dh, kLen / dh, 1 / __builtin_sqrtf((float)dh)};
    return hx_job_run(&job, attend_share, &a, pcycles);
}

/* --- row sums */

static int row_sums_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    const int stride = *(const int *)args;
    const struct hx_share s = hx_share_of(job->buffer[0].bytes / stride, part);

    hx_matmul_row_sums((const int8_t *)job->buffer[0].at + s.first * stride, (int)s.n, stride,
                       (int32_t *)job->buffer[1].at + s.first);
    return AEE_SUCCESS;
}

int silicon_row_sums(remote_handle64 h, const silicon_how *run, int stride, const unsigned char *w, int wLen,
                     int *sums, int sumsLen, silicon_cycles *pcycles)
{
    struct hx_silicon_job job = {.run = run, .buffer = {IN(w, wLen), OUT(sums, sumsLen)}};

    (void)h;
    if (stride < 1 || stride % HX_VECTOR_BYTES || (int64_t)stride * sumsLen != wLen)
        return AEE_EBADPARM;
    return hx_job_run(&job, row_sums_share, &stride, pcycles);
}

/* --- staging */

static int copy_there_and_back(struct hx_silicon_job *job, uint8_t *vtcm, int in, const uint8_t *data, uint8_t *back,
                               size_t bytes)
{
    int rc = AEE_SUCCESS;

    for (int i = 0; i < in && rc == AEE_SUCCESS; i++)
        rc = hx_job_move(job, vtcm + i * bytes, data, bytes);
    if (back && rc == AEE_SUCCESS)
        rc = hx_job_move(job, back, vtcm, bytes);
    return rc;
}

int silicon_stage(remote_handle64 h, const silicon_how *run, int copies, const unsigned char *data, int dataLen,
                  unsigned char *back, int backLen, silicon_cycles *pcycles)
{
    const struct hx_parallel_time none = {0, 0};
    struct hx_silicon_job job = {.run = run};
    const int in = copies > 1 ? copies - 1 : 1;
    const int64_t bytes = (int64_t)in * dataLen;

    (void)h;
    if (copies < 1 || dataLen < HX_VECTOR_BYTES || dataLen % HX_VECTOR_BYTES || backLen != dataLen || bytes > UINT32_MAX ||
        !hx_is_aligned(data) || !hx_is_aligned(back))
        return AEE_EBADPARM;
    int rc = hx_job_begin(&job);
    if (rc)
        return rc;
    const uint64_t started = HAP_perf_get_pcycles();
    uint8_t *vtcm = HAP_request_VTCM((unsigned)bytes, 1);
    const uint64_t granted = HAP_perf_get_pcycles();
    if (!vtcm) {
        FARF(ERROR, "silicon: no %lld bytes of VTCM for %d copies", (long long)bytes, in);
        return hx_job_end(&job, AEE_ENOMEMORY, &none, 0, pcycles);
    }
    rc = copy_there_and_back(&job, vtcm, in, data, copies > 1 ? back : NULL, (size_t)dataLen);
    HAP_release_VTCM(vtcm);
    const uint64_t total = HAP_perf_get_pcycles() - started;
    rc = hx_job_end(&job, rc, &none, total, pcycles);
    pcycles->once = granted - started;
    return rc;
}
