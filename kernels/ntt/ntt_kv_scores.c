/* scores() and batch_scores() of interface ntt_kv: queries are transformed and multiplied with keys where these lie. */
#include "ntt_kv_job.h"

#include "AEEStdErr.h"

/* A query's transform, of which the dot product with a key's is coefficient 0. */
static int make_query(const struct hx_ntt_job *j, size_t p, size_t i, struct hx_ntt_context *c)
{
    const struct hx_ring *r = &j->rings[p];
    int rc = hx_ring_lift_hvx(r, c->v, j->in + i * (size_t)r->n);

    rc = rc ? rc : hx_ring_forward_hvx(r, c->v);
    c->queries++;
    return rc ? rc : hx_ring_scale_hvx(r, c->v);
}

/* Query i of all tokens' queries. */
static int score_query(const struct hx_ntt_job *j, size_t p, size_t i, struct hx_ntt_context *c)
{
    const struct hx_store *store = &j->s->store;
    const size_t token = i / j->n_q, q = i % j->n_q;
    const size_t first = j->spans[2 * token], count = j->spans[2 * token + 1];
    uint32_t *sums = j->out + p * j->sums + j->rows[token] + q * count;
    int rc = count ? make_query(j, p, i, c) : AEE_SUCCESS;

    return rc ? rc : hx_store_dots(store, &j->rings[p], p * hx_ntt_n(j->s), j->layer, q / (j->n_q / store->heads), first,
                                   count, c->v, sums, &c->read);
}

/* Where each token's sums begin, behind the scratch of the contexts, and how many there are of a prime. */
static int add_spans(struct hx_ntt_job *j)
{
    struct hx_ntt_state *s = j->s;
    const size_t own = HX_NTT_THREADS * hx_ntt_n(s);
    int rc = hx_ntt_grow(s, own + j->tokens);

    for (size_t t = 0; t < j->tokens && !rc; t++) {
        rc = hx_ntt_check(s, j->layer, j->spans[2 * t], j->spans[2 * t + 1]);
        s->scratch[own + t] = (uint32_t)j->sums;
        j->sums += j->n_q * j->spans[2 * t + 1];
    }
    j->rows = s->scratch + own;
    return rc;
}

static int scores(struct hx_ntt_job *j, int threads, size_t q_len, size_t sums_len, ntt_kv_cycles *cycles)
{
    struct hx_ntt_state *s = j->s;
    int rc = hx_ntt_check(s, j->layer, 0, 0);

    if (rc)
        return rc;
    j->n_q = j->tokens ? q_len / hx_ntt_n(s) / j->tokens : 0;
    if (!j->n_q || j->n_q * j->tokens * hx_ntt_n(s) != q_len || j->n_q % s->store.heads)
        return hx_ntt_bad_length("q", q_len, "queries for each head");
    rc = add_spans(j);
    if (rc)
        return rc;
    if (s->primes * j->sums != sums_len)
        return hx_ntt_bad_length("sums", sums_len, "one for each prime, query and position");
    return hx_ntt_run_cache(threads, j, j->tokens * j->n_q, cycles);
}

int ntt_kv_scores(remote_handle64 h, int threads, unsigned int layer, unsigned int first,
                  unsigned int count, const int *q, int qLen, unsigned int *sums, int sumsLen,
                  ntt_kv_cycles *pcycles)
{
    const uint32_t span[] = {first, count};
    struct hx_ntt_state *s = hx_ntt_get(h);
    struct hx_ntt_job j = {.s = s, .body = score_query, .layer = layer, .spans = span, .tokens = 1, .in = q, .out = sums};

    if (!s)
        return AEE_EINVHANDLE;
    return hx_ntt_put(s, scores(&j, threads, (size_t)qLen, (size_t)sumsLen, pcycles));
}

int ntt_kv_batch_scores(remote_handle64 h, int threads, unsigned int layer, const unsigned int *spans, int spansLen,
                        const int *q, int qLen, unsigned int *sums, int sumsLen, ntt_kv_cycles *pcycles)
{
    struct hx_ntt_state *s = hx_ntt_get(h);
    struct hx_ntt_job j = {.s = s, .body = score_query, .layer = layer, .spans = spans, .tokens = (size_t)spansLen / 2,
                           .in = q, .out = sums};

    if (!s)
        return AEE_EINVHANDLE;
    return hx_ntt_put(s, spansLen % 2 ? hx_ntt_bad_length("spans", (size_t)spansLen, "pairs")
                                      : scores(&j, threads, (size_t)qLen, (size_t)sumsLen, pcycles));
}
