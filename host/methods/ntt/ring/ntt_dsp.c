/* Keys as transforms in the DSP's memory: calls of interface ntt_kv, see ntt_dsp.h. */
#include "ntt_dsp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "dsp/packets.h"
#include "dsp/skel.h"
#include "ntt.h"
#include "ntt_kv.h"
#include "rpcmem.h"

enum { THREADS = 2 };

static const char who[] = "kv ntt";

/* Shared memory that grows with what calls need. */
struct buffer {
    void *p;
    size_t bytes;
};

struct hx_ntt_dsp {
    struct hx_skel skel;
    int prime; /* or HX_NTT_DSP_BOTH */
    size_t n, heads;
    struct hx_ntt_dsp_places places;
    struct buffer in, out;
};

static int grow(struct hx_ntt_dsp *d, struct buffer *b, size_t bytes, struct hx_error *err)
{
    if (bytes <= b->bytes)
        return 0;
    hx_packets_unshare(&d->skel, b->p);
    rpcmem_free(b->p);
    b->bytes = 0;
    b->p = rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes + bytes / 2);
    if (!b->p)
        return hx_error_set(err, -ENOMEM, "kv ntt: no shared memory for %zu bytes", bytes);
    b->bytes = bytes + bytes / 2;
    return hx_packets_share(&d->skel, who, b->p, b->bytes, err);
}

static size_t primes(const struct hx_ntt_dsp *d)
{
    return d->prime == HX_NTT_DSP_BOTH ? HX_CRT_PRIMES : 1;
}

/* Lengths are 32 bits on the wire. */
static uint32_t limit(size_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static int make_cache(struct hx_ntt_dsp *d, const struct hx_ntt_dsp_cfg *cfg, struct hx_error *err)
{
    const uint32_t prime = cfg->prime == HX_NTT_DSP_BOTH ? HX_CRT_PRIMES : (uint32_t)cfg->prime;
    ntt_kv_places where;
    int code = ntt_kv_cache_within(d->skel.handle, prime, (uint32_t)cfg->n, (uint32_t)cfg->layers,
                                   (uint32_t)cfg->positions, (uint32_t)cfg->heads, limit(cfg->vtcm_bytes),
                                   limit(cfg->heap_bytes ? cfg->heap_bytes : SIZE_MAX), &where);

    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "kv ntt: the DSP makes no cache of %zu "
                            "layers, %zu positions, %zu heads", cfg->layers, cfg->positions, cfg->heads);
    if (where.held > cfg->positions || where.vtcm > where.held)
        return hx_error_set(err, -EIO, "kv ntt: the reply, device %s, is damaged: %u of %zu positions are held, %u in VTCM",
                            d->skel.node, where.held, cfg->positions, where.vtcm);
    d->places = (struct hx_ntt_dsp_places){where.held, where.vtcm};
    return 0;
}

int hx_ntt_dsp_open(struct hx_ntt_dsp **out, const struct hx_ntt_dsp_cfg *cfg, struct hx_error *err)
{
    struct hx_ntt_dsp *d = calloc(1, sizeof(*d));
    int rc;

    if (!d)
        return hx_error_set(err, -ENOMEM, "kv ntt: out of memory");
    d->prime = cfg->prime;
    d->n = cfg->n;
    d->heads = cfg->heads;
    rc = hx_skel_open(&d->skel, who, ntt_kv_URI, err);
    if (!rc)
        rc = make_cache(d, cfg, err);
    if (!rc && cfg->packets)
        rc = hx_packets_open(&d->skel, who, ntt_kv_packets_attach, ntt_kv_packets_detach, err);
    if (rc) {
        hx_ntt_dsp_close(d);
        return rc;
    }
    *out = d;
    return 0;
}

struct hx_ntt_dsp_places hx_ntt_dsp_places(const struct hx_ntt_dsp *d)
{
    return d->places;
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
    return grow(d, &d->in, integers * sizeof(int32_t), err) ? NULL : d->in.p;
}

int hx_ntt_dsp_put(struct hx_ntt_dsp *d, size_t layer, size_t pos, size_t count, struct hx_error *err)
{
    ntt_kv_cycles unused;
    int code = ntt_kv_put(d->skel.handle, THREADS, (uint32_t)layer, (uint32_t)pos, d->in.p,
                          (int)(count * d->heads * d->n), &unused);

    return code ? failed(d, "put", code, layer, pos, count, err) : 0;
}

int hx_ntt_dsp_keep(struct hx_ntt_dsp *d, size_t to, const uint32_t *from, size_t n, struct hx_error *err)
{
    int code = ntt_kv_keep(d->skel.handle, (uint32_t)to, from, (int)n);

    return code ? hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "kv ntt: keep failed at positions %zu..%zu", to, to + n - 1)
                : 0;
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

static size_t words_of(const struct hx_ntt_batch *b, size_t tokens)
{
    size_t words = 0;

    for (size_t t = 0; t < tokens; t++)
        words += b->n_q * b->spans[t].count;
    return words;
}

/* The position behind the last one that a token sees. */
static size_t end_of(const struct hx_ntt_batch *b)
{
    size_t end = 0;

    for (size_t t = 0; t < b->tokens; t++)
        end = b->spans[t].first + b->spans[t].count > end ? b->spans[t].first + b->spans[t].count : end;
    return end;
}

size_t hx_ntt_dsp_fits(const struct hx_ntt_dsp *d, const struct hx_ntt_batch *b)
{
    size_t words = 0, t = 0;

    while (t < b->tokens && (words += b->n_q * b->spans[t].count) <= HX_NTT_DSP_SUMS / primes(d))
        t++;
    return t ? t : 1;
}

int hx_ntt_dsp_sums(struct hx_ntt_dsp *d, const struct hx_ntt_batch *b, const uint32_t **sums, size_t *words,
                    struct hx_error *err)
{
    const size_t first = b->spans->first, each = words_of(b, b->tokens), all = primes(d) * each;
    ntt_kv_cycles unused;
    int code, rc = grow(d, &d->out, all * sizeof(uint32_t), err);

    *sums = d->out.p;
    *words = each;
    if (rc || !all)
        return rc;
    code = ntt_kv_batch_scores(d->skel.handle, THREADS, (uint32_t)b->layer, &b->spans->first, (int)(2 * b->tokens), b->q,
                               (int)(b->tokens * b->n_q * d->n), d->out.p, (int)all, &unused);
    return code ? failed(d, "scores", code, b->layer, first, end_of(b) - first, err)
                : check_residues(d, "scores", all, each, b->layer, err);
}

/* The reply, [count][heads][primes][n], is in d->out. */
static int call_past(struct hx_ntt_dsp *d, size_t layer, size_t count, struct hx_error *err)
{
    const size_t words = count * d->heads * primes(d) * d->n;
    ntt_kv_cycles unused;
    int code, rc = grow(d, &d->out, words * sizeof(uint32_t), err);

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

int hx_ntt_dsp_count(const struct hx_ntt_dsp *d, struct hx_ntt_dsp_counts *out, struct hx_error *err)
{
    ntt_kv_counts c;
    int code = ntt_kv_count(d->skel.handle, &c);

    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "kv ntt: count failed");
    *out = (struct hx_ntt_dsp_counts){c.key_transforms, c.query_transforms, c.vtcm_bytes, c.heap_bytes};
    return 0;
}
