/* What put(), rows() and scores() of the cache `ntt` share: integers for the DSP, and residues for the other process. */
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
