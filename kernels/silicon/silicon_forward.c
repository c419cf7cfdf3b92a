/* A forward pass of interface silicon in one call: layers as the published skel runs them, each operation timed.
 *
 * Matmuls run on one or two contexts; everything else is scalar and runs on the calling thread, as published.  Row sums
 * outlive the call: tables[] below. */
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_perf.h"
#include "HAP_vtcm_mgr.h"
#include "elementwise.h"
#include "layer.h"
#include "qurt_mutex.h"
#include "silicon_matmul.h"
#include "silicon_pass.h"
#include "silicon_state.h"

enum { ALIGN = 128, PAGE = 4096, MAX_TOKENS = 512 };

/* What a call works on; rows are [tokens][...]. */
struct pass {
    struct hx_silicon_job job;
    silicon_geometry g;
    int layers;
    const uint8_t *weights;
    uint8_t *vtcm;
    float *x, *normed, *q, *k, *v, *attended, *projected, *gate, *up;
    float *heap;         /* all of these */
    uint8_t *scratch[2]; /* quantised activations */
    struct hx_parallel_time time;
    uint64_t *times; /* of the current layer */
};

/* --- row sums: of all layers of the last cold call; as for matmul, only the shape of a warm one can be checked */

static struct {
    qurt_mutex_t lock; /* held for the length of a call */
    int32_t *sum;      /* [layers][rows], in DDR */
    silicon_geometry g;
    int layers;
} tables = {.lock = QURT_MUTEX_INIT};

void hx_forward_drop_tables(void)
{
    qurt_mutex_lock(&tables.lock);
    free(tables.sum);
    tables.sum = NULL;
    qurt_mutex_unlock(&tables.lock);
}

static void *alloc_pages(size_t bytes)
{
    return aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
}

static int new_tables(const struct pass *p)
{
    int32_t *sum = alloc_pages((size_t)p->layers * hx_pass_layer_rows(&p->g) * sizeof(*sum));

    if (!sum)
        return AEE_ENOMEMORY;
    free(tables.sum);
    tables.sum = sum;
    tables.g = p->g;
    tables.layers = p->layers;
    return AEE_SUCCESS;
}

static int ready_tables(const struct pass *p)
{
    if (p->job.run->threads == 1)
        return AEE_SUCCESS;
    if (p->job.run->cold)
        return new_tables(p);
    if (tables.sum && tables.layers >= p->layers && memcmp(&tables.g, &p->g, sizeof(p->g)) == 0)
        return AEE_SUCCESS;
    FARF(ERROR, "silicon: no row sums of %d such layers; the first call must be a cold one", p->layers);
    return AEE_EBADSTATE;
}

/* --- operations */

/* What is done since `started` belongs to an operation; code of the job's build follows. */
static uint64_t begin(const struct pass *p)
{
    hx_job_as_built(&p->job);
    return HAP_perf_get_pcycles();
}

static void end(struct pass *p, enum silicon_pass_operation op, uint64_t started)
{
    p->times[op] += HAP_perf_get_pcycles() - started;
}

static int matmul(struct pass *p, const struct hx_pass_matrix *m, enum silicon_pass_operation op, const float *x, float *y)
{
    const struct hx_matmul run = {
        .shape = {p->g.tokens, m->in, m->rows},
        .kernel = p->job.run->threads == 1 ? hx_matmul_single_hvx : hx_matmul_half_hvx,
        .x = x, .y = y, .w = m->w, .w_scale = m->scale, .sum = m->sum,
        .scratch = {p->scratch[0], p->scratch[1]},
    };
    const int in_tiles = p->job.run->placement == SILICON_DMA && op >= SILICON_PASS_GATE;
    const uint64_t started = HAP_perf_get_pcycles();
    int rc = in_tiles ? hx_matmul_stream(&p->job, &run, p->vtcm + hx_pass_matrices_bytes(&p->g, HX_PASS_ATTENTION), &p->time)
                      : hx_matmul_rows(&p->job, &run, &p->time);

    end(p, op, started);
    return rc;
}

static void norms(struct pass *p, enum silicon_pass_operation op, const float *x, const float *w, int n, int rows, float *y)
{
    const uint64_t started = begin(p);

    for (int r = 0; r < rows; r++)
        hx_rmsnorm_scalar(x + (size_t)r * n, w, n, r, y + (size_t)r * n);
    end(p, op, started);
}

static void rope(struct pass *p, float *x, int heads)
{
    const uint64_t started = begin(p);

    for (int r = 0; r < p->g.tokens * heads; r++, x += p->g.head_width)
        hx_rope_scalar(x, NULL, p->g.head_width, r / heads, x);
    end(p, SILICON_PASS_ROPE, started);
}

/* Causal: token t has t + 1 positions. */
static void attend(struct pass *p)
{
    const int dh = p->g.head_width, heads = p->g.heads;
    const float scale = 1 / __builtin_sqrtf((float)dh);
    float weight[MAX_TOKENS];

    for (int r = 0; r < p->g.tokens * heads; r++) {
        const int n = r / heads + 1;
        uint64_t started = begin(p);

        hx_scores_scalar(p->q + (size_t)r * dh, p->k, dh, n, dh, scale, weight);
        end(p, SILICON_PASS_SCORES, started);
        started = begin(p);
        hx_softmax_scalar(weight, NULL, n, r, weight);
        end(p, SILICON_PASS_SOFTMAX, started);
        started = begin(p);
        hx_weighted_scalar(weight, p->v, dh, n, dh, p->attended + (size_t)r * dh);
        end(p, SILICON_PASS_VALUES, started);
    }
}

static void gelu(struct pass *p)
{
    const uint64_t started = begin(p);

    for (int t = 0; t < p->g.tokens; t++) {
        const size_t at = (size_t)t * p->g.ffn;

        hx_gelu_scalar(p->gate + at, p->up + at, p->g.ffn, t, p->gate + at);
    }
    end(p, SILICON_PASS_GELU, started);
}

/* x += the normed projection: the end of both halves of a layer. */
static void add_normed(struct pass *p, const float *w)
{
    norms(p, SILICON_PASS_NORM, p->projected, w, p->g.width, p->g.tokens, p->normed);
    const uint64_t started = begin(p);
    for (int t = 0; t < p->g.tokens; t++) {
        const size_t at = (size_t)t * p->g.width;

        hx_add_scalar(p->x + at, p->normed + at, p->g.width, t, p->x + at);
    }
    end(p, SILICON_PASS_ADD, started);
}

/* --- a layer */

static int attention_half(struct pass *p, const struct hx_pass_layer *l)
{
    const silicon_geometry *g = &p->g;
    int rc;

    norms(p, SILICON_PASS_NORM, p->x, l->before_attention, g->width, g->tokens, p->normed);
    rc = matmul(p, &l->m[HX_PASS_Q], SILICON_PASS_Q, p->normed, p->q);
    rc = rc ? rc : matmul(p, &l->m[HX_PASS_K], SILICON_PASS_K, p->normed, p->k);
    rc = rc ? rc : matmul(p, &l->m[HX_PASS_V], SILICON_PASS_V, p->normed, p->v);
    if (rc)
        return rc;
    norms(p, SILICON_PASS_HEAD_NORM, p->q, l->query, g->head_width, g->tokens * g->heads, p->q);
    norms(p, SILICON_PASS_HEAD_NORM, p->k, l->key, g->head_width, g->tokens, p->k);
    rope(p, p->q, g->heads);
    rope(p, p->k, 1);
    attend(p);
    rc = matmul(p, &l->m[HX_PASS_O], SILICON_PASS_O, p->attended, p->projected);
    add_normed(p, l->behind_attention);
    return rc;
}

static int ffn_half(struct pass *p, const struct hx_pass_layer *l)
{
    int rc;

    norms(p, SILICON_PASS_NORM, p->x, l->before_ffn, p->g.width, p->g.tokens, p->normed);
    rc = matmul(p, &l->m[HX_PASS_GATE], SILICON_PASS_GATE, p->normed, p->gate);
    rc = rc ? rc : matmul(p, &l->m[HX_PASS_UP], SILICON_PASS_UP, p->normed, p->up);
    if (rc)
        return rc;
    gelu(p);
    rc = matmul(p, &l->m[HX_PASS_DOWN], SILICON_PASS_DOWN, p->gate, p->projected);
    add_normed(p, l->behind_ffn);
    return rc;
}

static void build_tables(struct pass *p, const struct hx_pass_layer *l)
{
    const uint64_t started = begin(p);

    for (int i = 0; i < HX_PASS_MATRICES; i++)
        hx_matmul_row_sums(l->m[i].w, l->m[i].rows, hx_matmul_stride(l->m[i].in), l->m[i].sum);
    end(p, SILICON_PASS_TABLES, started);
}

/* The attention weights as one block, codes and scales, and where they lie then. */
static void stage(struct pass *p, struct hx_pass_layer *l)
{
    const int8_t *from = l->m[HX_PASS_Q].w;
    const uint64_t started = HAP_perf_get_pcycles();

    hx_job_as_library();
    hx_copy_hvx(p->vtcm, from, (int)hx_pass_matrices_bytes(&p->g, HX_PASS_ATTENTION));
    end(p, SILICON_PASS_STAGING, started);
    for (int i = 0; i < HX_PASS_ATTENTION; i++) {
        struct hx_pass_matrix *m = &l->m[i];

        m->scale = (const float *)(p->vtcm + ((const int8_t *)m->scale - from));
        m->w = (const int8_t *)(p->vtcm + (m->w - from));
    }
}

static int run_layer(struct pass *p, int index)
{
    struct hx_pass_layer l = hx_pass_find_layer(&p->g, p->weights, index, p->job.run->threads == 2 ? tables.sum : NULL);
    const uint64_t started = HAP_perf_get_pcycles(), us = HAP_perf_get_time_us();

    if (p->job.run->cold && p->job.run->threads == 2)
        build_tables(p, &l);
    if (p->vtcm)
        stage(p, &l);
    int rc = attention_half(p, &l);
    rc = rc ? rc : ffn_half(p, &l);
    end(p, SILICON_PASS_PCYCLES, started);
    p->times[SILICON_PASS_MICROSECONDS] = HAP_perf_get_time_us() - us;
    return rc;
}

/* --- the call */

static int run_layers(struct pass *p, float *y)
{
    int rc = AEE_SUCCESS;

    for (int i = 0; i < p->layers && rc == AEE_SUCCESS; i++, p->times += SILICON_PASS_TIMES)
        rc = run_layer(p, i);
    if (rc)
        return rc;
    const uint64_t started = HAP_perf_get_pcycles(), us = HAP_perf_get_time_us();
    norms(p, SILICON_PASS_NORM, p->x, (const float *)(p->weights + (size_t)p->layers * hx_pass_layer_bytes(&p->g)), p->g.width,
          p->g.tokens, y);
    end(p, SILICON_PASS_PCYCLES, started);
    p->times[SILICON_PASS_MICROSECONDS] = HAP_perf_get_time_us() - us;
    return AEE_SUCCESS;
}

/* What run_layers() needs beside the job. */
static int take_vtcm(struct pass *p)
{
    const size_t tiles = p->job.run->placement == SILICON_DMA ? 2 * HX_MATMUL_SLOT_BYTES : 0;
    const size_t bytes = hx_pass_matrices_bytes(&p->g, HX_PASS_ATTENTION) + tiles;

    if (p->job.run->placement == SILICON_DDR)
        return AEE_SUCCESS;
    p->vtcm = bytes <= UINT32_MAX ? HAP_request_VTCM((unsigned)bytes, 1) : NULL;
    if (p->vtcm)
        return AEE_SUCCESS;
    FARF(ERROR, "silicon: no %zu bytes of VTCM for a layer", bytes);
    return AEE_ENOMEMORY;
}

static int take_heap(struct pass *p)
{
    const silicon_geometry *g = &p->g;
    const size_t tokens = (size_t)g->tokens, heads = tokens * g->heads * g->head_width;
    const int each = g->heads * g->head_width, wider = g->ffn > g->width ? g->ffn : g->width;
    float **rows[] = {&p->x, &p->normed, &p->projected, &p->q, &p->attended, &p->k, &p->v, &p->gate, &p->up};
    const size_t floats[] = {tokens * g->width, tokens * g->width, tokens * g->width, heads, heads, tokens * g->head_width,
                             tokens * g->head_width, tokens * g->ffn, tokens * g->ffn};
    const size_t stride = (size_t)hx_matmul_stride(wider > each ? wider : each);
    size_t bytes = 2 * stride;

    for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++)
        bytes += hx_pass_padded(floats[i] * sizeof(float));
    p->heap = alloc_pages(bytes);
    if (!p->heap)
        return AEE_ENOMEMORY;
    uint8_t *at = (uint8_t *)p->heap;
    for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
        *rows[i] = (float *)at;
        at += hx_pass_padded(floats[i] * sizeof(float));
    }
    p->scratch[0] = at;
    p->scratch[1] = at + stride;
    return AEE_SUCCESS;
}

static int is_shape(const silicon_geometry *g, int layers)
{
    enum { MOST = 1 << 16 };

    return layers >= 1 && layers <= MOST && g->tokens >= 1 && g->tokens <= MAX_TOKENS && g->width >= 1 && g->width <= MOST &&
           g->ffn >= 1 && g->ffn <= MOST && g->heads >= 1 && g->heads <= MOST / 8 && g->head_width >= 2 &&
           g->head_width % 2 == 0 && g->head_width <= MOST / g->heads;
}

static int run_pass(struct pass *p, const float *x, float *y, silicon_cycles *pcycles)
{
    int rc = hx_job_begin(&p->job);

    if (rc)
        return rc;
    const uint64_t started = HAP_perf_get_pcycles();
    rc = take_vtcm(p);
    rc = rc ? rc : take_heap(p);
    if (rc == AEE_SUCCESS) {
        hx_copy_hvx(p->x, x, p->g.tokens * p->g.width * (int)sizeof(*x));
        rc = run_layers(p, y);
    }
    if (p->vtcm)
        HAP_release_VTCM(p->vtcm);
    free(p->heap);
    return hx_job_end(&p->job, rc, &p->time, HAP_perf_get_pcycles() - started, pcycles);
}

int silicon_forward(remote_handle64 h, const silicon_how *run, const silicon_geometry *shape, int layers,
                    const float *x, int xLen, const unsigned char *weights, int weightsLen, float *y, int yLen,
                    uint64_t *times, int timesLen, silicon_cycles *pcycles)
{
    struct pass p = {.job.run = run, .g = *shape, .layers = layers, .weights = weights, .times = times};

    (void)h;
    if (!is_shape(shape, layers) || (int64_t)shape->tokens * shape->width != xLen || yLen != xLen ||
        hx_pass_layer_bytes(shape) * (size_t)layers + (size_t)shape->width * sizeof(float) != (size_t)weightsLen ||
        (layers + 1) * SILICON_PASS_TIMES != timesLen || (uintptr_t)weights % ALIGN)
        return AEE_EBADPARM;
    memset(times, 0, (size_t)timesLen * sizeof(*times));
    qurt_mutex_lock(&tables.lock);
    int rc = ready_tables(&p);
    rc = rc ? rc : run_pass(&p, x, y, pcycles);
    qurt_mutex_unlock(&tables.lock);
    return rc;
}
