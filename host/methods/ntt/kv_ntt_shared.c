/* What put(), rows(), scores() and keep() of the cache `ntt` share: integers for the DSP, residues for the other process, and keys where
 * they belong. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "kv_ntt_impl.h"
#include "methods/ntt/shard/shard.h"

double hx_kv_ntt_integers(const struct hx_kv_ntt *c, int32_t *a, const float *v)
{
    const size_t clamped = hx_poly_encode(a, c->ring.n, v, c->kv.dh, c->ring.delta_bits);

    return clamped ? INFINITY : hx_poly_length(a, c->ring.n);
}

int hx_kv_ntt_residue_room(struct hx_kv_ntt *c, size_t n, struct hx_error *err)
{
    const size_t bytes = (n * sizeof(*c->mine) + HX_KV_NTT_ALIGN - 1) / HX_KV_NTT_ALIGN * HX_KV_NTT_ALIGN;

    if (n <= c->n_residues)
        return 0;
    free(c->mine);
    free(c->theirs);
    c->mine = aligned_alloc(HX_KV_NTT_ALIGN, bytes);
    c->theirs = aligned_alloc(HX_KV_NTT_ALIGN, bytes);
    c->n_residues = c->mine && c->theirs ? n : 0;
    return c->n_residues ? 0 : hx_error_set(err, -ENOMEM, "kv ntt: no memory for %zu residues", n);
}

/* What residues are of would have other lengths where it is something else. */
int hx_kv_ntt_swap(const struct hx_kv_ntt *c, size_t layer, size_t positions, size_t n_queries, size_t words,
                   struct hx_error *err)
{
    uint64_t of = hx_shard_digest(layer, &c->lengths[hx_kv_ntt_index(c, layer, 0, 0)],
                                  positions * c->kv.n_kv * sizeof(*c->lengths));

    of = hx_shard_digest(of, c->query_lengths, n_queries * sizeof(*c->query_lengths));
    return hx_shard_swap(c->ring.shard, of, c->mine, c->theirs, words, err);
}

/* --- keys */

enum { POSITIONS_PER_PART = 64 };

static size_t parts_of(size_t n)
{
    return (n + POSITIONS_PER_PART - 1) / POSITIONS_PER_PART;
}

void hx_kv_ntt_run_parts(struct hx_kv_ntt_job *j, void (*body)(void *arg, size_t part, size_t n_parts))
{
    hx_pool_run(hx_kv_ntt_pool(j->c, j->n * j->c->kv.n_kv, HX_KV_NTT_FEW_TRANSFORMS), parts_of(j->n), body, j);
}

static void key_integers(void *arg, size_t part, size_t n_parts)
{
    const struct hx_kv_ntt_job *j = arg;
    const struct hx_kv_ntt *c = j->c;
    const size_t n_kv = c->kv.n_kv;

    for (size_t i = j->n * n_kv * part / n_parts; i < j->n * n_kv * (part + 1) / n_parts; i++) {
        int32_t *a = j->integers + i * c->ring.n;

        c->lengths[hx_kv_ntt_index(c, j->layer, j->pos, i)] = hx_kv_ntt_integers(c, a, j->k + i * c->kv.dh);
        hx_poly_involute(a, c->ring.n);
    }
}

static int put_on_dsp(struct hx_kv_ntt_job *j, struct hx_error *err)
{
    const struct hx_kv_ntt *c = j->c;

    j->integers = hx_ntt_dsp_room(c->dsp, j->n * c->kv.n_kv * c->ring.n, err);
    if (!j->integers)
        return -ENOMEM;
    hx_kv_ntt_run_parts(j, key_integers);
    return hx_ntt_dsp_put(c->dsp, j->layer, j->pos, j->n, err);
}

static void encode(void *arg, size_t part, size_t n_parts)
{
    const struct hx_kv_ntt_job *j = arg;
    const struct hx_kv_ntt *c = j->c;
    const size_t n_kv = c->kv.n_kv;

    for (size_t i = j->n * n_kv * part / n_parts; i < j->n * n_kv * (part + 1) / n_parts; i++) {
        const size_t pos = j->pos + i / n_kv, head = i % n_kv;

        c->lengths[hx_kv_ntt_index(c, j->layer, pos, head)] =
            hx_poly_key(&c->ring, hx_kv_ntt_block(c, j->layer, pos, head), j->k + i * c->kv.dh);
    }
}

int hx_kv_ntt_put_keys(struct hx_kv_ntt *c, size_t layer, size_t pos, size_t n, const float *k, struct hx_error *err)
{
    const size_t n_there = hx_kv_ntt_on_dsp(c, pos, n);
    struct hx_kv_ntt_job there = {.c = c, .layer = layer, .pos = pos, .n = n_there, .k = k};
    struct hx_kv_ntt_job here = {.c = c, .layer = layer, .pos = pos + n_there, .n = n - n_there, .k = k + n_there * c->kv.n_kv * c->kv.dh};
    int rc = there.n ? put_on_dsp(&there, err) : 0;

    if (!rc)
        hx_kv_ntt_run_parts(&here, encode);
    return rc;
}
