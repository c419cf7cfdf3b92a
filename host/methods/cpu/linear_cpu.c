/* See linear_cpu.h. */
#include "linear_cpu.h"

#include <errno.h>
#include <stdlib.h>

#include "methods/cpu/isa/qx.h"
#include "methods/dsp/linear_dsp.h"
#include "quant/quant.h"

enum {
    BATCH = 256,         /* vectors of one pass; more are taken in turns */
    ROWS = 16,           /* parts are multiples of it */
    PART_MACS = 1 << 17, /* a part of at least so many multiplications (2..4 us) is worth handing to a thread */
    PARTS_PER_THREAD = 4,
};

struct linear_cpu {
    struct hx_linear_method method;
    const struct hx_cpu_kernels *isa;
    struct hx_pool *pool;
    struct hx_qx_buf *qx;
};

/* One call of apply(): the rows of all matrices, one behind the other, in groups of ROWS. */
struct job {
    const struct linear_cpu *l;
    const struct hx_linear *const *w;
    float *const *y;
    size_t n_m, groups;
    const struct hx_qx *x;
    size_t first; /* vector of y */
};

static size_t groups_of(const struct hx_linear *w)
{
    return (w->rows + ROWS - 1) / ROWS;
}

/* Groups first..end-1 of matrix m. */
static void run_groups(const struct job *j, size_t m, size_t first, size_t end)
{
    const struct hx_linear *w = j->w[m];
    const size_t last = end * ROWS < w->rows ? end * ROWS : w->rows;
    const struct hx_cpu_matmul mm = {
        .w = w->w, .type = w->type, .row_bytes = hx_quant_row_bytes(w->type, w->cols),
        .first = first * ROWS, .rows = last - first * ROWS, .x = j->x,
        .y = j->y[m] + j->first * w->rows, .y_rows = w->rows,
    };

    j->l->isa->matmul(&mm);
}

static void run_part(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const size_t first = j->groups * part / n_parts, end = j->groups * (part + 1) / n_parts;
    size_t before = 0;

    for (size_t m = 0; m < j->n_m && before < end; m++) {
        const size_t n = groups_of(j->w[m]);
        const size_t from = first > before ? first - before : 0;
        const size_t to = end - before < n ? end - before : n;

        if (from < to)
            run_groups(j, m, from, to);
        before += n;
    }
}

static size_t parts_of(const struct job *j)
{
    const size_t most = hx_pool_threads(j->l->pool) * PARTS_PER_THREAD;
    const size_t worth = j->groups * ROWS * j->x->cols / PART_MACS * j->x->n;
    const size_t parts = worth < most ? worth : most;

    if (hx_pool_threads(j->l->pool) == 1 || parts < 2)
        return 1;
    return parts < j->groups ? parts : j->groups;
}

static unsigned forms_of(const struct hx_linear *const *w, size_t n_m)
{
    unsigned forms = 0;

    for (size_t m = 0; m < n_m; m++) {
        const int form = hx_qx_form(w[m]->type);

        forms |= form == 32 ? HX_QX_32 : form == 256 ? HX_QX_256 : HX_QX_F32;
    }
    return forms;
}

static int apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x,
                 size_t n, float *scratch, struct hx_error *err)
{
    const struct linear_cpu *l = w[0]->state;
    const unsigned forms = forms_of(w, n_m);
    struct job j = {.l = l, .w = w, .y = y, .n_m = n_m};

    (void)scratch;
    (void)err;
    for (size_t m = 0; m < n_m; m++)
        j.groups += groups_of(w[m]);
    for (; j.first < n; j.first += BATCH) {
        const size_t now = n - j.first < BATCH ? n - j.first : BATCH;

        j.x = hx_qx_set(l->qx, l->isa, l->pool, x + j.first * w[0]->cols, w[0]->cols, now, forms);
        hx_pool_run(l->pool, parts_of(&j), run_part, &j);
    }
    return 0;
}

static struct hx_batch_cost batch_cost(const struct hx_linear *w)
{
    const struct hx_isa_batches *b = &((const struct linear_cpu *)w->state)->isa->batches;
    const int form = hx_qx_form(w->type);

    return form == 32 ? b->of32 : form == 256 ? b->of256 : b->f32;
}

static const struct hx_linear_ops ops = {.name = "cpu", .apply = apply, .reads_file = 1, .batch_cost = batch_cost};

static void close_cpu(struct hx_linear_method *m)
{
    struct linear_cpu *l = (struct linear_cpu *)m;

    hx_qx_buf_close(l->qx);
    free(l);
}

static void adopt(struct linear_cpu *l, struct hx_linear *w, size_t *max_cols)
{
    if (!w->rows || hx_qx_form(w->type) < 0)
        return;
    w->ops = &ops;
    w->state = l;
    *max_cols = w->cols > *max_cols ? w->cols : *max_cols;
}

int hx_linear_cpu_open(struct hx_linear_method **out, const struct hx_linear_set *set,
                       const struct hx_cpu_kernels *isa, struct hx_pool *pool, struct hx_error *err)
{
    struct linear_cpu *l = calloc(1, sizeof(*l));
    size_t max_cols = 0;
    int rc;

    if (!l)
        return hx_error_set(err, -ENOMEM, "linear cpu: out of memory");
    l->method.close = close_cpu;
    l->isa = isa ? isa : hx_isa_best();
    l->pool = pool;
    for (size_t i = 0; i < set->n; i++)
        adopt(l, set->at[i].w, &max_cols);
    rc = hx_qx_buf_open(&l->qx, max_cols, BATCH, err);
    if (rc) {
        close_cpu(&l->method);
        return rc;
    }
    *out = &l->method;
    return 0;
}

static int open_cpu(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                    struct hx_error *err)
{
    return hx_linear_cpu_open(out, set, NULL, o->pool, err);
}

const struct hx_method hx_method_linear_cpu = {
    .name = "cpu",
    .seam = HX_SEAM_LINEAR,
    .about = "this CPU's kernels on quantised weights, with activations rounded to int8",
    .needs = HX_TRAIT_POOL,
    .gives = HX_TRAIT_PAGES,
    .offloaded = &hx_method_linear_dsp,
    .kernels = hx_isa_best,
    .open.linear = open_cpu,
};
