/* Implements interface ok_linear on the DSP: handles, their weights, and checks of what a call asks for.
 *
 * Reentrant: calls take turns, also those on different handles. */
#include <stdlib.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "hexrig_slow_path.h"
#include "hexrig_uncosted.h"
#include "ok_linear_run.h"
#include "qurt_hvx.h"
#include "qurt_mutex.h"
#include "skel/handles.h"
#include "skel/packets.h"
#include "skel/parallel.h"
#include "skel/weights.h"

HX_UNCOSTED("the loops over weights are listed; fetching and dividing work is not");

struct state {
    struct hx_handle handle;
    struct hx_weights_map map;
    struct hx_okl_matrix *m; /* [n_m] */
    size_t n_m;
    uint8_t *vtcm;      /* the handle's from its first call until load or close: a request takes long */
};

/* Held for the length of a call, whatever its handle; protects all states. */
static qurt_mutex_t turn = QURT_MUTEX_INIT;

static void unload(struct state *s)
{
    hx_weights_unmap(&s->map);
    free(s->m);
    s->m = NULL;
    s->n_m = 0;
    if (s->vtcm)
        HAP_release_VTCM(s->vtcm);
    s->vtcm = NULL;
}

/* --- handles */

static void drop(struct hx_handle *h)
{
    unload((struct state *)h);
    free(h);
}

static void idle(void)
{
    hx_parallel_stop(&hx_handover_pair);
}

static struct hx_handles handles = HX_HANDLES("ok_linear", drop, idle);

static struct hx_packet_queues queues = HX_PACKET_QUEUES("ok_linear", ok_linear_skel_handle_invoke);

int ok_linear_open(const char *uri, remote_handle64 *h)
{
    struct state *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return AEE_ENOMEMORY;
    s->map.fd = -1;
    rc = hx_handle_open(&handles, &s->handle, uri, h);
    if (rc)
        drop(&s->handle);
    return rc;
}

int ok_linear_close(remote_handle64 h)
{
    hx_packets_drop(&queues, h);
    return hx_handle_close(&handles, h);
}

int ok_linear_packets_attach(remote_handle64 h, uint64_t id)
{
    return hx_packets_attach(&queues, h, id);
}

int ok_linear_packets_detach(remote_handle64 h, uint64_t id)
{
    return hx_packets_detach(&queues, h, id);
}

/* The state behind a handle, when it is its turn, or NULL; give it back with put(). */
static struct state *get(remote_handle64 h)
{
    struct state *s = (struct state *)hx_handle_get(&handles, h);

    if (s)
        qurt_mutex_lock(&turn);
    return s;
}

static int put(struct state *s, int rc)
{
    qurt_mutex_unlock(&turn);
    hx_handle_put(&handles, &s->handle);
    return rc;
}

/* --- load */

static int check_matrix(const ok_linear_matrix *m, size_t index, size_t bytes)
{
    const size_t need = hx_okw_bytes(m->rows, m->cols, m->planes);

    if (hx_weights_fit(need, m->offset, bytes))
        return AEE_SUCCESS;
    FARF(ERROR, "ok_linear: matrix %zu: %u planes of %u x %u at offset %u of %zu bytes: there is no "
         "such matrix", index, m->planes, m->rows, m->cols, m->offset, bytes);
    return AEE_EBADPARM;
}

/* Nothing is loaded. */
static int load(struct state *s, int fd, size_t bytes, const ok_linear_matrix *list, size_t n)
{
    const uint8_t *base = NULL;
    int rc = AEE_SUCCESS;

    for (size_t i = 0; i < n && !rc; i++)
        rc = check_matrix(&list[i], i, bytes);
    if (!rc)
        rc = hx_weights_map(&s->map, "ok_linear", fd, bytes, &base);
    if (rc)
        return rc;
    s->m = calloc(n, sizeof(*s->m));
    if (!s->m) {
        unload(s);
        return AEE_ENOMEMORY;
    }
    s->n_m = n;
    for (size_t i = 0; i < n; i++)
        s->m[i] = (struct hx_okl_matrix){list[i].rows, list[i].cols, list[i].planes,
                                         base + list[i].offset};
    return AEE_SUCCESS;
}

int ok_linear_load(remote_handle64 h, int fd, unsigned int bytes, const ok_linear_matrix *matrices,
                   int matricesLen)
{
    struct state *s = get(h);

    if (!s)
        return AEE_EINVHANDLE;
    unload(s);
    return put(s, matricesLen ? load(s, fd, bytes, matrices, (size_t)matricesLen) : AEE_SUCCESS);
}

/* --- sums */

/* Fills c->m and c->y. */
static int choose(const struct state *s, struct hx_okl_call *c, const unsigned *which, int64_t *y,
                  size_t y_len)
{
    size_t at = 0;

    if (s->n_m == 0) {
        FARF(ERROR, "ok_linear: no weights are loaded");
        return AEE_EBADSTATE;
    }
    for (size_t i = 0; i < c->n_m; i++) {
        if (which[i] >= s->n_m) {
            FARF(ERROR, "ok_linear: matrix %u; %zu are loaded", which[i], s->n_m);
            return AEE_EBADPARM;
        }
        c->m[i] = &s->m[which[i]];
        if (c->m[i]->cols != c->m[0]->cols) {
            FARF(ERROR, "ok_linear: matrices %u and %u differ in columns", which[0], which[i]);
            return AEE_EBADPARM;
        }
        c->y[i] = y + at;
        at += c->n * c->m[i]->planes * c->m[i]->rows;
        if (at > y_len)
            break;
    }
    if (at == y_len)
        return AEE_SUCCESS;
    FARF(ERROR, "ok_linear: y has %zu sums, which is not what %zu vectors give", y_len, c->n);
    return AEE_EBADPARM;
}

static int check_call(const struct hx_okl_call *c, size_t x_len)
{
    if (c->n * c->m[0]->cols == x_len)
        return AEE_SUCCESS;
    FARF(ERROR, "ok_linear: %zu vectors of %zu integers; x has %zu", c->n, c->m[0]->cols, x_len);
    return AEE_EBADPARM;
}

static int request_vtcm(struct state *s)
{
    const size_t bytes = hx_okl_vtcm_bytes();
    unsigned block = 0, page = 0, pages = 0;

    if (!s->vtcm)
        s->vtcm = HAP_request_VTCM((unsigned)bytes, 0);
    if (s->vtcm)
        return AEE_SUCCESS;
    HAP_query_avail_VTCM(&block, &page, &pages);
    FARF(ERROR, "ok_linear: vtcm: need %zu bytes, %u free", bytes, block);
    return AEE_ENOMEMORY;
}

static int sums(struct state *s, struct hx_okl_call *c, const unsigned *which, size_t x_len,
                int64_t *y, size_t y_len, ok_linear_cycles *cycles)
{
    int rc = choose(s, c, which, y, y_len);

    if (!rc)
        rc = check_call(c, x_len);
    if (!rc)
        rc = request_vtcm(s);
    if (rc)
        return rc;
    c->vtcm = s->vtcm;
    if ((uintptr_t)y % HX_WEIGHTS_ALIGN) /* x is read by scalar code */
        HX_SLOW_PATH();
    if (qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_HVX_LOCK_SUCCESS)
        return AEE_EFAILED;
    rc = hx_okl_run(c, cycles);
    qurt_hvx_unlock();
    return rc;
}

int ok_linear_sums(remote_handle64 h, int threads, const unsigned int *which, int whichLen,
                   unsigned int n, const int *x, int xLen, int64_t *y, int yLen,
                   ok_linear_cycles *pcycles)
{
    struct hx_okl_call c = {.n_m = (size_t)whichLen, .x = x, .n = n, .threads = threads};
    struct state *s;

    if (whichLen < 1 || whichLen > HX_OKL_FUSED || threads < 1 || threads > HX_OKL_THREADS) {
        FARF(ERROR, "ok_linear: %d matrices on %d threads; 1 to %d on 1 to %d are legal", whichLen,
             threads, HX_OKL_FUSED, HX_OKL_THREADS);
        return AEE_EBADPARM;
    }
    if (n < 1 || n > (unsigned)xLen) { /* so that no product of sizes overflows */
        FARF(ERROR, "ok_linear: %u vectors; x has %d integers", n, xLen);
        return AEE_EBADPARM;
    }
    s = get(h);
    if (!s)
        return AEE_EINVHANDLE;
    return put(s, sums(s, &c, which, (size_t)xLen, y, (size_t)yLen, pcycles));
}
