/* Calls of the linear method on the DSP: vectors go in the shared buffer x, results come in y, as many vectors at a time as fit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "linear_dsp_impl.h"
#include "linear_pack.h"

static int failed(const struct hx_linear_dsp *d, const char *method, const struct hx_linear *w,
                  size_t n, int code, struct hx_error *err)
{
    return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "linear: %s failed at matrix %u, %zu x %zu, "
                      "%zu vectors, weights in %s", method, w->index, w->rows, w->cols, n,
                      hx_placements[d->how.placement]);
}

/* --- calls of several matrices */

/* Vectors of one call, of n: what fits into the buffers. */
static size_t in_one_call(const struct hx_linear_dsp *d, size_t n, size_t cols, size_t rows)
{
    const size_t by_x = d->x_floats / cols, by_y = d->y_floats / rows;
    const size_t most = by_x < by_y ? by_x : by_y;

    return n < most ? n : most;
}

/* What a kind of call makes of x [n][columns of `from`]: y[i] [n][rows of to[i]], in the call's y one behind the other. */
struct calls {
    const char *method;
    const struct hx_linear *from;
    const struct hx_linear *const *to;
    float *const *y;
    size_t n_to;
    /* n vectors, the first of them number `first`, of which x has x_len floats and y y_len; the DSP's code. */
    int (*send)(const struct hx_linear_dsp *d, const void *arg, size_t first, size_t n, int x_len, int y_len);
    const void *arg;
};

/* From the call's y to where vectors first..first+n-1 go. */
static void copy_results(const struct hx_linear_dsp *d, const struct calls *c, size_t first, size_t n)
{
    const float *from = d->y;

    for (size_t i = 0; i < c->n_to; i++) {
        const size_t rows = c->to[i]->rows;

        memcpy(c->y[i] + first * rows, from, n * rows * sizeof(float));
        from += n * rows;
    }
}

static int make_calls(const struct hx_linear_dsp *d, const struct calls *c, const float *x, size_t n, struct hx_error *err)
{
    const size_t cols = c->from->cols;
    size_t rows = 0, now;

    for (size_t i = 0; i < c->n_to; i++)
        rows += c->to[i]->rows;
    for (size_t i = 0; i < n; i += now) {
        int code;

        now = in_one_call(d, n - i, cols, rows);
        memcpy(d->x, x + i * cols, now * cols * sizeof(float));
        code = c->send(d, c->arg, i, now, (int)(now * cols), (int)(now * rows));
        if (code)
            return failed(d, c->method, c->from, now, code, err);
        copy_results(d, c, i, now);
    }
    return 0;
}

static int send_apply(const struct hx_linear_dsp *d, const void *arg, size_t first, size_t n, int x_len, int y_len)
{
    const struct hx_linear_group *g = arg;
    uint32_t which[HX_LINEAR_TOGETHER];
    hex_linear_cycles unused;

    (void)first;
    for (size_t m = 0; m < g->n; m++)
        which[m] = g->w[m]->index;
    return hex_linear_apply(d->skel.handle, &d->how, which, (int)g->n, (uint32_t)n, d->x, x_len, d->y, y_len, &unused);
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
    while (!rc && hx_linear_group(&g, w, y, n_m, &taken, same_type))
        rc = make_calls(d, &(struct calls){"apply", g.w[0], g.w, g.y, g.n, send_apply, &g}, x, n, err);
    return rc;
}

/* Matrices of low rank. */
static int send_project(const struct hx_linear_dsp *d, const void *arg, size_t first, size_t n, int x_len, int y_len)
{
    const struct hx_linear_projection *p = arg;
    uint32_t downs[HX_LINEAR_PROJECT], ups[HX_LINEAR_PROJECT];
    hex_linear_cycles unused;

    (void)first;
    for (size_t i = 0; i < p->n_downs; i++)
        downs[i] = p->downs[i]->index;
    for (size_t i = 0; i < p->n_ups; i++)
        ups[i] = p->ups[i]->index;
    return hex_linear_project(d->skel.handle, &d->how, downs, (int)p->n_downs, ups, (int)p->n_ups, p->of, (int)p->n_ups, (uint32_t)n, d->x,
                              x_len, d->y, y_len, &unused);
}

int hx_linear_dsp_project(const struct hx_linear_projection *p, float *const *y, const float *x, size_t n, struct hx_error *err)
{
    return make_calls(p->downs[0]->state, &(struct calls){"project", p->downs[0], p->ups, y, p->n_ups, send_project, p}, x, n, err);
}

/* Matrices that are products of three. */
static int send_sandwich(const struct hx_linear_dsp *d, const void *arg, size_t first, size_t n, int x_len, int y_len)
{
    const struct hx_linear_sandwich *s = arg;
    uint32_t which[3 * HX_LINEAR_TOGETHER];
    hex_linear_cycles unused;

    (void)first;
    for (size_t i = 0; i < s->n; i++) {
        which[3 * i] = s->downs[i]->index;
        which[3 * i + 1] = s->cores[i]->index;
        which[3 * i + 2] = s->ups[i]->index;
    }
    return hex_linear_sandwich(d->skel.handle, &d->how, which, (int)(3 * s->n), (uint32_t)n, d->x, x_len, d->y, y_len, &unused);
}

int hx_linear_dsp_sandwich(const struct hx_linear_sandwich *s, float *const *y, const float *x, size_t vectors, struct hx_error *err)
{
    return make_calls(s->downs[0]->state, &(struct calls){"sandwich", s->downs[0], s->ups, y, s->n, send_sandwich, s}, x, vectors, err);
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

struct gated {
    const struct hx_linear_gated *g;
    uint32_t *paths; /* [vectors] */
};

static int send_gated(const struct hx_linear_dsp *d, const void *arg, size_t first, size_t n, int x_len, int y_len)
{
    const struct gated *a = arg;
    const struct hx_linear_gated *g = a->g;
    hex_linear_cycles unused;

    return hex_linear_gated(d->skel.handle, &d->how, g->which, (int)g->n, (uint32_t)n, g->eps, g->most, d->x, x_len, d->y, y_len,
                            a->paths + first, (int)n, &unused);
}

int hx_linear_dsp_gated(const struct hx_linear_gated *g, float *const *y, const float *x, size_t n, uint32_t *paths, struct hx_error *err)
{
    const struct gated a = {g, paths};

    return make_calls(g->w[0]->state, &(struct calls){"gated", g->w[0], g->w, y, g->n, send_gated, &a}, x, n, err);
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

const struct hx_linear_ops hx_linear_dsp_ops = {"dsp", apply, argmax, 0, NULL};

/* --- behind a guard */

int hx_linear_is_dsp(const struct hx_linear *w)
{
    return w->ops == &hx_linear_dsp_ops;
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

