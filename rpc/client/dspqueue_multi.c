/* One dspqueue handle for several sessions: a queue to each, written in turn, read from the first that has a packet. */
#include "hx_export.h"

#include "hx_dspqueue_multi.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hx_context_table.h"

struct dspqueue_multi {
    pthread_mutex_t write_lock, read_lock; /* one writer and one reader at a time */
    unsigned n;
    dspqueue_t queue[HX_SESSIONS]; /* [n] in the order of the context's domains */
};

static AEEResult close_parts(struct dspqueue_multi *m)
{
    AEEResult first = AEE_SUCCESS;

    for (unsigned i = 0; i < m->n; i++) {
        AEEResult rc = m->queue[i] ? hx_queue_close(m->queue[i]) : AEE_SUCCESS;

        first = first ? first : rc;
    }
    pthread_mutex_destroy(&m->write_lock);
    pthread_mutex_destroy(&m->read_lock);
    free(m);
    return first;
}

static int open_parts(struct dspqueue_multi *m, const dspqueue_create_req *c, const int *domains,
                      uint64_t *ids)
{
    const struct dspqueue want = {.packet_callback = c->packet_callback,
                                  .error_callback = c->error_callback,
                                  .callback_context = c->callback_context};
    int rc = AEE_SUCCESS;

    for (unsigned i = 0; i < m->n && rc == AEE_SUCCESS; i++) {
        rc = hx_queue_create(domains[i], &want, c->req_queue_size, c->resp_queue_size,
                             &m->queue[i]);
        if (rc == AEE_SUCCESS)
            ids[i] = m->queue[i]->dsp_id;
    }
    return rc;
}

static int create(dspqueue_create_req *c)
{
    struct dspqueue_multi *m;
    struct dspqueue *whole;
    uint64_t ids[HX_SESSIONS];
    int domains[HX_SESSIONS], rc;
    unsigned n;

    rc = hx_context_domains(c->ctx, domains, &n);
    if (rc)
        return rc;
    if (!c->ids || c->num_ids < n || c->flags || c->priority)
        return AEE_EBADPARM;
    c->queue = NULL;
    memset(c->ids, 0, c->num_ids * sizeof(*c->ids));
    m = calloc(1, sizeof(*m));
    whole = calloc(1, sizeof(*whole));
    if (!m || !whole) {
        free(m);
        free(whole);
        return AEE_ENOMEMORY;
    }
    pthread_mutex_init(&m->write_lock, NULL);
    pthread_mutex_init(&m->read_lock, NULL);
    m->n = n;
    rc = open_parts(m, c, domains, ids);
    if (rc) {
        close_parts(m);
        free(whole);
        return rc;
    }
    whole->multi = m;
    c->queue = whole;
    memcpy(c->ids, ids, n * sizeof(*ids));
    return AEE_SUCCESS;
}

int dspqueue_request(dspqueue_request_payload *req)
{
    if (!req)
        return AEE_EBADPARM;
    return req->id == DSPQUEUE_CREATE ? create(&req->create) : AEE_EUNSUPPORTED;
}

AEEResult hx_multi_close(struct dspqueue *whole)
{
    AEEResult rc;

    for (unsigned i = 0; i < whole->multi->n; i++) {
        const struct dspqueue *d = whole->multi->queue[i];

        if (d->packet_callback && pthread_equal(d->thread, pthread_self()))
            return AEE_EBADSTATE;
    }
    rc = close_parts(whole->multi);
    free(whole);
    return rc;
}

AEEResult hx_multi_write(struct dspqueue_multi *m, uint32_t flags, uint32_t num_buffers,
                         struct dspqueue_buffer *buffers, uint32_t message_length,
                         const uint8_t *message, uint32_t timeout_us)
{
    AEEResult rc = AEE_SUCCESS;

    pthread_mutex_lock(&m->write_lock);
    for (unsigned i = 0; i < m->n && rc == AEE_SUCCESS; i++)
        rc = hx_dspq_write(&m->queue[i]->q, flags, num_buffers, buffers, message_length, message,
                           timeout_us);
    pthread_mutex_unlock(&m->write_lock);
    /* some sessions may have the packet and others not: that cannot be undone */
    return rc ? AEE_EBADSTATE : AEE_SUCCESS;
}

AEEResult hx_multi_read(struct dspqueue_multi *m, uint32_t *flags, uint32_t max_buffers,
                        uint32_t *num_buffers, struct dspqueue_buffer *buffers,
                        uint32_t max_message_length, uint32_t *message_length, uint8_t *message,
                        uint32_t timeout_us)
{
    AEEResult rc = AEE_EWOULDBLOCK;

    if (timeout_us && m->n > 1)
        return AEE_EUNSUPPORTED;
    pthread_mutex_lock(&m->read_lock);
    for (unsigned i = 0; i < m->n && rc == AEE_EWOULDBLOCK; i++)
        rc = hx_dspq_read(&m->queue[i]->q, flags, max_buffers, num_buffers, buffers,
                          max_message_length, message_length, message, timeout_us);
    pthread_mutex_unlock(&m->read_lock);
    return rc;
}

AEEResult hx_multi_peek(struct dspqueue_multi *m, uint32_t *flags, uint32_t *num_buffers,
                        uint32_t *message_length, uint32_t timeout_us)
{
    AEEResult rc = AEE_EWOULDBLOCK;

    if (timeout_us && m->n > 1)
        return AEE_EUNSUPPORTED;
    pthread_mutex_lock(&m->read_lock);
    for (unsigned i = 0; i < m->n && rc == AEE_EWOULDBLOCK; i++)
        rc = hx_dspq_peek(&m->queue[i]->q, flags, num_buffers, message_length, timeout_us);
    pthread_mutex_unlock(&m->read_lock);
    return rc;
}

AEEResult hx_multi_stat(struct dspqueue_multi *m, enum dspqueue_stat stat, uint64_t *value)
{
    return m->n > 1 ? AEE_EUNSUPPORTED : hx_dspq_stat(&m->queue[0]->q, stat, value);
}
