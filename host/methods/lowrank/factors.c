/* Which matrices share a basis, and of what rank; see factors.h. */
#include "factors.h"

#include <errno.h>
#include <stdlib.h>

#include "quant/quant.h"

enum { ALIGN = 64, VTCM_BYTES = 8 << 20 }; /* VTCM: of V69 */

static const enum hx_tap_point input_of[HX_PER_LAYER] = {
    HX_TAP_IN_QKV, HX_TAP_IN_QKV, HX_TAP_IN_QKV, HX_TAP_IN_O, HX_TAP_IN_FFN, HX_TAP_IN_FFN, HX_TAP_IN_DOWN,
};

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t hx_lowrank_fit(size_t rows, size_t cols, uint32_t format)
{
    const size_t most = min(rows, cols), worth = rows * cols / (rows + cols); /* Source: d D / (d + D), the published break-even */
    const struct hx_quant_info *q = hx_quant_info(format);
    const size_t fits = (size_t)VTCM_BYTES * q->weights / q->bytes / (rows + cols);
    const size_t k = min(min(worth, fits), min(most, HX_LOWRANK_MOST)) / HX_LOWRANK_STEP * HX_LOWRANK_STEP;

    return k ? k : min(most, HX_LOWRANK_STEP);
}

/* --- who is taken, and who goes with whom */

static int is_by_matrix(const struct hx_linear_set *set, const struct hx_lowrank_shape *shape)
{
    if (shape->out_is_elsewhere)
        return 1;
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i].which == HX_OUT)
            return 1;
    return 0;
}

/* The FFN's matrices keep bases of their own, as published. */
static int goes_with(const struct hx_lowrank_basis *b, const struct hx_lowrank_part *p, const struct hx_lowrank_shape *shape)
{
    return !shape->per_slot && input_of[p->which] == HX_TAP_IN_QKV && b->input == HX_TAP_IN_QKV && b->layer == p->layer;
}

static int add_part(struct hx_lowrank_factors *f, const struct hx_lowrank_part *p, int on_dsp,
                    const struct hx_lowrank_shape *shape, struct hx_error *err)
{
    struct hx_lowrank_basis *b = f->n_bases ? &f->bases[f->n_bases - 1] : NULL;

    if (!b || !goes_with(b, p, shape)) {
        b = &f->bases[f->n_bases++];
        *b = (struct hx_lowrank_basis){.first = f->n_parts, .layer = p->layer, .input = input_of[p->which], .cols = p->w->cols,
                                       .on_dsp = on_dsp};
    }
    if (b->on_dsp != on_dsp)
        return hx_error_set(err, -EINVAL, "lowrank: %s of layer %zu shares its basis with matrices that are %son the DSP: name all "
                            "of wq, wk, wv or none", hx_matrix_names[p->which], p->layer, on_dsp ? "not " : "");
    b->n++;
    b->rows += p->w->rows;
    f->parts[f->n_parts] = *p;
    f->parts[f->n_parts++].basis = f->n_bases - 1;
    return 0;
}

static int choose(struct hx_lowrank_factors *f, const struct hx_linear_set *set, const struct hx_lowrank_shape *shape,
                  struct hx_error *err)
{
    const uint32_t taken = is_by_matrix(set, shape) ? shape->matrices : HX_LAYER_MATRICES;
    int rc = 0;

    for (size_t i = 0; i < set->n && !rc; i++) {
        const struct hx_lowrank_part p = {.w = set->at[i].w, .layer = set->at[i].layer, .which = set->at[i].which,
                                          .rel_f2 = -1, .eckart_young = -1};

        if (p.which != HX_OUT && taken & 1u << p.which)
            rc = add_part(f, &p, set->at[i].on_dsp, shape, err);
    }
    if (!rc && !f->n_parts)
        rc = hx_error_set(err, -EINVAL, "lowrank: none of its matrices can be made of low rank");
    return rc;
}

/* --- ranks */

static int check_blocks(const struct hx_lowrank_basis *b, const char *name, const struct hx_quant_info *q, struct hx_error *err)
{
    if (b->rank % q->weights)
        return hx_error_set(err, -EINVAL, "lowrank: rank %zu of %s, layer %zu: %s codes %u weights at a time; legal: multiples of %u",
                            b->rank, name, b->layer, q->name, q->weights, q->weights);
    if (b->cols % q->weights)
        return hx_error_set(err, -EINVAL, "lowrank: %s of layer %zu has %zu columns; %s codes %u weights at a time", name, b->layer,
                            b->cols, q->name, q->weights);
    return 0;
}

/* What the plan says, or shape->rank. */
static int planned_rank(const struct hx_lowrank_factors *f, const struct hx_lowrank_basis *b, const struct hx_lowrank_shape *shape,
                        size_t *rank, struct hx_error *err)
{
    *rank = 0;
    for (size_t p = b->first; p < b->first + b->n; p++) {
        const size_t planned = shape->plan ? hx_rank_plan_find(shape->plan, b->layer, f->parts[p].which) : 0;
        const size_t is = planned ? planned : shape->rank;

        if (p > b->first && is != *rank)
            return hx_error_set(err, -EINVAL, "lowrank: %s and %s of layer %zu share a basis, and have ranks %zu and %zu",
                                hx_matrix_names[f->parts[b->first].which], hx_matrix_names[f->parts[p].which], b->layer, *rank, is);
        *rank = is;
    }
    return 0;
}

/* 1: there may be a sink in what the matrices take in, and room for it (factorize.h). */
static int may_have_sink(const struct hx_lowrank_basis *b)
{
    return (b->input == HX_TAP_IN_QKV || b->input == HX_TAP_IN_FFN) && b->rows >= b->cols && b->rank < b->cols;
}

static int set_rank(struct hx_lowrank_factors *f, struct hx_lowrank_basis *b, size_t rank, int sink, struct hx_error *err)
{
    const char *name = hx_matrix_names[f->parts[b->first].which];
    const size_t most = min(b->rows, b->cols);

    if (rank > b->cols)
        return hx_error_set(err, -EINVAL, "lowrank: rank %zu: what %s of layer %zu takes in is %zu wide", rank, name, b->layer,
                            b->cols);
    b->rank = rank ? min(rank, most) : hx_lowrank_fit(b->rows, b->cols, f->format);
    b->rank += sink && may_have_sink(b);
    return check_blocks(b, name, hx_quant_info(f->format), err);
}

/* --- where they lie */

/* The next of the block.  *at: where it is. */
static struct hx_linear thin(struct hx_lowrank_factors *f, size_t rows, size_t cols, size_t *at)
{
    *at = f->bytes;
    f->bytes += (rows * hx_quant_row_bytes(f->format, cols) + ALIGN - 1) / ALIGN * ALIGN;
    return (struct hx_linear){.ops = &hx_linear_ref, .type = f->format, .rows = rows, .cols = cols};
}

/* As wide as can be behind the first one, or that alone. */
static void cut(struct hx_lowrank_basis *b, size_t least)
{
    const size_t first = least && least < b->rank ? least : b->rank, rest = b->rank - first;
    const size_t most = (rest + HX_LOWRANK_STEP - 1) / HX_LOWRANK_STEP, n = min(most, HX_LOWRANK_SLICES - 1);

    b->n_slices = 1 + n;
    b->cut[1] = first;
    for (size_t i = 1; i <= n; i++)
        b->cut[i + 1] = i == n ? b->rank : first + most * i / n * HX_LOWRANK_STEP;
}

size_t hx_lowrank_slices(const struct hx_lowrank_basis *b, size_t limit)
{
    size_t n = 1;

    while (n < b->n_slices && b->cut[n + 1] <= limit)
        n++;
    return n;
}

static void lay_out(struct hx_lowrank_factors *f, struct hx_lowrank_basis *b)
{
    for (size_t s = 0; s < b->n_slices; s++)
        b->down[s] = thin(f, b->cut[s + 1] - b->cut[s], b->cols, &b->down_at[s]);
    for (size_t p = b->first; p < b->first + b->n; p++)
        for (size_t s = 0; s < b->n_slices; s++)
            f->parts[p].up[s] = thin(f, f->parts[p].w->rows, b->cut[s + 1] - b->cut[s], &f->parts[p].up_at[s]);
}

int hx_lowrank_lay_out(struct hx_lowrank_factors *f, const struct hx_linear_set *set, const struct hx_lowrank_shape *shape,
                       struct hx_error *err)
{
    int rc;

    f->format = shape->format;
    f->parts = calloc(set->n + 1, sizeof(*f->parts));
    f->bases = calloc(set->n + 1, sizeof(*f->bases));
    if (!f->parts || !f->bases)
        return hx_error_set(err, -ENOMEM, "lowrank: out of memory");
    rc = choose(f, set, shape, err);
    for (size_t i = 0; i < f->n_bases && !rc; i++) {
        struct hx_lowrank_basis *b = &f->bases[i];
        size_t rank;

        rc = planned_rank(f, b, shape, &rank, err);
        if (!rc)
            rc = set_rank(f, b, rank, shape->sink, err);
        cut(b, shape->least);
        lay_out(f, b);
    }
    return rc;
}

void hx_lowrank_place(struct hx_lowrank_factors *f, void *block)
{
    for (size_t i = 0; i < f->n_bases; i++)
        for (size_t s = 0; s < f->bases[i].n_slices; s++)
            f->bases[i].down[s].w = (uint8_t *)block + f->bases[i].down_at[s];
    for (size_t i = 0; i < f->n_parts; i++)
        for (size_t s = 0; s < f->bases[f->parts[i].basis].n_slices; s++)
            f->parts[i].up[s].w = (uint8_t *)block + f->parts[i].up_at[s];
}

static int are_alike(const struct hx_lowrank_factors *f, const struct hx_lowrank_basis *a, const struct hx_lowrank_basis *b)
{
    if (a->n != b->n || a->rows != b->rows || a->cols != b->cols || a->rank != b->rank)
        return 0;
    for (size_t p = 0; p < a->n; p++)
        if (f->parts[a->first + p].which != f->parts[b->first + p].which)
            return 0;
    return 1;
}

void hx_lowrank_share_layers(struct hx_lowrank_factors *f)
{
    for (size_t i = 0; i < f->n_bases; i++) {
        struct hx_lowrank_basis *b = &f->bases[i];
        size_t first = 0;

        while (!are_alike(f, &f->bases[first], b))
            first++;
        for (size_t s = 0; s < b->n_slices; s++) {
            b->down[s].w = f->bases[first].down[s].w;
            for (size_t p = 0; p < b->n; p++)
                f->parts[b->first + p].up[s].w = f->parts[f->bases[first].first + p].up[s].w;
        }
    }
}

void hx_lowrank_free(struct hx_lowrank_factors *f)
{
    free(f->parts);
    free(f->bases);
    *f = (struct hx_lowrank_factors){0};
}

static uint64_t bytes_of(const struct hx_linear *w, uint32_t type)
{
    return w->rows * hx_quant_row_bytes(type, w->cols);
}

struct hx_lowrank_bytes hx_lowrank_bytes(const struct hx_lowrank_factors *f)
{
    struct hx_lowrank_bytes b = {0, 0, 0};

    for (size_t i = 0; i < f->n_bases; i++)
        for (size_t s = 0; s < f->bases[i].n_slices; s++)
            b.factors += bytes_of(&f->bases[i].down[s], f->format);
    for (size_t i = 0; i < f->n_parts; i++) {
        const struct hx_lowrank_part *p = &f->parts[i];

        for (size_t s = 0; s < f->bases[p->basis].n_slices; s++)
            b.factors += bytes_of(&p->up[s], f->format);
        b.raw += bytes_of(p->w, p->w->type);
        b.same_format += bytes_of(p->w, f->format);
    }
    return b;
}
