/* Implements interface ntt_kv on the DSP: handles, their caches, and checks of what a call asks for.
 *
 * Reentrant: calls on one handle take turns, calls on several share the HVX contexts. */
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "hexrig_uncosted.h"
#include "ntt_kv_job.h"
#include "skel/packets.h"
#include "skel/parallel.h"

HX_UNCOSTED("transforms, lifting and sums are listed; tables, copies of keys and dividing work are not");

enum { ALIGN = 128, BOTH = HX_RING_PRIMES };

/* --- handles */

static void drop(struct hx_handle *h)
{
    struct hx_ntt_state *s = (struct hx_ntt_state *)h;

    free(s->ring);
    hx_store_drop(&s->store);
    free(s->scratch);
    qurt_mutex_destroy(&s->lock);
    free(s);
}

static void idle(void)
{
    hx_parallel_stop(&hx_handover_pair);
}

static struct hx_handles handles = HX_HANDLES("ntt_kv", drop, idle);

static struct hx_packet_queues queues = HX_PACKET_QUEUES("ntt_kv", ntt_kv_skel_handle_invoke);

int ntt_kv_open(const char *uri, remote_handle64 *h)
{
    struct hx_ntt_state *s = calloc(1, sizeof(*s));
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
    hx_packets_drop(&queues, h);
    return hx_handle_close(&handles, h);
}

int ntt_kv_packets_attach(remote_handle64 h, uint64_t id)
{
    return hx_packets_attach(&queues, h, id);
}

int ntt_kv_packets_detach(remote_handle64 h, uint64_t id)
{
    return hx_packets_detach(&queues, h, id);
}

struct hx_ntt_state *hx_ntt_get(remote_handle64 h)
{
    struct hx_ntt_state *s = (struct hx_ntt_state *)hx_handle_get(&handles, h);

    if (s)
        qurt_mutex_lock(&s->lock);
    return s;
}

int hx_ntt_put(struct hx_ntt_state *s, int rc)
{
    qurt_mutex_unlock(&s->lock);
    hx_handle_put(&handles, &s->handle);
    return rc;
}

/* --- cache */

static int set_n(struct hx_ntt_state *s, size_t n)
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

typedef int make_store(struct hx_store *s, const struct hx_store_cfg *cfg);

/* What a client asks for. */
struct asked {
    size_t prime; /* 0, 1, or BOTH */
    size_t n;
    struct hx_store_cfg cfg; /* but for block_words */
};

static int no_such_prime(size_t prime, const char *legal)
{
    FARF(ERROR, "ntt_kv: prime %zu; %s are legal", prime, legal);
    return AEE_EBADPARM;
}

static int replace_cache(struct hx_ntt_state *s, struct asked a, make_store *make)
{
    int rc;

    hx_store_drop(&s->store);
    if (!a.cfg.layers)
        return AEE_SUCCESS;
    rc = set_n(s, a.n);
    if (!rc && (!a.cfg.positions || !a.cfg.heads))
        rc = hx_ntt_bad_length("a cache", 0, "positions and heads");
    if (rc)
        return rc;
    s->prime = a.prime == BOTH ? 0 : a.prime;
    s->primes = a.prime == BOTH ? HX_RING_PRIMES : 1;
    a.cfg.block_words = s->primes * a.n;
    return make(&s->store, &a.cfg);
}

int ntt_kv_cache(remote_handle64 h, unsigned int n, unsigned int layers, unsigned int positions,
                 unsigned int heads)
{
    const struct asked a = {BOTH, n, {.layers = layers, .positions = positions, .heads = heads}};
    struct hx_ntt_state *s = hx_ntt_get(h);

    return s ? hx_ntt_put(s, replace_cache(s, a, hx_store_make)) : AEE_EINVHANDLE;
}

int ntt_kv_cache_one(remote_handle64 h, unsigned int prime, unsigned int n, unsigned int layers,
                     unsigned int positions, unsigned int heads)
{
    const struct asked a = {prime, n, {.layers = layers, .positions = positions, .heads = heads}};
    struct hx_ntt_state *s = hx_ntt_get(h);

    if (!s)
        return AEE_EINVHANDLE;
    return hx_ntt_put(s, prime < BOTH ? replace_cache(s, a, hx_store_make) : no_such_prime(prime, "0 and 1"));
}

int ntt_kv_cache_within(remote_handle64 h, unsigned int prime, unsigned int n, unsigned int layers, unsigned int positions,
                        unsigned int heads, unsigned int vtcm, unsigned int heap, ntt_kv_places *where)
{
    const struct asked a = {prime, n, {layers, positions, heads, 0, vtcm, heap}};
    struct hx_ntt_state *s = hx_ntt_get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    rc = prime <= BOTH ? replace_cache(s, a, hx_store_make_within) : no_such_prime(prime, "0, 1 and 2");
    *where = (ntt_kv_places){(unsigned)s->store.place[HX_STORE_VTCM].positions, (unsigned)s->store.positions};
    return hx_ntt_put(s, rc);
}

/* --- put */

static int put_key(const struct hx_ntt_job *j, size_t p, size_t i, struct hx_ntt_context *c)
{
    const size_t n = hx_ntt_n(j->s);
    uint32_t *v = hx_ntt_block(j->s, j->layer, j->first, i) + p * n;
    int rc = hx_ring_lift_hvx(&j->rings[p], v, j->in + i * n);

    c->keys++;
    return rc ? rc : hx_ring_forward_hvx(&j->rings[p], v);
}

int ntt_kv_put(remote_handle64 h, int threads, unsigned int layer, unsigned int pos, const int *k,
               int kLen, ntt_kv_cycles *pcycles)
{
    struct hx_ntt_state *s = hx_ntt_get(h);
    struct hx_ntt_job j = {.s = s, .body = put_key, .layer = layer, .first = pos, .in = k};
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    j.count = s->store.layers ? (size_t)kLen / (s->store.heads * hx_ntt_n(s)) : 0;
    rc = hx_ntt_check(s, layer, pos, j.count);
    if (!rc && j.count * s->store.heads * hx_ntt_n(s) != (size_t)kLen)
        rc = hx_ntt_bad_length("k", (size_t)kLen, "those of whole positions");
    return hx_ntt_put(s, rc ? rc : hx_ntt_run_cache(threads, &j, j.count * s->store.heads, pcycles));
}

/* --- keep */

static int check_kept(const struct hx_ntt_state *s, size_t to, const unsigned int *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (from[i] < i || (i && from[i] <= from[i - 1])) {
            FARF(ERROR, "ntt_kv: key %u becomes key %zu of %zu; they ascend", from[i], i, n);
            return AEE_EBADPARM;
        }
    return hx_ntt_check(s, 0, to, n ? (size_t)from[n - 1] + 1 : 0);
}

static void move_keys(const struct hx_store *c, size_t layer, size_t to, size_t from)
{
    if (to != from)
        memcpy(hx_store_block(c, layer, to, 0), hx_store_block(c, layer, from, 0),
               c->heads * c->block_words * sizeof(uint32_t));
}

int ntt_kv_keep(remote_handle64 h, unsigned int to, const unsigned int *from, int fromLen)
{
    struct hx_ntt_state *s = hx_ntt_get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    rc = check_kept(s, to, from, (size_t)fromLen);
    for (size_t layer = 0; !rc && layer < s->store.layers; layer++)
        for (size_t i = 0; i < (size_t)fromLen; i++) /* ascending: nothing is overwritten before it was moved */
            move_keys(&s->store, layer, to + i, (size_t)to + from[i]);
    return hx_ntt_put(s, rc);
}

/* --- past */

static int past_key(const struct hx_ntt_job *j, size_t p, size_t i, struct hx_ntt_context *c)
{
    const struct hx_ntt_state *s = j->s;
    const size_t n = hx_ntt_n(s), words = s->store.block_words;
    int rc;

    memcpy(c->v, hx_ntt_block(s, j->layer, 0, i) + p * n, n * sizeof(*c->v));
    rc = hx_ring_inverse_hvx(&j->rings[p], c->v);
    memcpy(j->out + i * words + p * n, c->v, n * sizeof(*c->v));
    return rc;
}

int ntt_kv_past(remote_handle64 h, int threads, unsigned int layer, unsigned int count,
                unsigned int *residues, int residuesLen, ntt_kv_cycles *pcycles)
{
    struct hx_ntt_state *s = hx_ntt_get(h);
    struct hx_ntt_job j = {.s = s, .body = past_key, .layer = layer, .count = count,
                    .out = residues};
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    rc = hx_ntt_check(s, layer, 0, count);
    if (!rc && (uint64_t)count * s->store.heads * s->store.block_words != (uint64_t)residuesLen)
        rc = hx_ntt_bad_length("residues", (size_t)residuesLen, "those of the positions");
    return hx_ntt_put(s, rc ? rc : hx_ntt_run_cache(threads, &j, count * s->store.heads, pcycles));
}

/* --- what was done */

int ntt_kv_count(remote_handle64 h, ntt_kv_counts *so_far)
{
    struct hx_ntt_state *s = hx_ntt_get(h);

    if (!s)
        return AEE_EINVHANDLE;
    *so_far = s->done;
    return hx_ntt_put(s, AEE_SUCCESS);
}

/* --- product */

static int multiply(const struct hx_ntt_job *j, size_t p, size_t only, struct hx_ntt_context *c)
{
    const struct hx_ring *r = &j->rings[p];
    const size_t n = hx_ntt_n(j->s);
    uint32_t *a = c->v, *b = a + n;
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
    struct hx_ntt_state *s = hx_ntt_get(h);
    struct hx_ntt_job j = {.s = s, .body = multiply, .primes = HX_RING_PRIMES, .items = 1, .in = a,
                    .in2 = b, .out = c};
    int rc = AEE_SUCCESS;

    if (!s)
        return AEE_EINVHANDLE;
    if (bLen != aLen || (int64_t)cLen != HX_RING_PRIMES * (int64_t)aLen)
        rc = hx_ntt_bad_length("b or c", (size_t)bLen, "as many as a, and twice as many");
    else if (s->store.layers && hx_ntt_n(s) != (size_t)aLen)
        rc = hx_ntt_bad_length("a", (size_t)aLen, "the n of the handle's cache");
    if (!rc)
        rc = set_n(s, (size_t)aLen);
    if (!rc)
        rc = hx_ntt_grow(s, HX_NTT_THREADS * 2 * (size_t)aLen);
    j.rings = s->ring;
    j.scratch = 2 * (size_t)aLen;
    return hx_ntt_put(s, rc ? rc : hx_ntt_run(threads, &j, pcycles));
}
