/* Linear layers on the DSP: weights go there once, a call names matrices. */
#include <errno.h>
#include <stdlib.h>

#include "dsp/dsp_error.h"
#include "dsp/packets.h"
#include "linear_dsp_impl.h"
#include "linear_pack.h"
#include "rpcmem.h"

enum { THREADS = 2, CALL_BYTES = 16 << 20 };

/* The first matrix with the same weights as the i-th; i: none before it. */
static size_t same_weights(const struct hx_linear_dsp *d, size_t i)
{
    const struct hx_linear *w = d->matrix[i];
    size_t first = 0;

    while (first < i && (d->matrix[first]->w != w->w || d->matrix[first]->rows != w->rows ||
                         d->matrix[first]->cols != w->cols || d->matrix[first]->type != w->type))
        first++;
    return first;
}

static int is_basis(const struct hx_linear_dsp *d, size_t i)
{
    return d->place[i].form == HX_FORM_BASIS;
}

static uint32_t type_of(const struct hx_linear_dsp *d, size_t i)
{
    return is_basis(d, i) ? HX_WEIGHTS_BASIS : hx_linear_pack_type(d->matrix[i]);
}

/* Offsets of the matrices, and the buffers that a vector needs at least.  Those with the same weights share them, too. */
static int measure(struct hx_linear_dsp *d, struct hx_error *err)
{
    size_t most_rows = 0, most_cols = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct hx_linear *w = d->matrix[i];
        const size_t bytes = is_basis(d, i) ? hx_linear_pack_basis_bytes(w) : hx_linear_pack_bytes(w), same = same_weights(d, i);

        if (!bytes)
            return hx_error_set(err, -EINVAL, "linear: a matrix of %zu x %zu is too large for the "
                              "DSP: a group of 32 rows must fit in %d bytes", w->rows, w->cols,
                              HX_WEIGHTS_SLOT);
        d->table[i] = (hex_linear_matrix){type_of(d, i), (uint32_t)w->rows,
                                          (uint32_t)w->cols, (uint32_t)d->weights_bytes};
        if (same < i)
            d->table[i].offset = d->table[same].offset;
        else
            d->weights_bytes += bytes;
        most_rows = w->rows > most_rows ? w->rows : most_rows;
        most_cols = w->cols > most_cols ? w->cols : most_cols;
        if (d->weights_bytes > INT32_MAX)
            return hx_error_set(err, -EINVAL, "linear: the weights need more than %d bytes, the limit "
                              "of one buffer; offload fewer matrices", INT32_MAX);
    }
    d->x_floats = d->y_floats = CALL_BYTES / sizeof(float);
    if (d->x_floats < most_cols)
        d->x_floats = most_cols;
    if (d->y_floats < HX_LINEAR_PROJECT * most_rows)
        d->y_floats = HX_LINEAR_PROJECT * most_rows;
    return 0;
}

static void *shared(size_t bytes)
{
    return rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes);
}

static int pack(struct hx_linear_dsp *d, struct hx_error *err)
{
    float *row = malloc(HX_WEIGHTS_SLOT * sizeof(*row)); /* the most columns that pass measure() */

    d->weights = shared(d->weights_bytes);
    d->x = shared(d->x_floats * sizeof(float));
    d->y = shared(d->y_floats * sizeof(float));
    struct hx_error detail = {""};
    int rc = 0;

    if (!row || !d->weights || !d->x || !d->y)
        rc = hx_error_set(err, -ENOMEM, "linear: no memory for %zu bytes of weights",
                          d->weights_bytes);
    for (size_t i = 0; !rc && i < d->n; i++) {
        if (same_weights(d, i) < i)
            continue;
        rc = (is_basis(d, i) ? hx_linear_pack_basis : hx_linear_pack)(d->matrix[i], d->weights + d->table[i].offset, row, &detail);
        if (rc)
            hx_error_set(err, rc, "linear: matrix %zu of those for the DSP, %zu x %zu: %s", i,
                         d->matrix[i]->rows, d->matrix[i]->cols, detail.text);
    }
    free(row);
    return rc;
}

static int hand_over(struct hx_linear_dsp *d, struct hx_error *err)
{
    const int fd = rpcmem_to_fd(d->weights);
    int code = fastrpc_mmap(CDSP_DOMAIN_ID, fd, d->weights, 0, d->weights_bytes, FASTRPC_MAP_FD);

    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "linear: cannot map %zu bytes of weights",
                          d->weights_bytes);
    d->mapped = 1;
    code = hex_linear_load(d->skel.handle, fd, (uint32_t)d->weights_bytes, d->table, (int)d->n);
    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, d->skel.node, code, "linear: load of %zu matrices failed",
                          d->n);
    d->loaded = 1;
    for (size_t i = 0; i < d->n; i++) {
        d->matrix[i]->ops = &hx_linear_dsp_ops;
        d->matrix[i]->state = d;
        d->matrix[i]->index = (uint32_t)i;
    }
    return 0;
}

static int send_packets(struct hx_linear_dsp *d, struct hx_error *err)
{
    int rc = hx_packets_open(&d->skel, "linear", hex_linear_packets_attach, hex_linear_packets_detach, err);

    if (!rc)
        rc = hx_packets_share(&d->skel, "linear", d->x, d->x_floats * sizeof(*d->x), err);
    return rc ? rc : hx_packets_share(&d->skel, "linear", d->y, d->y_floats * sizeof(*d->y), err);
}

static void close_linear(struct hx_linear_method *m)
{
    struct hx_linear_dsp *d = (struct hx_linear_dsp *)m;

    if (d->loaded) /* first: a buffer that the DSP holds cannot be unmapped */
        hex_linear_load(d->skel.handle, -1, 0, NULL, 0);
    if (d->mapped)
        fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(d->weights), d->weights, d->weights_bytes);
    hx_skel_close(&d->skel);
    rpcmem_free(d->weights);
    rpcmem_free(d->x);
    rpcmem_free(d->y);
    free(d->matrix);
    free(d->table);
    free(d->place);
    free(d);
}

int hx_linear_dsp_open(struct hx_linear_method **out, const struct hx_linear_set *set, uint32_t placement,
                       int packets, struct hx_error *err)
{
    struct hx_linear_dsp *d = calloc(1, sizeof(*d));
    int rc;

    if (!d)
        return hx_error_set(err, -ENOMEM, "linear: out of memory");
    d->method.close = close_linear;
    d->how = (hex_linear_how){(int)placement, THREADS};
    d->matrix = calloc(set->n, sizeof(*d->matrix));
    d->table = calloc(set->n, sizeof(*d->table));
    d->place = calloc(set->n, sizeof(*d->place));
    if (!d->matrix || !d->table || !d->place) {
        close_linear(&d->method);
        return hx_error_set(err, -ENOMEM, "linear: out of memory");
    }
    for (size_t i = 0; i < set->n; i++) {
        d->place[d->n] = (struct hx_linear_place){set->at[i].layer, set->at[i].which, set->at[i].form};
        d->matrix[d->n++] = set->at[i].w;
    }
    rc = measure(d, err);
    if (!rc)
        rc = pack(d, err);
    if (!rc)
        rc = hx_skel_open(&d->skel, "linear", hex_linear_URI, err);
    if (!rc)
        rc = hand_over(d, err);
    if (!rc && packets)
        rc = send_packets(d, err);
    if (rc) {
        close_linear(&d->method);
        return rc;
    }
    *out = &d->method;
    return 0;
}
