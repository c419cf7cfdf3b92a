/* Sums of planes on the DSP, see linear_ok_dsp.h. */
#include "linear_ok_dsp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "dsp/packets.h"
#include "dsp/skel.h"
#include "hx_ok_weights.h"
#include "ok_linear.h"
#include "rpcmem.h"

enum { THREADS = 2, CALL_BYTES = 16 << 20 };

struct hx_ok_dsp {
    struct hx_skel skel;
    int mapped, loaded;
    ok_linear_matrix *table; /* [n] */
    uint32_t *index;         /* [matrices of the method]: of the table */
    size_t n;
    uint8_t *weights;        /* rpcmem */
    size_t weights_bytes;
    int32_t *x;              /* rpcmem, of one call */
    int64_t *y;              /* rpcmem, likewise */
    size_t x_room, y_room;   /* elements */
    int64_t *sums;           /* what hx_ok_dsp_sums() gives; grows */
    size_t sums_room;
};

/* --- calls */

struct call {
    uint32_t which[HX_LINEAR_TOGETHER];
    size_t n_m, cols, per_vector; /* sums */
};

static int call_some(struct hx_ok_dsp *d, const struct call *c, const int32_t *x, size_t stride,
                     size_t n, struct hx_error *err)
{
    ok_linear_cycles unused;
    int code;

    for (size_t t = 0; t < n; t++)
        memcpy(d->x + t * c->cols, x + t * stride, c->cols * sizeof(*x));
    code = ok_linear_sums(d->skel.handle, THREADS, c->which, (int)c->n_m, (uint32_t)n, d->x,
                          (int)(n * c->cols), d->y, (int)(n * c->per_vector), &unused);
    return code ? hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "linear ok: sums of %zu vectors with "
                             "matrix %u failed", n, c->which[0])
                : 0;
}

/* d->y, `now` vectors from `first` on of n, to its place in d->sums: matrix after matrix. */
static void keep(struct hx_ok_dsp *d, const struct call *c, size_t first, size_t now, size_t n)
{
    const int64_t *from = d->y;
    int64_t *to = d->sums;

    for (size_t m = 0; m < c->n_m; m++) {
        const ok_linear_matrix *w = &d->table[c->which[m]];
        const size_t each = (size_t)w->rows * w->planes;

        memcpy(to + first * each, from, now * each * sizeof(*to));
        from += now * each;
        to += n * each;
    }
}

static int grow(struct hx_ok_dsp *d, size_t n)
{
    if (n <= d->sums_room)
        return 0;
    free(d->sums);
    d->sums = malloc(n * sizeof(*d->sums));
    d->sums_room = d->sums ? n : 0;
    return d->sums ? 0 : -ENOMEM;
}

int hx_ok_dsp_sums(struct hx_ok_dsp *d, const struct hx_linear *const *w, size_t n_m,
                   const int32_t *x, size_t stride, size_t n, const int64_t **sums,
                   struct hx_error *err)
{
    struct call c = {.n_m = n_m, .cols = w[0]->cols};
    size_t now;
    int rc = 0;

    for (size_t m = 0; m < n_m; m++) {
        c.which[m] = d->index[w[m]->index];
        c.per_vector += (size_t)d->table[c.which[m]].rows * d->table[c.which[m]].planes;
    }
    if (grow(d, n * c.per_vector))
        return hx_error_set(err, -ENOMEM, "linear ok: no memory for %zu sums", n * c.per_vector);
    const size_t by_x = d->x_room / c.cols, by_y = d->y_room / c.per_vector;
    const size_t most = by_x < by_y ? by_x : by_y;

    for (size_t t = 0; t < n && !rc; t += now) {
        now = n - t < most ? n - t : most;
        rc = call_some(d, &c, x + t * stride, stride, now, err);
        if (!rc)
            keep(d, &c, t, now, n);
    }
    *sums = d->sums;
    return rc;
}

/* --- open */

static int measure(struct hx_ok_dsp *d, const struct hx_ok_planes *planes, const uint8_t *wanted,
                   size_t n, struct hx_error *err)
{
    size_t most_x = 0, most_y = 0;

    for (size_t i = 0; i < n; i++) {
        const struct hx_ok_planes *p = &planes[i];
        const size_t bytes = hx_okw_bytes(p->rows, p->cols, p->n);

        if (!wanted[i])
            continue;
        if (!bytes || bytes > INT32_MAX - d->weights_bytes)
            return hx_error_set(err, -EINVAL, "linear ok: matrix %zu, %u planes of %zu x %zu, and those "
                              "before it need more than %d bytes, the limit of one buffer; offload "
                              "fewer matrices", i, p->n, p->rows, p->cols, INT32_MAX);
        d->index[i] = (uint32_t)d->n;
        d->table[d->n++] = (ok_linear_matrix){(uint32_t)p->rows, (uint32_t)p->cols, p->n,
                                              (uint32_t)d->weights_bytes};
        d->weights_bytes += bytes;
        most_x = p->cols > most_x ? p->cols : most_x;
        most_y = p->n * p->rows > most_y ? p->n * p->rows : most_y;
    }
    d->x_room = CALL_BYTES / sizeof(*d->x);
    d->y_room = CALL_BYTES / sizeof(*d->y);
    if (d->x_room < most_x)
        d->x_room = most_x;
    if (d->y_room < HX_LINEAR_TOGETHER * most_y)
        d->y_room = HX_LINEAR_TOGETHER * most_y;
    return 0;
}

static void pack(const struct hx_ok_planes *p, uint8_t *out)
{
    int32_t *to = (int32_t *)out;

    memset(out, 0, hx_okw_bytes(p->rows, p->cols, p->n));
    for (size_t r = 0; r < p->rows; r++)
        for (size_t k = 0; k < p->n; k++) {
            const int32_t *w = p->w + (r * p->n + k) * p->stride;
            int32_t *lane = to + (r / HX_OKW_ROWS * p->cols * p->n + k) * HX_OKW_ROWS + r % HX_OKW_ROWS;

            for (size_t j = 0; j < p->cols; j++)
                lane[j * p->n * HX_OKW_ROWS] = w[j];
        }
}

static void *shared(size_t bytes)
{
    return rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes);
}

static int pack_all(struct hx_ok_dsp *d, const struct hx_ok_planes *planes, const uint8_t *wanted,
                    size_t n, struct hx_error *err)
{
    d->weights = shared(d->weights_bytes);
    d->x = shared(d->x_room * sizeof(*d->x));
    d->y = shared(d->y_room * sizeof(*d->y));
    if (!d->weights || !d->x || !d->y)
        return hx_error_set(err, -ENOMEM, "linear ok: no memory for %zu bytes of weights",
                            d->weights_bytes);
    for (size_t i = 0; i < n; i++)
        if (wanted[i])
            pack(&planes[i], d->weights + d->table[d->index[i]].offset);
    return 0;
}

static int hand_over(struct hx_ok_dsp *d, struct hx_error *err)
{
    const int fd = rpcmem_to_fd(d->weights);
    int code = fastrpc_mmap(CDSP_DOMAIN_ID, fd, d->weights, 0, d->weights_bytes, FASTRPC_MAP_FD);

    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "linear ok: cannot map %zu bytes of "
                          "weights", d->weights_bytes);
    d->mapped = 1;
    code = ok_linear_load(d->skel.handle, fd, (uint32_t)d->weights_bytes, d->table, (int)d->n);
    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "linear ok: load of %zu matrices failed",
                          d->n);
    d->loaded = 1;
    return 0;
}

static int send_packets(struct hx_ok_dsp *d, struct hx_error *err)
{
    int rc = hx_packets_open(&d->skel, "linear ok", ok_linear_packets_attach, ok_linear_packets_detach, err);

    if (!rc)
        rc = hx_packets_share(&d->skel, "linear ok", d->x, d->x_room * sizeof(*d->x), err);
    return rc ? rc : hx_packets_share(&d->skel, "linear ok", d->y, d->y_room * sizeof(*d->y), err);
}

int hx_ok_dsp_open(struct hx_ok_dsp **out, const struct hx_ok_planes *planes, const uint8_t *wanted,
                   size_t n, int packets, struct hx_error *err)
{
    struct hx_ok_dsp *d = calloc(1, sizeof(*d));
    int rc;

    if (d) {
        d->table = calloc(n, sizeof(*d->table));
        d->index = calloc(n, sizeof(*d->index));
    }
    rc = d && d->table && d->index ? measure(d, planes, wanted, n, err)
                                   : hx_error_set(err, -ENOMEM, "linear ok: out of memory");
    if (!rc)
        rc = pack_all(d, planes, wanted, n, err);
    if (!rc)
        rc = hx_skel_open(&d->skel, "linear ok", ok_linear_URI, err);
    if (!rc)
        rc = hand_over(d, err);
    if (!rc && packets)
        rc = send_packets(d, err);
    if (rc)
        hx_ok_dsp_close(d);
    else
        *out = d;
    return rc;
}

void hx_ok_dsp_close(struct hx_ok_dsp *d)
{
    if (!d)
        return;
    if (d->loaded) /* first: a buffer that the DSP holds cannot be unmapped */
        ok_linear_load(d->skel.handle, -1, 0, NULL, 0);
    if (d->mapped)
        fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(d->weights), d->weights, d->weights_bytes);
    hx_skel_close(&d->skel);
    rpcmem_free(d->weights);
    rpcmem_free(d->x);
    rpcmem_free(d->y);
    free(d->table);
    free(d->index);
    free(d->sums);
    free(d);
}
