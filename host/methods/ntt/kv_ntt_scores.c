/* Scores of the cache `ntt`: a batch's queries against the keys that each token sees, on the DSP those that it holds, here the
 * others. */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "engine/attn.h"
#include "kv_ntt_impl.h"
#include "methods/ntt/ring/poly_shard.h"

/* One call of scores(), for the pool. */
struct job {
    struct hx_kv_ntt *c;
    const struct hx_attn_in *in;
    float *scores;
    int32_t *integers; /* queries for the DSP; NULL: it holds no key that the batch sees */
    int here;          /* 1: there are keys that it does not hold */
};

/* --- where */

/* How many of the positions that a token sees are the DSP's: always the first ones. */
static size_t seen_on_dsp(const struct job *j, size_t token)
{
    const size_t pos = j->in->pos + token, first = hx_attn_first(j->in, pos), end = j->c->dsp_positions;

    if (first >= end)
        return 0;
    return (pos < end ? pos + 1 : end) - first;
}

/* Where the scores of token and head `i` begin. */
static size_t scores_at(const struct job *j, size_t i)
{
    const size_t token = i / j->in->n_head, head = i % j->in->n_head;

    return hx_attn_scores_before(j->in, token) + head * hx_attn_seen(j->in, token);
}

static size_t kv_head(const struct job *j, size_t i)
{
    return i % j->in->n_head / (j->in->n_head / j->c->kv.n_kv);
}

/* --- queries */

static int make_room(struct hx_kv_ntt *c, size_t n_queries, size_t tokens, struct hx_error *err)
{
    if (n_queries > c->n_queries) {
        free(c->queries);
        free(c->query_lengths);
        c->queries = aligned_alloc(HX_KV_NTT_ALIGN, n_queries * c->ring.block_bytes);
        c->query_lengths = calloc(n_queries, sizeof(*c->query_lengths));
        c->n_queries = c->queries && c->query_lengths ? n_queries : 0;
    }
    if (tokens > c->n_spans) {
        free(c->spans);
        c->spans = calloc(tokens, sizeof(*c->spans));
        c->n_spans = c->spans ? tokens : 0;
    }
    return c->n_queries && c->n_spans ? 0 : hx_error_set(err, -ENOMEM, "kv ntt: no memory for %zu queries", n_queries);
}

static void encode_query(void *arg, size_t i, size_t n_parts)
{
    const struct job *j = arg;
    const struct hx_kv_ntt *c = j->c;
    const float *q = j->in->q + i * c->kv.dh;

    (void)n_parts;
    if (j->integers)
        c->query_lengths[i] = hx_kv_ntt_integers(c, j->integers + i * c->ring.n, q);
    if (j->here)
        c->query_lengths[i] = hx_poly_query(&c->ring, c->queries + i * c->ring.block_bytes, q);
}

static int encode_queries(struct job *j, struct hx_error *err)
{
    const size_t n = j->in->n * j->in->n_head;
    struct hx_kv_ntt *c = j->c;
    int rc = make_room(c, n, j->in->n, err);

    if (rc)
        return rc;
    if (seen_on_dsp(j, 0)) { /* a later token begins no earlier */
        j->integers = hx_ntt_dsp_room(c->dsp, n * c->ring.n, err);
        if (!j->integers)
            return -ENOMEM;
    }
    j->here = j->in->pos + j->in->n > c->dsp_positions;
    hx_pool_run(hx_kv_ntt_pool(c, n, HX_KV_NTT_FEW_TRANSFORMS), n, encode_query, j);
    return 0;
}

/* --- products that may not fit the moduli */

static int find_too_long(const struct job *j, size_t i, struct hx_error *err)
{
    const struct hx_kv_ntt *c = j->c;
    const size_t pos = j->in->pos + i / j->in->n_head;

    for (size_t p = hx_attn_first(j->in, pos); p <= pos; p++) {
        const double k = c->lengths[hx_kv_ntt_index(c, j->in->layer, p, kv_head(j, i))];

        if (!(k * c->query_lengths[i] <= (double)HX_POLY_LIMIT))
            return hx_poly_out_of_range(&c->ring, k, c->query_lengths[i], j->in->layer, p, err);
    }
    return 0;
}

static int check_range(const struct job *j, struct hx_error *err)
{
    const struct hx_kv_ntt *c = j->c;
    int rc = 0;

    for (size_t i = 0; !rc && i < j->in->n * j->in->n_head; i++) {
        const double most = c->longest[j->in->layer * c->kv.n_kv + kv_head(j, i)];

        if (!(most * c->query_lengths[i] <= (double)HX_POLY_LIMIT))
            rc = find_too_long(j, i, err);
    }
    return rc;
}

/* --- keys that are here */

static void score_here(void *arg, size_t i, size_t n_parts)
{
    const struct job *j = arg;
    const struct hx_attn_in *in = j->in;
    const struct hx_kv_ntt *c = j->c;
    const size_t token = i / in->n_head, there = seen_on_dsp(j, token), n = hx_attn_seen(in, token) - there;
    const size_t first = hx_attn_first(in, in->pos + token) + there, at = scores_at(j, i) + there;
    const size_t stride = c->kv.n_kv * c->ring.block_bytes;
    const char *query = c->queries + i * c->ring.block_bytes;

    (void)n_parts;
    atomic_fetch_add_explicit(&j->c->read_bytes, n * c->ring.block_bytes, memory_order_relaxed);
    if (n && c->ring.shard)
        hx_poly_residues(&c->ring, c->mine + at, query, hx_kv_ntt_block(c, in->layer, first, kv_head(j, i)), stride, n);
    else if (n)
        hx_poly_scaled(&c->ring, j->scores + at, in->scale, query, hx_kv_ntt_block(c, in->layer, first, kv_head(j, i)),
                       stride, n);
}

/* --- keys that the DSP holds */

/* Sums of the queries from `i` on, `words` of each prime. */
static void take_sums(const struct job *j, size_t i, const uint32_t *sums, size_t words)
{
    const struct hx_kv_ntt *c = j->c;

    for (const uint32_t *end = sums + words; sums < end; i++) {
        const size_t n = seen_on_dsp(j, i / j->in->n_head), at = scores_at(j, i);

        for (size_t p = 0; p < n; p++, sums++) {
            if (c->ring.shard)
                c->mine[at + p] = *sums;
            else
                j->scores[at + p] = hx_poly_score(hx_crt_garner(sums[0], sums[words]), c->ring.delta_bits, j->in->scale);
        }
    }
}

/* One call, unless the sums are too many for it. */
static int score_on_dsp(const struct job *j, struct hx_error *err)
{
    const struct hx_attn_in *in = j->in;
    struct hx_kv_ntt *c = j->c;
    const uint32_t *sums;
    size_t words;
    int rc = 0;

    for (size_t t = 0; t < in->n; t++) {
        const size_t n = seen_on_dsp(j, t);

        c->spans[t] = (struct hx_ntt_span){n ? (uint32_t)hx_attn_first(in, in->pos + t) : 0, (uint32_t)n};
    }
    for (size_t t = 0; t < in->n && !rc;) {
        struct hx_ntt_batch b = {in->layer, in->n - t, in->n_head, c->spans + t, j->integers + t * in->n_head * c->ring.n};

        b.tokens = hx_ntt_dsp_fits(c->dsp, &b);
        rc = hx_ntt_dsp_sums(c->dsp, &b, &sums, &words, err);
        if (!rc)
            take_sums(j, t * in->n_head, sums, words);
        t += b.tokens;
    }
    return rc;
}

/* --- both */

static int score(struct job *j, struct hx_error *err)
{
    const size_t n = j->in->n * j->in->n_head, all = hx_attn_scores_before(j->in, j->in->n);
    int rc = j->integers ? score_on_dsp(j, err) : 0;

    if (!rc && j->here)
        hx_pool_run(hx_kv_ntt_pool(j->c, all, HX_KV_NTT_FEW_PRODUCTS), n, score_here, j);
    return rc;
}

static int score_of_two(struct job *j, struct hx_error *err)
{
    const struct hx_attn_in *in = j->in;
    const size_t all = hx_attn_scores_before(in, in->n);
    struct hx_kv_ntt *c = j->c;
    int rc = hx_kv_ntt_residue_room(c, all, err);

    if (!rc)
        rc = score(j, err);
    if (!rc)
        rc = hx_kv_ntt_swap(c, in->layer, in->pos + in->n, in->n * in->n_head, all, err);
    if (!rc)
        hx_poly_combine(&c->ring, j->scores, in->scale, c->mine, c->theirs, all);
    return rc;
}

int hx_kv_ntt_scores(struct hx_kv *kv, const struct hx_attn_in *in, float *scores, struct hx_error *err)
{
    struct hx_kv_ntt *c = (struct hx_kv_ntt *)kv;
    struct job j = {.c = c, .in = in, .scores = scores};
    int rc = encode_queries(&j, err);

    if (!rc)
        rc = check_range(&j, err);
    if (rc)
        return rc;
    return c->ring.shard ? score_of_two(&j, err) : score(&j, err);
}
