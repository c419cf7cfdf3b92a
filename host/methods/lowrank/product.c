/* Products with factors, see product.h. */
#include "product.h"

#include <errno.h>
#include <stdlib.h>

#include "methods/dsp/linear_dsp.h"

enum { BATCH = 256, BATCH_OF_SLICES = 32 };

/* What a call got, a few vectors of it. */
struct job {
    const struct hx_lowrank_product *p;
    const struct hx_linear *const *w;
    float *const *y;
    size_t n_m;
    const float *x;
    size_t first, n; /* vectors */
    float *scratch;
};

/* The bases of the job's matrices, each once, and where t = down x of each goes. */
struct bases {
    const struct hx_lowrank_basis *at[HX_LINEAR_TOGETHER];
    size_t slices[HX_LINEAR_TOGETHER]; /* that count */
    float *t[HX_LINEAR_TOGETHER];
    size_t n, most_slices;
};

static const struct hx_lowrank_part *part_of(const struct job *j, size_t m)
{
    return &j->p->f->parts[j->w[m]->index];
}

static const struct hx_lowrank_basis *basis_of(const struct job *j, size_t m)
{
    return &j->p->f->bases[part_of(j, m)->basis];
}

static struct bases bases_of(const struct job *j)
{
    struct bases b = {.n = 0};

    for (size_t m = 0; m < j->n_m; m++) {
        const struct hx_lowrank_basis *of = basis_of(j, m);
        size_t i = 0;

        while (i < b.n && b.at[i] != of)
            i++;
        if (i < b.n)
            continue;
        b.at[b.n] = of;
        b.slices[b.n] = hx_lowrank_slices(of, j->p->limit);
        b.most_slices = b.slices[b.n] > b.most_slices ? b.slices[b.n] : b.most_slices;
        b.t[b.n] = j->p->t + b.n * j->p->batch * j->p->most_rank;
        b.n++;
    }
    return b;
}

static float *t_of(const struct job *j, const struct bases *b, size_t i, size_t slice)
{
    return b->t[i] + j->p->batch * b->at[i]->cut[slice];
}

/* --- where results go */

/* Matrices of a call, in the order in which they are applied, and their results. */
struct results {
    const struct hx_linear *up[HX_LINEAR_PROJECT];
    float *y[HX_LINEAR_PROJECT];
    float *to[HX_LINEAR_PROJECT]; /* that y is added to; NULL: it stands where it belongs */
    uint32_t of[HX_LINEAR_PROJECT];
    size_t n;
    float *next; /* of p->more */
};

/* A slice of all the job's matrices that basis i has. */
static void add_slice(struct results *r, const struct job *j, const struct bases *b, size_t i, size_t slice, uint32_t of)
{
    for (size_t m = 0; m < j->n_m; m++) {
        const struct hx_lowrank_part *part = part_of(j, m);
        float *y = j->y[m] + j->first * j->w[m]->rows;

        if (basis_of(j, m) != b->at[i])
            continue;
        r->up[r->n] = &part->up[slice];
        r->y[r->n] = slice ? r->next : y;
        r->to[r->n] = slice ? y : NULL;
        r->of[r->n++] = of;
        r->next += slice ? j->n * j->w[m]->rows : 0;
    }
}

static void add_up(const struct results *r, size_t n)
{
    for (size_t i = 0; i < r->n; i++)
        for (size_t e = 0; r->to[i] && e < n * r->up[i]->rows; e++)
            r->to[i][e] += r->y[i][e];
}

/* --- apply */

/* All in one call. */
static int apply_there(const struct job *j, const struct bases *b, struct hx_error *err)
{
    const struct hx_linear *down[HX_LINEAR_PROJECT];
    struct results r = {.n = 0, .next = j->p->more};
    uint32_t n_downs = 0;
    int rc;

    for (size_t i = 0; i < b->n; i++)
        for (size_t s = 0; s < b->slices[i]; s++) {
            add_slice(&r, j, b, i, s, n_downs);
            down[n_downs++] = &b->at[i]->down[s];
        }
    const struct hx_linear_projection p = {down, r.up, r.of, n_downs, r.n};

    rc = hx_linear_dsp_project(&p, r.y, j->x + j->first * j->w[0]->cols, j->n, err);
    if (!rc)
        add_up(&r, j->n);
    return rc;
}

/* t = down x of a slice of all bases that have it. */
static int apply_downs(const struct job *j, const struct bases *b, size_t slice, struct hx_error *err)
{
    const struct hx_linear *down[HX_LINEAR_TOGETHER];
    float *t[HX_LINEAR_TOGETHER];
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        if (slice < b->slices[i]) {
            down[n] = &b->at[i]->down[slice];
            t[n++] = t_of(j, b, i, slice);
        }
    return hx_linear_apply(down, t, n, j->x + j->first * j->w[0]->cols, j->n, j->scratch, err);
}

static int apply_ups(const struct job *j, const struct bases *b, size_t i, size_t slice, struct hx_error *err)
{
    struct results r = {.n = 0, .next = j->p->more};
    int rc;

    add_slice(&r, j, b, i, slice, 0);
    rc = hx_linear_apply(r.up, r.y, r.n, t_of(j, b, i, slice), j->n, j->scratch, err);
    if (!rc)
        add_up(&r, j->n);
    return rc;
}

static int apply_here(const struct job *j, const struct bases *b, struct hx_error *err)
{
    int rc = 0;

    for (size_t s = 0; s < b->most_slices && !rc; s++) {
        rc = apply_downs(j, b, s, err);
        for (size_t i = 0; i < b->n && !rc; i++)
            if (s < b->slices[i])
                rc = apply_ups(j, b, i, s, err);
    }
    return rc;
}

static int apply_some(const struct job *j, struct hx_error *err)
{
    const struct bases b = bases_of(j);

    return b.at[0]->on_dsp ? apply_there(j, &b, err) : apply_here(j, &b, err);
}

int hx_lowrank_multiply(const struct hx_lowrank_product *p, const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x,
                        size_t n, float *scratch, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i += p->batch)
        rc = apply_some(&(struct job){p, w, y, n_m, x, i, n - i < p->batch ? n - i : p->batch, scratch}, err);
    return rc;
}

/* --- open and close */

/* Rows of all matrices that have basis b's input: they may go together. */
static size_t rows_together(const struct hx_lowrank_factors *f, const struct hx_lowrank_basis *b)
{
    size_t rows = 0;

    for (size_t i = 0; i < f->n_bases; i++)
        rows += f->bases[i].layer == b->layer && f->bases[i].input == b->input ? f->bases[i].rows : 0;
    return rows;
}

int hx_lowrank_product_open(struct hx_lowrank_product *p, const struct hx_lowrank_factors *f, struct hx_error *err)
{
    size_t slices = 1, rows = 0;

    *p = (struct hx_lowrank_product){.f = f, .limit = SIZE_MAX};
    for (size_t i = 0; i < f->n_bases; i++) {
        const struct hx_lowrank_basis *b = &f->bases[i];
        const size_t together = rows_together(f, b);

        p->most_rank = b->rank > p->most_rank ? b->rank : p->most_rank;
        slices = b->n_slices > slices ? b->n_slices : slices;
        rows = together > rows ? together : rows;
    }
    p->batch = slices > 1 ? BATCH_OF_SLICES : BATCH;
    p->t = malloc(p->batch * HX_LINEAR_TOGETHER * p->most_rank * sizeof(*p->t));
    if (slices > 1)
        p->more = malloc((slices - 1) * p->batch * rows * sizeof(*p->more));
    return p->t && (slices == 1 || p->more) ? 0 : hx_error_set(err, -ENOMEM, "lowrank: out of memory");
}

void hx_lowrank_product_close(struct hx_lowrank_product *p)
{
    free(p->t);
    free(p->more);
}
