/* Implements interface silicon on the DSP: checks lengths, then divides a kernel among one or two contexts.  Its matmul
 * is in silicon_matmul.c, its NTT in silicon_ntt.c.
 *
 * Reentrant.  What outlives a call (worker thread, row sums, NTT tables) belongs to the PD and goes with the last
 * handle. */
#include <stdint.h>
#include <stdlib.h>

#include "AEEStdErr.h"
#include "band_quantize.h"
#include "elementwise.h"
#include "hexrig_uncosted.h"
#include "hx_compress.h"
#include "mobius.h"
#include "modmatmul.h"
#include "qf32_dot.h"
#include "silicon_job.h"
#include "silicon_state.h"
#include "skel/handles.h"
#include "skel/kernel.h"
#include "vht2.h"

HX_UNCOSTED("the kernels are listed; dividing and handing over work is not");

static void drop(struct hx_handle *h)
{
    free(h);
}

static void idle(void)
{
    hx_parallel_stop(&hx_handover_pair);
    hx_matmul_drop_table();
    hx_forward_drop_tables();
    hx_ntt_drop_tables();
}

static struct hx_handles handles = HX_HANDLES("silicon", drop, idle);

int silicon_open(const char *uri, remote_handle64 *h)
{
    struct hx_handle *state = calloc(1, sizeof(*state));
    int rc = state ? hx_handle_open(&handles, state, uri, h) : AEE_ENOMEMORY;

    if (rc)
        free(state);
    return rc;
}

int silicon_close(remote_handle64 h)
{
    return hx_handle_close(&handles, h);
}

#define IN(pointer, elements) {.in = (pointer), .bytes = (size_t)(elements) * sizeof(*(pointer))}
#define OUT(pointer, elements) {.out = (pointer), .bytes = (size_t)(elements) * sizeof(*(pointer))}

/* --- echo */

static int echo_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    const struct hx_share s = hx_share_of(job->buffer[0].bytes, part);

    (void)args;
    hx_echo((uint8_t *)job->buffer[1].at + s.first, (const uint8_t *)job->buffer[0].at + s.first,
            (int)s.n);
    return AEE_SUCCESS;
}

int silicon_null(remote_handle64 h, const unsigned char *data, int dataLen, unsigned char *back,
                 int backLen)
{
    (void)h;
    (void)data;
    (void)dataLen;
    (void)back;
    (void)backLen;
    return AEE_SUCCESS;
}

int silicon_echo(remote_handle64 h, const silicon_how *run, const unsigned char *data, int dataLen,
                 unsigned char *back, int backLen, silicon_cycles *pcycles)
{
    struct hx_silicon_job job = {.run = run, .buffer = {IN(data, dataLen), OUT(back, backLen)}};

    (void)h;
    if (dataLen != backLen)
        return AEE_EBADPARM;
    return hx_job_run(&job, echo_share, NULL, pcycles);
}

/* --- axpby */

enum { AXPBY_UNIT = 64 };

struct axpby {
    int16_t alpha;
    int32_t beta;
    int n;
};

static int axpby_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    const struct axpby *a = args;
    const struct hx_share s = hx_share_of(a->n / AXPBY_UNIT, part);
    const int first = (int)s.first * AXPBY_UNIT;

    return hx_axpby_hvx((int16_t *)job->buffer[1].at + first,
                        (const int16_t *)job->buffer[0].at + first, (int)s.n * AXPBY_UNIT, a->alpha,
                        a->beta);
}

int silicon_axpby(remote_handle64 h, const silicon_how *run, short alpha, int beta, const short *x,
                  int xLen, short *y, int yLen, silicon_cycles *pcycles)
{
    const struct axpby a = {alpha, beta, xLen};
    struct hx_silicon_job job = {.run = run, .buffer = {IN(x, xLen), OUT(y, yLen)}};

    (void)h;
    if (xLen != yLen || xLen % AXPBY_UNIT)
        return AEE_EBADPARM;
    return hx_job_run(&job, axpby_share, &a, pcycles);
}

/* --- modulo q */

static int is_modulus(uint32_t q)
{
    return q > 1u << 29 && q < 1u << 30;
}

struct barrett {
    uint32_t q;
    int n;
};

static int barrett_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    const struct barrett *b = args;
    const struct hx_share s = hx_share_of(b->n / HX_VECTOR_WORDS, part);
    const int first = (int)s.first * HX_VECTOR_WORDS;

    return hx_barrett_hvx((const uint32_t *)job->buffer[0].at + first,
                          (const uint32_t *)job->buffer[1].at + first,
                          (uint32_t *)job->buffer[2].at + first, (int)s.n * HX_VECTOR_WORDS, b->q);
}

int silicon_barrett(remote_handle64 h, const silicon_how *run, unsigned int q,
                    const unsigned int *a, int aLen, const unsigned int *b, int bLen,
                    unsigned int *r, int rLen, silicon_cycles *pcycles)
{
    const struct barrett args = {q, aLen};
    struct hx_silicon_job job = {.run = run, .buffer = {IN(a, aLen), IN(b, bLen), OUT(r, rLen)}};

    (void)h;
    if (aLen != bLen || aLen != rLen || aLen % HX_VECTOR_WORDS || !is_modulus(q))
        return AEE_EBADPARM;
    return hx_job_run(&job, barrett_share, &args, pcycles);
}

/* Shares of the batch, so a second context wants a batch of two. */
static int modmatmul_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    struct hx_modmatmul shape = *(const struct hx_modmatmul *)args;
    const struct hx_share s = hx_share_of(shape.batch, part);

    shape.batch = (int)s.n;
    return hx_modmatmul_hvx(&shape, (const uint32_t *)job->buffer[0].at + s.first * shape.inner,
                            job->buffer[1].at,
                            (uint32_t *)job->buffer[2].at + s.first * shape.outer);
}

int silicon_modmatmul(remote_handle64 h, const silicon_how *run, unsigned int q, int batch,
                      int inner, int outer, const unsigned int *x, int xLen,
                      const unsigned int *w, int wLen, unsigned int *y, int yLen,
                      silicon_cycles *pcycles)
{
    const struct hx_modmatmul shape = {.batch = batch, .inner = inner, .outer = outer, .q = q};
    struct hx_silicon_job job = {.run = run, .buffer = {IN(x, xLen), IN(w, wLen), OUT(y, yLen)}};

    (void)h;
    if (batch < 0 || inner < 0 || outer < 0 || (int64_t)batch * inner != xLen ||
        (int64_t)inner * outer != wLen || (int64_t)batch * outer != yLen || !is_modulus(q))
        return AEE_EBADPARM;
    return hx_job_run(&job, modmatmul_share, &shape, pcycles);
}

/* --- VHT2 and compression */

struct vht2 {
    int hvx, n, repeats, vectors;
};

/* The published bench copies a vector to the stack, then transforms it there, again and again.  memcpy comes from a
 * library. */
static int vht2_repeated(const struct hx_silicon_job *job, const struct vht2 *v, const float *from,
                         float *tile)
{
    int rc = AEE_SUCCESS;

    for (int i = 0; i < v->repeats && rc == AEE_SUCCESS; i++) {
        hx_job_as_library();
        hx_copy_hvx(tile, from, v->n * (int)sizeof(*tile));
        hx_job_as_built(job);
        rc = v->hvx ? hx_vht2_hvx(tile, v->n) : hx_vht2_scalar(tile, v->n);
    }
    return rc;
}

static int vht2_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    float tile[HX_VHT2_MAX] __attribute__((aligned(HX_VECTOR_BYTES)));
    const struct vht2 *v = args;
    const struct hx_share s = hx_share_of(v->vectors, part);
    const float *from = (const float *)job->buffer[0].at + s.first * v->n;
    float *to = (float *)job->buffer[1].at + s.first * v->n;
    int rc = AEE_SUCCESS;

    for (size_t i = 0; i < s.n && rc == AEE_SUCCESS; i++, from += v->n, to += v->n) {
        rc = vht2_repeated(job, v, from, tile);
        hx_job_as_library();
        hx_copy_hvx(to, tile, v->n * (int)sizeof(*tile));
    }
    return rc;
}

int silicon_vht2(remote_handle64 h, const silicon_how *run, int hvx, int n, int repeats,
                 const float *x, int xLen, float *y, int yLen, silicon_cycles *pcycles)
{
    struct hx_silicon_job job = {.run = run, .buffer = {IN(x, xLen), OUT(y, yLen)}};

    (void)h;
    if (n < HX_VECTOR_WORDS || n > HX_VHT2_MAX || repeats < 1 || xLen != yLen || xLen % n)
        return AEE_EBADPARM;
    const struct vht2 v = {hvx, n, repeats, xLen / n};
    return hx_job_run(&job, vht2_share, &v, pcycles);
}

struct compress {
    struct hx_bands bands;
    int transform, vectors, bytes;
    uint16_t order[HX_BAND_MAX_N];
};

/* As published: the transform, and its coefficients in Moebius order.  Where they are then. */
static const float *compress_transform(const struct compress *c, float *tile, float *ordered)
{
    if (!c->transform)
        return tile;
    if (hx_vht2_hvx(tile, c->bands.n))
        return NULL;
    hx_mobius_scatter(c->order, c->bands.n, tile, ordered);
    return ordered;
}

static int compress_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    float tile[HX_BAND_MAX_N] __attribute__((aligned(HX_VECTOR_BYTES)));
    float ordered[HX_BAND_MAX_N] __attribute__((aligned(HX_VECTOR_BYTES)));
    const struct compress *c = args;
    const struct hx_share s = hx_share_of(c->vectors, part);
    const int n = c->bands.n;
    const float *from = (const float *)job->buffer[0].at + s.first * n;
    uint8_t *to = (uint8_t *)job->buffer[1].at + s.first * c->bytes;
    int rc = AEE_SUCCESS;

    for (size_t i = 0; i < s.n && rc == AEE_SUCCESS; i++, from += n, to += c->bytes) {
        hx_job_as_library();
        hx_copy_hvx(tile, from, n * (int)sizeof(*tile));
        hx_job_as_built(job);
        const float *coefficients = compress_transform(c, tile, ordered);
        rc = coefficients ? hx_band_quantize_hvx(&c->bands, coefficients, to) : AEE_EBADPARM;
    }
    return rc;
}

int silicon_compress(remote_handle64 h, const silicon_how *run, int kind, int transform, int n,
                     const float *x, int xLen, unsigned char *codes, int codesLen,
                     silicon_cycles *pcycles)
{
    struct compress c = {.bands = kind ? hx_bands_v(n) : hx_bands_k(n), .transform = transform};
    struct hx_silicon_job job = {.run = run, .buffer = {IN(x, xLen), OUT(codes, codesLen)}};

    (void)h;
    c.bytes = n % HX_VECTOR_WORDS ? 0 : hx_bands_bytes(&c.bands);
    if (c.bytes == 0 || (kind != 0 && kind != 1) || xLen % n)
        return AEE_EBADPARM;
    hx_mobius_order(n, HX_MOBIUS_SHIP, c.order);
    c.vectors = xLen / n;
    if ((int64_t)c.vectors * c.bytes != codesLen)
        return AEE_EBADPARM;
    return hx_job_run(&job, compress_share, &c, pcycles);
}

/* --- argmax */

enum { ARGMAX_UNIT = 64 };

struct argmax {
    int n;
    int *best; /* per part; -1: an empty share */
};

static int argmax_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    const struct argmax *a = args;
    const struct hx_share s = hx_share_of((a->n + ARGMAX_UNIT - 1) / ARGMAX_UNIT, part);
    const int first = (int)s.first * ARGMAX_UNIT, most = (int)s.n * ARGMAX_UNIT;
    const int n = first + most < a->n ? most : a->n - first;

    a->best[part.index] =
        n > 0 ? first + hx_argmax_hvx((const uint16_t *)job->buffer[0].at + first, n) : -1;
    return AEE_SUCCESS;
}

int silicon_argmax(remote_handle64 h, const silicon_how *run, const unsigned short *x, int xLen,
                   unsigned int *index, silicon_cycles *pcycles)
{
    int best[2] = {-1, -1};
    const struct argmax a = {xLen, best};
    struct hx_silicon_job job = {.run = run, .buffer = {IN(x, xLen)}};

    (void)h;
    if (xLen < 1)
        return AEE_EBADPARM;
    int rc = hx_job_run(&job, argmax_share, &a, pcycles);
    if (rc)
        return rc;
    /* of equal values the first, so that of the lower part wins */
    if (best[0] < 0 || (best[1] >= 0 && x[best[1]] > x[best[0]]))
        best[0] = best[1];
    *index = (unsigned)best[0];
    return rc;
}

/* --- qf32 dot */

struct dot {
    int n, count;
};

static int dot_share(const struct hx_silicon_job *job, const void *args, struct hx_part part)
{
    const struct dot *d = args;
    const struct hx_share s = hx_share_of(d->count, part);

    return hx_qf32_dot_hvx((const float *)job->buffer[0].at + s.first * d->n,
                           (const float *)job->buffer[1].at + s.first * d->n, d->n, (int)s.n,
                           (float *)job->buffer[2].at + s.first);
}

int silicon_dot(remote_handle64 h, const silicon_how *run, int n, const float *a, int aLen,
                const float *b, int bLen, float *sums, int sumsLen, silicon_cycles *pcycles)
{
    const struct dot d = {n, sumsLen};
    struct hx_silicon_job job = {.run = run, .buffer = {IN(a, aLen), IN(b, bLen), OUT(sums, sumsLen)}};

    (void)h;
    if (n < 1 || aLen != bLen || (int64_t)sumsLen * n != aLen)
        return AEE_EBADPARM;
    return hx_job_run(&job, dot_share, &d, pcycles);
}
