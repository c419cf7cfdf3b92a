/* Serves calls that come as packets: takes one apart, calls the skel, and puts together the answer.  See packets.h.
 *
 * What lies in messages is copied to and from memory of the queue in which each argument is aligned as in a call. */
#include "packets.h"

#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "HAP_farf.h"
#include "dspqueue.h"
#include "hx_call_packet.h"

enum {
    ALIGN = 128,
    ANSWER_TIMEOUT_US = 1000000,
    HEADER = sizeof(struct hx_call_packet),
    ROOM = HX_CALL_MESSAGE + HX_CALL_ARGS * ALIGN, /* of arguments that lie in messages, each aligned */
};

struct hx_packet_queue {
    struct hx_packet_queue *next;
    struct hx_packet_queues *of;
    remote_handle64 handle;
    uint64_t id;
    dspqueue_t q;
    uint8_t *room;    /* [ROOM] */
    uint8_t *message; /* [HX_CALL_MESSAGE]: the request, then the answer */
};

/* One call as it was read. */
struct call {
    uint32_t sc, n_in, n_args, n_buffers, bytes;
    struct dspqueue_buffer buffer[HX_CALL_ARGS];
    struct hx_call_arg arg[HX_CALL_ARGS];
    remote_arg pra[HX_CALL_ARGS];
};

/* --- taking a packet apart */

/* A call with handles is refused; so open and close, which have some, never come this way. */
static int take_header(struct call *c, const uint8_t *message)
{
    struct hx_call_packet p;

    if (c->bytes < HEADER)
        return 0;
    memcpy(&p, message, HEADER);
    c->sc = p.sc;
    c->n_in = REMOTE_SCALARS_INBUFS(p.sc);
    c->n_args = c->n_in + REMOTE_SCALARS_OUTBUFS(p.sc);
    if (REMOTE_SCALARS_LENGTH(p.sc) != c->n_args || c->n_args > HX_CALL_ARGS || c->bytes < HEADER + c->n_args * sizeof(c->arg[0]))
        return 0;
    memcpy(c->arg, message + HEADER, c->n_args * sizeof(c->arg[0]));
    return 1;
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* *used: of the queue's room.  Outputs of messages begin as zero, as those of calls do. */
static int place_inline(const struct hx_packet_queue *q, struct call *c, uint32_t i, const uint8_t **from, size_t *used)
{
    const size_t bytes = c->arg[i].bytes;
    uint8_t *at = q->room + *used;

    if (bytes > ROOM - *used)
        return 0;
    if (i < c->n_in) {
        if (bytes > (size_t)(q->message + c->bytes - *from))
            return 0;
        memcpy(at, *from, bytes);
        *from += hx_call_padded(bytes);
        if (*from > q->message + c->bytes)
            *from = q->message + c->bytes;
    } else {
        memset(at, 0, bytes);
    }
    c->pra[i].buf = (remote_buf){bytes ? at : NULL, bytes};
    *used += aligned(bytes);
    return 1;
}

static int place(const struct hx_packet_queue *q, struct call *c)
{
    const uint8_t *from = q->message + HEADER + c->n_args * sizeof(c->arg[0]);
    size_t used = 0;

    for (uint32_t i = 0; i < c->n_args; i++) {
        const struct hx_call_arg *a = &c->arg[i];

        if (a->buffer == HX_CALL_INLINE) {
            if (!place_inline(q, c, i, &from, &used))
                return 0;
        } else if (a->buffer < c->n_buffers && a->bytes == c->buffer[a->buffer].size) {
            c->pra[i].buf = (remote_buf){c->buffer[a->buffer].ptr, a->bytes};
        } else {
            return 0;
        }
    }
    return 1;
}

/* --- answer */

/* Bytes of the message; 0: the outputs do not fit. */
static uint32_t collect(const struct hx_packet_queue *q, const struct call *c, struct dspqueue_buffer *out, uint32_t *n_out)
{
    size_t at = sizeof(struct hx_call_answer);

    *n_out = 0;
    for (uint32_t i = c->n_in; i < c->n_args; i++) {
        if (c->arg[i].buffer != HX_CALL_INLINE) {
            out[*n_out] = c->buffer[c->arg[i].buffer];
            out[(*n_out)++].flags = DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER | DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT;
            continue;
        }
        if (c->arg[i].bytes > HX_CALL_MESSAGE - at)
            return 0;
        if (c->arg[i].bytes)
            memcpy(q->message + at, c->pra[i].buf.pv, c->arg[i].bytes);
        at += hx_call_padded(c->arg[i].bytes);
    }
    return (uint32_t)at;
}

static int answer(struct hx_packet_queue *q, const struct call *c, int code)
{
    struct dspqueue_buffer out[HX_CALL_ARGS];
    uint32_t n_out = 0, bytes = code ? 0 : collect(q, c, out, &n_out);
    struct hx_call_answer a = {code, 0};

    if (!bytes) {
        a.code = code ? code : AEE_DSP(AEE_EBADPARM);
        bytes = sizeof(a);
        n_out = 0;
    }
    memcpy(q->message, &a, sizeof(a));
    return dspqueue_write(q->q, 0, n_out, out, bytes, q->message, ANSWER_TIMEOUT_US);
}

/* --- packets */

/* What is longer than any packet of ours, or has more buffers, is dropped: AEE_EBADPARM. */
static int read_packet(const struct hx_packet_queue *q, struct call *c)
{
    uint32_t bytes, buffers, flags;
    int rc = dspqueue_peek_noblock(q->q, NULL, &buffers, &bytes);

    if (rc)
        return rc;
    if (bytes <= HX_CALL_MESSAGE && buffers <= HX_CALL_ARGS)
        return dspqueue_read_noblock(q->q, &flags, HX_CALL_ARGS, &c->n_buffers, c->buffer, HX_CALL_MESSAGE, &c->bytes, q->message);
    rc = dspqueue_read_noblock(q->q, NULL, 0, NULL, NULL, 0, NULL, NULL);
    return rc ? rc : AEE_EBADPARM;
}

/* 1 while this thread serves a packet: it cannot wait for itself. */
static __thread int serving;

/* The generated skel has put the DSP's offset on its codes; here it is on all others. */
static int serve(const struct hx_packet_queue *q, struct call *c)
{
    int rc;

    if (!take_header(c, q->message) || !place(q, c))
        return AEE_DSP(AEE_EBADPARM);
    serving = 1;
    rc = q->of->invoke(q->handle, c->sc, c->pra);
    serving = 0;
    return rc;
}

static void packets_came(dspqueue_t unused, AEEResult error, void *context)
{
    struct hx_packet_queue *q = context;
    struct call c;
    int rc;

    (void)unused;
    (void)error;
    while ((rc = read_packet(q, &c)) != AEE_EWOULDBLOCK && rc != AEE_EBADITEM && rc != AEE_EINTERRUPTED) {
        rc = answer(q, &c, rc ? AEE_DSP(rc) : serve(q, &c));
        if (rc) {
            FARF(ERROR, "%s: the answer to a packet was not taken: 0x%x", q->of->name, (unsigned)rc);
            return;
        }
    }
}

/* --- queues */

static void release(struct hx_packet_queue *q)
{
    free(q->room);
    free(q->message);
    free(q);
}

static struct hx_packet_queue *make(struct hx_packet_queues *of, remote_handle64 h, uint64_t id)
{
    struct hx_packet_queue *q = calloc(1, sizeof(*q));

    if (!q)
        return NULL;
    *q = (struct hx_packet_queue){.of = of, .handle = h, .id = id, .room = aligned_alloc(ALIGN, ROOM), .message = malloc(HX_CALL_MESSAGE)};
    if (q->room && q->message)
        return q;
    release(q);
    return NULL;
}

int hx_packets_attach(struct hx_packet_queues *queues, remote_handle64 h, uint64_t id)
{
    struct hx_packet_queue *q = make(queues, h, id);
    int rc;

    if (!q)
        return AEE_ENOMEMORY;
    rc = dspqueue_import(id, packets_came, NULL, q, &q->q);
    if (rc) {
        FARF(ERROR, "%s: queue 0x%llx cannot be imported: 0x%x", queues->name, (unsigned long long)id, (unsigned)rc);
        release(q);
        return rc;
    }
    pthread_mutex_lock(&queues->lock);
    q->next = queues->first;
    queues->first = q;
    pthread_mutex_unlock(&queues->lock);
    return AEE_SUCCESS;
}

/* Takes a queue of this handle off the list; id 0: any. */
static struct hx_packet_queue *take(struct hx_packet_queues *queues, remote_handle64 h, uint64_t id)
{
    struct hx_packet_queue **at, *q;

    pthread_mutex_lock(&queues->lock);
    for (at = &queues->first; *at && ((*at)->handle != h || (id && (*at)->id != id)); at = &(*at)->next)
        ;
    q = *at;
    if (q)
        *at = q->next;
    pthread_mutex_unlock(&queues->lock);
    return q;
}

/* Waits for the callback. */
static int close_queue(struct hx_packet_queue *q)
{
    int rc = dspqueue_close(q->q);

    release(q);
    return rc;
}

int hx_packets_detach(struct hx_packet_queues *queues, remote_handle64 h, uint64_t id)
{
    struct hx_packet_queue *q;

    if (serving)
        return AEE_EBADSTATE;
    q = id ? take(queues, h, id) : NULL;
    return q ? close_queue(q) : AEE_ENOSUCH;
}

void hx_packets_drop(struct hx_packet_queues *queues, remote_handle64 h)
{
    struct hx_packet_queue *q;

    while ((q = take(queues, h, 0)))
        close_queue(q);
}
