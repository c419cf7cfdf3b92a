/* Implements interface hex_layer on the DSP: handles, what they have loaded, and checks of what a call asks for.
 *
 * Reentrant: calls on one handle take turns, calls on several share the HVX contexts. */
#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "hex_layer_state.h"
#include "hex_linear.h"
#include "hexrig_purpose.h"
#include "hexrig_uncosted.h"
#include "linear/hex_linear_stay.h"
#include "qurt_hvx.h"
#include "skel/kernel.h"
#include "skel/packets.h"
#include "skel/parallel.h"

HX_UNCOSTED("the loops over weights, rows, K and V are listed; dividing work and fetching tiles is not");

enum { ALIGN = 128 };

/* --- handles */

static void drop(struct hx_handle *h)
{
    struct hx_layer_state *s = (struct hx_layer_state *)h;

    hx_layer_unload(s);
    hx_purpose_set(s->scratch, s->scratch_bytes, HX_PURPOSE_OTHER);
    free(s->scratch);
    qurt_mutex_destroy(&s->lock);
    free(s);
}

static void idle(void)
{
    hx_parallel_stop(&hx_handover_pair);
}

static struct hx_handles handles = HX_HANDLES("hex_layer", drop, idle);
static struct hx_packet_queues queues = HX_PACKET_QUEUES("hex_layer", hex_layer_skel_handle_invoke);

int hex_layer_open(const char *uri, remote_handle64 *h)
{
    struct hx_layer_state *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return AEE_ENOMEMORY;
    s->weights.fd = s->cache.fd = -1;
    qurt_mutex_init(&s->lock);
    rc = hx_handle_open(&handles, &s->handle, uri, h);
    if (rc)
        drop(&s->handle);
    return rc;
}

int hex_layer_close(remote_handle64 h)
{
    hx_packets_drop(&queues, h);
    return hx_handle_close(&handles, h);
}

int hex_layer_packets_attach(remote_handle64 h, uint64_t id)
{
    return hx_packets_attach(&queues, h, id);
}

int hex_layer_packets_detach(remote_handle64 h, uint64_t id)
{
    return hx_packets_detach(&queues, h, id);
}

/* The state behind a handle, locked, or NULL; give it back with put(). */
static struct hx_layer_state *get(remote_handle64 h)
{
    struct hx_layer_state *s = (struct hx_layer_state *)hx_handle_get(&handles, h);

    if (s)
        qurt_mutex_lock(&s->lock);
    return s;
}

static int put(struct hx_layer_state *s, int rc)
{
    qurt_mutex_unlock(&s->lock);
    hx_handle_put(&handles, &s->handle);
    return rc;
}

/* --- what is handed over once */

int hex_layer_load(remote_handle64 h, int fd, unsigned int bytes, const hex_layer_shape *form, const hex_layer_matrix *matrices,
                   int matricesLen, const hex_layer_vectors *layers, int layersLen)
{
    const struct hx_layer_load l = {fd, bytes, form, matrices, layers, (size_t)matricesLen, (size_t)layersLen};
    struct hx_layer_state *s = get(h);

    if (!s)
        return AEE_EINVHANDLE;
    hx_layer_unload(s);
    return put(s, matricesLen ? hx_layer_load(s, &l) : AEE_SUCCESS);
}

int hex_layer_cache(remote_handle64 h, int fd, unsigned int bytes)
{
    struct hx_layer_state *s = get(h);

    return s ? put(s, hx_layer_take_cache(s, fd, bytes)) : AEE_EINVHANDLE;
}

/* --- run */

static int grow(struct hx_layer_state *s, size_t bytes)
{
    if (bytes <= s->scratch_bytes)
        return AEE_SUCCESS;
    hx_purpose_set(s->scratch, s->scratch_bytes, HX_PURPOSE_OTHER);
    free(s->scratch);
    s->scratch_bytes = 0;
    s->scratch = aligned_alloc(ALIGN, bytes);
    if (!s->scratch) {
        FARF(ERROR, "hex_layer: heap: need %zu bytes for a call", bytes);
        return AEE_ENOMEMORY;
    }
    s->scratch_bytes = bytes;
    hx_purpose_set(s->scratch, bytes, HX_PURPOSE_ACTIVATIONS);
    return AEE_SUCCESS;
}

static int check_call(const struct hx_layer_call *c, size_t x_len, size_t y_len)
{
    const hex_layer_shape *s = &c->model->shape;

    if (c->how->placement < HEX_LINEAR_DDR || c->how->placement > HEX_LINEAR_AUTO || c->how->threads < 1 ||
        c->how->threads > HX_LAYER_THREADS)
        return hx_layer_refuse("placement or threads; threads", (size_t)c->how->threads);
    if (c->layer >= s->layers || c->n < 1 || c->first >= s->positions || c->n > s->positions - c->first)
        return hx_layer_refuse("layer or positions; layer", c->layer);
    if ((uint64_t)c->n * s->width != x_len || x_len != y_len || !hx_is_aligned(c->x) || !hx_is_aligned(c->y))
        return hx_layer_refuse("rows, of the wrong length or not aligned; floats", x_len);
    return AEE_SUCCESS;
}

static int run(struct hx_layer_state *s, struct hx_layer_call *c, size_t x_len, size_t y_len, hex_layer_cycles *cycles)
{
    size_t bytes;
    int rc;

    if (!s->model.m || !s->model.cache) {
        FARF(ERROR, "hex_layer: no weights are loaded, or there is no cache");
        return AEE_EBADSTATE;
    }
    c->model = &s->model;
    rc = check_call(c, x_len, y_len);
    if (rc)
        return rc;
    bytes = hx_layer_scratch_bytes(&s->model.shape, c->n);
    rc = bytes ? grow(s, bytes) : AEE_ENOMEMORY;
    if (rc)
        return rc;
    c->scratch = s->scratch;
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    rc = hx_layer_call_run(c, cycles);
    qurt_hvx_unlock();
    return rc;
}

HX_FOR_FIGURES static void rows_are(enum hx_purpose purpose, const float *x, const float *y, size_t floats)
{
    hx_purpose_set(x, floats * sizeof(*x), purpose);
    hx_purpose_set(y, floats * sizeof(*y), purpose);
}

int hex_layer_run(remote_handle64 h, const hex_layer_how *way, unsigned int layer, unsigned int first, unsigned int n, const float *x,
                  int xLen, float *y, int yLen, hex_layer_cycles *pcycles)
{
    struct hx_layer_call c = {.how = way, .layer = layer, .first = first, .n = n, .x = x, .y = y};
    struct hx_layer_state *s = get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    rows_are(HX_PURPOSE_ACTIVATIONS, x, y, (size_t)yLen);
    rc = run(s, &c, (size_t)xLen, (size_t)yLen, pcycles);
    rows_are(HX_PURPOSE_OTHER, x, y, (size_t)yLen);
    return put(s, rc);
}

static int tell(const struct hx_layer_state *s, hex_layer_residence *to, size_t n, uint64_t *slots, uint64_t *tables)
{
    const struct hx_linear_stays *stays = s->model.stays;

    if (!s->model.m || !stays)
        return AEE_EBADSTATE;
    if (n != (size_t)s->model.shape.layers * HEX_LAYER_MATRICES)
        return AEE_EBADPARM;
    *slots = 2 * stays->slot;
    *tables = s->tables_bytes;
    for (size_t i = 0; i < n; i++) {
        const struct hx_linear_matrix *m = &s->model.m[i];

        to[i] = (hex_layer_residence){.bytes = hx_weights_bytes(m->type, m->rows, m->cols),
                                      .stays = stays->of[i].groups * hx_weights_group_bytes(m->type, m->cols)};
    }
    return AEE_SUCCESS;
}

int hex_layer_where(remote_handle64 h, hex_layer_residence *matrices, int matricesLen, uint64_t *slots, uint64_t *tables)
{
    struct hx_layer_state *s = get(h);

    return s ? put(s, tell(s, matrices, (size_t)matricesLen, slots, tables)) : AEE_EINVHANDLE;
}
