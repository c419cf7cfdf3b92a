/* Matrices with a gate in front, see linear_gsi.h. */
#include "linear_gsi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bound.h"
#include "methods/cpu/linear_cpu.h"
#include "methods/dsp/linear_dsp.h"
#include "on_dsp.h"
#include "quant/quant.h"

enum {
    BATCH = 256,         /* vectors of one pass; more are taken in turns */
    PART_MACS = 1 << 17, /* a part of at least so many multiplications is worth handing to a thread */
};

struct gsi {
    struct hx_linear_method method; /* first */
    struct hx_gsi_classes c;
    struct hx_gsi_gate gate;
    struct hx_linear_method *inner; /* applies whole matrices here; NULL: the reference does */
    struct hx_gsi_dsp dsp;
    struct hx_pool *pool;
    float *z;                       /* [BATCH][most directions] */
    float *x, *y;                   /* [BATCH][most cols], [BATCH][most rows of a class]: vectors of a path side by side */
    float *column, *scratch;        /* [most rows], [most cols] */
    size_t fast[BATCH], slow[BATCH]; /* indices of vectors */
    uint32_t paths[BATCH];          /* enum hx_linear_path, of vectors that the DSP has judged */
    struct hx_linear_gsi_told told;
};

/* What apply() got, a few vectors of it. */
struct job {
    struct gsi *g;
    struct hx_gsi_class *c;
    const struct hx_linear *const *w;
    float *y[HX_LINEAR_TOGETHER];
    size_t n_m;
    const float *x;
    size_t n, n_fast, n_slow;
    float *scratch;
};

static struct hx_gsi_part *part_of(const struct job *j, size_t m)
{
    return &j->g->c.parts[j->w[m]->index];
}

/* --- work that threads share */

static size_t parts_for(const struct job *j, size_t macs, size_t most)
{
    const size_t threads = hx_pool_threads(j->g->pool), worth = macs / PART_MACS;
    const size_t parts = worth < threads ? worth : threads;

    return parts < 2 || most < 2 ? 1 : parts < most ? parts : most;
}

static void project_part(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const size_t k = j->c->basis.k;

    hx_subspace_project(&j->c->basis, j->x, j->n, part * k / n_parts, (part + 1) * k / n_parts, j->g->z);
}

/* z of all vectors; 0 for directions that may yet come. */
static void project(struct job *j)
{
    const struct hx_subspace *v = &j->c->basis;

    memset(j->g->z, 0, j->n * v->room * sizeof(*j->g->z));
    hx_pool_run(j->g->pool, parts_for(j, j->n * v->k * v->cols, v->k), project_part, j);
}

static size_t strips_of(const struct job *j)
{
    size_t n = 0;

    for (size_t m = 0; m < j->n_m; m++)
        n += hx_image_strips(&part_of(j, m)->image);
    return n;
}

static void image_part(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const struct hx_image_in in = {j->g->z, j->c->basis.room, j->c->basis.k, j->g->fast, j->n_fast};
    const size_t all = strips_of(j), first = part * all / n_parts, end = (part + 1) * all / n_parts;
    size_t at = 0;

    for (size_t m = 0; m < j->n_m; m++)
        for (size_t s = 0; s < hx_image_strips(&part_of(j, m)->image); s++, at++)
            if (at >= first && at < end)
                hx_image_apply(&part_of(j, m)->image, &in, j->y[m], s);
}

/* --- the gate */

static size_t rows_of(const struct job *j)
{
    size_t rows = 0;

    for (size_t m = 0; m < j->n_m; m++)
        rows += j->w[m]->rows;
    return rows;
}

static uint64_t weight_bytes(const struct job *j)
{
    uint64_t bytes = 0;

    for (size_t m = 0; m < j->n_m; m++)
        bytes += j->c->on_dsp ? part_of(j, m)->there.whole : j->w[m]->rows * hx_quant_row_bytes(j->w[m]->type, j->w[m]->cols);
    return bytes;
}

static uint64_t image_bytes(const struct job *j)
{
    uint64_t bytes = 0;

    for (size_t m = 0; m < j->n_m; m++)
        bytes += j->c->on_dsp ? part_of(j, m)->there.image : j->c->basis.k * part_of(j, m)->image.row_bytes;
    return bytes;
}

static void count_basis(const struct job *j)
{
    struct hx_gsi_counts *c = &j->c->counts;
    const uint64_t numbers = j->c->basis.k * j->c->cols;

    c->read.basis += numbers;
    c->bytes.basis += j->c->on_dsp ? j->c->basis_there : numbers * sizeof(float);
}

static void take_fast(struct job *j, size_t i)
{
    struct hx_gsi_counts *c = &j->c->counts;

    j->g->fast[j->n_fast++] = i;
    c->fast++;
    c->read.image += j->c->basis.k * rows_of(j);
    c->bytes.image += image_bytes(j);
}

static void take_slow(struct job *j, size_t i)
{
    struct hx_gsi_counts *c = &j->c->counts;

    j->g->slow[j->n_slow++] = i;
    c->read.weights += rows_of(j) * j->c->cols;
    c->bytes.weights += weight_bytes(j);
}

/* The vector's own direction joins the basis, and its image those of all matrices of the class. */
static int grow(struct job *j, size_t i, struct hx_error *err)
{
    struct gsi *g = j->g;
    struct hx_gsi_class *c = j->c;
    struct hx_subspace *v = &c->basis;
    const float *rest = j->x + (i + 1) * c->cols;
    int rc = 0;

    if (v->k == c->most || !hx_subspace_add(v, j->x + i * c->cols))
        return 0;
    c->counts.added++;
    c->counts.read.growth += (uint64_t)c->rows * c->cols + c->cols + c->rows;
    c->counts.bytes.growth += c->cols * sizeof(float);
    for (size_t p = c->first; p < c->first + c->n && !rc; p++) {
        struct hx_gsi_part *of = &g->c.parts[p];

        rc = hx_image_column(&of->full, v->v + (v->k - 1) * c->cols, g->column, g->scratch, err);
        if (!rc)
            hx_image_set(&of->image, v->k - 1, g->column);
        c->counts.bytes.growth += of->image.row_bytes + of->w->rows * hx_quant_row_bytes(of->w->type, of->w->cols);
    }
    hx_subspace_project(v, rest, j->n - i - 1, v->k - 1, v->k, g->z + (i + 1) * v->room);
    return rc;
}

/* A gate that opens too rarely costs more than it saves. */
static void watch_gate(struct gsi *g, struct hx_gsi_class *c, int fast)
{
    c->recent++;
    c->recent_fast += (size_t)fast;
    if (c->recent < HX_GSI_WINDOW)
        return;
    c->off = (double)c->recent_fast < g->gate.off_below * (double)c->recent;
    c->recent = c->recent_fast = 0;
}

static int judge(struct job *j, size_t i, struct hx_error *err)
{
    struct gsi *g = j->g;
    struct hx_gsi_class *c = j->c;
    const float *x = j->x + i * c->cols;
    double x2;
    int fast;

    c->counts.vectors++;
    if (c->off) {
        take_slow(j, i);
        return 0;
    }
    count_basis(j);
    if (g->gate.is_static) {
        take_fast(j, i);
        return 0;
    }
    c->counts.gated++;
    x2 = hx_norm2(x, c->cols);
    fast = hx_subspace_rest2(&c->basis, x, x2, g->z + i * c->basis.room) <= g->gate.eps * g->gate.eps * x2;
    if (fast)
        take_fast(j, i);
    else
        take_slow(j, i);
    watch_gate(g, c, fast);
    return fast ? 0 : grow(j, i, err);
}

/* --- the two paths */

static int apply_full(struct job *j, const float *x, float *const *y, size_t n, struct hx_error *err)
{
    const struct hx_linear *full[HX_LINEAR_TOGETHER];

    for (size_t m = 0; m < j->n_m; m++)
        full[m] = &part_of(j, m)->full;
    return hx_linear_apply(full, y, j->n_m, x, n, j->scratch, err);
}

/* The vectors that take the slow path, side by side. */
static int run_slow(struct job *j, struct hx_error *err)
{
    const size_t *at = j->g->slow, n = j->n_slow;
    struct gsi *g = j->g;
    const size_t cols = j->c->cols;
    float *y[HX_LINEAR_TOGETHER], *to = g->y;
    int rc;

    if (n == 0 || n == j->n)
        return n ? apply_full(j, j->x, j->y, n, err) : 0;
    for (size_t i = 0; i < n; i++)
        memcpy(g->x + i * cols, j->x + at[i] * cols, cols * sizeof(*g->x));
    for (size_t m = 0; m < j->n_m; m++) {
        y[m] = to;
        to += BATCH * j->w[m]->rows;
    }
    rc = apply_full(j, g->x, y, n, err);
    for (size_t m = 0; m < j->n_m && !rc; m++)
        for (size_t i = 0, rows = j->w[m]->rows; i < n; i++)
            memcpy(j->y[m] + at[i] * rows, y[m] + i * rows, rows * sizeof(**y));
    return rc;
}

static int check_fast(struct job *j, struct hx_error *err)
{
    struct gsi *g = j->g;
    int rc = 0;

    for (size_t i = 0; i < j->n_fast && !rc; i++) {
        const float *x = j->x + g->fast[i] * j->c->cols;
        const double x2 = hx_norm2(x, j->c->cols);

        for (size_t m = 0; m < j->n_m && !rc; m++)
            rc = hx_gsi_check(&j->c->counts, part_of(j, m), x, x2, g->gate.eps, j->y[m] + g->fast[i] * j->w[m]->rows, g->column,
                              g->scratch, err);
    }
    return rc;
}

static int apply_here(struct job *j, struct hx_error *err)
{
    int rc = 0;

    if (!j->c->off)
        project(j);
    for (size_t i = 0; i < j->n && !rc; i++)
        rc = judge(j, i, err);
    if (!rc && j->n_fast)
        hx_pool_run(j->g->pool, parts_for(j, j->n_fast * j->c->basis.k * rows_of(j), strips_of(j)), image_part, j);
    return rc ? rc : run_slow(j, err);
}

/* --- on the DSP, where the gate is, too */

/* What the DSP did with vector i. */
static void count_path(struct job *j, size_t i)
{
    struct hx_gsi_counts *c = &j->c->counts;
    const enum hx_linear_path path = (enum hx_linear_path)j->g->paths[i];

    c->vectors++;
    count_basis(j);
    (path == HX_LINEAR_FAST ? take_fast : take_slow)(j, i);
    if (path == HX_LINEAR_JOINED) { /* the basis and all of the class's matrices were read once more, and a row and columns written */
        c->added++;
        c->read.growth += (uint64_t)j->c->rows * j->c->cols + (j->c->basis.k + 1) * j->c->cols + j->c->rows;
        c->bytes.growth += j->c->basis_there + j->c->cols * sizeof(uint16_t) + j->c->rows;
        for (size_t p = j->c->first; p < j->c->first + j->c->n; p++)
            c->bytes.growth += j->g->c.parts[p].there.whole;
        j->c->basis.k++;
    }
    if (j->g->gate.is_static)
        return;
    c->gated++;
    watch_gate(j->g, j->c, path == HX_LINEAR_FAST);
}

/* Vectors first..first + n - 1 by one call. */
static int call_gate(struct job *j, size_t first, size_t n, struct hx_error *err)
{
    struct gsi *g = j->g;
    size_t parts[HX_LINEAR_TOGETHER];
    float *y[HX_LINEAR_TOGETHER];
    const struct hx_gsi_dsp_call call = {.classes = &g->c, .parts = parts, .n_m = j->n_m, .most = j->c->most,
                                         .eps = g->gate.is_static ? INFINITY : g->gate.eps};
    int rc;

    for (size_t m = 0; m < j->n_m; m++) {
        parts[m] = j->w[m]->index;
        y[m] = j->y[m] + first * j->w[m]->rows;
    }
    rc = hx_gsi_dsp_apply(&g->dsp, &call, y, j->x + first * j->c->cols, n, g->paths + first, err);
    for (size_t i = first; i < first + n && !rc; i++)
        count_path(j, i);
    return rc;
}

/* A gate is switched off between two calls only: those end where the next verdict on it is due. */
static size_t until_verdict(const struct job *j, size_t n)
{
    const size_t left = HX_GSI_WINDOW - j->c->recent;

    return j->g->gate.off_below > 0 && left < n ? left : n;
}

static int apply_there(struct job *j, struct hx_error *err)
{
    size_t i = 0, now;
    int rc = 0;

    for (; i < j->n && !j->c->off && !rc; i += now) {
        now = until_verdict(j, j->n - i);
        rc = call_gate(j, i, now, err);
    }
    if (rc || i == j->n)
        return rc;
    j->n_slow = 0; /* those so far have their results */
    for (; i < j->n; i++) {
        j->c->counts.vectors++;
        take_slow(j, i);
    }
    return run_slow(j, err);
}

static int apply_some(struct job *j, struct hx_error *err)
{
    int rc = (j->c->on_dsp ? apply_there : apply_here)(j, err);

    return !rc && j->g->gate.check ? check_fast(j, err) : rc;
}

static int apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x, size_t n, float *scratch,
                 struct hx_error *err)
{
    struct gsi *g = w[0]->state;
    int rc = 0;

    for (size_t first = 0; first < n && !rc; first += BATCH) {
        struct job j = {.g = g, .c = &g->c.at[g->c.parts[w[0]->index].class], .w = w, .n_m = n_m, .x = x + first * w[0]->cols,
                        .n = n - first < BATCH ? n - first : BATCH, .scratch = scratch};

        for (size_t m = 0; m < n_m; m++)
            j.y[m] = y[m] + first * w[m]->rows;
        rc = apply_some(&j, err);
    }
    return rc;
}

static const struct hx_linear_ops ops = {"gsi", apply, NULL, 1, NULL};

/* --- open and close */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int make_room(struct gsi *g, struct hx_error *err)
{
    size_t rows = 0, cols = 0, room = 0;

    for (size_t i = 0; i < g->c.n; i++) {
        const struct hx_gsi_class *c = &g->c.at[i];

        rows = c->rows > rows ? c->rows : rows;
        cols = c->cols > cols ? c->cols : cols;
        room = c->basis.room > room ? c->basis.room : room;
    }
    g->z = malloc(BATCH * room * sizeof(*g->z));
    g->x = malloc(BATCH * cols * sizeof(*g->x));
    g->y = malloc(BATCH * rows * sizeof(*g->y));
    g->column = malloc(rows * sizeof(*g->column));
    g->scratch = malloc(cols * sizeof(*g->scratch));
    return g->z && g->x && g->y && g->column && g->scratch ? 0 : hx_error_set(err, -ENOMEM, "gsi: out of memory");
}

/* The classes' matrices as wholes, and the output matrix, as far as they are here. */
static int open_inner(struct gsi *g, const struct hx_open *o, const struct hx_linear_set *set, struct hx_error *err)
{
    struct hx_linear_set to = {.at = calloc(set->n + 1, sizeof(*to.at))};
    int rc = to.at ? 0 : hx_error_set(err, -ENOMEM, "gsi: out of memory");

    for (size_t i = 0, part = 0; to.at && i < set->n; i++) {
        const int is_part = set->at[i].which != HX_OUT;

        if (!set->at[i].on_dsp) {
            to.at[to.n] = set->at[i];
            to.at[to.n].w = is_part ? &g->c.parts[part].full : set->at[i].w;
            to.n++;
        }
        part += (size_t)is_part;
    }
    if (!rc && to.n)
        rc = hx_linear_cpu_open(&g->inner, &to, NULL, o->pool, err);
    free(to.at);
    return rc;
}

static int open_there(struct gsi *g, const struct hx_linear_set *set, const struct hx_linear_gsi_cfg *cfg, struct hx_error *err)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->at[i].on_dsp)
            return hx_gsi_dsp_open(&g->dsp, &g->c, set, cfg->placement, cfg->packets, err);
    return 0;
}

static int find_norms(struct gsi *g, struct hx_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < g->c.n_parts && !rc; i++)
        if (g->gate.check && !g->c.parts[i].norm)
            rc = hx_gsi_norm(&g->c.parts[i].full, &g->c.parts[i].norm, err);
    return rc;
}

static void close_gsi(struct hx_linear_method *m)
{
    struct gsi *g = (struct gsi *)m;

    hx_linear_close(g->inner);
    hx_gsi_dsp_close(&g->dsp);
    hx_gsi_classes_free(&g->c);
    free(g->z);
    free(g->x);
    free(g->y);
    free(g->column);
    free(g->scratch);
    free(g);
}

static int calibrate(struct gsi *g, const struct hx_open *o, const struct hx_gsi_source *from, struct hx_error *err)
{
    const double start = now();
    int rc = g->c.shapes_alone ? 0 : hx_gsi_calibrate(&g->c, o, from, &g->told.vectors, err);

    g->told.seconds = now() - start;
    hx_gsi_classes_restart(&g->c, SIZE_MAX);
    return rc;
}

int hx_linear_gsi_open(struct hx_linear_method **out, const struct hx_open *o, const struct hx_linear_set *set,
                       const struct hx_linear_gsi_cfg *cfg, struct hx_error *err)
{
    struct gsi *g = calloc(1, sizeof(*g));
    int rc;

    if (!g)
        return hx_error_set(err, -ENOMEM, "gsi: out of memory");
    g->method.close = close_gsi;
    g->pool = o->pool;
    g->gate = cfg->gate;
    rc = hx_gsi_classes_open(&g->c, set, &cfg->shape, err);
    if (!rc)
        rc = calibrate(g, o, &cfg->from, err);
    if (!rc)
        rc = make_room(g, err);
    if (!rc)
        rc = find_norms(g, err);
    if (!rc && !cfg->reference) /* else they are the reference's as they stand */
        rc = open_inner(g, o, set, err);
    if (!rc)
        rc = open_there(g, set, cfg, err);
    if (rc) {
        close_gsi(&g->method);
        return rc;
    }
    for (size_t i = 0; i < g->c.n_parts; i++) {
        g->c.parts[i].w->ops = &ops;
        g->c.parts[i].w->state = g;
        g->c.parts[i].w->index = (uint32_t)i;
    }
    *out = &g->method;
    return 0;
}

int hx_linear_gsi_set(struct hx_linear_method *method, size_t k, const struct hx_gsi_gate *gate, struct hx_error *err)
{
    struct gsi *g = (struct gsi *)method;

    g->gate = *gate;
    hx_gsi_classes_restart(&g->c, k);
    return find_norms(g, err);
}

const struct hx_gsi_classes *hx_linear_gsi_classes(const struct hx_linear_method *method)
{
    return &((const struct gsi *)method)->c;
}

struct hx_linear_gsi_told hx_linear_gsi_told(const struct hx_linear_method *method)
{
    return ((const struct gsi *)method)->told;
}

const struct hx_linear_method *hx_linear_gsi_there(const struct hx_linear_method *method)
{
    return ((const struct gsi *)method)->dsp.method;
}
