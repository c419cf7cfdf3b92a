/* Linear layers on the DSP: weights go there once, a call names matrices. */
#include "linear_dsp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "dsp/offload.h"
#include "dsp/packets.h"
#include "dsp/skel.h"
#include "hex_linear.h"
#include "linear_pack.h"
#include "rpcmem.h"

const char *const hx_placements[] = {"ddr", "vtcm", "dma", "resident", "auto", NULL};

enum { THREADS = 2, CALL_BYTES = 16 << 20 };

struct hx_linear_dsp {
    struct hx_linear_method method;
    struct hx_skel skel;
    int mapped, loaded;
    hex_linear_how how;
    struct hx_linear **matrix;  /* [n]: of the model */
    hex_linear_matrix *table;   /* [n]: as the DSP knows them */
    struct place {
        size_t layer;
        enum hx_matrix which;
        enum hx_matrix_form form;
    } *place;                   /* [n] */
    size_t n;
    uint8_t *weights;           /* rpcmem */
    size_t weights_bytes;
    float *x, *y;               /* rpcmem, of one call */
    size_t x_floats, y_floats;
};

static int failed(const struct hx_linear_dsp *d, const char *method, const struct hx_linear *w,
                  size_t n, int code, struct hx_error *err)
{
    return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "linear: %s failed at matrix %u, %zu x %zu, "
                      "%zu vectors, weights in %s", method, w->index, w->rows, w->cols, n,
                      hx_placements[d->how.placement]);
}

/* --- calls */

/* Vectors of one call, of n: what fits into the buffers. */
static size_t in_one_call(const struct hx_linear_dsp *d, size_t n, size_t cols, size_t rows)
{
    const size_t by_x = d->x_floats / cols, by_y = d->y_floats / rows;
    const size_t most = by_x < by_y ? by_x : by_y;

    return n < most ? n : most;
}

/* What apply() got, n vectors of it. */
struct job {
    const struct hx_linear *const *w;
    float *const *y;
    size_t n_m, rows; /* of all matrices */
    const float *x;
};

/* From the call's y to where vectors first..first+n-1 go. */
static void copy_results(const struct hx_linear_dsp *d, const struct hx_linear *const *w, float *const *y, size_t n_m, size_t first,
                         size_t n)
{
    const float *from = d->y;

    for (size_t m = 0; m < n_m; m++) {
        const size_t rows = w[m]->rows;

        memcpy(y[m] + first * rows, from, n * rows * sizeof(float));
        from += n * rows;
    }
}

static int apply_some(const struct hx_linear_dsp *d, const struct job *j, size_t first, size_t n,
                      struct hx_error *err)
{
    const size_t cols = j->w[0]->cols;
    uint32_t which[HX_LINEAR_TOGETHER];
    hex_linear_cycles unused;
    int code;

    for (size_t m = 0; m < j->n_m; m++)
        which[m] = j->w[m]->index;
    memcpy(d->x, j->x + first * cols, n * cols * sizeof(float));
    code = hex_linear_apply(d->skel.handle, &d->how, which, (int)j->n_m, (uint32_t)n, d->x,
                            (int)(n * cols), d->y, (int)(n * j->rows), &unused);
    if (code)
        return failed(d, "apply", j->w[0], n, code, err);
    copy_results(d, j->w, j->y, j->n_m, first, n);
    return 0;
}

static int apply_job(const struct hx_linear_dsp *d, struct job *j, size_t n, struct hx_error *err)
{
    size_t now;
    int rc = 0;

    j->rows = 0;
    for (size_t m = 0; m < j->n_m; m++)
        j->rows += j->w[m]->rows;
    for (size_t i = 0; i < n && !rc; i += now) {
        now = in_one_call(d, n - i, j->w[0]->cols, j->rows);
        rc = apply_some(d, j, i, now, err);
    }
    return rc;
}

/* One call takes matrices of one type. */
static int same_type(const struct hx_linear *a, const struct hx_linear *b)
{
    return hx_linear_pack_type(a) == hx_linear_pack_type(b);
}

static int apply(const struct hx_linear *const *w, float *const *y, size_t n_m, const float *x,
                 size_t n, float *scratch, struct hx_error *err)
{
    const struct hx_linear_dsp *d = w[0]->state;
    struct hx_linear_group g;
    uint32_t taken = 0;
    int rc = 0;

    (void)scratch;
    while (!rc && hx_linear_group(&g, w, y, n_m, &taken, same_type)) {
        struct job j = {.w = g.w, .y = g.y, .n_m = g.n, .x = x};

        rc = apply_job(d, &j, n, err);
    }
    return rc;
}

/* --- matrices of low rank */

static int project_some(const struct hx_linear_dsp *d, const struct hx_linear_projection *p, float *const *y, size_t rows,
                        const float *x, size_t first, size_t n, struct hx_error *err)
{
    const size_t cols = p->downs[0]->cols;
    uint32_t downs[HX_LINEAR_PROJECT], ups[HX_LINEAR_PROJECT];
    hex_linear_cycles unused;
    int code;

    for (size_t i = 0; i < p->n_downs; i++)
        downs[i] = p->downs[i]->index;
    for (size_t i = 0; i < p->n_ups; i++)
        ups[i] = p->ups[i]->index;
    memcpy(d->x, x + first * cols, n * cols * sizeof(float));
    code = hex_linear_project(d->skel.handle, &d->how, downs, (int)p->n_downs, ups, (int)p->n_ups, p->of, (int)p->n_ups, (uint32_t)n,
                              d->x, (int)(n * cols), d->y, (int)(n * rows), &unused);
    if (code)
        return failed(d, "project", p->downs[0], n, code, err);
    copy_results(d, p->ups, y, p->n_ups, first, n);
    return 0;
}

int hx_linear_dsp_project(const struct hx_linear_projection *p, float *const *y, const float *x, size_t n, struct hx_error *err)
{
    const struct hx_linear_dsp *d = p->downs[0]->state;
    size_t rows = 0, now;
    int rc = 0;

    for (size_t i = 0; i < p->n_ups; i++)
        rows += p->ups[i]->rows;
    for (size_t i = 0; i < n && !rc; i += now) {
        now = in_one_call(d, n - i, p->downs[0]->cols, rows);
        rc = project_some(d, p, y, rows, x, i, now, err);
    }
    return rc;
}

/* --- matrices of three */

static int sandwich_some(const struct hx_linear_dsp *d, const struct hx_linear_sandwich *s, float *const *y, size_t rows, const float *x,
                         size_t first, size_t n, struct hx_error *err)
{
    const size_t cols = s->downs[0]->cols;
    uint32_t which[3 * HX_LINEAR_TOGETHER];
    hex_linear_cycles unused;
    int code;

    for (size_t i = 0; i < s->n; i++) {
        which[3 * i] = s->downs[i]->index;
        which[3 * i + 1] = s->cores[i]->index;
        which[3 * i + 2] = s->ups[i]->index;
    }
    memcpy(d->x, x + first * cols, n * cols * sizeof(float));
    code = hex_linear_sandwich(d->skel.handle, &d->how, which, (int)(3 * s->n), (uint32_t)n, d->x, (int)(n * cols), d->y, (int)(n * rows),
                               &unused);
    if (code)
        return failed(d, "sandwich", s->downs[0], n, code, err);
    copy_results(d, s->ups, y, s->n, first, n);
    return 0;
}

int hx_linear_dsp_sandwich(const struct hx_linear_sandwich *s, float *const *y, const float *x, size_t vectors, struct hx_error *err)
{
    const struct hx_linear_dsp *d = s->downs[0]->state;
    size_t rows = 0, now;
    int rc = 0;

    for (size_t i = 0; i < s->n; i++)
        rows += s->ups[i]->rows;
    for (size_t i = 0; i < vectors && !rc; i += now) {
        now = in_one_call(d, vectors - i, s->downs[0]->cols, rows);
        rc = sandwich_some(d, s, y, rows, x, i, now, err);
    }
    return rc;
}

/* --- gates */

_Static_assert(HX_LINEAR_SLOW == (int)HEX_LINEAR_SLOW && HX_LINEAR_FAST == (int)HEX_LINEAR_FAST &&
               HX_LINEAR_JOINED == (int)HEX_LINEAR_JOINED, "paths are the DSP's");

int hx_linear_dsp_gates(struct hx_linear_method *m, const struct hx_linear_gate *list, size_t n, const struct hx_linear_gate_part *parts,
                        size_t n_parts, struct hx_error *err)
{
    struct hx_linear_dsp *d = (struct hx_linear_dsp *)m;
    hex_linear_gate *gates = calloc(n + 1, sizeof(*gates));
    hex_linear_part *to = calloc(n_parts + 1, sizeof(*to));
    int code, rc = gates && to ? 0 : hx_error_set(err, -ENOMEM, "linear: out of memory");

    for (size_t i = 0; i < n && !rc; i++)
        gates[i] = (hex_linear_gate){list[i].basis->index, (uint32_t)list[i].k, (uint32_t)list[i].first, (uint32_t)list[i].n};
    for (size_t i = 0; i < n_parts && !rc; i++)
        to[i] = (hex_linear_part){parts[i].whole->index, parts[i].image->index};
    if (!rc) {
        code = hex_linear_gates(d->skel.handle, gates, (int)n, to, (int)n_parts);
        if (code)
            rc = hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "linear: %zu gates of %zu matrices failed", n, n_parts);
    }
    free(gates);
    free(to);
    return rc;
}

static int gated_some(const struct hx_linear_dsp *d, const struct hx_linear_gated *g, float *const *y, size_t rows, const float *x,
                      size_t first, size_t n, uint32_t *paths, struct hx_error *err)
{
    const size_t cols = g->w[0]->cols;
    hex_linear_cycles unused;
    int code;

    memcpy(d->x, x + first * cols, n * cols * sizeof(float));
    code = hex_linear_gated(d->skel.handle, &d->how, g->which, (int)g->n, (uint32_t)n, g->eps, g->most, d->x, (int)(n * cols), d->y,
                            (int)(n * rows), paths + first, (int)n, &unused);
    if (code)
        return failed(d, "gated", g->w[0], n, code, err);
    copy_results(d, g->w, y, g->n, first, n);
    return 0;
}

int hx_linear_dsp_gated(const struct hx_linear_gated *g, float *const *y, const float *x, size_t n, uint32_t *paths, struct hx_error *err)
{
    const struct hx_linear_dsp *d = g->w[0]->state;
    size_t rows = 0, now;
    int rc = 0;

    for (size_t i = 0; i < g->n; i++)
        rows += g->w[i]->rows;
    for (size_t i = 0; i < n && !rc; i += now) {
        now = in_one_call(d, n - i, g->w[0]->cols, rows);
        rc = gated_some(d, g, y, rows, x, i, now, paths, err);
    }
    return rc;
}

/* --- the largest of a matrix's products */

static int check_ids(const struct hx_linear *w, const uint32_t *ids, size_t n, struct hx_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= w->rows)
            return hx_error_set(err, -EDOM, "linear: argmax of vector %zu: not finite", i);
    return 0;
}

static int argmax_some(const struct hx_linear_dsp *d, const struct hx_linear *w, uint32_t *ids,
                       const float *x, size_t n, struct hx_error *err)
{
    hex_linear_cycles unused;
    int code;

    memcpy(d->x, x, n * w->cols * sizeof(float));
    code = hex_linear_argmax(d->skel.handle, &d->how, w->index, (uint32_t)n, d->x, (int)(n * w->cols),
                             ids, (int)n, &unused);
    if (code)
        return failed(d, "argmax", w, n, code, err);
    return check_ids(w, ids, n, err);
}

static int argmax(const struct hx_linear *w, uint32_t *ids, const float *x, size_t n,
                  struct hx_error *err)
{
    const struct hx_linear_dsp *d = w->state;
    size_t now;
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i += now) {
        now = in_one_call(d, n - i, w->cols, w->rows);
        rc = argmax_some(d, w, ids + i, x + i * w->cols, now, err);
    }
    return rc;
}

static const struct hx_linear_ops ops = {"dsp", apply, argmax, 0};

/* --- behind a guard */

int hx_linear_is_dsp(const struct hx_linear *w)
{
    return w->ops == &ops;
}

int hx_linear_dsp_guard(const struct hx_linear *w, const float *q, size_t f, float above, size_t *in_vtcm, struct hx_error *err)
{
    const struct hx_linear_dsp *d = w->state;
    unsigned bytes = 0;
    const int code = hex_linear_guard(d->skel.handle, (uint32_t)w->cols, above, q, (int)(f * w->cols), &bytes);

    *in_vtcm = bytes;
    return code ? failed(d, "guard", w, f, code, err) : 0;
}

static int guarded_some(const struct hx_linear_dsp *d, const struct hx_linear *w, float *y, uint32_t *ids, const float *x, size_t n,
                        float *teh, struct hx_error *err)
{
    hex_linear_cycles unused;
    int code;

    memcpy(d->x, x, n * w->cols * sizeof(float));
    if (ids)
        code = hex_linear_guarded_argmax(d->skel.handle, &d->how, w->index, (uint32_t)n, d->x, (int)(n * w->cols), ids, (int)n,
                                         teh, (int)n, &unused);
    else
        code = hex_linear_guarded(d->skel.handle, &d->how, w->index, (uint32_t)n, d->x, (int)(n * w->cols), d->y,
                                  (int)(n * w->rows), teh, (int)n, &unused);
    if (code)
        return failed(d, "guarded", w, n, code, err);
    if (!ids)
        memcpy(y, d->y, n * w->rows * sizeof(float));
    return ids ? check_ids(w, ids, n, err) : 0;
}

int hx_linear_dsp_guarded(const struct hx_linear *w, float *y, uint32_t *ids, const float *x, size_t n, float *teh,
                          struct hx_error *err)
{
    const struct hx_linear_dsp *d = w->state;
    size_t now;
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i += now) {
        now = in_one_call(d, n - i, w->cols, w->rows);
        rc = guarded_some(d, w, y ? y + i * w->rows : NULL, ids ? ids + i : NULL, x + i * w->cols, now, teh + i, err);
    }
    return rc;
}

/* --- open */

/* The first matrix with the same weights as the i-th; i: none before it. */
static size_t same_weights(const struct hx_linear_dsp *d, size_t i)
{
    const struct hx_linear *w = d->matrix[i];
    size_t first = 0;

    while (first < i && (d->matrix[first]->w != w->w || d->matrix[first]->rows != w->rows ||
                         d->matrix[first]->cols != w->cols || d->matrix[first]->type != w->type))
        first++;
    return first;
}

static int is_basis(const struct hx_linear_dsp *d, size_t i)
{
    return d->place[i].form == HX_FORM_BASIS;
}

static uint32_t type_of(const struct hx_linear_dsp *d, size_t i)
{
    return is_basis(d, i) ? HX_WEIGHTS_BASIS : hx_linear_pack_type(d->matrix[i]);
}

/* Offsets of the matrices, and the buffers that a vector needs at least.  Those with the same weights share them, too. */
static int measure(struct hx_linear_dsp *d, struct hx_error *err)
{
    size_t most_rows = 0, most_cols = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct hx_linear *w = d->matrix[i];
        const size_t bytes = is_basis(d, i) ? hx_linear_pack_basis_bytes(w) : hx_linear_pack_bytes(w), same = same_weights(d, i);

        if (!bytes)
            return hx_error_set(err, -EINVAL, "linear: a matrix of %zu x %zu is too large for the "
                              "DSP: a group of 32 rows must fit in %d bytes", w->rows, w->cols,
                              HX_WEIGHTS_SLOT);
        d->table[i] = (hex_linear_matrix){type_of(d, i), (uint32_t)w->rows,
                                          (uint32_t)w->cols, (uint32_t)d->weights_bytes};
        if (same < i)
            d->table[i].offset = d->table[same].offset;
        else
            d->weights_bytes += bytes;
        most_rows = w->rows > most_rows ? w->rows : most_rows;
        most_cols = w->cols > most_cols ? w->cols : most_cols;
        if (d->weights_bytes > INT32_MAX)
            return hx_error_set(err, -EINVAL, "linear: the weights need more than %d bytes, the limit "
                              "of one buffer; offload fewer matrices", INT32_MAX);
    }
    d->x_floats = d->y_floats = CALL_BYTES / sizeof(float);
    if (d->x_floats < most_cols)
        d->x_floats = most_cols;
    if (d->y_floats < HX_LINEAR_PROJECT * most_rows)
        d->y_floats = HX_LINEAR_PROJECT * most_rows;
    return 0;
}

static void *shared(size_t bytes)
{
    return rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes);
}

static int pack(struct hx_linear_dsp *d, struct hx_error *err)
{
    float *row = malloc(HX_WEIGHTS_SLOT * sizeof(*row)); /* the most columns that pass measure() */

    d->weights = shared(d->weights_bytes);
    d->x = shared(d->x_floats * sizeof(float));
    d->y = shared(d->y_floats * sizeof(float));
    struct hx_error detail = {""};
    int rc = 0;

    if (!row || !d->weights || !d->x || !d->y)
        rc = hx_error_set(err, -ENOMEM, "linear: no memory for %zu bytes of weights",
                          d->weights_bytes);
    for (size_t i = 0; !rc && i < d->n; i++) {
        if (same_weights(d, i) < i)
            continue;
        rc = (is_basis(d, i) ? hx_linear_pack_basis : hx_linear_pack)(d->matrix[i], d->weights + d->table[i].offset, row, &detail);
        if (rc)
            hx_error_set(err, rc, "linear: matrix %zu of those for the DSP, %zu x %zu: %s", i,
                         d->matrix[i]->rows, d->matrix[i]->cols, detail.text);
    }
    free(row);
    return rc;
}

static int hand_over(struct hx_linear_dsp *d, struct hx_error *err)
{
    const int fd = rpcmem_to_fd(d->weights);
    int code = fastrpc_mmap(CDSP_DOMAIN_ID, fd, d->weights, 0, d->weights_bytes, FASTRPC_MAP_FD);

    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "linear: cannot map %zu bytes of weights",
                          d->weights_bytes);
    d->mapped = 1;
    code = hex_linear_load(d->skel.handle, fd, (uint32_t)d->weights_bytes, d->table, (int)d->n);
    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "linear: load of %zu matrices failed",
                          d->n);
    d->loaded = 1;
    for (size_t i = 0; i < d->n; i++) {
        d->matrix[i]->ops = &ops;
        d->matrix[i]->state = d;
        d->matrix[i]->index = (uint32_t)i;
    }
    return 0;
}

static int send_packets(struct hx_linear_dsp *d, struct hx_error *err)
{
    int rc = hx_packets_open(&d->skel, "linear", hex_linear_packets_attach, hex_linear_packets_detach, err);

    if (!rc)
        rc = hx_packets_share(&d->skel, "linear", d->x, d->x_floats * sizeof(*d->x), err);
    return rc ? rc : hx_packets_share(&d->skel, "linear", d->y, d->y_floats * sizeof(*d->y), err);
}

static void close_linear(struct hx_linear_method *m)
{
    struct hx_linear_dsp *d = (struct hx_linear_dsp *)m;

    if (d->loaded) /* first: a buffer that the DSP holds cannot be unmapped */
        hex_linear_load(d->skel.handle, -1, 0, NULL, 0);
    if (d->mapped)
        fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(d->weights), d->weights, d->weights_bytes);
    hx_skel_close(&d->skel);
    rpcmem_free(d->weights);
    rpcmem_free(d->x);
    rpcmem_free(d->y);
    free(d->matrix);
    free(d->table);
    free(d->place);
    free(d);
}

int hx_linear_dsp_open(struct hx_linear_method **out, const struct hx_linear_set *set, uint32_t placement,
                       int packets, struct hx_error *err)
{
    struct hx_linear_dsp *d = calloc(1, sizeof(*d));
    int rc;

    if (!d)
        return hx_error_set(err, -ENOMEM, "linear: out of memory");
    d->method.close = close_linear;
    d->how = (hex_linear_how){(int)placement, THREADS};
    d->matrix = calloc(set->n, sizeof(*d->matrix));
    d->table = calloc(set->n, sizeof(*d->table));
    d->place = calloc(set->n, sizeof(*d->place));
    if (!d->matrix || !d->table || !d->place) {
        close_linear(&d->method);
        return hx_error_set(err, -ENOMEM, "linear: out of memory");
    }
    for (size_t i = 0; i < set->n; i++) {
        d->place[d->n] = (struct place){set->at[i].layer, set->at[i].which, set->at[i].form};
        d->matrix[d->n++] = set->at[i].w;
    }
    rc = measure(d, err);
    if (!rc)
        rc = pack(d, err);
    if (!rc)
        rc = hx_skel_open(&d->skel, "linear", hex_linear_URI, err);
    if (!rc)
        rc = hand_over(d, err);
    if (!rc && packets)
        rc = send_packets(d, err);
    if (rc) {
        close_linear(&d->method);
        return rc;
    }
    *out = &d->method;
    return 0;
}

/* --- what lies where */

/* "wq@3", "wq.image@3", "out" */
static json_t *name_of(const struct place *p)
{
    static const char *const forms[] = {[HX_FORM_WHOLE] = "", [HX_FORM_IMAGE] = ".image", [HX_FORM_BASIS] = ".basis"};

    return p->which == HX_OUT ? json_string(hx_matrix_names[p->which])
                              : json_sprintf("%s%s@%zu", hx_matrix_names[p->which], forms[p->form], p->layer);
}

struct sums {
    uint64_t bytes, stays;
};

static struct sums sum_up(const hex_linear_residence *r, size_t n)
{
    struct sums s = {0, 0};

    for (size_t i = 0; i < n; i++) {
        s.bytes += r[i].bytes;
        s.stays += r[i].stays;
    }
    return s;
}

static json_t *why(const struct sums *s, uint64_t slots)
{
    if (s->stays == s->bytes)
        return json_string("everything fits");
    if (!s->stays && !slots)
        return json_string("no VTCM was free: weights are read where they lie");
    return json_sprintf("of %llu bytes VTCM had room for %llu beside two slots of %llu: matrices that a token uses first stay, the rest "
                        "streams", (unsigned long long)s->bytes, (unsigned long long)s->stays, (unsigned long long)slots / 2);
}

/* Bytes that a token's matrices have in VTCM, and that it streams, of each layer. */
static void add_layers(json_t *j, const struct hx_linear_dsp *d, const hex_linear_residence *r)
{
    json_t *stay = json_array(), *stream = json_array();
    size_t layers = 0;

    for (size_t i = 0; i < d->n; i++)
        if (d->place[i].which != HX_OUT && d->place[i].layer >= layers)
            layers = d->place[i].layer + 1;
    for (size_t layer = 0; layer < layers; layer++) {
        struct sums s = {0, 0};

        for (size_t i = 0; i < d->n; i++)
            if (d->place[i].which != HX_OUT && d->place[i].layer == layer) {
                s.bytes += r[i].bytes;
                s.stays += r[i].stays;
            }
        json_array_append_new(stay, json_integer((json_int_t)s.stays));
        json_array_append_new(stream, json_integer((json_int_t)(s.bytes - s.stays)));
    }
    json_object_set_new(j, "resident_by_layer", stay);
    json_object_set_new(j, "streamed_by_layer", stream);
}

static json_t *residence_json(const struct hx_linear_dsp *d, const hex_linear_residence *r, uint64_t slots)
{
    const struct sums s = sum_up(r, d->n);
    json_t *stay = json_array(), *part = json_array(), *stream = json_array();

    for (size_t i = 0; i < d->n; i++)
        json_array_append_new(r[i].stays == r[i].bytes ? stay : r[i].stays ? part : stream, name_of(&d->place[i]));
    json_t *j = json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "placement", hx_placements[d->how.placement], "resident_bytes",
                          (json_int_t)s.stays, "streamed_bytes", (json_int_t)(s.bytes - s.stays), "slot_bytes", (json_int_t)slots,
                          "why", why(&s, slots), "resident", stay, "in_part", part, "streamed", stream);

    if (j)
        add_layers(j, d, r);
    return j;
}

json_t *hx_linear_dsp_report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct hx_linear_dsp *d = self;
    hex_linear_residence *r = calloc(d->n, sizeof(*r));
    uint64_t slots = 0;
    json_t *j;

    (void)kv;
    (void)p;
    if (!r)
        return NULL;
    j = hex_linear_where(d->skel.handle, r, (int)d->n, &slots) ? json_pack("{s:s}", "placement", hx_placements[d->how.placement])
                                                              : residence_json(d, r, slots);
    free(r);
    return j;
}
