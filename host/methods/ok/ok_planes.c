/* Planes of a tensor, see ok_planes.h. */
#include "ok_planes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

size_t hx_ok_stride(size_t cols)
{
    return (cols + HX_OK_LANES - 1) / HX_OK_LANES * HX_OK_LANES;
}

uint64_t hx_ok_planes_bytes(const struct hx_ok_planes *p)
{
    return (uint64_t)p->rows * p->n * p->stride * sizeof(*p->w);
}

/* Looks at every element: are all coordinates int32, are all b zero? */
static void survey(struct hx_ok_planes *p, const struct hx_ok_tensor *t)
{
    int wide = 0, imaginary = 0;

    for (size_t i = 0; i < t->rows * t->cols; i++) {
        wide |= t->data[i].a != (int32_t)t->data[i].a || t->data[i].b != (int32_t)t->data[i].b;
        imaginary |= t->data[i].b != 0;
    }
    p->per_coord = wide ? 2 : 1;
    p->n = p->per_coord * (imaginary ? 2 : 1);
}

/* c into the planes of its coordinate, the first at w. */
static void put(const struct hx_ok_planes *p, int32_t *w, int64_t c)
{
    *w = (int32_t)c;
    if (p->per_coord > 1)
        w[p->stride] = (int32_t)((c - *w) >> 32);
}

static void put_row(const struct hx_ok_planes *p, const struct hx_ok_tensor *t, size_t r)
{
    int32_t *w = p->w + r * p->n * p->stride;

    memset(w, 0, p->n * p->stride * sizeof(*w));
    for (size_t j = 0; j < t->cols; j++) {
        put(p, w + j, t->data[r * t->cols + j].a);
        if (p->n > p->per_coord)
            put(p, w + p->per_coord * p->stride + j, t->data[r * t->cols + j].b);
    }
}

int hx_ok_planes_of_tensor(struct hx_ok_planes *out, const struct hx_ok_tensor *t,
                           struct hx_error *err)
{
    const size_t stride = hx_ok_stride(t->cols), scales = t->rows * t->blocks;

    *out = (struct hx_ok_planes){.rows = t->rows, .cols = t->cols, .stride = stride, .shim = t->shim, .blocks = t->blocks,
                                 .block = t->blocks > 1 ? t->block : stride};
    if (out->block % HX_OK_LANES)
        return hx_error_set(err, -EINVAL, "scales of %zu columns; multiples of %d are legal", out->block, HX_OK_LANES);
    survey(out, t);
    out->w = aligned_alloc(ALIGN, hx_ok_planes_bytes(out) + ALIGN); /* + ALIGN: never 0 */
    out->scale = malloc((scales + 1) * sizeof(*out->scale));
    if (!out->w || !out->scale) {
        hx_ok_planes_free(out);
        return hx_error_set(err, -ENOMEM, "no memory for %u planes of %zu x %zu integers", out->n,
                            t->rows, t->cols);
    }
    memcpy(out->scale, t->scale, scales * sizeof(*out->scale));
    for (size_t r = 0; r < t->rows; r++)
        put_row(out, t, r);
    return 0;
}

void hx_ok_planes_free(struct hx_ok_planes *p)
{
    free(p->w);
    free(p->scale);
    p->w = NULL;
    p->scale = NULL;
}

static int64_t coordinate(const struct hx_ok_planes *p, const int64_t *sums)
{
    const uint64_t high = p->per_coord > 1 ? (uint64_t)sums[1] << 32 : 0;

    return (int64_t)((uint64_t)sums[0] + high);
}

struct hx_ok hx_ok_planes_sum(const struct hx_ok_planes *p, const int64_t *sums)
{
    return (struct hx_ok){coordinate(p, sums),
                          p->n > p->per_coord ? coordinate(p, sums + p->per_coord) : 0};
}
