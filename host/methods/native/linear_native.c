/* Matrices that live in k dimensions at work, see linear_native.h. */
#include "linear_native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "methods/cpu/linear_cpu.h"
#include "methods/dsp/linear_dsp.h"
#include "quant/quant.h"
#include "text/text.h"

enum { BATCH = 256, ALIGN = 64 }; /* BATCH: vectors of one pass; more are taken in turns */

/* B_in^T, C and B_out as matrices are stored. */
struct three {
    struct hx_linear down, core, up;
    int on_dsp;
};

struct native {
    struct hx_linear_method method; /* first */
    struct hx_native_fits fits;
    struct three *three;                   /* [fits.n] */
    struct hx_linear **w;                  /* [fits.n]: the engine's */
    uint8_t *block;                        /* all numbers, from its first multiple of ALIGN on */
    struct hx_linear_method *here, *there; /* on this CPU, on the DSP */
    float *t;                              /* [2 * HX_LINEAR_TOGETHER][BATCH][most k] */
    size_t most_k;
    struct hx_native_told told;
};

/* --- apply */

static const struct three *three_of(const struct hx_linear *w)
{
    return &((const struct native *)w->state)->three[w->index];
}

static int apply_there(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x, size_t n, struct hx_error *err)
{
    const struct hx_linear *downs[HX_LINEAR_TOGETHER], *cores[HX_LINEAR_TOGETHER], *ups[HX_LINEAR_TOGETHER];
    const struct hx_linear_sandwich s = {downs, cores, ups, n_m};

    for (size_t m = 0; m < n_m; m++) {
        downs[m] = &three_of(w[m])->down;
        cores[m] = &three_of(w[m])->core;
        ups[m] = &three_of(w[m])->up;
    }
    return hx_linear_dsp_sandwich(&s, y, x, n, err);
}

/* The downs have their input in common, the others have not. */
static int apply_here(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x, size_t n, float *scratch,
                      struct hx_error *err)
{
    const struct native *l = w[0]->state;
    const struct hx_linear *downs[HX_LINEAR_TOGETHER];
    float *t[HX_LINEAR_TOGETHER];
    const size_t room = BATCH * l->most_k;
    int rc;

    for (size_t m = 0; m < n_m; m++) {
        downs[m] = &three_of(w[m])->down;
        t[m] = l->t + m * room;
    }
    rc = hx_linear_apply(downs, t, n_m, x, n, scratch, err);
    for (size_t m = 0; m < n_m && !rc; m++) {
        const struct hx_linear *core = &three_of(w[m])->core, *up = &three_of(w[m])->up;
        float *s = l->t + (HX_LINEAR_TOGETHER + m) * room;

        rc = hx_linear_apply(&core, &s, 1, t[m], n, scratch, err);
        if (!rc)
            rc = hx_linear_apply(&up, &y[m], 1, s, n, scratch, err);
    }
    return rc;
}

static int apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x, size_t n, float *scratch,
                 struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i += BATCH) {
        const size_t some = n - i < BATCH ? n - i : BATCH;
        float *to[HX_LINEAR_TOGETHER];

        for (size_t m = 0; m < n_m; m++)
            to[m] = y[m] + i * w[m]->rows;
        rc = three_of(w[0])->on_dsp ? apply_there(w, to, n_m, x + i * w[0]->cols, some, err)
                                    : apply_here(w, to, n_m, x + i * w[0]->cols, some, scratch, err);
    }
    return rc;
}

/* Those that are on the DSP have operations of their own, so that they do not go together with others. */
static const struct hx_linear_ops ops = {"native", apply, NULL, 0, NULL}, ops_on_dsp = {"native", apply, NULL, 0, NULL};

/* --- the three of each */

static int check_blocks(const struct hx_native_part *p, uint32_t format, struct hx_error *err)
{
    const struct hx_quant_info *q = hx_quant_info(format);
    const char *name = hx_matrix_names[p->which];

    if (p->n.k % q->weights)
        return hx_error_set(err, -EINVAL, "native: k %zu of %s, layer %zu: %s codes %u weights at a time; legal: multiples of %u", p->n.k,
                            name, p->layer, q->name, q->weights, q->weights);
    if (p->n.cols % q->weights)
        return hx_error_set(err, -EINVAL, "native: %s of layer %zu has %zu columns; %s codes %u weights at a time", name, p->layer,
                            p->n.cols, q->name, q->weights);
    return 0;
}

static struct hx_linear next(size_t rows, size_t cols, uint32_t format, uint8_t **at)
{
    const struct hx_linear w = {.ops = &hx_linear_ref, .w = *at, .type = format, .rows = rows, .cols = cols};

    *at += (rows * hx_quant_row_bytes(format, cols) + ALIGN - 1) / ALIGN * ALIGN;
    return w;
}

/* Rows of x [rows][cols], or of its transpose, in the format. */
static int narrow(const struct hx_linear *to, const double *x, int transposed, struct hx_error *err)
{
    const struct hx_quant_info *q = hx_quant_info(to->type);
    float *row = malloc(to->cols * sizeof(*row));
    uint8_t *bytes = (uint8_t *)to->w; /* the block is this method's own */

    if (!row)
        return hx_error_set(err, -ENOMEM, "native: out of memory");
    for (size_t r = 0; r < to->rows; r++, bytes += hx_quant_row_bytes(to->type, to->cols)) {
        for (size_t i = 0; i < to->cols; i++)
            row[i] = (float)(transposed ? x[i * to->rows + r] : x[r * to->cols + i]);
        q->narrow(bytes, row, to->cols);
    }
    free(row);
    return 0;
}

static void place(struct native *l, uint32_t format, uint8_t *at)
{
    for (size_t i = 0; i < l->fits.n; i++) {
        const struct hx_native *n = &l->fits.at[i].n;

        l->three[i].down = next(n->k, n->cols, format, &at);
        l->three[i].core = next(n->k, n->k, format, &at);
        l->three[i].up = next(n->rows, n->k, format, &at);
    }
}

static size_t block_bytes(const struct native *l, uint32_t format)
{
    size_t bytes = 0;

    for (size_t i = 0; i < l->fits.n; i++) {
        const struct hx_native *n = &l->fits.at[i].n;

        bytes += n->k * hx_quant_row_bytes(format, n->cols) + (n->k + n->rows) * hx_quant_row_bytes(format, n->k) + 3 * ALIGN;
    }
    return bytes;
}

/* Doubles are needed no more. */
static int store(struct native *l, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < l->fits.n && !rc; i++) {
        struct hx_native *n = &l->fits.at[i].n;

        rc = narrow(&l->three[i].down, n->in, 0, err);
        if (!rc)
            rc = narrow(&l->three[i].core, n->core, 0, err);
        if (!rc)
            rc = narrow(&l->three[i].up, n->out, 1, err);
        free(n->out);
        free(n->core);
        free(n->in);
        n->out = n->core = n->in = NULL;
    }
    return rc;
}

/* Shapes alone: matrices of the same shape have their zeros in common, which are packed for the DSP once. */
static void share(struct native *l)
{
    for (size_t i = 0; i < l->fits.n; i++) {
        size_t first = 0;

        while (l->fits.at[first].which != l->fits.at[i].which || l->fits.at[first].n.k != l->fits.at[i].n.k)
            first++;
        l->three[i].down.w = l->three[first].down.w;
        l->three[i].core.w = l->three[first].core.w;
        l->three[i].up.w = l->three[first].up.w;
    }
}

/* --- where they come from */

static int make(struct native *l, const struct hx_open *o, const struct hx_native_cfg *cfg, struct hx_error *err)
{
    uint32_t *ids = NULL;
    size_t n_ids = 0;
    int rc = cfg->text ? hx_text_encode(o->model->tok, cfg->text, &ids, &n_ids, err) : 0;

    if (!rc && cfg->text)
        rc = hx_native_fits_weigh(&l->fits, o, ids, n_ids, err);
    l->told.vectors = l->fits.moments.vectors;
    if (!rc)
        rc = hx_native_fits_each(&l->fits, o->pool, o->watch, "matrices", hx_native_fits_best, NULL, err);
    hx_moments_free(&l->fits.moments);
    free(ids);
    return rc;
}

static struct hx_linear *find(const struct hx_linear_set *set, const struct hx_native_part *p)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i].layer == p->layer && set->at[i].which == p->which)
            return set->at[i].w;
    return NULL;
}

/* What the file has of the set. */
static int from_file(struct native *l, const struct hx_open *o, const struct hx_linear_set *set, const struct hx_native_cfg *cfg,
                     struct hx_error *err)
{
    struct hx_native_fits *f = &l->fits;
    size_t kept = 0;
    int rc = hx_native_fits_read(f, cfg->file, o->model, 0, err);

    for (size_t i = 0; i < f->n && !rc; i++) {
        f->at[i].w = find(set, &f->at[i]);
        if (f->at[i].w)
            f->at[kept++] = f->at[i];
        else
            hx_native_free(&f->at[i].n);
    }
    if (!rc)
        f->n = kept;
    return rc || kept ? rc : hx_error_set(err, -EINVAL, "%s: it has none of the matrices that linear method native is to apply", cfg->file);
}

static int take(struct native *l, const struct hx_open *o, const struct hx_linear_set *set, const struct hx_native_cfg *cfg,
                struct hx_error *err)
{
    if (cfg->file && !cfg->shapes_alone)
        return from_file(l, o, set, cfg, err);
    return hx_native_fits_take(&l->fits, set, HX_LAYER_MATRICES, cfg->k, 0, err);
}

static int make_room(struct native *l, const struct hx_native_cfg *cfg, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < l->fits.n && !rc; i++) {
        rc = check_blocks(&l->fits.at[i], cfg->format, err);
        l->most_k = l->fits.at[i].n.k > l->most_k ? l->fits.at[i].n.k : l->most_k;
    }
    if (rc)
        return rc;
    l->three = calloc(l->fits.n, sizeof(*l->three));
    l->w = calloc(l->fits.n, sizeof(struct hx_linear *));
    l->block = calloc(1, block_bytes(l, cfg->format) + ALIGN); /* zeros that nobody touches take no memory */
    l->t = malloc(2 * HX_LINEAR_TOGETHER * BATCH * l->most_k * sizeof(*l->t));
    if (!l->three || !l->w || !l->block || !l->t)
        return hx_error_set(err, -ENOMEM, "native: out of memory");
    place(l, cfg->format, l->block + (ALIGN - (uintptr_t)l->block % ALIGN) % ALIGN);
    return 0;
}

static int fill(struct native *l, const struct hx_open *o, const struct hx_native_cfg *cfg, struct hx_error *err)
{
    int rc = 0;

    if (cfg->shapes_alone) {
        share(l);
        return 0;
    }
    if (!cfg->file)
        rc = make(l, o, cfg, err);
    return rc ? rc : store(l, err);
}

static void tell(struct native *l, uint32_t format)
{
    for (size_t i = 0; i < l->fits.n; i++) {
        const struct hx_linear *w = l->fits.at[i].w;
        const struct three *t = &l->three[i];

        l->told.bytes += t->down.rows * hx_quant_row_bytes(format, t->down.cols) +
                         (t->core.rows + t->up.rows) * hx_quant_row_bytes(format, t->core.cols);
        l->told.raw += w->rows * hx_quant_row_bytes(w->type, w->cols);
        l->told.same_format += w->rows * hx_quant_row_bytes(format, w->cols);
        l->told.params += hx_native_params(w->rows, w->cols, l->fits.at[i].n.k);
        l->told.raw_params += (uint64_t)w->rows * w->cols;
    }
}

/* --- who applies what */

static void put(struct hx_linear_set *set, struct hx_linear *w, size_t layer, enum hx_matrix which)
{
    set->at[set->n].w = w;
    set->at[set->n].layer = layer;
    set->at[set->n++].which = which;
}

/* Finds the engine's matrix of each part, and where it is applied. */
static void meet(struct native *l, const struct hx_linear_set *set)
{
    for (size_t p = 0; p < l->fits.n; p++)
        for (size_t i = 0; i < set->n; i++)
            if (set->at[i].w == l->fits.at[p].w) {
                l->w[p] = set->at[i].w;
                l->three[p].on_dsp = set->at[i].on_dsp;
            }
}

static int is_part(const struct native *l, const struct hx_linear *w)
{
    for (size_t i = 0; i < l->fits.n; i++)
        if (l->fits.at[i].w == w)
            return 1;
    return 0;
}

/* Everything that is on the DSP, or everything that is not, in the order in which a token uses it. */
static void collect(struct hx_linear_set *to, struct native *l, const struct hx_linear_set *set, int on_dsp)
{
    to->n = 0;
    for (size_t i = 0; i < l->fits.n; i++) {
        const struct hx_native_part *p = &l->fits.at[i];
        struct three *t = &l->three[i];

        if (t->on_dsp != on_dsp)
            continue;
        put(to, &t->down, p->layer, p->which);
        put(to, &t->core, p->layer, p->which);
        put(to, &t->up, p->layer, p->which);
    }
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i].on_dsp == on_dsp && !is_part(l, set->at[i].w))
            put(to, set->at[i].w, set->at[i].layer, set->at[i].which);
}

static int open_inner(struct native *l, const struct hx_open *o, const struct hx_linear_set *set, const struct hx_native_cfg *cfg,
                      struct hx_error *err)
{
    struct hx_linear_set to = {.at = calloc(set->n + 3 * l->fits.n, sizeof(*to.at))};
    int rc = to.at ? 0 : hx_error_set(err, -ENOMEM, "native: out of memory");

    if (!rc) {
        collect(&to, l, set, 0);
        if (to.n && !cfg->reference) /* else they are the reference's as they stand */
            rc = hx_linear_cpu_open(&l->here, &to, NULL, o->pool, err);
    }
    if (!rc) {
        collect(&to, l, set, 1);
        if (to.n)
            rc = hx_linear_dsp_open(&l->there, &to, cfg->placement, cfg->packets, err);
    }
    free(to.at);
    return rc;
}

static void close_native(struct hx_linear_method *m)
{
    struct native *l = (struct native *)m;

    hx_linear_close(l->here);
    hx_linear_close(l->there);
    hx_native_fits_free(&l->fits);
    free(l->three);
    free(l->w);
    free(l->block);
    free(l->t);
    free(l);
}

int hx_linear_native_open(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                          const struct hx_native_cfg *cfg, struct hx_error *err)
{
    struct native *l = calloc(1, sizeof(*l));
    int rc;

    if (!l)
        return hx_error_set(err, -ENOMEM, "native: out of memory");
    l->method.close = close_native;
    rc = take(l, o, set, cfg, err);
    if (!rc)
        rc = make_room(l, cfg, err);
    if (!rc) {
        meet(l, set);
        rc = fill(l, o, cfg, err);
    }
    if (!rc)
        rc = open_inner(l, o, set, cfg, err);
    if (rc) {
        close_native(&l->method);
        return rc;
    }
    tell(l, cfg->format);
    for (size_t i = 0; i < l->fits.n; i++) {
        l->w[i]->ops = l->three[i].on_dsp ? &ops_on_dsp : &ops;
        l->w[i]->state = l;
        l->w[i]->index = (uint32_t)i;
    }
    *out = &l->method;
    return 0;
}

const struct hx_native_fits *hx_linear_native_fits(const struct hx_linear_method *method)
{
    return &((const struct native *)method)->fits;
}

struct hx_native_told hx_linear_native_told(const struct hx_linear_method *method)
{
    return ((const struct native *)method)->told;
}
