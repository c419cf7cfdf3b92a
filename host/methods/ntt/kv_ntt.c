/* See kv_ntt.h. */
#include "kv_ntt.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/ntt/ring/ntt_dsp.h"
#include "methods/ntt/ring/poly_shard.h"
#include "methods/ntt/shard/shard.h"

enum { ALIGN = 64, POSITIONS_PER_PART = 64, FEW_TRANSFORMS = 100, FEW_PRODUCTS = 4096 };

struct kv_ntt {
    struct hx_kv kv;
    struct hx_poly ring;
    struct hx_pool *pool;
    struct hx_ntt_dsp *dsp; /* where the blocks are; NULL: */
    char *blocks;    /* [layer][position][KV head] */
    double *lengths; /* likewise, of the integers in the blocks */
    double *longest; /* [layer][KV head], of all lengths that were ever put */
    float *v;        /* [layer][position][n_kv * dh] */
    float *k;        /* [position][n_kv * dh], what rows() returned last; NULL: never called */
    char *queries;   /* blocks [n_queries] */
    double *query_lengths;
    size_t n_queries;
    uint32_t *mine, *theirs; /* [n_residues], with a shard */
    size_t n_residues;
};

/* One put(), rows() or scores(), for the pool. */
struct job {
    struct kv_ntt *c;
    size_t layer, pos, n, n_head;
    const float *k;
    const float *q;
    float scale;
    float *scores;
    int32_t *integers; /* for the DSP: of k or q */
};

static size_t index_of(const struct kv_ntt *c, size_t layer, size_t pos, size_t head)
{
    return (layer * c->kv.n_ctx + pos) * c->kv.n_kv + head;
}

static char *block(const struct kv_ntt *c, size_t layer, size_t pos, size_t head)
{
    return c->blocks + index_of(c, layer, pos, head) * c->ring.block_bytes;
}

static float *values(const struct kv_ntt *c, size_t layer, size_t pos)
{
    return c->v + index_of(c, layer, pos, 0) * c->kv.dh;
}

/* Waking threads costs, too. */
static struct hx_pool *pool_for(const struct kv_ntt *c, size_t work, size_t few)
{
    return work > few ? c->pool : NULL;
}

static size_t parts_of(size_t n)
{
    return (n + POSITIONS_PER_PART - 1) / POSITIONS_PER_PART;
}

/* --- for the DSP: integers only */

static double to_integers(const struct kv_ntt *c, int32_t *a, const float *v)
{
    const size_t clamped = hx_poly_encode(a, c->ring.n, v, c->kv.dh, c->ring.delta_bits);

    return clamped ? INFINITY : hx_poly_length(a, c->ring.n);
}

static void key_integers(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const struct kv_ntt *c = j->c;
    const size_t n_kv = c->kv.n_kv;

    for (size_t i = j->n * n_kv * part / n_parts; i < j->n * n_kv * (part + 1) / n_parts; i++) {
        int32_t *a = j->integers + i * c->ring.n;

        c->lengths[index_of(c, j->layer, j->pos, i)] = to_integers(c, a, j->k + i * c->kv.dh);
        hx_poly_involute(a, c->ring.n);
    }
}

static int put_on_dsp(struct job *j, struct hx_error *err)
{
    const struct kv_ntt *c = j->c;

    j->integers = hx_ntt_dsp_room(c->dsp, j->n * c->kv.n_kv * c->ring.n, err);
    if (!j->integers)
        return -ENOMEM;
    hx_pool_run(pool_for(c, j->n * c->kv.n_kv, FEW_TRANSFORMS), parts_of(j->n), key_integers, j);
    return hx_ntt_dsp_put(c->dsp, j->layer, j->pos, j->n, err);
}

/* --- with one prime: residues of the other one come from another process */

static int residue_room(struct kv_ntt *c, size_t n, struct hx_error *err)
{
    const size_t bytes = (n * sizeof(*c->mine) + ALIGN - 1) / ALIGN * ALIGN;

    if (n <= c->n_residues)
        return 0;
    free(c->mine);
    free(c->theirs);
    c->mine = aligned_alloc(ALIGN, bytes);
    c->theirs = aligned_alloc(ALIGN, bytes);
    c->n_residues = c->mine && c->theirs ? n : 0;
    return c->n_residues ? 0 : hx_error_set(err, -ENOMEM, "kv ntt: no memory for %zu residues", n);
}

/* What they are of would have other lengths where it is something else. */
static int swap(const struct job *j, size_t n, struct hx_error *err)
{
    const struct kv_ntt *c = j->c;
    uint64_t of = hx_shard_digest(j->layer, &c->lengths[index_of(c, j->layer, j->pos, 0)],
                                  j->n * c->kv.n_kv * sizeof(*c->lengths));

    of = hx_shard_digest(of, c->query_lengths, j->n_head * sizeof(*c->query_lengths));
    return hx_shard_swap(c->ring.shard, of, c->mine, c->theirs, n, err);
}

static void own_keys(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const struct kv_ntt *c = j->c;
    const size_t n_kv = c->kv.n_kv;

    for (size_t i = j->n * n_kv * part / n_parts; i < j->n * n_kv * (part + 1) / n_parts; i++)
        hx_poly_key_residues(&c->ring, c->mine + i * c->ring.n, block(c, j->layer, i / n_kv,
                                                                      i % n_kv));
}

static void combine_keys(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const struct kv_ntt *c = j->c;
    const size_t n = j->n * c->kv.n_kv;

    for (size_t i = n * part / n_parts; i < n * (part + 1) / n_parts; i++)
        hx_poly_combine_key(&c->ring, c->k + i * c->kv.dh, c->mine + i * c->ring.n,
                            c->theirs + i * c->ring.n);
}

static int past_of_two(struct job *j, struct hx_error *err)
{
    struct kv_ntt *c = j->c;
    const size_t keys = j->n * c->kv.n_kv, words = keys * c->ring.n;
    int rc = residue_room(c, words, err);

    if (!rc && c->dsp)
        rc = hx_ntt_dsp_key_residues(c->dsp, j->layer, j->n, c->mine, err);
    else if (!rc)
        hx_pool_run(pool_for(c, keys, FEW_TRANSFORMS), parts_of(j->n), own_keys, j);
    if (!rc)
        rc = swap(j, words, err);
    if (!rc)
        hx_pool_run(pool_for(c, keys, FEW_TRANSFORMS), parts_of(j->n), combine_keys, j);
    return rc;
}

static void own_scores(void *arg, size_t head, size_t n_parts)
{
    const struct job *j = arg;
    const struct kv_ntt *c = j->c;

    (void)n_parts;
    hx_poly_residues(&c->ring, c->mine + head * j->n, c->queries + head * c->ring.block_bytes,
                     block(c, j->layer, j->pos, head / (j->n_head / c->kv.n_kv)),
                     c->kv.n_kv * c->ring.block_bytes, j->n);
}

static int scores_of_two(struct job *j, struct hx_error *err)
{
    struct kv_ntt *c = j->c;
    const size_t n = j->n_head * j->n;
    int rc = residue_room(c, n, err);

    if (!rc && c->dsp)
        rc = hx_ntt_dsp_residues(c->dsp, j->layer, j->n_head, j->pos, j->n, c->mine, err);
    else if (!rc)
        hx_pool_run(pool_for(c, n, FEW_PRODUCTS), j->n_head, own_scores, j);
    if (!rc)
        rc = swap(j, n, err);
    if (!rc)
        hx_poly_combine(&c->ring, j->scores, j->scale, c->mine, c->theirs, n);
    return rc;
}

/* --- put */

static void encode(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const struct kv_ntt *c = j->c;
    const size_t n_kv = c->kv.n_kv;

    for (size_t i = j->n * n_kv * part / n_parts; i < j->n * n_kv * (part + 1) / n_parts; i++) {
        const size_t pos = j->pos + i / n_kv, head = i % n_kv;

        c->lengths[index_of(c, j->layer, pos, head)] =
            hx_poly_key(&c->ring, block(c, j->layer, pos, head), j->k + i * c->kv.dh);
    }
}

static int put(struct hx_kv *kv, size_t layer, size_t pos, size_t n, const float *k, const float *v,
               struct hx_error *err)
{
    struct kv_ntt *c = (struct kv_ntt *)kv;
    struct job j = {.c = c, .layer = layer, .pos = pos, .n = n, .k = k};
    int rc = 0;

    /* a key that is too long shows when a query meets it */
    if (c->dsp)
        rc = put_on_dsp(&j, err);
    else
        hx_pool_run(pool_for(c, n * kv->n_kv, FEW_TRANSFORMS), parts_of(n), encode, &j);
    if (rc)
        return rc;
    for (size_t i = 0; i < n * kv->n_kv; i++) {
        const double length = c->lengths[index_of(c, layer, pos, 0) + i];
        double *most = &c->longest[layer * kv->n_kv + i % kv->n_kv];

        *most = length > *most ? length : *most;
    }
    memcpy(values(c, layer, pos), v, n * kv->n_kv * kv->dh * sizeof(*v));
    return 0;
}

/* --- past */

static void decode(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const struct kv_ntt *c = j->c;
    const size_t n_kv = c->kv.n_kv;

    for (size_t i = j->n * n_kv * part / n_parts; i < j->n * n_kv * (part + 1) / n_parts; i++)
        hx_poly_decode_key(&c->ring, c->k + i * c->kv.dh, block(c, j->layer, i / n_kv, i % n_kv));
}

static int rows(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view,
                struct hx_error *err)
{
    struct kv_ntt *c = (struct kv_ntt *)kv;
    struct job j = {.c = c, .layer = layer, .n = n};

    if (!c->k)
        c->k = calloc(kv->n_ctx * kv->n_kv * kv->dh, sizeof(*c->k));
    if (!c->k)
        return hx_error_set(err, -ENOMEM, "kv ntt: no memory for %zu rows of K", kv->n_ctx);
    for (size_t i = 0; i < n * kv->n_kv; i++) /* what had to be clamped cannot come back */
        if (isinf(c->lengths[index_of(c, layer, 0, 0) + i]))
            return hx_poly_out_of_range(&c->ring, INFINITY, 0, layer, i / kv->n_kv, err);
    *view = (struct hx_kv_view){c->k, values(c, layer, 0), kv->n_kv * kv->dh};
    if (c->ring.shard)
        return past_of_two(&j, err);
    if (c->dsp)
        return hx_ntt_dsp_past(c->dsp, layer, n, c->ring.delta_bits, kv->dh, c->k, err);
    hx_pool_run(pool_for(c, n * kv->n_kv, FEW_TRANSFORMS), parts_of(n), decode, &j);
    return 0;
}

/* --- scores */

static int find_too_long(const struct job *j, size_t head, size_t kv_head, struct hx_error *err)
{
    const struct kv_ntt *c = j->c;

    for (size_t p = j->pos; p < j->pos + j->n; p++) {
        const double k = c->lengths[index_of(c, j->layer, p, kv_head)];

        if (!(k * c->query_lengths[head] <= (double)HX_POLY_LIMIT))
            return hx_poly_out_of_range(&c->ring, k, c->query_lengths[head], j->layer, p, err);
    }
    return 0;
}

static int check_range(const struct job *j, struct hx_error *err)
{
    const struct kv_ntt *c = j->c;
    int rc = 0;

    for (size_t h = 0; !rc && h < j->n_head; h++) {
        const size_t kv_head = h / (j->n_head / c->kv.n_kv);
        const double most = c->longest[j->layer * c->kv.n_kv + kv_head];

        if (!(most * c->query_lengths[h] <= (double)HX_POLY_LIMIT))
            rc = find_too_long(j, h, kv_head, err);
    }
    return rc;
}

static void encode_queries(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const struct kv_ntt *c = j->c;

    for (size_t h = j->n_head * part / n_parts; h < j->n_head * (part + 1) / n_parts; h++)
        c->query_lengths[h] = hx_poly_query(&c->ring, c->queries + h * c->ring.block_bytes,
                                            j->q + h * c->kv.dh);
}

/* Part: a head's share of the positions. */
static void score(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const struct kv_ntt *c = j->c;
    const size_t per_head = n_parts / j->n_head, head = part / per_head, share = part % per_head;
    const size_t from = j->n * share / per_head, to = j->n * (share + 1) / per_head;

    hx_poly_scaled(&c->ring, j->scores + head * j->n + from, j->scale,
                   c->queries + head * c->ring.block_bytes,
                   block(c, j->layer, j->pos + from, head / (j->n_head / c->kv.n_kv)),
                   c->kv.n_kv * c->ring.block_bytes, to - from);
}

static int make_room(struct kv_ntt *c, size_t n_head, struct hx_error *err)
{
    if (n_head <= c->n_queries)
        return 0;
    free(c->queries);
    free(c->query_lengths);
    c->queries = aligned_alloc(ALIGN, n_head * c->ring.block_bytes);
    c->query_lengths = calloc(n_head, sizeof(*c->query_lengths));
    c->n_queries = c->queries && c->query_lengths ? n_head : 0;
    return c->n_queries ? 0 : hx_error_set(err, -ENOMEM, "kv ntt: no memory for %zu queries", n_head);
}

static int scores_on_dsp(struct job *j, struct hx_error *err)
{
    const struct kv_ntt *c = j->c;
    int rc;

    j->integers = hx_ntt_dsp_room(c->dsp, j->n_head * c->ring.n, err);
    if (!j->integers)
        return -ENOMEM;
    for (size_t h = 0; h < j->n_head; h++)
        c->query_lengths[h] = to_integers(c, j->integers + h * c->ring.n, j->q + h * c->kv.dh);
    rc = check_range(j, err);
    if (!rc && c->ring.shard)
        return scores_of_two(j, err);
    return rc ? rc : hx_ntt_dsp_scores(c->dsp, j->layer, j->n_head, j->pos, j->n, c->ring.delta_bits,
                                       j->scale, j->scores, err);
}

static int scores(struct hx_kv *kv, size_t layer, const float *q, size_t n_head, float scale,
                  size_t first, size_t n, float *out, struct hx_error *err)
{
    struct kv_ntt *c = (struct kv_ntt *)kv;
    struct job j = {.c = c, .layer = layer, .pos = first, .n = n, .n_head = n_head, .q = q,
                    .scale = scale, .scores = out};
    int rc = make_room(c, n_head, err);

    if (rc)
        return rc;
    if (c->dsp)
        return scores_on_dsp(&j, err);
    hx_pool_run(pool_for(c, n_head, FEW_TRANSFORMS), n_head, encode_queries, &j);
    rc = check_range(&j, err);
    if (!rc && c->ring.shard)
        return scores_of_two(&j, err);
    if (!rc)
        hx_pool_run(pool_for(c, n_head * n, FEW_PRODUCTS), n_head * parts_of(n), score, &j);
    return rc;
}

static void close_ntt(struct hx_kv *kv)
{
    struct kv_ntt *c = (struct kv_ntt *)kv;

    hx_ntt_dsp_close(c->dsp);
    free(c->blocks);
    free(c->lengths);
    free(c->longest);
    free(c->v);
    free(c->k);
    free(c->queries);
    free(c->query_lengths);
    free(c->mine);
    free(c->theirs);
    free(c);
}

static void keys(const struct hx_kv *kv, size_t layer, struct hx_kv_keys *out)
{
    const struct kv_ntt *c = (const struct kv_ntt *)kv;

    out->blocks = c->dsp ? NULL : block(c, layer, 0, 0);
    out->lengths = c->lengths + index_of(c, layer, 0, 0);
    out->values = (struct hx_kv_view){NULL, values(c, layer, 0), kv->n_kv * kv->dh};
}

static const struct hx_kv_ops ops = {
    .name = "ntt", .put = put, .rows = rows, .scores = scores, .keys = keys, .close = close_ntt};

/* --- open */

static int allocate(struct kv_ntt *c, int on_dsp, struct hx_error *err)
{
    const struct hx_kv *kv = &c->kv;
    const int prime = c->ring.shard ? hx_shard_prime(c->ring.shard) : HX_NTT_DSP_BOTH;
    size_t heads, bytes, floats;

    if (!__builtin_mul_overflow(kv->n_layer * kv->n_ctx, kv->n_kv, &heads) &&
        !__builtin_mul_overflow(heads, c->ring.block_bytes, &bytes) &&
        !__builtin_mul_overflow(heads, kv->dh, &floats)) {
        c->blocks = on_dsp ? NULL : aligned_alloc(ALIGN, bytes);
        c->lengths = calloc(heads, sizeof(*c->lengths));
        c->longest = calloc(kv->n_layer * kv->n_kv, sizeof(*c->longest));
        c->v = calloc(floats, sizeof(*c->v));
    }
    if ((!on_dsp && !c->blocks) || !c->lengths || !c->longest || !c->v)
        return hx_error_set(err, -ENOMEM, "kv ntt: no memory for %zu positions", kv->n_ctx);
    if (!on_dsp)
        return 0;
    return hx_ntt_dsp_open(&c->dsp, prime, c->ring.n, kv->n_layer, kv->n_ctx, kv->n_kv, err);
}

static int open_at(struct hx_kv **out, const struct hx_kv_shape *shape,
                   const struct hx_poly_cfg *cfg, struct hx_pool *pool, int on_dsp,
                   struct hx_error *err)
{
    struct kv_ntt *c = calloc(1, sizeof(*c));
    int rc;

    if (!c)
        return hx_error_set(err, -ENOMEM, "kv ntt: out of memory");
    c->kv = (struct hx_kv){&ops, shape->n_layer, shape->n_kv, shape->dh, shape->n_ctx, shape->n_ctx};
    c->pool = pool;
    rc = hx_poly_open(&c->ring, cfg, shape->dh, err);
    if (!rc)
        rc = allocate(c, on_dsp, err);
    if (rc) {
        close_ntt(&c->kv);
        return rc;
    }
    *out = &c->kv;
    return 0;
}

int hx_kv_ntt_open(struct hx_kv **out, const struct hx_kv_shape *shape,
                   const struct hx_poly_cfg *cfg, struct hx_pool *pool, struct hx_error *err)
{
    if (cfg->mode == HX_POLY_SCHOOL)
        return hx_error_set(err, -EINVAL, "kv ntt: schoolbook products have no transforms to keep");
    return open_at(out, shape, cfg, pool, 0, err);
}

int hx_kv_ntt_dsp_open(struct hx_kv **out, const struct hx_kv_shape *shape,
                       const struct hx_poly_cfg *cfg, struct hx_pool *pool, struct hx_error *err)
{
    if (cfg->mode != HX_POLY_CRT)
        return hx_error_set(err, -EINVAL, "kv ntt: on the DSP keys are kept modulo two primes, not as %s",
                          hx_poly_modes[cfg->mode]);
    return open_at(out, shape, cfg, pool, 1, err);
}

const struct hx_poly *hx_kv_ntt_ring(const struct hx_kv *kv)
{
    return &((const struct kv_ntt *)kv)->ring;
}
