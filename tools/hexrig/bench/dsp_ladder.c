/* Exact attention on the DSP's clock, step by step; see dsp_ladder.h. */
#include "dsp_ladder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "dsp/dsp_error.h"
#include "dsp/skel.h"
#include "ntt_kv.h"
#include "rpcmem.h"

enum { PRIMES = 2, AMPLITUDE = 1 << 20 };

static const struct way {
    const char *name;
    int keys_anew; /* all keys are put again; else that of this token alone */
    int per_key;   /* a query is brought, and transformed, for each key that it meets; else once */
    int threads;   /* HVX contexts: with two each prime has its own */
} ways[HX_DSP_LADDER_RUNGS] = {
    {"per_key", 1, 1, 1},
    {"q_hoist", 1, 0, 1},
    {"persistent_k", 0, 0, 1},
    {"two_contexts", 0, 0, 2},
};

struct bench {
    struct hx_dsp_ladder_cfg cfg;
    struct hx_skel skel;
    int32_t *k, *q;      /* rpcmem: [positions][heads][n]; [positions][queries][n], the same queries at each */
    uint32_t *spans;     /* [positions][2] */
    uint32_t *sums;      /* rpcmem: [2][queries][positions], of per_key [2][positions][queries] */
    uint32_t *want;      /* the first rung's, of the last layer: [2][queries][positions] */
};

static void *shared(size_t bytes)
{
    return rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes);
}

static void close_bench(struct bench *b)
{
    hx_skel_close(&b->skel);
    rpcmem_free(b->k);
    rpcmem_free(b->q);
    rpcmem_free(b->sums);
    free(b->spans);
    free(b->want);
}

/* Any integers, as large as those of K and Q. */
static void fill(int32_t *v, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        v[i] = (int32_t)(seed >> 8) % AMPLITUDE * (seed & 128 ? 1 : -1);
    }
}

static int open_bench(struct bench *b, struct hx_error *err)
{
    const struct hx_dsp_ladder_cfg *c = &b->cfg;
    const size_t sums = PRIMES * c->positions * c->queries * sizeof(uint32_t), each = c->queries * c->n;
    ntt_kv_places where;
    int code, rc = hx_skel_open(&b->skel, "bench", ntt_kv_URI, err);

    if (rc)
        return rc;
    b->k = shared(c->positions * c->heads * c->n * sizeof(int32_t));
    b->q = shared(c->positions * each * sizeof(int32_t));
    b->sums = shared(sums);
    b->spans = calloc(c->positions, 2 * sizeof(*b->spans));
    b->want = malloc(sums);
    if (!b->k || !b->q || !b->sums || !b->spans || !b->want)
        return hx_error_set(err, -ENOMEM, "bench: out of memory");
    fill(b->k, c->positions * c->heads * c->n, 1);
    fill(b->q, each, 2);
    for (size_t p = 1; p < c->positions; p++)
        memcpy(b->q + p * each, b->q, each * sizeof(*b->q));
    code = ntt_kv_cache_within(b->skel.handle, PRIMES, (uint32_t)c->n, (uint32_t)c->layers, (uint32_t)c->positions,
                               (uint32_t)c->heads, 0, UINT32_MAX, &where); /* as --ring-vtcm has it: none */
    if (!code && where.held < c->positions)
        return hx_error_set(err, -ENOMEM, "bench: the DSP holds keys of %u positions, not of %zu", where.held, c->positions);
    return code ? hx_dsp_error(err, HX_DSP_CALL, b->skel.node, code, "bench: cache_within failed") : 0;
}

static int put(const struct bench *b, size_t layer, size_t first, size_t count, int threads)
{
    const size_t each = b->cfg.heads * b->cfg.n;
    ntt_kv_cycles unused;

    return ntt_kv_put(b->skel.handle, threads, (uint32_t)layer, (uint32_t)first, b->k + first * each, (int)(count * each), &unused);
}

static int scores(const struct bench *b, const struct way *w, size_t layer)
{
    const struct hx_dsp_ladder_cfg *c = &b->cfg;
    const size_t tokens = w->per_key ? c->positions : 1;
    ntt_kv_cycles unused;

    for (size_t t = 0; t < tokens; t++) {
        b->spans[2 * t] = (uint32_t)t;
        b->spans[2 * t + 1] = w->per_key ? 1 : (uint32_t)c->positions;
    }
    return ntt_kv_batch_scores(b->skel.handle, w->threads, (uint32_t)layer, b->spans, (int)(2 * tokens), b->q,
                               (int)(tokens * c->queries * c->n), b->sums, (int)(PRIMES * c->queries * c->positions), &unused);
}

/* One token through all layers. */
static int run_token(const struct bench *b, const struct way *w, struct hx_error *err)
{
    const size_t last = b->cfg.positions - 1;
    int code = 0;

    for (size_t layer = 0; layer < b->cfg.layers && !code; layer++) {
        code = w->keys_anew ? put(b, layer, 0, last + 1, w->threads) : put(b, layer, last, 1, w->threads);
        if (!code)
            code = scores(b, w, layer);
    }
    return code ? hx_dsp_error(err, HX_DSP_CALL, b->skel.node, code, "bench: %s failed", w->name) : 0;
}

/* The last layer's sums, against the first rung's. */
static int compare(const struct bench *b, const struct way *w, struct hx_error *err)
{
    const size_t n_q = b->cfg.queries, n = b->cfg.positions;

    for (size_t i = 0; i < PRIMES * n_q * n; i++) {
        const size_t prime = i / (n_q * n), q = i / n % n_q, p = i % n;
        const uint32_t sum = b->sums[w->per_key ? (prime * n + p) * n_q + q : i];

        if (w == ways)
            b->want[i] = sum;
        else if (sum != b->want[i])
            return hx_error_set(err, -EBADMSG, "bench: %s: query %zu with key %zu has another residue than by %s", w->name, q, p,
                                ways->name);
    }
    return 0;
}

static int measure(const struct bench *b, const struct way *w, struct hx_dsp_ladder_rung *out, struct hx_error *err)
{
    struct hx_session_stats before, after, spent;
    ntt_kv_counts from, to;
    int rc;

    if (ntt_kv_count(b->skel.handle, &from) || hx_report_now(&before))
        return hx_error_set(err, -EIO, "bench: cannot read the DSP's figures");
    rc = run_token(b, w, err);
    if (rc)
        return rc;
    if (hx_report_now(&after) || ntt_kv_count(b->skel.handle, &to))
        return hx_error_set(err, -EIO, "bench: cannot read the DSP's figures");
    spent = hx_report_diff(&after, &before);
    *out = (struct hx_dsp_ladder_rung){w->name, (double)spent.exec_ns / 1000, to.key_transforms - from.key_transforms,
                                       to.query_transforms - from.query_transforms};
    return compare(b, w, err);
}

int hx_dsp_ladder_run(struct hx_dsp_ladder_rung rungs[HX_DSP_LADDER_RUNGS], const struct hx_dsp_ladder_cfg *cfg,
                      struct hx_error *err)
{
    struct bench b = {.cfg = *cfg};
    int rc = open_bench(&b, err);

    for (size_t i = 0; i < HX_DSP_LADDER_RUNGS && !rc; i++)
        rc = measure(&b, &ways[i], &rungs[i], err);
    close_bench(&b);
    return rc;
}
