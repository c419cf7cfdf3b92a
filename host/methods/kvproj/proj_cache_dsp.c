/* Projections with attention on the DSP, see proj_cache_dsp.h. */
#include "proj_cache_dsp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "dsp/packets.h"
#include "dsp/skel.h"
#include "engine/attn.h"
#include "hx_kv_proj.h"
#include "kv_proj.h"
#include "rpcmem.h"

enum { THREADS = 2, MAX_BATCH = 256 };

static const char who[] = "kv proj";
static const double most_f16 = 65504;

/* Memory that the DSP has mapped. */
struct shared {
    void *at; /* rpcmem */
    size_t bytes;
    int mapped;
};

struct cache {
    struct hx_kv kv;
    kv_proj_shape shape;
    struct hx_kv_proj_kind kind;
    struct hx_skel skel;
    struct shared bases, past;
    uint32_t in_vtcm;  /* bytes of the bases */
    size_t row;        /* floats of a position's K or V: n_kv * dh */
    float *own;        /* rpcmem, of one call: K, then V [2][max_batch][row] */
    float *q, *y;      /* rpcmem, [max_batch][n_head][dh]; NULL until the first attend() says how many heads there are */
    size_t q_floats;
};

/* --- calls */

static void *alloc(size_t bytes)
{
    return rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes);
}

static void release(struct cache *c, float *p)
{
    hx_packets_unshare(&c->skel, p);
    rpcmem_free(p);
}

static int alloc_queries(struct cache *c, size_t n_head, struct hx_error *err)
{
    const size_t floats = c->kv.max_batch * n_head * c->kv.dh;
    int rc;

    if (floats <= c->q_floats)
        return 0;
    release(c, c->q);
    release(c, c->y);
    c->q = alloc(floats * sizeof(*c->q));
    c->y = alloc(floats * sizeof(*c->y));
    c->q_floats = c->q && c->y ? floats : 0;
    if (!c->q_floats)
        return hx_error_set(err, -ENOMEM, "kv proj: no memory for the queries of %zu positions", c->kv.max_batch);
    rc = hx_packets_share(&c->skel, who, c->q, floats * sizeof(*c->q), err);
    return rc ? rc : hx_packets_share(&c->skel, who, c->y, floats * sizeof(*c->y), err);
}

/* qf32 holds neither infinities nor NaNs, and coefficients of f16 end early: none is larger than its vector is long. */
static int check(const struct cache *c, const struct hx_attn_in *in, struct hx_error *err)
{
    const float *const x[] = {in->k, in->v};

    for (size_t i = 0; i < in->n * in->n_head * c->kv.dh; i++)
        if (!isfinite(in->q[i]))
            return hx_error_set(err, -EDOM, "kv proj: position %zu: the query of layer %zu is not finite: the model is damaged",
                                in->pos + i / (in->n_head * c->kv.dh), in->layer);
    for (size_t i = 0; c->shape.z_bytes == 2 && i < 2 * in->n * c->kv.n_kv; i++) {
        const size_t vector = i / 2;
        double square = 0;

        for (size_t d = 0; d < c->kv.dh; d++)
            square += (double)x[i % 2][vector * c->kv.dh + d] * (double)x[i % 2][vector * c->kv.dh + d];
        if (square > most_f16 * most_f16)
            return hx_error_set(err, -EDOM, "kv proj: %s of layer %zu, position %zu has length %g; f16 ends at %g", i % 2 ? "V" : "K",
                                in->layer, in->pos + vector / c->kv.n_kv, sqrt(square), most_f16);
    }
    return 0;
}

static int attend(struct hx_kv *kv, const struct hx_attn_in *in, float *out, struct hx_error *err)
{
    struct cache *c = (struct cache *)kv;
    const size_t own = in->n * c->row, q = in->n * in->n_head * kv->dh;
    float *k = c->own, *v = c->own + kv->max_batch * c->row;
    kv_proj_cycles unused;
    int rc = check(c, in, err), code;

    if (!rc)
        rc = alloc_queries(c, in->n_head, err);
    if (rc)
        return rc;
    memcpy(k, in->k, own * sizeof(*k));
    memcpy(v, in->v, own * sizeof(*v));
    memcpy(c->q, in->q, q * sizeof(*c->q));
    code = kv_proj_attend(c->skel.handle, THREADS, (uint32_t)in->layer, (uint32_t)in->pos, (uint32_t)in->n, in->scale, c->q, (int)q, k,
                          (int)own, v, (int)own, c->y, (int)q, &unused);
    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, c->skel.node, code, "kv proj: attend failed at layer %zu, positions %zu..%zu", in->layer,
                            in->pos, in->pos + in->n - 1);
    memcpy(out, c->y, q * sizeof(*out));
    return 0;
}

/* --- opening and closing */

static void unshare(struct shared *s)
{
    if (s->mapped)
        fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(s->at), s->at, s->bytes);
    rpcmem_free(s->at);
}

static void close_proj(struct hx_kv *kv)
{
    struct cache *c = (struct cache *)kv;

    hx_skel_close(&c->skel); /* first: a buffer that the DSP holds cannot be unmapped */
    unshare(&c->bases);
    unshare(&c->past);
    rpcmem_free(c->own);
    rpcmem_free(c->q);
    rpcmem_free(c->y);
    free(c);
}

static const struct hx_kv_ops ops = {.name = "proj-attn", .attend = attend, .close = close_proj};

static int share(struct cache *c, struct shared *s, uint64_t bytes, const char *what, struct hx_error *err)
{
    int code;

    if (bytes > INT32_MAX)
        return hx_error_set(err, -EINVAL, "kv proj: %llu bytes of %s for %u positions; 2 GiB is the limit", (unsigned long long)bytes,
                            what, c->shape.positions);
    s->at = alloc((size_t)bytes);
    if (!s->at)
        return hx_error_set(err, -ENOMEM, "kv proj: no memory for %llu bytes of %s", (unsigned long long)bytes, what);
    s->bytes = (size_t)bytes;
    code = fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(s->at), s->at, 0, s->bytes, FASTRPC_MAP_FD);
    s->mapped = !code;
    return code ? hx_dsp_error(err, HX_DSP_CALL, c->skel.node, code, "kv proj: cannot map %zu bytes of %s", s->bytes, what) : 0;
}

/* The three matrices of a head (hx_kv_proj.h); memory is zeroed. */
static void lay_out(const struct cache *c, const struct hx_kv_basis *b, size_t layer, size_t head, float *to)
{
    const size_t dh = c->kv.dh, directions = hx_kv_proj_round(c->shape.rank, HX_KV_PROJ_WORDS);
    const size_t each = hx_kv_proj_matrix_floats(dh, c->shape.rank);

    for (int is_v = 0; is_v < 2; is_v++)
        for (size_t i = 0; i < c->shape.rank; i++)
            for (size_t d = 0; d < dh; d++)
                to[(size_t)is_v * each + d * directions + i] = hx_kv_basis_at(b, layer, is_v, head)[i * dh + d];
    memcpy(to + 2 * each, hx_kv_basis_at(b, layer, 1, head), c->shape.rank * dh * sizeof(*to));
}

static int hand_over(struct cache *c, const struct hx_kv_basis *b, struct hx_error *err)
{
    const kv_proj_shape *s = &c->shape;
    const size_t floats = hx_kv_proj_basis_floats(s->dh, s->rank), heads = c->kv.n_layer * c->kv.n_kv;
    int rc = share(c, &c->bases, (uint64_t)heads * floats * sizeof(float), "bases", err), code;

    if (!rc)
        rc = share(c, &c->past, heads * hx_kv_proj_head_bytes(s->positions, s->rank, s->z_bytes), "coefficients", err);
    if (rc)
        return rc;
    for (size_t i = 0; i < heads; i++)
        lay_out(c, b, i / c->kv.n_kv, i % c->kv.n_kv, (float *)c->bases.at + i * floats);
    code = kv_proj_load(c->skel.handle, rpcmem_to_fd(c->bases.at), (uint32_t)c->bases.bytes, s, &c->in_vtcm);
    if (!code)
        code = kv_proj_cache(c->skel.handle, rpcmem_to_fd(c->past.at), (uint32_t)c->past.bytes);
    return code ? hx_dsp_error(err, HX_DSP_CALL, c->skel.node, code, "kv proj: load of %zu bytes of bases failed", c->bases.bytes) : 0;
}

static int open_buffers(struct cache *c, int packets, struct hx_error *err)
{
    const size_t bytes = 2 * c->kv.max_batch * c->row * sizeof(*c->own);
    int rc;

    c->own = alloc(bytes);
    if (!c->own)
        return hx_error_set(err, -ENOMEM, "kv proj: no memory for batches of %zu positions", c->kv.max_batch);
    if (!packets)
        return 0;
    rc = hx_packets_open(&c->skel, who, kv_proj_packets_attach, kv_proj_packets_detach, err);
    return rc ? rc : hx_packets_share(&c->skel, who, c->own, bytes, err);
}

static int check_shape(const struct hx_model *m, const struct hx_kv_basis *basis, size_t rank, struct hx_error *err)
{
    int rc = hx_kv_proj_check_rank(rank, m->dh, err);

    if (!rc && m->dh % HX_KV_PROJ_WORDS)
        rc = hx_error_set(err, -EINVAL, "kv proj: head dimension %zu; on the DSP multiples of %d are legal", m->dh, HX_KV_PROJ_WORDS);
    if (!rc && !basis->k_after_rope)
        rc = hx_error_set(err, -EINVAL, "kv proj: attention on the DSP needs a basis of K after RoPE; this one is of K before it");
    return rc;
}

int hx_kv_proj_dsp_open(struct hx_kv **out, const struct hx_model *m, const struct hx_kv_basis *basis, size_t rank, enum hx_kv_z z,
                        int packets, size_t n_ctx, struct hx_error *err)
{
    struct cache *c;
    int rc = check_shape(m, basis, rank, err);

    if (rc)
        return rc;
    c = calloc(1, sizeof(*c));
    if (!c)
        return hx_error_set(err, -ENOMEM, "kv proj: out of memory");
    c->kv = (struct hx_kv){&ops, m->n_layer, m->n_kv, m->dh, n_ctx, n_ctx < MAX_BATCH ? n_ctx : MAX_BATCH, 0};
    c->row = m->n_kv * m->dh;
    c->shape = (kv_proj_shape){(uint32_t)m->n_layer, (uint32_t)n_ctx, (uint32_t)m->n_kv, (uint32_t)m->dh, (uint32_t)rank,
                               (uint32_t)hx_kv_z_bytes(z)};
    c->kind = (struct hx_kv_proj_kind){basis->from, basis->k_after_rope};
    rc = hx_skel_open(&c->skel, who, kv_proj_URI, err);
    if (!rc)
        rc = hand_over(c, basis, err);
    if (!rc)
        rc = open_buffers(c, packets, err);
    if (rc)
        close_proj(&c->kv);
    else
        *out = &c->kv;
    return rc;
}

struct hx_kv_proj_places hx_kv_proj_dsp_places(const struct hx_kv *kv)
{
    const struct cache *c = (const struct cache *)kv;

    return (struct hx_kv_proj_places){c->kind, c->bases.bytes, c->in_vtcm, c->past.bytes};
}
