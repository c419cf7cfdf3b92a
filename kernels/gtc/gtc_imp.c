/* Implements interface gtc on the DSP: a library of trajectories, in VTCM where there is room.
 *
 * Reentrant: calls on one handle take turns. */
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "HAP_vtcm_mgr.h"
#include "gtc.h"
#include "gtc_steps.h"
#include "hexrig_purpose.h"
#include "hexrig_uncosted.h"
#include "qurt_hvx.h"
#include "qurt_mutex.h"
#include "skel/handles.h"
#include "skel/kernel.h"
#include "skel/packets.h"
#include "skel/weights.h"

HX_UNCOSTED("distances, corrections and what is between them are listed; the loop over questions and differences to starts are not");

enum { AXES = HX_TRAJECTORY_AXES, LANES = HX_TRAJECTORY_LANES, MOST_RECORDS = 1 << 20, MOST_IN_VTCM = 4 << 20 };

struct state {
    struct hx_handle handle;
    qurt_mutex_t lock; /* held for the length of a call; protects what follows */
    struct hx_weights_map map;
    uint8_t *vtcm;       /* a copy; NULL: they are read where they lie */
    const uint8_t *mapped;
    size_t bytes;
    struct hx_gtc_library library; /* starts NULL: nothing is loaded */
    float *room;         /* [blocks * 32] of a look-up */
    uint32_t *numbers;   /* [blocks * 32] likewise */
};

/* --- handles */

static void unload(struct state *s)
{
    if (s->vtcm) {
        hx_purpose_set(s->vtcm, s->bytes, HX_PURPOSE_OTHER);
        HAP_release_VTCM(s->vtcm);
    }
    if (s->mapped)
        hx_purpose_set(s->mapped, s->bytes, HX_PURPOSE_OTHER);
    hx_weights_unmap(&s->map);
    free(s->room);
    free(s->numbers);
    s->vtcm = NULL;
    s->mapped = NULL;
    s->room = NULL;
    s->numbers = NULL;
    s->library = (struct hx_gtc_library){0};
}

static void drop(struct hx_handle *h)
{
    struct state *s = (struct state *)h;

    unload(s);
    qurt_mutex_destroy(&s->lock);
    free(s);
}

static struct hx_handles handles = HX_HANDLES("gtc", drop, NULL);
static struct hx_packet_queues queues = HX_PACKET_QUEUES("gtc", gtc_skel_handle_invoke);

int gtc_open(const char *uri, remote_handle64 *h)
{
    struct state *s = calloc(1, sizeof(*s));
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

int gtc_close(remote_handle64 h)
{
    hx_packets_drop(&queues, h);
    return hx_handle_close(&handles, h);
}

int gtc_packets_attach(remote_handle64 h, uint64_t id)
{
    return hx_packets_attach(&queues, h, id);
}

int gtc_packets_detach(remote_handle64 h, uint64_t id)
{
    return hx_packets_detach(&queues, h, id);
}

/* The state behind a handle, locked, or NULL; give it back with put(). */
static struct state *get(remote_handle64 h)
{
    struct state *s = (struct state *)hx_handle_get(&handles, h);

    if (s)
        qurt_mutex_lock(&s->lock);
    return s;
}

static int put(struct state *s, int rc)
{
    qurt_mutex_unlock(&s->lock);
    hx_handle_put(&handles, &s->handle);
    return rc;
}

static int refuse(const char *what, size_t value)
{
    FARF(ERROR, "gtc: %s %zu: there is no such thing, or it does not fit", what, value);
    return AEE_EBADPARM;
}

/* --- calls */

static int load(struct state *s, int fd, size_t bytes, size_t records)
{
    const uint8_t *base = NULL;
    int rc;

    if (records < 1 || records > MOST_RECORDS)
        return refuse("records", records);
    if (hx_trajectories_bytes(records) > bytes)
        return refuse("bytes of records", bytes);
    rc = hx_weights_map(&s->map, "gtc", fd, bytes, &base);
    if (rc)
        return rc;
    s->bytes = hx_trajectories_bytes(records);
    s->library = (struct hx_gtc_library){.n = (uint32_t)records, .blocks = (uint32_t)hx_trajectory_blocks(records)};
    s->room = aligned_alloc(HX_VECTOR_BYTES, s->library.blocks * HX_VECTOR_BYTES);
    s->numbers = malloc(s->library.blocks * LANES * sizeof(*s->numbers));
    if (!s->room || !s->numbers)
        return AEE_ENOMEMORY;
    if (s->bytes <= MOST_IN_VTCM)
        s->vtcm = HAP_request_VTCM((unsigned)s->bytes, 0);
    if (s->vtcm) {
        memcpy(s->vtcm, base, s->bytes);
        hx_purpose_set(s->vtcm, s->bytes, HX_PURPOSE_TABLES);
    } else {
        FARF(HIGH, "gtc: vtcm: no %zu bytes for trajectories, which are read where they lie", s->bytes);
        s->mapped = base;
        hx_purpose_set(base, s->bytes, HX_PURPOSE_TABLES);
    }
    s->library.starts = (const float *)(s->vtcm ? s->vtcm : base);
    s->library.records = s->library.starts + (size_t)s->library.blocks * AXES * LANES;
    s->library.metrics = s->library.starts + hx_trajectories_metrics(records);
    return AEE_SUCCESS;
}

int gtc_load(remote_handle64 h, int fd, unsigned int bytes, unsigned int records, unsigned int *in_vtcm)
{
    struct state *s = get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    unload(s);
    rc = load(s, fd, bytes, records);
    if (rc)
        unload(s);
    *in_vtcm = s->vtcm ? (unsigned)s->bytes : 0;
    return put(s, rc);
}

static void start_of(const struct state *s, uint32_t record, float *q)
{
    for (uint32_t l = 0; l < AXES; l++)
        q[l] = s->library.starts[(record / LANES * AXES + l) * LANES + record % LANES];
}

/* An HVX context, or why there is nothing to do with one. */
static int begin(const struct state *s, int fits, size_t floats)
{
    if (!s->library.starts) {
        FARF(ERROR, "gtc: no trajectories are loaded");
        return AEE_EBADSTATE;
    }
    if (!fits)
        return refuse("questions of the wrong length, or not aligned; floats", floats);
    return qurt_hvx_lock(QURT_HVX_MODE_128B) == QURT_HVX_LOCK_SUCCESS ? AEE_SUCCESS : AEE_EFAILED;
}

int gtc_correct(remote_handle64 h, unsigned int record, const float *x, int xLen, float *y, int yLen)
{
    const size_t n = (size_t)xLen / AXES;
    struct state *s = get(h);
    float q[AXES];
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    rc = begin(s,
               n && (size_t)xLen == n * AXES && n % LANES == 0 && xLen == yLen && hx_is_aligned(x) && hx_is_aligned(y) &&
                   record < s->library.n,
               (size_t)xLen);
    if (rc)
        return put(s, rc);
    start_of(s, record, q);
    hx_gtc_correct_hvx(s->library.records + (size_t)record * HX_TRAJECTORY_FLOATS, q, x, (uint32_t)n, y);
    qurt_hvx_unlock();
    return put(s, AEE_SUCCESS);
}

int gtc_serve(remote_handle64 h, const float *x, int xLen, unsigned int *which, int whichLen, float *d2, int d2Len, float *y, int yLen)
{
    const size_t n = (size_t)xLen / AXES;
    struct state *s = get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    rc = begin(s, n && (size_t)xLen == n * AXES && (size_t)whichLen == n && (size_t)d2Len == n && yLen == xLen, (size_t)xLen);
    if (rc)
        return put(s, rc);
    for (size_t b = 0; b < n; b++) {
        const struct hx_gtc_nearest found = hx_gtc_nearest_hvx(s->library.starts, s->library.blocks, x + b * AXES);
        const uint32_t record = found.which < s->library.n ? found.which : 0; /* a question that is no number has none */
        float off[AXES];

        start_of(s, record, off);
        for (uint32_t l = 0; l < AXES; l++)
            off[l] = x[b * AXES + l] - off[l];
        hx_gtc_correct_one_hvx(s->library.records + (size_t)record * HX_TRAJECTORY_FLOATS, off, y + b * AXES);
        which[b] = record;
        d2[b] = found.d2;
    }
    qurt_hvx_unlock();
    return put(s, AEE_SUCCESS);
}

int gtc_look_up(remote_handle64 h, const float *x, int xLen, unsigned int *which, int whichLen, float *d2, int d2Len, float *g2, int g2Len,
                float *y, int yLen)
{
    const size_t n = (size_t)xLen / AXES;
    struct state *s = get(h);
    int rc;

    if (!s)
        return AEE_EINVHANDLE;
    rc = begin(s, n && (size_t)xLen == n * AXES && (size_t)whichLen == n && (size_t)d2Len == n && (size_t)g2Len == n && yLen == xLen,
               (size_t)xLen);
    if (rc)
        return put(s, rc);
    for (size_t b = 0; b < n; b++) {
        const struct hx_gtc_found found = hx_gtc_look_up_hvx(&s->library, x + b * AXES, s->room, s->numbers, y + b * AXES);

        which[b] = found.which;
        d2[b] = found.d2;
        g2[b] = found.g2;
    }
    qurt_hvx_unlock();
    return put(s, AEE_SUCCESS);
}
