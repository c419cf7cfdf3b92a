/* Activations, see qx.h. */
#include "qx.h"

#include <errno.h>
#include <stdlib.h>

struct hx_qx_buf {
    struct hx_qx qx;
    const struct hx_cpu_kernels *isa; /* of the call */
    unsigned forms;
    float *panels; /* room for them */
};

enum { ALIGN = 64, PART_FLOATS = 16384 }; /* a part of the pool's has about that many activations */

/* bytes rounded up; NULL when out of memory or when the product is too large */
static void *room(size_t n, size_t m, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, m, &bytes) || __builtin_mul_overflow(bytes, size, &bytes) ||
        bytes > SIZE_MAX - 2 * ALIGN)
        return NULL;
    return aligned_alloc(ALIGN, (bytes + 2 * ALIGN) / ALIGN * ALIGN);
}

int hx_qx_buf_open(struct hx_qx_buf **out, size_t max_cols, size_t max_n, struct hx_error *err)
{
    struct hx_qx_buf *b = calloc(1, sizeof(*b));
    const size_t n32 = max_cols / 32, n256 = max_cols / 256;
    struct hx_qx *a = b ? &b->qx : NULL;

    if (b) {
        b->panels = room((max_cols + 15) / 16 * 16, max_n, sizeof(float));
        a->q32 = room(n32, max_n, 32);
        a->d32 = room(n32, max_n, sizeof(float));
        a->ds32 = room(n32, max_n, sizeof(float));
        a->sum32 = room(n32, max_n, sizeof(int32_t));
        a->q256 = room(n256, max_n, 256);
        a->d256 = room(n256, max_n, sizeof(float));
        a->sum16 = room(n256, max_n, 16 * sizeof(int16_t));
    }
    if (!b || !b->panels || !a->q32 || !a->d32 || !a->ds32 || !a->sum32 || !a->q256 || !a->d256 || !a->sum16) {
        hx_qx_buf_close(b);
        return hx_error_set(err, -ENOMEM, "linear cpu: no memory for %zu activations of %zu tokens",
                            max_cols, max_n);
    }
    *out = b;
    return 0;
}

void hx_qx_buf_close(struct hx_qx_buf *b)
{
    if (!b)
        return;
    free(b->panels);
    free(b->qx.q32);
    free(b->qx.d32);
    free(b->qx.ds32);
    free(b->qx.sum32);
    free(b->qx.q256);
    free(b->qx.d256);
    free(b->qx.sum16);
    free(b);
}

static void make_part(void *arg, size_t part, size_t n_parts)
{
    const struct hx_qx_buf *b = arg;
    const size_t n = b->qx.n, first = n * part / n_parts, end = n * (part + 1) / n_parts;

    if (b->qx.panels) {
        const size_t tiles = n / b->isa->tile, t = tiles * part / n_parts;

        b->isa->pack(&b->qx, t, tiles * (part + 1) / n_parts - t);
    }
    if (b->forms & HX_QX_32)
        b->isa->quantize32(&b->qx, first, end - first);
    if (b->forms & HX_QX_256)
        b->isa->quantize256(&b->qx, first, end - first);
}

const struct hx_qx *hx_qx_set(struct hx_qx_buf *b, const struct hx_cpu_kernels *isa, struct hx_pool *pool,
                                  const float *x, size_t cols, size_t n, unsigned forms)
{
    const size_t parts = n * cols / PART_FLOATS + 1;

    b->qx.f32 = x;
    b->qx.cols = cols;
    b->qx.n = n;
    b->isa = isa;
    b->qx.panels = forms & HX_QX_F32 && isa->tile > 1 && n >= isa->tile ? b->panels : NULL;
    b->forms = (cols % 32 ? 0 : forms & HX_QX_32) | (cols % 256 ? 0 : forms & HX_QX_256);
    if (b->forms || b->qx.panels)
        hx_pool_run(pool, parts < n ? parts : n, make_part, b);
    return &b->qx;
}
