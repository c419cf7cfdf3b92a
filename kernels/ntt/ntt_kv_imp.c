/* Implements interface ntt_kv on the DSP: handles, their caches, and checks of what a call asks for.
 *
 * Reentrant: calls on one handle take turns, calls on several share the HVX contexts. */
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_perf.h"
#include "hexrig_uncosted.h"
#include "ntt_kv.h"
#include "qurt_hvx.h"
#include "qurt_mutex.h"
#include "ring_ntt.h"
#include "skel/handles.h"
#include "skel/parallel.h"

HX_UNCOSTED("the transform's stages are listed; tables (once per prime), weighting and sums are not");

enum { ALIGN = 128, THREADS = 2 };

struct state {
    struct hx_handle handle;
    qurt_mutex_t lock;  /* held for the length of a call; protects what follows */
    struct hx_ring *ring; /* [HX_RING_PRIMES]; its n is 0 before the first call that says it */
    size_t layers, positions, heads; /* of the cache; layers 0: none */
    size_t prime, primes; /* of the cache: the first one, how many */
    uint32_t *blocks;     /* [layer][position][head][primes][n] */
    uint32_t *scratch;    /* grows as calls need it */
    size_t scratch_words;
};

/* --- handles */

static void drop(struct hx_handle *h)
{
    struct state *s = (struct state *)h;

    free(s->ring);
    free(s->blocks);
    free(s->scratch);
    qurt_mutex_destroy(&s->lock);
    free(s);
}

static void idle(void)
{
    hx_parallel_stop(&hx_handover_pair);
}

static struct hx_handles handles = HX_HANDLES("ntt_kv", drop, idle);

int ntt_kv_open(const char *uri, remote_handle64 *h)
{
    struct state *s = calloc(1, sizeof(*s));
    int rc;

    if (s)
        s->ring = aligned_alloc(ALIGN, HX_RING_PRIMES * sizeof(*s->ring));
    if (!s || !s->ring) {
        free(s);
        return AEE_ENOMEMORY;
    }
    s->ring[0].n = 0;
    qurt_mutex_init(&s->lock);
    rc = hx_handle_open(&handles, &s->handle, uri, h);
    if (rc)
        drop(&s->handle);
    return rc;
}

int ntt_kv_close(remote_handle64 h)
{
    return hx_handle_close(&handles, h);
}

/* The state behind a handle, locked, or NULL; give it back with put(). */
static struct state *get(remote_handle64 h)
{
    struct state *s = (struct state *)hx_handle_get(&handles, h);

    if (s)
        qurt_mutex_lock(&s->lock);
    return s;
}

static int put(struct state *s, int rc)
{
    qurt_mutex_unlock(&s->lock);
    hx_handle_put(&handles, &s->handle);
    return rc;
}

/* --- what calls share */

static int set_n(struct state *s, size_t n)
{
    int rc = AEE_SUCCESS;

    if ((size_t)s->ring[0].n == n)
        return AEE_SUCCESS;
    for (int p = 0; p < HX_RING_PRIMES && !rc; p++)
        rc = n <= HX_NTT_MAX ? hx_ring_make(&s->ring[p], (int)n, p) : AEE_EBADPARM;
    if (rc) {
        FARF(ERROR, "ntt_kv: polynomials of %zu coefficients; 64, 128, 256, 512 are legal", n);
        s->ring[0].n = 0;
    }
    return rc;
}

static int grow(struct state *s, size_t words)
{
    if (words <= s->scratch_words)
        return AEE_SUCCESS;
    free(s->scratch);
    s->scratch_words = 0;
    s->scratch = aligned_alloc(ALIGN, words * sizeof(*s->scratch));
    if (!s->scratch) {
        FARF(ERROR, "ntt_kv: heap: need %zu words for a call", words);
        return AEE_ENOMEMORY;
    }
    s->scratch_words = words;
    return AEE_SUCCESS;
}

static size_t n_of(const struct state *s)
{
    return (size_t)s->ring[0].n;
}

static size_t block_words(const struct state *s)
{
    return s->primes * n_of(s);
}

static uint32_t *block(const struct state *s, size_t layer, size_t pos, size_t head)
{
    return s->blocks + ((layer * s->positions + pos) * s->heads + head) * block_words(s);
}

static int check_positions(const struct state *s, size_t layer, size_t first, size_t count)
{
    if (!s->layers) {
        FARF(ERROR, "ntt_kv: there is no cache");
        return AEE_EBADSTATE;
    }
    if (layer < s->layers && first <= s->positions && count <= s->positions - first)
        return AEE_SUCCESS;
    FARF(ERROR, "ntt_kv: layer %zu, %zu positions from %zu on; the cache has %zu layers, %zu positions",
         layer, count, first, s->layers, s->positions);
    return AEE_EBADPARM;
}

static int bad_length(const char *what, size_t have, const char *want)
{
    FARF(ERROR, "ntt_kv: %s has %zu elements, not %s", what, have, want);
    return AEE_EBADPARM;
}

/* One vector's share of a call: of the job's prime `p`, counted from rings on.  v: scratch of the context's own. */
struct job;
typedef int item_body(const struct job *j, size_t p, size_t item, uint32_t *v);

/* A call's work: the same items for each prime. */
struct job {
    struct state *s;
    item_body *body;
    const struct hx_ring *rings; /* [primes] */
    size_t primes, items, scratch; /* scratch: words of each context */
    size_t layer, first, count, n_q;
    const int32_t *in, *in2;
    uint32_t *out;
};

/* Prime by prime, so that each of two contexts has one. */
static int part(void *arg, struct hx_part which)
{
    const struct job *j = arg;
    const struct hx_share share = hx_share_of(j->primes * j->items, which);
    uint32_t *v = j->s->scratch + which.index * j->scratch;
    int rc = AEE_SUCCESS;

    for (size_t u = share.first; u < share.first + share.n && !rc; u++)
        rc = j->body(j, u / j->items, u % j->items, v);
    return rc;
}

static int run(int threads, struct job *j, ntt_kv_cycles *cycles)
{
    const uint64_t started = HAP_perf_get_pcycles();
    struct hx_parallel_time time = {0, 0};
    int rc;

    if (threads < 1 || threads > THREADS) {
        FARF(ERROR, "ntt_kv: %d threads; 1 or 2 are legal", threads);
        return AEE_EBADPARM;
    }
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    rc = hx_parallel((unsigned)threads, part, j, &time, &hx_handover_pair);
    qurt_hvx_unlock();
    *cycles = (ntt_kv_cycles){time.handler, time.worker, HAP_perf_get_pcycles() - started};
    return rc;
}

/* Items of the cache's primes. */
static int run_cache(int threads, struct job *j, size_t items, ntt_kv_cycles *cycles)
{
    struct state *s = j->s;
    int rc = grow(s, THREADS * n_of(s));

    j->rings = s->ring + s->prime;
    j->primes = s->primes;
    j->scratch = n_of(s);
    j->items = items;
    return rc ? rc : run(threads, j, cycles);
}

/* --- cache */

static int make_cache(struct state *s, size_t n, size_t layers, size_t positions, size_t heads)
{
    size_t words = layers, bytes;
    int rc = set_n(s, n);

    if (rc)
        return rc;
    if (!positions || !heads)
        return bad_length("a cache", 0, "positions and heads");
    if (__builtin_mul_overflow(words, positions, &words) ||
        __builtin_mul_overflow(words, heads, &words) ||
        __builtin_mul_overflow(words, block_words(s) * sizeof(uint32_t), &bytes) ||
        bytes > INT32_MAX)
        return bad_length("a cache of 2 GiB or more", positions, "less");
    s->blocks = aligned_alloc(ALIGN, bytes);
    if (!s->blocks) {
        FARF(ERROR, "ntt_kv: heap: need %zu bytes for %zu layers, %zu positions", bytes, layers,
             positions);
        return AEE_ENOMEMORY;
    }
    memset(s->blocks, 0, bytes); /* a position that nobody put has no stray residues */
    s->layers = layers;
    s->positions = positions;
    s->heads = heads;
    return AEE_SUCCESS;
}

static int replace_cache(struct state *s, size_t n, size_t layers, size_t positions, size_t heads)
{
    free(s->blocks);
    s->blocks = NULL;
    s->layers = 0;
    return layers ? make_cache(s, n, layers, positions, heads) : AEE_SUCCESS;
}

int ntt_kv_cache(remote_handle64 h, unsigned int n, unsigned int layers, unsigned int positions,
                 unsigned int heads)
{
    struct state *s = get(h);

    if (!s)
        return AEE_EINVHANDLE;
    s->prime = 0;
    s->primes = HX_RING_PRIMES;
    return put(s, replace_cache(s, n, layers, positions, heads));
}

int ntt_kv_cache_one(remote_handle64 h, unsigned int prime, unsigned int n, unsigned int layers,
                     unsigned int positions, unsigned int heads)
{
    struct state *s = get(h);

    if (!s)
        return AEE_EINVHANDLE;
    if (prime >= HX_RING_PRIMES) {
        FARF(ERROR, "ntt_kv: prime %u; 0 and 1 are legal", prime);
        return put(s, AEE_EBADPARM);
    }
    s->prime = prime;
    s->primes = 1;
    return put(s, replace_cache(s, n, layers, positions, heads));
}

/* --- put */

static int put_key(const struct job *j, size_t p, size_t i, uint32_t *unused)
{
    const size_t n = n_of(j->s);
    uint32_t *v = block(j->s, j->layer, j->first, i) + p * n;
    int rc = hx_ring_lift_hvx(&j->rings[p], v, j->in + i * n);

    (void)unused;
    return rc ? rc : hx_ring_forward_hvx(&j->rings[p], v);
}

int ntt_kv_put(remote_handle64 h, int threads, unsigned int layer, unsigned int pos, const int *k,
               int kLen, ntt_kv_cycles *pcycles)
{
    struct state *s = get(h);
    struct job j = {.s = s, .body = put_key, .layer = layer, .first = pos, .in = k};
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    j.count = s->layers ? (size_t)kLen / (s->heads * n_of(s)) : 0;
    rc = check_positions(s, layer, pos, j.count);
    if (!rc && j.count * s->heads * n_of(s) != (size_t)kLen)
        rc = bad_length("k", (size_t)kLen, "those of whole positions");
    return put(s, rc ? rc : run_cache(threads, &j, j.count * s->heads, pcycles));
}

/* --- scores */

static int score_query(const struct job *j, size_t p, size_t i, uint32_t *v)
{
    const struct state *s = j->s;
    const struct hx_ring *r = &j->rings[p];
    const size_t head = i / (j->n_q / s->heads);
    const uint32_t *keys = block(s, j->layer, j->first, head) + p * n_of(s);
    int rc = hx_ring_lift_hvx(r, v, j->in + i * n_of(s));

    rc = rc ? rc : hx_ring_forward_hvx(r, v);
    rc = rc ? rc : hx_ring_scale_hvx(r, v);
    return rc ? rc : hx_ring_dots_hvx(r, j->out + (p * j->n_q + i) * j->count, v, keys,
                                      s->heads * block_words(s), j->count);
}

static int scores(struct job *j, int threads, size_t q_len, size_t sums_len, ntt_kv_cycles *cycles)
{
    struct state *s = j->s;
    int rc = check_positions(s, j->layer, j->first, j->count);

    if (rc)
        return rc;
    j->n_q = q_len / n_of(s);
    if (!j->n_q || j->n_q * n_of(s) != q_len || j->n_q % s->heads)
        return bad_length("q", q_len, "queries for each head");
    if ((uint64_t)s->primes * j->n_q * j->count != sums_len)
        return bad_length("sums", sums_len, "one for each prime, query and position");
    return run_cache(threads, j, j->n_q, cycles);
}

int ntt_kv_scores(remote_handle64 h, int threads, unsigned int layer, unsigned int first,
                  unsigned int count, const int *q, int qLen, unsigned int *sums, int sumsLen,
                  ntt_kv_cycles *pcycles)
{
    struct state *s = get(h);
    struct job j = {.s = s, .body = score_query, .layer = layer, .first = first,
                    .count = count, .in = q, .out = sums};

    if (!s)
        return AEE_EINVHANDLE;
    return put(s, scores(&j, threads, (size_t)qLen, (size_t)sumsLen, pcycles));
}

/* --- past */

static int past_key(const struct job *j, size_t p, size_t i, uint32_t *v)
{
    const struct state *s = j->s;
    const size_t n = n_of(s);
    int rc;

    memcpy(v, block(s, j->layer, 0, i) + p * n, n * sizeof(*v));
    rc = hx_ring_inverse_hvx(&j->rings[p], v);
    memcpy(j->out + i * block_words(s) + p * n, v, n * sizeof(*v));
    return rc;
}

int ntt_kv_past(remote_handle64 h, int threads, unsigned int layer, unsigned int count,
                unsigned int *residues, int residuesLen, ntt_kv_cycles *pcycles)
{
    struct state *s = get(h);
    struct job j = {.s = s, .body = past_key, .layer = layer, .count = count,
                    .out = residues};
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    rc = check_positions(s, layer, 0, count);
    if (!rc && (uint64_t)count * s->heads * block_words(s) != (uint64_t)residuesLen)
        rc = bad_length("residues", (size_t)residuesLen, "those of the positions");
    return put(s, rc ? rc : run_cache(threads, &j, count * s->heads, pcycles));
}

/* --- product */

static int multiply(const struct job *j, size_t p, size_t only, uint32_t *a)
{
    const struct hx_ring *r = &j->rings[p];
    const size_t n = n_of(j->s);
    uint32_t *b = a + n;
    int rc = hx_ring_lift_hvx(r, a, j->in);

    (void)only;
    rc = rc ? rc : hx_ring_lift_hvx(r, b, j->in2);
    rc = rc ? rc : hx_ring_forward_hvx(r, a);
    rc = rc ? rc : hx_ring_forward_hvx(r, b);
    rc = rc ? rc : hx_ring_pointwise_hvx(r, a, a, b);
    rc = rc ? rc : hx_ring_inverse_hvx(r, a);
    memcpy(j->out + p * n, a, n * sizeof(*a));
    return rc;
}

int ntt_kv_product(remote_handle64 h, int threads, const int *a, int aLen, const int *b, int bLen,
                   unsigned int *c, int cLen, ntt_kv_cycles *pcycles)
{
    struct state *s = get(h);
    struct job j = {.s = s, .body = multiply, .primes = HX_RING_PRIMES, .items = 1, .in = a,
                    .in2 = b, .out = c};
    int rc = AEE_SUCCESS;

    if (!s)
        return AEE_EINVHANDLE;
    if (bLen != aLen || (int64_t)cLen != HX_RING_PRIMES * (int64_t)aLen)
        rc = bad_length("b or c", (size_t)bLen, "as many as a, and twice as many");
    else if (s->layers && n_of(s) != (size_t)aLen)
        rc = bad_length("a", (size_t)aLen, "the n of the handle's cache");
    if (!rc)
        rc = set_n(s, (size_t)aLen);
    if (!rc)
        rc = grow(s, THREADS * 2 * (size_t)aLen);
    j.rings = s->ring;
    j.scratch = 2 * (size_t)aLen;
    return put(s, rc ? rc : run(threads, &j, pcycles));
}
