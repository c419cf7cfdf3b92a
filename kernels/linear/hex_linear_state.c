/* What methods of interface hex_linear share, see hex_linear_state.h. */
#include "hex_linear_state.h"

#include <math.h>
#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "hex_linear_stay.h"
#include "qurt_hvx.h"
#include "skel/parallel.h"

enum { THREADS = 2 };

/* --- memory of calls */

static void drop_buffer(struct hx_linear_buffer *b)
{
    hx_purpose_set(b->at, b->bytes, HX_PURPOSE_OTHER);
    free(b->at);
    *b = (struct hx_linear_buffer){NULL, 0};
}

int hx_linear_grow(struct hx_linear_buffer *b, size_t bytes)
{
    if (bytes <= b->bytes)
        return AEE_SUCCESS;
    drop_buffer(b);
    b->at = aligned_alloc(HX_LINEAR_ALIGN, hx_linear_piece(bytes));
    if (!b->at) {
        FARF(ERROR, "hex_linear: heap: need %zu bytes for a call", bytes);
        return AEE_ENOMEMORY;
    }
    b->bytes = bytes;
    hx_purpose_set(b->at, bytes, HX_PURPOSE_ACTIVATIONS);
    return AEE_SUCCESS;
}

/* --- handles and what is loaded */

void hx_linear_unload(struct hx_linear_state *s)
{
    hx_weights_unmap(&s->map);
    free(s->m);
    s->m = NULL;
    s->n_m = 0;
    free(s->gates);
    s->gates = NULL;
    hx_linear_stays_drop(&s->stays);
    hx_linear_vtcm_release(&s->vtcm);
}

void hx_linear_guard_drop(struct hx_linear_guard **g)
{
    struct hx_linear_guard *was = *g;

    *g = NULL;
    if (!was)
        return;
    hx_purpose_set(was->q, was->k * (size_t)was->vectors * HX_LINEAR_ALIGN, HX_PURPOSE_OTHER);
    if (was->in_vtcm)
        HAP_release_VTCM(was->q);
    else
        free(was->q);
    free(was);
}

static void drop(struct hx_handle *h)
{
    struct hx_linear_state *s = (struct hx_linear_state *)h;

    hx_linear_unload(s);
    hx_linear_guard_drop(&s->guard);
    drop_buffer(&s->scratch);
    drop_buffer(&s->between);
    qurt_mutex_destroy(&s->lock);
    free(s);
}

static void idle(void)
{
    hx_parallel_stop(&hx_handover_pair);
}

static struct hx_handles handles = HX_HANDLES("hex_linear", drop, idle);

int hx_linear_state_open(const char *uri, remote_handle64 *h)
{
    struct hx_linear_state *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return AEE_ENOMEMORY;
    s->map.fd = -1;
    qurt_mutex_init(&s->lock);
    rc = hx_handle_open(&handles, &s->handle, uri, h);
    if (rc)
        drop(&s->handle);
    return rc;
}

int hx_linear_state_close(remote_handle64 h)
{
    return hx_handle_close(&handles, h);
}

struct hx_linear_state *hx_linear_get(remote_handle64 h)
{
    struct hx_linear_state *s = (struct hx_linear_state *)hx_handle_get(&handles, h);

    if (s)
        qurt_mutex_lock(&s->lock);
    return s;
}

int hx_linear_put(struct hx_linear_state *s, int rc)
{
    qurt_mutex_unlock(&s->lock);
    hx_handle_put(&handles, &s->handle);
    return rc;
}

/* --- calls */

HX_FOR_FIGURES void hx_linear_vectors_are(enum hx_purpose purpose, const float *x, int x_len, const void *y, size_t y_bytes)
{
    hx_purpose_set(x, (size_t)x_len * sizeof(*x), purpose);
    hx_purpose_set(y, y_bytes, purpose);
}

int hx_linear_choose(const struct hx_linear_state *s, struct hx_linear_call *c, const unsigned *which,
                  size_t *rows)
{
    *rows = 0;
    if (s->n_m == 0) {
        FARF(ERROR, "hex_linear: no weights are loaded");
        return AEE_EBADSTATE;
    }
    for (size_t i = 0; i < c->n_m; i++) {
        if (which[i] >= s->n_m || s->m[which[i]].type == HX_WEIGHTS_BASIS) {
            FARF(ERROR, "hex_linear: matrix %u; %zu are loaded, or it is a basis", which[i], s->n_m);
            return AEE_EBADPARM;
        }
        c->m[i] = &s->m[which[i]];
        *rows += c->m[i]->rows;
        if (c->m[i]->type != c->m[0]->type || c->m[i]->cols != c->m[0]->cols) {
            FARF(ERROR, "hex_linear: matrices %u and %u differ in type or columns", which[0],
                 which[i]);
            return AEE_EBADPARM;
        }
    }
    return AEE_SUCCESS;
}

int hx_linear_check_call(const struct hx_linear_call *c, size_t x_len)
{
    const hex_linear_how *how = c->how;

    if (how->placement < HEX_LINEAR_DDR || how->placement > HEX_LINEAR_AUTO || how->threads < 1 ||
        how->threads > THREADS) {
        FARF(ERROR, "hex_linear: placement %d, %d threads: no such way to run", how->placement,
             how->threads);
        return AEE_EBADPARM;
    }
    if (c->n < 1 || c->n > INT32_MAX || (uint64_t)c->n * c->m[0]->cols != x_len) {
        FARF(ERROR, "hex_linear: %zu vectors of %zu floats; x has %zu", c->n, c->m[0]->cols, x_len);
        return AEE_EBADPARM;
    }
    return AEE_SUCCESS;
}

void hx_linear_lend(struct hx_linear_state *s, struct hx_linear_call *c)
{
    c->vtcm = &s->vtcm;
    c->all = s->m;
    c->n_all = s->n_m;
    c->stays = &s->stays;
}

int hx_linear_scratch(struct hx_linear_state *s, struct hx_linear_call *c, size_t more, float **rest)
{
    const size_t blocks = hx_linear_piece(c->n * hx_linear_quantized(hx_weights_blocks(c->m[0]->cols), c->wide) * sizeof(*c->blocks));
    const size_t bad = hx_linear_piece(c->n);
    int rc = hx_linear_grow(&s->scratch, blocks + bad + more);

    if (rc)
        return rc;
    hx_linear_lend(s, c);
    c->blocks = (struct hx_linear_block *)s->scratch.at;
    c->bad = s->scratch.at + blocks;
    *rest = (float *)(s->scratch.at + blocks + bad);
    return AEE_SUCCESS;
}

int hx_linear_run_held(const struct hx_linear_call *c, hex_linear_cycles *cycles,
               void (*then)(const struct hx_linear_call *c, unsigned *ids), unsigned *ids)
{
    int rc;

    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    rc = hx_linear_call_run(c, cycles);
    if (!rc && then)
        then(c, ids);
    qurt_hvx_unlock();
    return rc;
}

void hx_linear_spoil(const struct hx_linear_call *c)
{
    for (size_t t = 0; t < c->n; t++)
        for (size_t m = 0; c->bad[t] && m < c->n_m; m++)
            for (size_t r = 0; r < c->m[m]->rows; r++)
                c->y[m][t * c->y_stride[m] + r] = NAN;
}

int hx_linear_products(struct hx_linear_state *s, struct hx_linear_call *c, float *y, hex_linear_cycles *cycles)
{
    float *unused;
    int rc = hx_linear_scratch(s, c, 0, &unused);

    if (rc)
        return rc;
    for (size_t m = 0; m < c->n_m; m++) {
        c->y[m] = y;
        c->y_stride[m] = c->m[m]->rows;
        y += c->n * c->m[m]->rows;
    }
    rc = hx_linear_run_held(c, cycles, NULL, NULL);
    if (!rc)
        hx_linear_spoil(c);
    return rc;
}

int hx_linear_check_y(const struct hx_linear_call *c, size_t rows, size_t y_len)
{
    if ((uint64_t)c->n * rows == y_len)
        return AEE_SUCCESS;
    FARF(ERROR, "hex_linear: %zu vectors of %zu rows; y has %zu floats", c->n, rows, y_len);
    return AEE_EBADPARM;
}

void hx_linear_add_cycles(hex_linear_cycles *to, const hex_linear_cycles *c)
{
    to->handler += c->handler;
    to->worker += c->worker;
    to->fetch += c->fetch;
    to->total += c->total;
}
