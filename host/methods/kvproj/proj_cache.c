/* The cache of projections on this CPU, see proj_cache.h. */
#include "proj_cache.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "hx_f16.h"
#include "model/rope.h"

const char *const hx_kv_z_names[] = {"f16", "f32", NULL};

static const float most_f16 = 65504;

/* K, or V. */
struct part {
    const char *name;
    float *in;     /* [n_layer][n_kv][rank][dh] directions */
    float *back;   /* [n_layer][n_kv][dh][rank] the same the other way */
    void *z;       /* [n_layer][n_ctx][n_kv][rank] */
    float *x;      /* [n_ctx][n_kv][dh] of the layer that was asked for */
    size_t vectors; /* that were put so far */
    double error, error_max;
};

struct kv_proj {
    struct hx_kv kv;
    enum hx_kv_z form;
    size_t rank;
    struct hx_kv_proj_kind kind;
    struct hx_ropes ropes;
    struct part part[2]; /* K, V */
    float *vector, *again, *z; /* [dh] each, of the one at work: as it was put, as it comes back, its coefficients */
};

/* Where a vector is. */
struct place {
    size_t layer, pos, head;
};

static size_t head_of(const struct kv_proj *c, const struct place *at)
{
    return at->layer * c->kv.n_kv + at->head;
}

static void *z_at(const struct kv_proj *c, const struct part *p, const struct place *at)
{
    const size_t vector = (at->layer * c->kv.n_ctx + at->pos) * c->kv.n_kv + at->head;

    return (char *)p->z + vector * c->rank * hx_kv_z_bytes(c->form);
}

/* --- coefficients in memory */

static void store(const struct kv_proj *c, const float *z, void *to)
{
    if (c->form == HX_KV_Z_F32) {
        memcpy(to, z, c->rank * sizeof(*z));
        return;
    }
    for (size_t i = 0; i < c->rank; i++)
        ((uint16_t *)to)[i] = hx_f16_from_f32(z[i]);
}

static void load(const struct kv_proj *c, const void *from, float *z)
{
    if (c->form == HX_KV_Z_F32) {
        memcpy(z, from, c->rank * sizeof(*z));
        return;
    }
    for (size_t i = 0; i < c->rank; i++)
        z[i] = hx_f32_from_f16(((const uint16_t *)from)[i]);
}

/* What a vector has become, before it is turned. */
static void decode(const struct kv_proj *c, const struct part *p, const struct place *at, float *x)
{
    const float *back = p->back + head_of(c, at) * c->kv.dh * c->rank;

    load(c, z_at(c, p, at), c->z);
    for (size_t d = 0; d < c->kv.dh; d++)
        x[d] = hx_dot(back + d * c->rank, c->z, c->rank);
}

static void compare(struct kv_proj *c, struct part *p, const struct place *at, const float *x)
{
    double off = 0, all = 0, error;

    decode(c, p, at, c->again);
    for (size_t d = 0; d < c->kv.dh; d++) {
        const double e = (double)x[d] - (double)c->again[d];

        off += e * e;
        all += (double)x[d] * (double)x[d];
    }
    error = all > 0 ? sqrt(off / all) : 0;
    p->error += error;
    p->error_max = fmax(p->error_max, error);
    p->vectors++;
}

/* --- put, rows, keep */

static int put_one(struct kv_proj *c, struct part *p, const struct place *at, const float *x, struct hx_error *err)
{
    const float *in = p->in + head_of(c, at) * c->rank * c->kv.dh;

    for (size_t i = 0; i < c->rank; i++) {
        c->z[i] = hx_dot(in + i * c->kv.dh, x, c->kv.dh);
        if (c->form == HX_KV_Z_F16 && !(fabsf(c->z[i]) <= most_f16))
            return hx_error_set(err, -EDOM, "kv proj: %s of layer %zu, position %zu: coefficient %zu is %g; f16 ends at %g", p->name,
                                at->layer, at->pos, i, (double)c->z[i], (double)most_f16);
    }
    store(c, c->z, z_at(c, p, at));
    compare(c, p, at, x);
    return 0;
}

static int put(struct hx_kv *kv, size_t layer, size_t pos, size_t n, const float *k, const float *v, struct hx_error *err)
{
    struct kv_proj *c = (struct kv_proj *)kv;
    const struct hx_rope *rope = hx_ropes_of(&c->ropes, layer);
    const size_t dh = kv->dh;
    int rc = 0;

    for (size_t i = 0; !rc && i < n * kv->n_kv; i++) {
        const struct place at = {layer, pos + i / kv->n_kv, i % kv->n_kv};

        memcpy(c->vector, k + i * dh, dh * sizeof(*k));
        if (!c->kind.k_after_rope)
            hx_rope_undo(rope, c->vector, at.pos);
        rc = put_one(c, &c->part[0], &at, c->vector, err);
        if (!rc)
            rc = put_one(c, &c->part[1], &at, v + i * dh, err);
    }
    return rc;
}

static int rows(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view, struct hx_error *err)
{
    struct kv_proj *c = (struct kv_proj *)kv;
    const struct hx_rope *rope = hx_ropes_of(&c->ropes, layer);

    (void)err;
    for (size_t i = 0; i < n * kv->n_kv; i++) {
        const struct place at = {layer, i / kv->n_kv, i % kv->n_kv};
        float *k = c->part[0].x + i * kv->dh;

        decode(c, &c->part[0], &at, k);
        decode(c, &c->part[1], &at, c->part[1].x + i * kv->dh);
        if (!c->kind.k_after_rope)
            hx_rope_apply(rope, k, at.pos);
    }
    *view = (struct hx_kv_view){c->part[0].x, c->part[1].x, kv->n_kv * kv->dh};
    return 0;
}

static int keep(struct hx_kv *kv, size_t pos, const size_t *index, size_t n, struct hx_error *err)
{
    struct kv_proj *c = (struct kv_proj *)kv;
    const size_t bytes = kv->n_kv * c->rank * hx_kv_z_bytes(c->form);

    (void)err;
    for (size_t half = 0; half < 2 * kv->n_layer; half++)
        for (size_t i = 0; i < n; i++) { /* ascending: nothing is overwritten before it was moved */
            const struct place to = {half / 2, pos + i, 0}, from = {half / 2, pos + index[i], 0};

            memmove(z_at(c, &c->part[half % 2], &to), z_at(c, &c->part[half % 2], &from), bytes);
        }
    return 0;
}

/* --- opening and closing */

static void close_proj(struct hx_kv *kv)
{
    struct kv_proj *c = (struct kv_proj *)kv;

    for (int i = 0; i < 2; i++) {
        free(c->part[i].in);
        free(c->part[i].back);
        free(c->part[i].z);
        free(c->part[i].x);
    }
    hx_ropes_free(&c->ropes);
    free(c->vector);
    free(c->again);
    free(c->z);
    free(c);
}

static const struct hx_kv_ops ops = {.name = "proj", .put = put, .rows = rows, .close = close_proj};
static const struct hx_kv_ops ops_with_trees = {.name = "proj", .put = put, .rows = rows, .keep = keep, .close = close_proj};

/* The first directions of each head's basis, both ways. */
static int take_basis(struct kv_proj *c, const struct hx_kv_basis *b, int is_v)
{
    struct part *p = &c->part[is_v];
    const size_t dh = c->kv.dh, heads = c->kv.n_layer * c->kv.n_kv;

    p->in = calloc(heads, c->rank * dh * sizeof(*p->in));
    p->back = calloc(heads, c->rank * dh * sizeof(*p->back));
    if (!p->in || !p->back)
        return -ENOMEM;
    for (size_t h = 0; h < heads; h++) {
        const float *u = hx_kv_basis_at(b, h / c->kv.n_kv, is_v, h % c->kv.n_kv);

        memcpy(p->in + h * c->rank * dh, u, c->rank * dh * sizeof(*u));
        for (size_t i = 0; i < c->rank * dh; i++)
            p->back[h * c->rank * dh + i % dh * c->rank + i / dh] = u[i];
    }
    return 0;
}

static int alloc_part(struct kv_proj *c, int is_v)
{
    struct part *p = &c->part[is_v];
    const size_t vectors = c->kv.n_ctx * c->kv.n_kv;
    size_t each;

    p->name = is_v ? "V" : "K";
    if (__builtin_mul_overflow(c->kv.n_layer * c->rank * hx_kv_z_bytes(c->form), vectors, &each))
        return -ENOMEM;
    p->z = calloc(1, each);
    p->x = calloc(vectors, c->kv.dh * sizeof(*p->x));
    return p->z && p->x ? 0 : -ENOMEM;
}

int hx_kv_proj_check_rank(size_t rank, size_t dh, struct hx_error *err)
{
    return rank < 1 || rank > dh
               ? hx_error_set(err, -EINVAL, "kv proj: rank %zu; 1 to %zu, the head dimension, are legal", rank, dh)
               : 0;
}

int hx_kv_proj_open(struct hx_kv **out, const struct hx_model *m, const struct hx_kv_basis *basis, size_t rank, enum hx_kv_z z,
                    size_t n_ctx, struct hx_error *err)
{
    struct kv_proj *c;
    int rc = hx_kv_proj_check_rank(rank, m->dh, err);

    if (rc)
        return rc;
    c = calloc(1, sizeof(*c));
    if (!c)
        return hx_error_set(err, -ENOMEM, "kv proj: out of memory");
    c->kv = (struct hx_kv){basis->k_after_rope ? &ops_with_trees : &ops, m->n_layer, m->n_kv, m->dh, n_ctx, n_ctx, 0};
    c->form = z;
    c->rank = rank;
    c->kind = (struct hx_kv_proj_kind){basis->from, basis->k_after_rope};
    c->vector = malloc(m->dh * sizeof(*c->vector));
    c->again = malloc(m->dh * sizeof(*c->again));
    c->z = malloc(m->dh * sizeof(*c->z));
    rc = c->vector && c->again && c->z ? hx_ropes_init(&c->ropes, &m->rope, n_ctx) : -ENOMEM;
    for (int i = 0; !rc && i < 2; i++) {
        rc = take_basis(c, basis, i);
        rc = rc ? rc : alloc_part(c, i);
    }
    if (rc) {
        close_proj(&c->kv);
        return hx_error_set(err, rc, "kv proj: no memory for %zu positions", n_ctx);
    }
    *out = &c->kv;
    return 0;
}

struct hx_kv_proj_kind hx_kv_proj_kind(const struct hx_kv *kv)
{
    return ((const struct kv_proj *)kv)->kind;
}

struct hx_kv_proj_seen hx_kv_proj_seen(const struct hx_kv *kv, int is_v)
{
    const struct part *p = &((const struct kv_proj *)kv)->part[is_v];

    return (struct hx_kv_proj_seen){p->vectors, p->vectors ? p->error / (double)p->vectors : 0, p->error_max};
}
