/* What the methods of ntt_kv share: a handle's state, and a call's work, which is done vector by vector on one or two HVX
 * contexts, prime by prime, so that each of two contexts has one. */
#ifndef NTT_KV_JOB_H
#define NTT_KV_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "ntt_kv.h"
#include "ntt_kv_store.h"
#include "qurt_mutex.h"
#include "skel/handles.h"

enum { HX_NTT_THREADS = 2 };

struct hx_ntt_state {
    struct hx_handle handle;
    qurt_mutex_t lock;     /* held for the length of a call; protects what follows */
    struct hx_ring *ring;  /* [HX_RING_PRIMES]; its n is 0 before the first call that says it */
    size_t prime, primes;  /* of the cache: the first one, how many */
    struct hx_store store; /* the cache; a block's words are [primes][n] */
    uint32_t *scratch;     /* grows as calls need it */
    size_t scratch_words;
    ntt_kv_counts done;
};

/* The state behind a handle, locked, or NULL; it is given back by hx_ntt_put(), which returns rc. */
struct hx_ntt_state *hx_ntt_get(remote_handle64 h);
int hx_ntt_put(struct hx_ntt_state *s, int rc);

static inline size_t hx_ntt_n(const struct hx_ntt_state *s)
{
    return (size_t)s->ring[0].n;
}

/* The block of a call's key `i`: position by position from `first` on, all heads of each. */
uint32_t *hx_ntt_block(const struct hx_ntt_state *s, size_t layer, size_t first, size_t i);

/* AEE_SUCCESS, AEE_EBADSTATE (no cache) or AEE_EBADPARM (it does not hold these positions). */
int hx_ntt_check(const struct hx_ntt_state *s, size_t layer, size_t first, size_t count);

/* Logs it and returns AEE_EBADPARM. */
int hx_ntt_bad_length(const char *what, size_t have, const char *want);

/* The handle's scratch has room for so many words; what it held may be gone.  AEE_ENOMEMORY. */
int hx_ntt_grow(struct hx_ntt_state *s, size_t words);

/* One context's own part of a call. */
struct hx_ntt_context {
    uint32_t *v;            /* scratch */
    uint64_t keys, queries; /* forward transforms, one for each prime */
    struct hx_store_read read;
};

struct hx_ntt_job {
    struct hx_ntt_state *s;
    /* One vector's share, of the prime `p`, counted from rings on. */
    int (*body)(const struct hx_ntt_job *j, size_t p, size_t item, struct hx_ntt_context *c);
    const struct hx_ring *rings;   /* [primes] */
    size_t primes, items, scratch; /* scratch: words of each context */
    size_t layer, first, count;
    const int32_t *in, *in2;
    uint32_t *out;
    const uint32_t *spans, *rows; /* of scores, see ntt_kv_scores.c */
    size_t tokens, n_q, sums;
    struct hx_ntt_context context[HX_NTT_THREADS];
};

/* Does all of a job's items for each of its primes and adds to what the handle has done.  AEE_EBADPARM: threads are neither 1
 * nor 2; AEE_EFAILED: no HVX context; or what a body returned. */
int hx_ntt_run(int threads, struct hx_ntt_job *j, ntt_kv_cycles *cycles);

/* The same of the cache's primes, with scratch of n words. */
int hx_ntt_run_cache(int threads, struct hx_ntt_job *j, size_t items, ntt_kv_cycles *cycles);

#endif
