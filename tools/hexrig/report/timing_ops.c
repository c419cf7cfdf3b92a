/* The operations of a forward pass beside its matmuls that can be asked for one at a time, see timing.h. */
#include "timing_ops.h"

#include "AEEStdErr.h"
#include "timing_pool.h"

/* --- rows */

enum { LANES = 32 };

/* What the operation takes beside x: as in silicon.idl. */
static size_t other_floats(int operation, int hvx, size_t stride, size_t rows)
{
    switch (operation) {
    case SILICON_RMSNORM: return stride;
    case SILICON_ROPE: return hvx ? rows * stride : 0;
    case SILICON_SOFTMAX: return 0;
    default: return rows * stride;
    }
}

static int rows(remote_handle64 h, const struct hx_timing_ask *a, int operation, int hvx, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const size_t n = (size_t)a->shape[1], stride = (n + LANES - 1) / LANES * LANES;
    const size_t all = (size_t)a->shape[0] * stride, others = other_floats(operation, hvx, stride, (size_t)a->shape[0]);
    float *x = hx_pool_floats(&p, all), *other = hx_pool_floats(&p, others), *y = hx_pool_take(&p, all * sizeof(*y));

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY
                                          : silicon_rows(h, &a->how, operation, hvx, (int)n, x, (int)all, other,
                                                         (int)others, y, (int)all, c));
}

#define RUN_ROWS(name, operation, hvx) \
    int name(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c) \
    { \
        return rows(h, a, operation, hvx, c); \
    }
RUN_ROWS(hx_timing_run_rmsnorm, SILICON_RMSNORM, 0)
RUN_ROWS(hx_timing_run_rmsnorm_hvx, SILICON_RMSNORM, 1)
RUN_ROWS(hx_timing_run_rope, SILICON_ROPE, 0)
RUN_ROWS(hx_timing_run_rope_hvx, SILICON_ROPE, 1)
RUN_ROWS(hx_timing_run_softmax, SILICON_SOFTMAX, 0)
RUN_ROWS(hx_timing_run_softmax_hvx, SILICON_SOFTMAX, 1)
RUN_ROWS(hx_timing_run_gelu, SILICON_GELU, 0)
RUN_ROWS(hx_timing_run_gelu_hvx, SILICON_GELU, 1)
RUN_ROWS(hx_timing_run_silu, SILICON_SILU, 0)
RUN_ROWS(hx_timing_run_silu_hvx, SILICON_SILU, 1)
RUN_ROWS(hx_timing_run_add, SILICON_ADD, 0)
RUN_ROWS(hx_timing_run_add_hvx, SILICON_ADD, 1)

/* --- others */

int hx_timing_run_attend(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int heads = (int)a->shape[1], dh = (int)a->shape[2], kv = (int)a->shape[0] * dh, all = kv * heads;
    float *q = hx_pool_floats(&p, (size_t)all), *k = hx_pool_floats(&p, (size_t)kv);
    float *v = hx_pool_floats(&p, (size_t)kv), *y = hx_pool_take(&p, (size_t)all * sizeof(*y));

    return hx_pool_give_back(&p, p.failed ? AEE_ENOMEMORY
                                          : silicon_attend(h, &a->how, heads, dh, q, all, k, kv, v, kv, y, all, c));
}

int hx_timing_run_row_sums(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int n = (int)a->shape[0], stride = ((int)a->shape[1] + 127) / 128 * 128;
    uint8_t *w = hx_pool_bytes(&p, (size_t)n * stride);
    int *sums = hx_pool_take(&p, (size_t)n * sizeof(*sums));

    return hx_pool_give_back(
        &p, p.failed ? AEE_ENOMEMORY : silicon_row_sums(h, &a->how, stride, w, n * stride, sums, n, c));
}

int hx_timing_run_stage(remote_handle64 h, const struct hx_timing_ask *a, silicon_cycles *c)
{
    struct hx_timing_pool p = HX_TIMING_POOL(a);
    const int n = (int)a->shape[0];
    uint8_t *data = hx_pool_bytes(&p, (size_t)n), *back = hx_pool_take(&p, (size_t)n);

    return hx_pool_give_back(
        &p, p.failed ? AEE_ENOMEMORY : silicon_stage(h, &a->how, (int)a->shape[1], data, n, back, n, c));
}
