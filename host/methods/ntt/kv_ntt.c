/* The cache `ntt`: encodes and keeps keys, here or on the DSP, and gives rows back; see kv_ntt.h.  Its scores are in
 * kv_ntt_scores.c, what becomes of trees in kv_ntt_keep.c. */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kv_ntt_impl.h"
#include "methods/ntt/ring/poly_shard.h"
#include "methods/ntt/shard/shard.h"

/* --- with one prime: residues of the other one come from another process */

static void own_keys(void *arg, size_t part, size_t n_parts)
{
    const struct hx_kv_ntt_job *j = arg;
    const struct hx_kv_ntt *c = j->c;
    const size_t n_kv = c->kv.n_kv;

    for (size_t i = j->n * n_kv * part / n_parts; i < j->n * n_kv * (part + 1) / n_parts; i++)
        hx_poly_key_residues(&c->ring, c->mine + (j->pos * n_kv + i) * c->ring.n,
                             hx_kv_ntt_block(c, j->layer, j->pos + i / n_kv, i % n_kv));
}

static void combine_keys(void *arg, size_t part, size_t n_parts)
{
    const struct hx_kv_ntt_job *j = arg;
    const struct hx_kv_ntt *c = j->c;
    const size_t n = j->n * c->kv.n_kv;

    for (size_t i = n * part / n_parts; i < n * (part + 1) / n_parts; i++)
        hx_poly_combine_key(&c->ring, c->k + i * c->kv.dh, c->mine + i * c->ring.n,
                            c->theirs + i * c->ring.n);
}

/* there: the DSP's positions, here: the others, all: both. */
static int past_of_two(struct hx_kv_ntt_job *there, struct hx_kv_ntt_job *here, struct hx_kv_ntt_job *all, struct hx_error *err)
{
    struct hx_kv_ntt *c = all->c;
    const size_t words = all->n * c->kv.n_kv * c->ring.n;
    int rc = hx_kv_ntt_residue_room(c, words, err);

    if (!rc && there->n)
        rc = hx_ntt_dsp_key_residues(c->dsp, there->layer, there->n, c->mine, err);
    if (rc)
        return rc;
    hx_kv_ntt_run_parts(here, own_keys);
    rc = hx_kv_ntt_swap(c, all->layer, all->n, 0, words, err);
    if (!rc)
        hx_kv_ntt_run_parts(all, combine_keys);
    return rc;
}

/* --- put */

static void note_longest(struct hx_kv_ntt *c, size_t layer, size_t pos, size_t n)
{
    for (size_t i = 0; i < n * c->kv.n_kv; i++) {
        const double length = c->lengths[hx_kv_ntt_index(c, layer, pos, 0) + i];
        double *most = &c->longest[layer * c->kv.n_kv + i % c->kv.n_kv];

        *most = length > *most ? length : *most;
    }
}

static int put(struct hx_kv *kv, size_t layer, size_t pos, size_t n, const float *k, const float *v,
               struct hx_error *err)
{
    struct hx_kv_ntt *c = (struct hx_kv_ntt *)kv;
    int rc = hx_kv_ntt_put_keys(c, layer, pos, n, k, err);

    if (rc)
        return rc;
    if (layer == 0)
        c->tokens += n;
    note_longest(c, layer, pos, n); /* a key that is too long shows when a query meets it */
    memcpy(hx_kv_ntt_values(c, layer, pos), v, n * kv->n_kv * kv->dh * sizeof(*v));
    return 0;
}

/* --- past */

static void decode(void *arg, size_t part, size_t n_parts)
{
    const struct hx_kv_ntt_job *j = arg;
    const struct hx_kv_ntt *c = j->c;
    const size_t n_kv = c->kv.n_kv;

    for (size_t i = j->n * n_kv * part / n_parts; i < j->n * n_kv * (part + 1) / n_parts; i++)
        hx_poly_decode_key(&c->ring, c->k + (j->pos * n_kv + i) * c->kv.dh,
                           hx_kv_ntt_block(c, j->layer, j->pos + i / n_kv, i % n_kv));
}

static int rows(struct hx_kv *kv, size_t layer, size_t n, struct hx_kv_view *view,
                struct hx_error *err)
{
    struct hx_kv_ntt *c = (struct hx_kv_ntt *)kv;
    struct hx_kv_ntt_job there = {.c = c, .layer = layer, .n = hx_kv_ntt_on_dsp(c, 0, n)}, all = {.c = c, .layer = layer, .n = n};
    struct hx_kv_ntt_job here = {.c = c, .layer = layer, .pos = there.n, .n = n - there.n};
    int rc = 0;

    if (!c->k)
        c->k = calloc(kv->n_ctx * kv->n_kv * kv->dh, sizeof(*c->k));
    if (!c->k)
        return hx_error_set(err, -ENOMEM, "kv ntt: no memory for %zu rows of K", kv->n_ctx);
    for (size_t i = 0; i < n * kv->n_kv; i++) /* what had to be clamped cannot come back */
        if (isinf(c->lengths[hx_kv_ntt_index(c, layer, 0, 0) + i]))
            return hx_poly_out_of_range(&c->ring, INFINITY, 0, layer, i / kv->n_kv, err);
    *view = (struct hx_kv_view){c->k, hx_kv_ntt_values(c, layer, 0), kv->n_kv * kv->dh};
    if (c->ring.shard)
        return past_of_two(&there, &here, &all, err);
    if (there.n)
        rc = hx_ntt_dsp_past(c->dsp, layer, there.n, c->ring.delta_bits, kv->dh, c->k, err);
    if (!rc)
        hx_kv_ntt_run_parts(&here, decode);
    return rc;
}

static void close_ntt(struct hx_kv *kv)
{
    struct hx_kv_ntt *c = (struct hx_kv_ntt *)kv;

    hx_ntt_dsp_close(c->dsp);
    free(c->blocks);
    free(c->lengths);
    free(c->longest);
    free(c->v);
    free(c->k);
    free(c->queries);
    free(c->query_lengths);
    free(c->spans);
    free(c->mine);
    free(c->theirs);
    free(c);
}

static void keys(const struct hx_kv *kv, size_t layer, struct hx_kv_keys *out)
{
    const struct hx_kv_ntt *c = (const struct hx_kv_ntt *)kv;

    out->blocks = c->dsp_positions ? NULL : hx_kv_ntt_block(c, layer, 0, 0);
    out->lengths = c->lengths + hx_kv_ntt_index(c, layer, 0, 0);
    out->values = (struct hx_kv_view){NULL, hx_kv_ntt_values(c, layer, 0), kv->n_kv * kv->dh};
}

static const struct hx_kv_ops ops = {
    .name = "ntt", .put = put, .rows = rows, .scores = hx_kv_ntt_scores, .keys = keys, .keep = hx_kv_ntt_keep, .close = close_ntt};

/* --- open */

static int open_dsp(struct hx_kv_ntt *c, const struct hx_kv_ntt_limits *limits, struct hx_error *err)
{
    const struct hx_kv *kv = &c->kv;
    const struct hx_ntt_dsp_cfg cfg = {
        .prime = c->ring.shard ? hx_shard_prime(c->ring.shard) : HX_NTT_DSP_BOTH, .n = c->ring.n,
        .layers = kv->n_layer, .positions = kv->n_ctx, .heads = kv->n_kv,
        .vtcm_bytes = limits->vtcm_bytes, .heap_bytes = limits->heap_bytes,
        .packets = limits->packets};
    int rc = hx_ntt_dsp_open(&c->dsp, &cfg, err);

    if (!rc)
        c->dsp_positions = hx_ntt_dsp_places(c->dsp).held;
    return rc;
}

static int allocate(struct hx_kv_ntt *c, struct hx_error *err)
{
    const struct hx_kv *kv = &c->kv;
    const size_t here = kv->n_ctx - c->dsp_positions;
    size_t heads, bytes, floats;

    if (!__builtin_mul_overflow(kv->n_layer * kv->n_ctx, kv->n_kv, &heads) &&
        !__builtin_mul_overflow(kv->n_layer * here * kv->n_kv, c->ring.block_bytes, &bytes) &&
        !__builtin_mul_overflow(heads, kv->dh, &floats)) {
        c->blocks = here ? aligned_alloc(HX_KV_NTT_ALIGN, bytes) : NULL;
        c->lengths = calloc(heads, sizeof(*c->lengths));
        c->longest = calloc(kv->n_layer * kv->n_kv, sizeof(*c->longest));
        c->v = calloc(floats, sizeof(*c->v));
    }
    if ((here && !c->blocks) || !c->lengths || !c->longest || !c->v)
        return hx_error_set(err, -ENOMEM, "kv ntt: no memory for %zu positions", kv->n_ctx);
    return 0;
}

/* dsp: NULL: all blocks are here. */
static int open_at(struct hx_kv **out, const struct hx_kv_shape *shape,
                   const struct hx_poly_cfg *cfg, struct hx_pool *pool, const struct hx_kv_ntt_limits *dsp,
                   struct hx_error *err)
{
    struct hx_kv_ntt *c = calloc(1, sizeof(*c));
    int rc;

    if (!c)
        return hx_error_set(err, -ENOMEM, "kv ntt: out of memory");
    c->kv = (struct hx_kv){&ops, shape->n_layer, shape->n_kv, shape->dh, shape->n_ctx, shape->n_ctx, 0};
    c->pool = pool;
    rc = hx_poly_open(&c->ring, cfg, shape->dh, err);
    c->ring.counts = &c->counts;
    if (!rc && dsp)
        rc = open_dsp(c, dsp, err);
    if (!rc)
        rc = allocate(c, err);
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
    return open_at(out, shape, cfg, pool, NULL, err);
}

int hx_kv_ntt_dsp_open(struct hx_kv **out, const struct hx_kv_shape *shape,
                       const struct hx_poly_cfg *cfg, const struct hx_kv_ntt_limits *limits, struct hx_pool *pool,
                       struct hx_error *err)
{
    static const struct hx_kv_ntt_limits none;

    if (cfg->mode != HX_POLY_CRT)
        return hx_error_set(err, -EINVAL, "kv ntt: on the DSP keys are kept modulo two primes, not as %s",
                          hx_poly_modes[cfg->mode]);
    return open_at(out, shape, cfg, pool, limits ? limits : &none, err);
}

const struct hx_poly *hx_kv_ntt_ring(const struct hx_kv *kv)
{
    return &((const struct hx_kv_ntt *)kv)->ring;
}

/* --- what it did */

const char *const hx_ntt_places[] = {"vtcm", "ddr", "host", NULL};

int hx_kv_ntt_seen(const struct hx_kv *kv, struct hx_poly_seen *seen, struct hx_ntt_held *held, struct hx_error *err)
{
    const struct hx_kv_ntt *c = (const struct hx_kv_ntt *)kv;
    const struct hx_ntt_dsp_places places = c->dsp ? hx_ntt_dsp_places(c->dsp) : (struct hx_ntt_dsp_places){0, 0};
    struct hx_ntt_dsp_counts there = {0};
    int rc = c->dsp ? hx_ntt_dsp_count(c->dsp, &there, err) : 0;

    *seen = (struct hx_poly_seen){c->tokens, atomic_load(&c->counts.keys) + there.keys,
                                  atomic_load(&c->counts.queries) + there.queries};
    *held = (struct hx_ntt_held){.positions = {places.vtcm, places.held - places.vtcm, kv->n_ctx - places.held},
                                 .read_bytes = {there.vtcm_bytes, there.heap_bytes, atomic_load(&c->read_bytes)}};
    return rc;
}
