/* Trajectories in DSP memory, see library_dsp.h. */
#include "library_dsp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/dsp_error.h"
#include "dsp/packets.h"
#include "dsp/skel.h"
#include "gtc.h"
#include "hx_trajectories.h"
#include "rpcmem.h"

enum { AXES = HX_TRAJECTORY_AXES, LANES = HX_TRAJECTORY_LANES };

static const char who[] = "trajectories";

struct hx_library_dsp {
    struct hx_skel skel;
    float *image; /* rpcmem */
    size_t bytes, n, axes, most;
    int mapped;
    uint32_t in_vtcm;
    float *x, *y, *d2, *g2; /* rpcmem, of a call: [most rounded up][8] twice, [most] twice */
    uint32_t *which;   /* rpcmem, [most] */
};

static void *alloc(size_t bytes)
{
    return rpcmem_alloc2(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes);
}

static size_t rounded(size_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

void hx_library_dsp_close(struct hx_library_dsp *l)
{
    if (!l)
        return;
    hx_skel_close(&l->skel); /* first: a buffer that the DSP holds cannot be unmapped */
    if (l->mapped)
        fastrpc_munmap(CDSP_DOMAIN_ID, rpcmem_to_fd(l->image), l->image, l->bytes);
    rpcmem_free(l->image);
    rpcmem_free(l->x);
    rpcmem_free(l->y);
    rpcmem_free(l->d2);
    rpcmem_free(l->g2);
    rpcmem_free(l->which);
    free(l);
}

/* rpcmem is zeroed, so what is behind the trajectories' axes is 0. */
static int lay_out(struct hx_library_dsp *l, const struct hx_trajectory *t, struct hx_error *err)
{
    float *records = l->image + hx_trajectory_blocks(l->n) * AXES * LANES, *metrics = l->image + hx_trajectories_metrics(l->n);

    for (size_t i = 0; i < rounded(l->n); i++)
        for (size_t k = 0; k < AXES; k++)
            l->image[(i / LANES * AXES + k) * LANES + i % LANES] =
                i >= l->n ? HX_TRAJECTORY_FAR : k < l->axes ? (float)t[i].q[k] : 0;
    for (size_t i = 0; i < l->n; i++) {
        float *r = records + i * HX_TRAJECTORY_FLOATS, *g = metrics + i * HX_TRAJECTORY_METRIC;
        int finite = 1;

        for (size_t k = 0; k < l->axes; k++) {
            r[hx_trajectory_end(k)] = (float)t[i].end[k];
            for (size_t j = 0; j < l->axes; j++) {
                r[k * AXES + j] = (float)t[i].correct[k * l->axes + j];
                g[k * AXES + j] = (float)t[i].g[k * l->axes + j];
            }
        }
        for (size_t k = 0; k < HX_TRAJECTORY_FLOATS; k++) /* qf32 holds neither infinities nor NaNs */
            finite = finite && isfinite(r[k]) && isfinite(g[k % HX_TRAJECTORY_METRIC]);
        if (!finite)
            return hx_error_set(err, -EINVAL, "trajectories: number %zu is not finite", i);
    }
    return 0;
}

static int hand_over(struct hx_library_dsp *l, struct hx_error *err)
{
    const int fd = rpcmem_to_fd(l->image);
    int code = fastrpc_mmap(CDSP_DOMAIN_ID, fd, l->image, 0, l->bytes, FASTRPC_MAP_FD);

    l->mapped = !code;
    if (!code)
        code = gtc_load(l->skel.handle, fd, (uint32_t)l->bytes, (uint32_t)l->n, &l->in_vtcm);
    return code ? hx_dsp_error(err, HX_DSP_CALL, l->skel.node, code, "trajectories: load of %zu bytes failed", l->bytes) : 0;
}

static int open_buffers(struct hx_library_dsp *l, int packets, struct hx_error *err)
{
    const size_t floats = rounded(l->most) * AXES;
    int rc;

    l->x = alloc(floats * sizeof(*l->x));
    l->y = alloc(floats * sizeof(*l->y));
    l->d2 = alloc(l->most * sizeof(*l->d2));
    l->g2 = alloc(l->most * sizeof(*l->g2));
    l->which = alloc(l->most * sizeof(*l->which));
    if (!l->x || !l->y || !l->d2 || !l->g2 || !l->which)
        return hx_error_set(err, -ENOMEM, "trajectories: no memory for calls of %zu questions", l->most);
    rc = packets ? hx_packets_open(&l->skel, who, gtc_packets_attach, gtc_packets_detach, err) : 0;
    if (!rc && packets)
        rc = hx_packets_share(&l->skel, who, l->x, floats * sizeof(*l->x), err);
    if (!rc && packets)
        rc = hx_packets_share(&l->skel, who, l->y, floats * sizeof(*l->y), err);
    if (!rc && packets)
        rc = hx_packets_share(&l->skel, who, l->d2, l->most * sizeof(*l->d2), err);
    if (!rc && packets)
        rc = hx_packets_share(&l->skel, who, l->g2, l->most * sizeof(*l->g2), err);
    return rc || !packets ? rc : hx_packets_share(&l->skel, who, l->which, l->most * sizeof(*l->which), err);
}

int hx_library_dsp_open(struct hx_library_dsp **out, const struct hx_trajectory *t, size_t n, size_t most, int packets,
                        struct hx_error *err)
{
    struct hx_library_dsp *l = calloc(1, sizeof(*l));
    int rc = 0;

    if (!l)
        return hx_error_set(err, -ENOMEM, "trajectories: out of memory");
    l->n = n;
    l->axes = t->n;
    l->most = most;
    l->bytes = hx_trajectories_bytes(n);
    l->image = alloc(l->bytes);
    if (!l->image)
        rc = hx_error_set(err, -ENOMEM, "trajectories: no memory for %zu bytes", l->bytes);
    if (!rc)
        rc = lay_out(l, t, err);
    if (!rc)
        rc = hx_skel_open(&l->skel, who, gtc_URI, err);
    if (!rc)
        rc = hand_over(l, err);
    if (!rc)
        rc = open_buffers(l, packets, err);
    if (rc)
        hx_library_dsp_close(l);
    else
        *out = l;
    return rc;
}

size_t hx_library_dsp_bytes(const struct hx_library_dsp *l)
{
    return l->bytes;
}

size_t hx_library_dsp_in_vtcm(const struct hx_library_dsp *l)
{
    return l->in_vtcm;
}

static void put_questions(struct hx_library_dsp *l, const double *x, size_t n)
{
    for (size_t i = 0; i < n * AXES; i++)
        l->x[i] = i % AXES < l->axes ? (float)x[i / AXES * l->axes + i % AXES] : 0;
}

static void take_answers(const struct hx_library_dsp *l, size_t n, uint32_t *which, double *y)
{
    memcpy(which, l->which, n * sizeof(*which));
    for (size_t i = 0; i < n * l->axes; i++)
        y[i] = (double)l->y[i / l->axes * AXES + i % l->axes];
}

int hx_library_dsp_serve(struct hx_library_dsp *l, const double *x, size_t n, uint32_t *which, double *y, struct hx_error *err)
{
    const int floats = (int)(n * AXES);
    int code;

    put_questions(l, x, n);
    code = gtc_serve(l->skel.handle, l->x, floats, l->which, (int)n, l->d2, (int)n, l->y, floats);
    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, l->skel.node, code, "trajectories: serving %zu questions failed", n);
    take_answers(l, n, which, y);
    return 0;
}

int hx_library_dsp_look_up(struct hx_library_dsp *l, const double *x, size_t n, uint32_t *which, double *g2, double *y,
                           struct hx_error *err)
{
    const int floats = (int)(n * AXES), many = (int)n;
    int code;

    put_questions(l, x, n);
    code = gtc_look_up(l->skel.handle, l->x, floats, l->which, many, l->d2, many, l->g2, many, l->y, floats);
    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, l->skel.node, code, "trajectories: looking %zu questions up failed", n);
    take_answers(l, n, which, y);
    for (size_t i = 0; i < n && g2; i++)
        g2[i] = (double)l->g2[i];
    return 0;
}

int hx_library_dsp_correct(struct hx_library_dsp *l, size_t which, const double *x, size_t n, double *y, struct hx_error *err)
{
    const size_t wide = rounded(n);
    const int floats = (int)(wide * AXES);
    int code;

    memset(l->x, 0, wide * AXES * sizeof(*l->x));
    for (size_t k = 0; k < l->axes; k++)
        for (size_t i = 0; i < n; i++)
            l->x[k * wide + i] = (float)x[k * n + i];
    code = gtc_correct(l->skel.handle, (uint32_t)which, l->x, floats, l->y, floats);
    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, l->skel.node, code, "trajectories: correcting %zu questions failed", n);
    for (size_t k = 0; k < l->axes; k++)
        for (size_t i = 0; i < n; i++)
            y[k * n + i] = (double)l->y[k * wide + i];
    return 0;
}
