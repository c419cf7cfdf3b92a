/* Keys as transforms in the DSP's memory: calls of interface ntt_kv, see ntt_dsp.h. */
#include "ntt_dsp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "dsp/skel.h"
#include "ntt.h"
#include "ntt_kv.h"
#include "rpcmem.h"

enum { THREADS = 2 };

/* Shared memory that grows with what calls need. */
struct buffer {
    void *p;
    size_t bytes;
};

struct hx_ntt_dsp {
    struct hx_skel skel;
    int prime; /* or HX_NTT_DSP_BOTH */
    size_t n, heads;
    struct buffer in, out;
};

static int grow(struct buffer *b, size_t bytes, struct hx_error *err)
{
    if (bytes <= b->bytes)
        return 0;
    rpcmem_free(b->p);
    b->bytes = 0;
    b->p = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes + bytes / 2);
    if (!b->p)
        return hx_error_set(err, -ENOMEM, "kv ntt: no shared memory for %zu bytes", bytes);
    b->bytes = bytes + bytes / 2;
    return 0;
}

static size_t primes(const struct hx_ntt_dsp *d)
{
    return d->prime == HX_NTT_DSP_BOTH ? HX_CRT_PRIMES : 1;
}

static int make_cache(struct hx_ntt_dsp *d, size_t layers, size_t positions, struct hx_error *err)
{
    const uint32_t n = (uint32_t)d->n, heads = (uint32_t)d->heads;
    int code = d->prime == HX_NTT_DSP_BOTH
                   ? ntt_kv_cache(d->skel.handle, n, (uint32_t)layers, (uint32_t)positions, heads)
                   : ntt_kv_cache_one(d->skel.handle, (uint32_t)d->prime, n, (uint32_t)layers,
                                      (uint32_t)positions, heads);

    if (!code)
        return 0;
    return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "kv ntt: the DSP makes no cache of %zu "
                      "layers, %zu positions, %zu heads: %zu bytes", layers, positions, d->heads,
                      layers * positions * d->heads * d->n * primes(d) * sizeof(uint32_t));
}

int hx_ntt_dsp_open(struct hx_ntt_dsp **out, int prime, size_t n, size_t layers, size_t positions,
                    size_t heads, struct hx_error *err)
{
    struct hx_ntt_dsp *d = calloc(1, sizeof(*d));
    int rc;

    if (!d)
        return hx_error_set(err, -ENOMEM, "kv ntt: out of memory");
    d->prime = prime;
    d->n = n;
    d->heads = heads;
    rc = hx_skel_open(&d->skel, "kv ntt", ntt_kv_URI, err);
    if (!rc)
        rc = make_cache(d, layers, positions, err);
    if (rc) {
        hx_ntt_dsp_close(d);
        return rc;
    }
    *out = d;
    return 0;
}

void hx_ntt_dsp_close(struct hx_ntt_dsp *d)
{
    if (!d)
        return;
    hx_skel_close(&d->skel);
    rpcmem_free(d->in.p);
    rpcmem_free(d->out.p);
    free(d);
}

static int failed(const struct hx_ntt_dsp *d, const char *method, int code, size_t layer,
                  size_t first, size_t count, struct hx_error *err)
{
    return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code,
                        "kv ntt: %s failed at layer %zu, positions %zu..%zu", method, layer, first,
                        first + count - 1);
}

int32_t *hx_ntt_dsp_room(struct hx_ntt_dsp *d, size_t integers, struct hx_error *err)
{
    return grow(&d->in, integers * sizeof(int32_t), err) ? NULL : d->in.p;
}

int hx_ntt_dsp_put(struct hx_ntt_dsp *d, size_t layer, size_t pos, size_t count, struct hx_error *err)
{
    ntt_kv_cycles unused;
    int code = ntt_kv_put(d->skel.handle, THREADS, (uint32_t)layer, (uint32_t)pos, d->in.p,
                          (int)(count * d->heads * d->n), &unused);

    return code ? failed(d, "put", code, layer, pos, count, err) : 0;
}

/* The reply's `words` are residues of the primes by turns, `run` of each: what is none was damaged on its way. */
static int check_residues(const struct hx_ntt_dsp *d, const char *method, size_t words, size_t run,
                          size_t layer, struct hx_error *err)
{
    static const uint32_t q[] = {HX_CRT_Q1, HX_CRT_Q2};
    const uint32_t *r = d->out.p;

    for (size_t i = 0; i < words; i++) {
        const size_t prime = primes(d) == 1 ? (size_t)d->prime : i / run % HX_CRT_PRIMES;

        if (r[i] >= q[prime])
            return hx_error_set(err, -EIO, "kv ntt: %s of layer %zu: the reply, device %s, is damaged: %u at "
                              "word %zu is no residue modulo q%zu = %u", method, layer, d->skel.node, r[i],
                              i, prime + 1, q[prime]);
    }
    return 0;
}

/* The reply, [primes][n_q][count], is in d->out. */
static int call_scores(struct hx_ntt_dsp *d, size_t layer, size_t n_q, size_t first, size_t count,
                       struct hx_error *err)
{
    const size_t words = primes(d) * n_q * count;
    ntt_kv_cycles unused;
    int code, rc = grow(&d->out, words * sizeof(uint32_t), err);

    if (rc)
        return rc;
    code = ntt_kv_scores(d->skel.handle, THREADS, (uint32_t)layer, (uint32_t)first, (uint32_t)count,
                         d->in.p, (int)(n_q * d->n), d->out.p, (int)words, &unused);
    return code ? failed(d, "scores", code, layer, first, count, err)
                : check_residues(d, "scores", words, n_q * count, layer, err);
}

int hx_ntt_dsp_residues(struct hx_ntt_dsp *d, size_t layer, size_t n_q, size_t first, size_t count,
                        uint32_t *residues, struct hx_error *err)
{
    int rc = call_scores(d, layer, n_q, first, count, err);

    if (!rc)
        memcpy(residues, d->out.p, n_q * count * sizeof(*residues));
    return rc;
}

int hx_ntt_dsp_scores(struct hx_ntt_dsp *d, size_t layer, size_t n_q, size_t first, size_t count,
                      unsigned delta_bits, float scale, float *scores, struct hx_error *err)
{
    const size_t all = n_q * count;
    const uint32_t *sums;
    int rc = call_scores(d, layer, n_q, first, count, err);

    if (rc)
        return rc;
    sums = d->out.p;
    for (size_t i = 0; i < all; i++)
        scores[i] = hx_poly_score(hx_crt_garner(sums[i], sums[all + i]), delta_bits, scale);
    return 0;
}

/* The reply, [count][heads][primes][n], is in d->out. */
static int call_past(struct hx_ntt_dsp *d, size_t layer, size_t count, struct hx_error *err)
{
    const size_t words = count * d->heads * primes(d) * d->n;
    ntt_kv_cycles unused;
    int code, rc = grow(&d->out, words * sizeof(uint32_t), err);

    if (rc || !count)
        return rc;
    code = ntt_kv_past(d->skel.handle, THREADS, (uint32_t)layer, (uint32_t)count, d->out.p, (int)words,
                       &unused);
    return code ? failed(d, "past", code, layer, 0, count, err)
                : check_residues(d, "past", words, d->n, layer, err);
}

int hx_ntt_dsp_key_residues(struct hx_ntt_dsp *d, size_t layer, size_t count, uint32_t *residues,
                            struct hx_error *err)
{
    int rc = call_past(d, layer, count, err);

    if (!rc)
        memcpy(residues, d->out.p, count * d->heads * d->n * sizeof(*residues));
    return rc;
}

int hx_ntt_dsp_past(struct hx_ntt_dsp *d, size_t layer, size_t count, unsigned delta_bits,
                    size_t dh, float *k, struct hx_error *err)
{
    const size_t words = HX_CRT_PRIMES * d->n, blocks = count * d->heads;
    int32_t a[HX_POLY_N_MAX];
    int rc = call_past(d, layer, count, err);

    if (rc)
        return rc;
    for (size_t b = 0; b < blocks; b++) {
        const uint32_t *r = (const uint32_t *)d->out.p + b * words;

        for (size_t i = 0; i < d->n; i++)
            a[i] = (int32_t)hx_crt_garner(r[i], r[d->n + i]);
        hx_poly_involute(a, d->n);
        for (size_t i = 0; i < dh; i++)
            k[b * dh + i] = (float)ldexp(a[i], -(int)delta_bits);
    }
    return 0;
}
