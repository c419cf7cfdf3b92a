/* Work of a call on HVX contexts and the checks that methods share, see ntt_kv_job.h. */
#include "ntt_kv_job.h"

#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_perf.h"
#include "hexrig_slow_path.h"
#include "qurt_hvx.h"
#include "skel/parallel.h"

enum { ALIGN = 128 };

uint32_t *hx_ntt_block(const struct hx_ntt_state *s, size_t layer, size_t first, size_t i)
{
    return hx_store_block(&s->store, layer, first + i / s->store.heads, i % s->store.heads);
}

int hx_ntt_check(const struct hx_ntt_state *s, size_t layer, size_t first, size_t count)
{
    const struct hx_store *c = &s->store;

    if (!c->layers) {
        FARF(ERROR, "ntt_kv: there is no cache");
        return AEE_EBADSTATE;
    }
    if (layer < c->layers && first <= c->positions && count <= c->positions - first)
        return AEE_SUCCESS;
    FARF(ERROR, "ntt_kv: layer %zu, %zu positions from %zu on; the cache has %zu layers, %zu positions",
         layer, count, first, c->layers, c->positions);
    return AEE_EBADPARM;
}

int hx_ntt_bad_length(const char *what, size_t have, const char *want)
{
    FARF(ERROR, "ntt_kv: %s has %zu elements, not %s", what, have, want);
    return AEE_EBADPARM;
}

int hx_ntt_grow(struct hx_ntt_state *s, size_t words)
{
    const size_t bytes = (words * sizeof(*s->scratch) + ALIGN - 1) / ALIGN * ALIGN;

    if (words <= s->scratch_words)
        return AEE_SUCCESS;
    free(s->scratch);
    s->scratch_words = 0;
    s->scratch = aligned_alloc(ALIGN, bytes);
    if (!s->scratch) {
        FARF(ERROR, "ntt_kv: heap: need %zu words for a call", words);
        return AEE_ENOMEMORY;
    }
    s->scratch_words = words;
    return AEE_SUCCESS;
}

static int part(void *arg, struct hx_part which)
{
    struct hx_ntt_job *j = arg;
    const struct hx_share share = hx_share_of(j->primes * j->items, which);
    struct hx_ntt_context c = {.v = j->s->scratch + which.index * j->scratch};
    int rc = AEE_SUCCESS;

    for (size_t u = share.first; u < share.first + share.n && !rc; u++)
        rc = j->body(j, u / j->items, u % j->items, &c);
    j->context[which.index] = c;
    return rc;
}

/* Each vector was transformed once for each prime. */
static void add_up(const struct hx_ntt_job *j)
{
    ntt_kv_counts *done = &j->s->done;
    uint64_t keys = 0, queries = 0;

    for (int i = 0; i < HX_NTT_THREADS; i++) {
        keys += j->context[i].keys;
        queries += j->context[i].queries;
        done->vtcm_bytes += j->context[i].read.bytes[HX_STORE_VTCM];
        done->heap_bytes += j->context[i].read.bytes[HX_STORE_HEAP];
    }
    done->key_transforms += keys / j->primes;
    done->query_transforms += queries / j->primes;
}

int hx_ntt_run(int threads, struct hx_ntt_job *j, ntt_kv_cycles *cycles)
{
    const uint64_t started = HAP_perf_get_pcycles();
    struct hx_parallel_time time = {0, 0};
    int rc;

    if (threads < 1 || threads > HX_NTT_THREADS) {
        FARF(ERROR, "ntt_kv: %d threads; 1 or 2 are legal", threads);
        return AEE_EBADPARM;
    }
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    if (((uintptr_t)j->in | (uintptr_t)j->in2) % ALIGN) /* vectors are lifted from where they lie */
        HX_SLOW_PATH();
    rc = hx_parallel((unsigned)threads, part, j, &time, &hx_handover_pair);
    qurt_hvx_unlock();
    add_up(j);
    *cycles = (ntt_kv_cycles){time.handler, time.worker, HAP_perf_get_pcycles() - started};
    return rc;
}

int hx_ntt_run_cache(int threads, struct hx_ntt_job *j, size_t items, ntt_kv_cycles *cycles)
{
    struct hx_ntt_state *s = j->s;
    int rc = hx_ntt_grow(s, HX_NTT_THREADS * hx_ntt_n(s));

    j->rings = s->ring + s->prime;
    j->primes = s->primes;
    j->scratch = hx_ntt_n(s);
    j->items = items;
    return rc ? rc : hx_ntt_run(threads, j, cycles);
}
