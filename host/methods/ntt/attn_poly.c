/* See attn_poly.h. */
#include "attn_poly.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "methods/ntt/ring/poly_shard.h"
#include "methods/ntt/shard/shard.h"
#include "engine/softmax.h"

/* Waking threads costs as much as some hundreds of transforms, or thousands of products. */
enum { ALIGN = 64, KEYS_PER_PART = 64, FEW_TRANSFORMS = 100, FEW_PRODUCTS = 4096 };

/* Memory that grows with the context and is never given back before close. */
struct grown {
    void *p;
    size_t bytes;
};

struct poly {
    struct hx_attn attn;
    struct hx_poly ring;
    struct hx_poly_counts counts;
    uint64_t tokens; /* that ran */
    struct hx_pool *pool;
    struct grown keys;        /* blocks [pos + n - 1 past, then n own][n_kv], of a cache of rows */
    struct grown queries;     /* blocks [n][n_head] */
    struct grown key_lengths; /* f64, as keys */
    struct grown query_lengths;
    struct grown scores;      /* f32, in the order of hx_attn_scores_before() */
    struct grown work;        /* likewise, for integer softmax */
    struct grown kl;          /* f64 [n][n_head] */
    struct grown mine;        /* u32 residues, in the order of scores */
    struct grown theirs;      /* likewise, of the other process */
};

/* One run, for the pool. */
struct job {
    struct poly *a;
    const struct hx_attn_in *in;
    struct hx_kv_view past;
    const char *keys;      /* blocks [row][n_kv]: those of the cache from row 0 on */
    const double *lengths; /* likewise */
    size_t own;            /* row of the first token's own key */
    float *out;
};

static int grow(struct grown *g, size_t count, size_t each, struct hx_error *err)
{
    size_t bytes;
    void *p;

    if (__builtin_mul_overflow(count, each, &bytes) || bytes > SIZE_MAX / 2)
        return hx_error_set(err, -ENOMEM, "ring attention: %zu blocks of %zu bytes", count, each);
    if (bytes <= g->bytes)
        return 0;
    bytes = (bytes + bytes / 2 + ALIGN - 1) / ALIGN * ALIGN;
    p = aligned_alloc(ALIGN, bytes);
    if (!p)
        return hx_error_set(err, -ENOMEM, "ring attention: no memory for %zu bytes", bytes);
    free(g->p);
    *g = (struct grown){p, bytes};
    return 0;
}

static size_t group(const struct hx_attn_in *in)
{
    return in->n_head / in->kv->n_kv;
}

/* --- encoding */

static void encode_key(const struct job *j, size_t row)
{
    const size_t n_kv = j->in->kv->n_kv, dh = j->in->kv->dh, bytes = j->a->ring.block_bytes;
    const float *k = row < j->own ? j->past.k + row * j->past.stride
                                  : j->in->k + (row - j->own) * n_kv * dh;

    for (size_t h = 0; h < n_kv; h++)
        ((double *)j->a->key_lengths.p)[row * n_kv + h] = hx_poly_key(
            &j->a->ring, (char *)j->a->keys.p + (row * n_kv + h) * bytes, k + h * dh);
}

static void encode_keys(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const size_t rows = j->own + j->in->n;

    for (size_t row = rows * part / n_parts; row < rows * (part + 1) / n_parts; row++)
        encode_key(j, row);
}

static void encode_queries(void *arg, size_t part, size_t n_parts)
{
    const struct job *j = arg;
    const size_t dh = j->in->kv->dh;

    (void)n_parts;
    for (size_t i = part * j->in->n_head; i < (part + 1) * j->in->n_head; i++)
        ((double *)j->a->query_lengths.p)[i] =
            hx_poly_query(&j->a->ring, (char *)j->a->queries.p + i * j->a->ring.block_bytes,
                          j->in->q + i * dh);
}

/* The first key that a query must not be multiplied with. */
static int find_too_long(const struct job *j, size_t token, size_t head, struct hx_error *err)
{
    const struct hx_attn_in *in = j->in;
    const double q = ((const double *)j->a->query_lengths.p)[token * in->n_head + head];

    for (size_t p = hx_attn_first(in, in->pos + token); p <= in->pos + token; p++) {
        const size_t row = p == in->pos + token ? j->own + token : p;
        const double k = j->lengths[row * in->kv->n_kv + head / group(in)];

        if (!(k * q <= (double)HX_POLY_LIMIT))
            return hx_poly_out_of_range(&j->a->ring, k, q, in->layer, p, err);
    }
    return 0;
}

static double longest(const double *lengths, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = lengths[i] > most ? lengths[i] : most;
    return most;
}

static int check_range(const struct job *j, struct hx_error *err)
{
    const struct hx_attn_in *in = j->in;
    int rc = 0;

    if (longest(j->lengths, (j->own + in->n) * in->kv->n_kv) *
            longest(j->a->query_lengths.p, in->n * in->n_head) <= (double)HX_POLY_LIMIT)
        return 0;
    for (size_t i = 0; !rc && i < in->n * in->n_head; i++)
        rc = find_too_long(j, i / in->n_head, i % in->n_head, err);
    return rc;
}

/* --- scores, softmax, V */

/* Where the scores of token and head `i` begin. */
static size_t scores_at(const struct job *j, size_t i)
{
    const size_t token = i / j->in->n_head, head = i % j->in->n_head;

    return hx_attn_scores_before(j->in, token) + head * hx_attn_seen(j->in, token);
}

static float *scores_of(const struct job *j, size_t i)
{
    return (float *)j->a->scores.p + scores_at(j, i);
}

static void cap(const struct hx_attn_in *in, float *scores, size_t n)
{
    for (size_t p = 0; in->softcap > 0 && p < n; p++)
        scores[p] = in->softcap * tanhf(scores[p] / in->softcap);
}

/* Token and head `i`, whose scores are there. */
static void mix(const struct job *j, size_t i)
{
    const struct hx_attn_in *in = j->in;
    const size_t token = i / in->n_head;
    float *work = j->a->attn.softmax_int ? (float *)j->a->work.p + scores_at(j, i) : NULL;

    cap(in, scores_of(j, i), hx_attn_seen(in, token));
    ((double *)j->a->kl.p)[i] = hx_attn_softmax_v(in, &j->past, token, i % in->n_head, scores_of(j, i),
                                            work, j->out + i * in->kv->dh);
}

static const char *key_block(const struct job *j, size_t row, size_t kv_head)
{
    return j->keys + (row * j->in->kv->n_kv + kv_head) * j->a->ring.block_bytes;
}

static void score_and_mix(void *arg, size_t i, size_t n_parts)
{
    const struct job *j = arg;
    const struct hx_attn_in *in = j->in;
    const struct hx_poly *ring = &j->a->ring;
    const size_t token = i / in->n_head, kv_head = i % in->n_head / group(in);
    const size_t n = hx_attn_seen(in, token) - 1, first = in->pos + token - n;
    const char *query = (char *)j->a->queries.p + i * ring->block_bytes;
    float *scores = scores_of(j, i);

    (void)n_parts;
    hx_poly_scaled(ring, scores, in->scale, query, key_block(j, first, kv_head),
                   in->kv->n_kv * ring->block_bytes, n);
    hx_poly_scaled(ring, scores + n, in->scale, query, key_block(j, j->own + token, kv_head), 0, 1);
    mix(j, i);
}

/* --- two processes, each with one prime */

static void find_residues(void *arg, size_t i, size_t n_parts)
{
    const struct job *j = arg;
    const struct hx_attn_in *in = j->in;
    const struct hx_poly *ring = &j->a->ring;
    const size_t token = i / in->n_head, kv_head = i % in->n_head / group(in);
    const size_t n = hx_attn_seen(in, token) - 1, first = in->pos + token - n;
    const char *query = (char *)j->a->queries.p + i * ring->block_bytes;
    uint32_t *r = (uint32_t *)j->a->mine.p + scores_at(j, i);

    (void)n_parts;
    hx_poly_residues(ring, r, query, key_block(j, first, kv_head),
                     in->kv->n_kv * ring->block_bytes, n);
    hx_poly_residues(ring, r + n, query, key_block(j, j->own + token, kv_head), 0, 1);
}

static void combine_and_mix(void *arg, size_t i, size_t n_parts)
{
    const struct job *j = arg;
    const size_t at = scores_at(j, i);

    (void)n_parts;
    hx_poly_combine(&j->a->ring, scores_of(j, i), j->in->scale, (uint32_t *)j->a->mine.p + at,
                    (uint32_t *)j->a->theirs.p + at, hx_attn_seen(j->in, i / j->in->n_head));
    mix(j, i);
}

static void only_mix(void *arg, size_t i, size_t n_parts)
{
    (void)n_parts;
    mix(arg, i);
}

/* --- three ways, by where keys are */

static struct hx_pool *pool_for(const struct poly *a, size_t work, size_t few)
{
    return work > few ? a->pool : NULL;
}

/* One for each score. */
static size_t products(const struct hx_attn_in *in)
{
    return hx_attn_scores_before(in, in->n);
}

/* What all residues of a layer are of: the lengths of keys and queries would differ where these do. */
static uint64_t digest(const struct job *j)
{
    const struct hx_attn_in *in = j->in;
    const uint64_t h = hx_shard_digest(in->layer, j->lengths,
                                       (j->own + in->n) * in->kv->n_kv * sizeof(double));

    return hx_shard_digest(h, j->a->query_lengths.p, in->n * in->n_head * sizeof(double));
}

/* One swap for all of a layer. */
static int run_sharded(struct job *j, struct hx_error *err)
{
    const size_t n_q = j->in->n * j->in->n_head, n = products(j->in);
    struct poly *a = j->a;
    int rc = grow(&a->mine, n, sizeof(uint32_t), err);

    if (!rc)
        rc = grow(&a->theirs, n, sizeof(uint32_t), err);
    if (rc)
        return rc;
    hx_pool_run(pool_for(a, products(j->in), FEW_PRODUCTS), n_q, find_residues, j);
    rc = hx_shard_swap(a->ring.shard, digest(j), a->mine.p, a->theirs.p, n, err);
    if (!rc)
        hx_pool_run(pool_for(a, products(j->in), FEW_PRODUCTS), n_q, combine_and_mix, j);
    return rc;
}

/* Keys are there: queries against them. */
static int run_queries(struct job *j, struct hx_error *err)
{
    const size_t n_q = j->in->n * j->in->n_head;
    struct poly *a = j->a;
    int rc = grow(&a->queries, n_q, a->ring.block_bytes, err);

    if (!rc)
        rc = grow(&a->query_lengths, n_q, sizeof(double), err);
    if (rc)
        return rc;
    hx_pool_run(pool_for(a, n_q, FEW_TRANSFORMS), j->in->n, encode_queries, j);
    rc = check_range(j, err);
    if (!rc && a->ring.shard)
        return run_sharded(j, err);
    if (!rc)
        hx_pool_run(pool_for(a, products(j->in), FEW_PRODUCTS), n_q, score_and_mix, j);
    return rc;
}

/* A cache of rows. */
static int run_per_step(struct job *j, struct hx_error *err)
{
    const struct hx_attn_in *in = j->in;
    struct poly *a = j->a;
    const size_t rows = in->pos + 2 * in->n - 1, n_keys = rows * in->kv->n_kv;
    int rc = in->kv->ops->rows(in->kv, in->layer, in->pos + in->n - 1, &j->past, err);

    if (!rc)
        rc = grow(&a->keys, n_keys, a->ring.block_bytes, err);
    if (!rc)
        rc = grow(&a->key_lengths, n_keys, sizeof(double), err);
    if (rc)
        return rc;
    j->own = in->pos + in->n - 1;
    j->keys = a->keys.p;
    j->lengths = a->key_lengths.p;
    hx_pool_run(pool_for(a, n_keys, FEW_TRANSFORMS), (rows + KEYS_PER_PART - 1) / KEYS_PER_PART,
                encode_keys, j);
    return run_queries(j, err);
}

/* A cache of keys, the tokens' own among them. */
static int run_persistent(struct job *j, const struct hx_kv_keys *k, struct hx_error *err)
{
    j->own = j->in->pos;
    j->keys = k->blocks;
    j->lengths = k->lengths;
    j->past = k->values;
    return run_queries(j, err);
}

/* A cache of keys that are elsewhere. */
static int run_remote(struct job *j, const struct hx_kv_keys *k, struct hx_error *err)
{
    const struct hx_attn_in *in = j->in;
    int rc = in->kv->ops->scores(in->kv, in, scores_of(j, 0), err);

    if (rc)
        return rc;
    j->past = k->values;
    hx_pool_run(pool_for(j->a, products(in), FEW_PRODUCTS), in->n * in->n_head, only_mix, j);
    return 0;
}

/* As the cache has its keys. */
static int run_over(struct job *j, struct hx_error *err)
{
    const struct hx_kv *kv = j->in->kv;
    struct hx_kv_keys k;

    if (!kv->ops->keys)
        return run_per_step(j, err);
    kv->ops->keys(kv, j->in->layer, &k);
    return k.blocks ? run_persistent(j, &k, err) : run_remote(j, &k, err);
}

static int run(struct hx_attn *attn, const struct hx_attn_in *in, float *out, struct hx_error *err)
{
    struct poly *a = (struct poly *)attn;
    struct job j = {.a = a, .in = in, .out = out};
    const size_t n_q = in->n * in->n_head;
    int rc = grow(&a->scores, products(in), sizeof(float), err);

    if (!rc && attn->softmax_int)
        rc = grow(&a->work, products(in), sizeof(float), err);
    if (!rc)
        rc = grow(&a->kl, n_q, sizeof(double), err);
    if (!rc)
        rc = run_over(&j, err);
    if (!rc && in->layer == 0)
        a->tokens += in->n;
    for (size_t i = 0; !rc && attn->softmax_int && i < n_q; i++)
        hx_softmax_count(&attn->seen, ((const double *)a->kl.p)[i]);
    return rc;
}

static void close_poly(struct hx_attn *attn)
{
    struct poly *a = (struct poly *)attn;

    free(a->keys.p);
    free(a->queries.p);
    free(a->key_lengths.p);
    free(a->query_lengths.p);
    free(a->scores.p);
    free(a->work.p);
    free(a->kl.p);
    free(a->mine.p);
    free(a->theirs.p);
    free(a);
}

static const struct hx_attn_ops ops = {"poly", run, close_poly};

int hx_attn_poly_open(struct hx_attn **out, const struct hx_poly_cfg *cfg, size_t dh,
                      struct hx_pool *pool, struct hx_error *err)
{
    struct poly *a = calloc(1, sizeof(*a));
    int rc;

    if (!a)
        return hx_error_set(err, -ENOMEM, "ring attention: out of memory");
    rc = hx_poly_open(&a->ring, cfg, dh, err);
    if (rc) {
        free(a);
        return rc;
    }
    a->attn.ops = &ops;
    a->attn.can_softmax_int = 1;
    a->ring.counts = &a->counts;
    a->pool = pool;
    *out = &a->attn;
    return 0;
}

void hx_attn_poly_seen(const struct hx_attn *attn, struct hx_poly_seen *seen)
{
    const struct poly *a = (const struct poly *)attn;

    *seen = (struct hx_poly_seen){a->tokens, atomic_load(&a->counts.keys), atomic_load(&a->counts.queries)};
}

const struct hx_poly *hx_attn_poly(const struct hx_attn *a)
{
    return &((const struct poly *)a)->ring;
}
