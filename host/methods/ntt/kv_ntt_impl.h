/* Between kv_ntt.c (put, rows, open) and kv_ntt_scores.c: the cache itself, and what they share (kv_ntt_shared.c). */
#ifndef HX_KV_NTT_IMPL_H
#define HX_KV_NTT_IMPL_H

#include "kv_ntt.h"
#include "methods/ntt/ring/ntt_dsp.h"

enum { HX_KV_NTT_ALIGN = 64, HX_KV_NTT_FEW_TRANSFORMS = 100, HX_KV_NTT_FEW_PRODUCTS = 4096 };

struct hx_kv_ntt {
    struct hx_kv kv;
    struct hx_poly ring;
    struct hx_poly_counts counts;
    _Atomic uint64_t read_bytes; /* of blocks, by scores() here */
    uint64_t tokens;             /* positions that layer 0 got */
    struct hx_pool *pool;
    struct hx_ntt_dsp *dsp; /* holds the blocks of the positions before dsp_positions; NULL: there are none */
    size_t dsp_positions;
    char *blocks;    /* [layer][position - dsp_positions][KV head] */
    double *lengths; /* [layer][position][KV head], of the integers in the blocks */
    double *longest; /* [layer][KV head], of all lengths that were ever put */
    float *v;        /* [layer][position][n_kv * dh] */
    float *k;        /* [position][n_kv * dh], what rows() returned last; NULL: never called */
    char *queries;   /* blocks [n_queries] */
    double *query_lengths;
    size_t n_queries;
    struct hx_ntt_span *spans; /* [n_spans] */
    size_t n_spans;
    uint32_t *mine, *theirs; /* [n_residues], with a shard */
    size_t n_residues;
};

/* Of lengths; times dh of values. */
static inline size_t hx_kv_ntt_index(const struct hx_kv_ntt *c, size_t layer, size_t pos, size_t head)
{
    return (layer * c->kv.n_ctx + pos) * c->kv.n_kv + head;
}

/* pos >= dsp_positions. */
static inline char *hx_kv_ntt_block(const struct hx_kv_ntt *c, size_t layer, size_t pos, size_t head)
{
    const size_t row = layer * (c->kv.n_ctx - c->dsp_positions) + pos - c->dsp_positions;

    return c->blocks + (row * c->kv.n_kv + head) * c->ring.block_bytes;
}

/* One put() or rows(), or the part of it that is about one place; for the pool. */
struct hx_kv_ntt_job {
    struct hx_kv_ntt *c;
    size_t layer, pos, n;
    const float *k;
    int32_t *integers; /* of k, for the DSP */
};

/* Of n positions from `pos` on, how many the DSP holds: the first ones. */
static inline size_t hx_kv_ntt_on_dsp(const struct hx_kv_ntt *c, size_t pos, size_t n)
{
    const size_t there = pos < c->dsp_positions ? c->dsp_positions - pos : 0;

    return n < there ? n : there;
}

/* V of a position. */
static inline float *hx_kv_ntt_values(const struct hx_kv_ntt *c, size_t layer, size_t pos)
{
    return c->v + hx_kv_ntt_index(c, layer, pos, 0) * c->kv.dh;
}

/* Waking threads costs, too. */
static inline struct hx_pool *hx_kv_ntt_pool(const struct hx_kv_ntt *c, size_t work, size_t few)
{
    return work > few ? c->pool : NULL;
}

/* For the DSP: a vector's integers and their length. */
double hx_kv_ntt_integers(const struct hx_kv_ntt *c, int32_t *a, const float *v);

/* mine and theirs have room for n words. */
int hx_kv_ntt_residue_room(struct hx_kv_ntt *c, size_t n, struct hx_error *err);

/* mine to the other process, theirs from it: residues of the first `positions` keys of a layer, and of n_queries queries with
 * them. */
int hx_kv_ntt_swap(const struct hx_kv_ntt *c, size_t layer, size_t positions, size_t n_queries, size_t words,
                   struct hx_error *err);

/* Does `body` for a job's keys in parts. */
void hx_kv_ntt_run_parts(struct hx_kv_ntt_job *j, void (*body)(void *arg, size_t part, size_t n_parts));

/* Keys of positions pos..pos+n-1 of a layer, to the DSP or here, with their lengths. */
int hx_kv_ntt_put_keys(struct hx_kv_ntt *c, size_t layer, size_t pos, size_t n, const float *k, struct hx_error *err);

/* struct hx_kv_ops */
int hx_kv_ntt_keep(struct hx_kv *kv, size_t pos, const size_t *index, size_t n, struct hx_error *err);
int hx_kv_ntt_scores(struct hx_kv *kv, const struct hx_attn_in *in, float *scores, struct hx_error *err);

#endif
