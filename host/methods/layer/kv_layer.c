/* Whole layers on the DSP, see kv_layer.h. */
#include "kv_layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "dsp/packets.h"
#include "dsp/skel.h"
#include "hx_layer.h"
#include "layer_pack.h"
#include "methods/dsp/linear_dsp.h"
#include "rpcmem.h"

enum { THREADS = 2, MAX_BATCH = 256 };

/* Memory that the DSP has mapped. */
struct shared {
    void *at; /* rpcmem */
    size_t bytes;
    int mapped;
};

struct cache {
    struct hx_kv kv;
    struct hx_skel skel;
    struct hx_layer_pack pack;
    struct shared weights, past;
    hex_layer_how how;
    size_t width;
    float *x, *y; /* rpcmem, [max_batch][width] */
};

/* --- calls */

static int run_layer(struct hx_kv *kv, size_t layer, size_t pos, size_t n, float *x, struct hx_error *err)
{
    struct cache *c = (struct cache *)kv;
    const size_t floats = n * c->width;
    hex_layer_cycles unused;
    int code;

    memcpy(c->x, x, floats * sizeof(*x));
    code = hex_layer_run(c->skel.handle, &c->how, (uint32_t)layer, (uint32_t)pos, (uint32_t)n, c->x, (int)floats, c->y, (int)floats,
                         &unused);
    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, c->skel.node, code, "layer %zu: run failed for %zu tokens at position %zu, weights in %s",
                            layer, n, pos, hx_placements[c->how.placement]);
    memcpy(x, c->y, floats * sizeof(*x));
    return 0;
}

/* --- open */

static void *alloc(size_t bytes)
{
    return rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes);
}

static int share(struct cache *c, struct shared *s, uint64_t bytes, const char *what, struct hx_error *err)
{
    int code;

    s->at = bytes <= INT32_MAX ? alloc((size_t)bytes) : NULL;
    if (!s->at)
        return hx_error_set(err, -ENOMEM, "layers on the DSP: no memory for %llu bytes of %s; 2 GiB is the limit",
                            (unsigned long long)bytes, what);
    s->bytes = (size_t)bytes;
    code = fastrpc_mmap(CDSP_DOMAIN_ID, rpcmem_to_fd(s->at), s->at, 0, s->bytes, FASTRPC_MAP_FD);
    s->mapped = !code;
    return code ? hx_dsp_error(err, HX_DSP_CALL, c->skel.node, code, "layers on the DSP: cannot map %zu bytes of %s", s->bytes, what) : 0;
}

static void unshare(struct shared *s)
{
    if (s->mapped)
        fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(s->at), s->at, s->bytes);
    rpcmem_free(s->at);
}

static int hand_over(struct cache *c, const struct hx_model *m, struct hx_error *err)
{
    const hex_layer_shape *s = &c->pack.shape;
    int rc = share(c, &c->weights, c->pack.bytes, "weights", err), code;

    if (!rc)
        rc = hx_layer_pack_fill(&c->pack, m, c->weights.at, err);
    if (!rc)
        rc = share(c, &c->past, hx_layer_cache_bytes(s->layers, s->kv_heads, s->positions, s->head_width), "K and V", err);
    if (rc)
        return rc;
    code = hex_layer_load(c->skel.handle, rpcmem_to_fd(c->weights.at), (uint32_t)c->weights.bytes, s, c->pack.matrices,
                          (int)c->pack.n_matrices, c->pack.vectors, (int)s->layers);
    if (!code)
        code = hex_layer_cache(c->skel.handle, rpcmem_to_fd(c->past.at), (uint32_t)c->past.bytes);
    return code ? hx_dsp_error(err, HX_DSP_CALL, c->skel.node, code, "layers on the DSP: load of %u layers failed", s->layers) : 0;
}

static void close_layer(struct hx_kv *kv)
{
    struct cache *c = (struct cache *)kv;

    hx_skel_close(&c->skel); /* first: a buffer that the DSP holds cannot be unmapped */
    unshare(&c->weights);
    unshare(&c->past);
    rpcmem_free(c->x);
    rpcmem_free(c->y);
    hx_layer_pack_free(&c->pack);
    free(c);
}

static const struct hx_kv_ops ops = {.name = "layer", .layer = run_layer, .close = close_layer};

static int alloc_rows(struct cache *c, struct hx_error *err)
{
    c->x = alloc(c->kv.max_batch * c->width * sizeof(float));
    c->y = alloc(c->kv.max_batch * c->width * sizeof(float));
    return c->x && c->y ? 0 : hx_error_set(err, -ENOMEM, "layers on the DSP: out of memory");
}

static int send_packets(struct cache *c, struct hx_error *err)
{
    const size_t bytes = c->kv.max_batch * c->width * sizeof(float);
    int rc = hx_packets_open(&c->skel, "layers", hex_layer_packets_attach, hex_layer_packets_detach, err);

    if (!rc)
        rc = hx_packets_share(&c->skel, "layers", c->x, bytes, err);
    return rc ? rc : hx_packets_share(&c->skel, "layers", c->y, bytes, err);
}

int hx_kv_layer_open(struct hx_kv **out, const struct hx_model *m, size_t n_ctx, uint32_t placement, int softmax_int,
                     int packets, struct hx_error *err)
{
    struct cache *c = calloc(1, sizeof(*c));
    int rc;

    if (!c)
        return hx_error_set(err, -ENOMEM, "layers on the DSP: out of memory");
    c->kv = (struct hx_kv){&ops, m->n_layer, m->n_kv, m->dh, n_ctx, n_ctx < MAX_BATCH ? n_ctx : MAX_BATCH, 0};
    c->how = (hex_layer_how){(int)placement, THREADS};
    c->width = m->width;
    rc = hx_layer_pack_measure(&c->pack, m, n_ctx, softmax_int, err);
    if (!rc)
        rc = hx_skel_open(&c->skel, "layers", hex_layer_URI, err);
    if (!rc)
        rc = alloc_rows(c, err);
    if (!rc)
        rc = hand_over(c, m, err);
    if (!rc && packets)
        rc = send_packets(c, err);
    if (rc)
        close_layer(&c->kv);
    else
        *out = &c->kv;
    return rc;
}

/* --- what lies where */

json_t *hx_kv_layer_report(const void *self, const struct hx_kv *kv, const struct hx_plan *p)
{
    const struct cache *c = self;
    hex_layer_residence *r = calloc(c->pack.n_matrices, sizeof(*r));
    uint64_t slots = 0, tables = 0, bytes = 0, stays = 0;
    json_t *j = json_pack("{s:s}", "placement", hx_placements[c->how.placement]);

    (void)kv;
    (void)p;
    if (r && j && !hex_layer_where(c->skel.handle, r, (int)c->pack.n_matrices, &slots, &tables)) {
        for (size_t i = 0; i < c->pack.n_matrices; i++) {
            bytes += r[i].bytes;
            stays += r[i].stays;
        }
        json_object_set_new(j, "resident_bytes", json_integer((json_int_t)stays));
        json_object_set_new(j, "streamed_bytes", json_integer((json_int_t)(bytes - stays)));
        json_object_set_new(j, "slot_bytes", json_integer((json_int_t)slots));
        json_object_set_new(j, "table_bytes", json_integer((json_int_t)tables));
    }
    free(r);
    return j;
}
