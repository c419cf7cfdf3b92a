/* Calls as packets, the host's end: see packets.h. */
#include "packets.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "dsp_error.h"
#include "dspqueue.h"
#include "hx_call_packet.h"
#include "invoke.h"
#include "rpcmem.h"

enum { QUEUE_BYTES = 4 * HX_CALL_MESSAGE, HEADER = sizeof(struct hx_call_packet) };

/* Shared memory that is mapped into the PD. */
struct share {
    struct share *next;
    uint8_t *at;
    size_t bytes;
    int fd;
};

struct hx_packets {
    remote_handle64 handle;
    hx_packets_method *detach; /* NULL: the DSP has not got the queue */
    dspqueue_t q;
    uint64_t id;
    struct share *shares;
    pthread_mutex_t lock; /* held from a packet to its answer; protects message */
    uint8_t message[HX_CALL_MESSAGE];
};

/* One call on its way. */
struct packet {
    uint32_t n_in, n_args, n_buffers;
    struct dspqueue_buffer buffer[HX_CALL_ARGS];
    struct hx_call_arg arg[HX_CALL_ARGS];
    size_t bytes; /* of the message */
};

/* --- a call */

static const struct share *share_of(const struct hx_packets *q, const remote_buf *b)
{
    const uint8_t *at = b->pv;
    const struct share *s = q->shares;

    while (s && (at < s->at || at >= s->at + s->bytes || b->nLen > (size_t)(s->at + s->bytes - at)))
        s = s->next;
    return s;
}

static void add_buffer(struct packet *p, uint32_t i, const struct share *s, const remote_buf *b)
{
    p->arg[i].buffer = p->n_buffers;
    p->buffer[p->n_buffers++] = (struct dspqueue_buffer){
        .fd = (uint32_t)s->fd,
        .size = (uint32_t)b->nLen,
        .offset = (uint32_t)((const uint8_t *)b->pv - s->at),
        .flags = DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER | DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT,
    };
}

/* Where each argument goes, and how long the message and its answer will be.  0: too long, or no call for packets. */
static int plan(const struct hx_packets *q, struct packet *p, uint32_t sc, const remote_arg *args)
{
    size_t back = sizeof(struct hx_call_answer);

    *p = (struct packet){.n_in = REMOTE_SCALARS_INBUFS(sc), .n_args = REMOTE_SCALARS_LENGTH(sc)};
    if (p->n_args != p->n_in + REMOTE_SCALARS_OUTBUFS(sc) || p->n_args > HX_CALL_ARGS)
        return 0;
    p->bytes = HEADER + p->n_args * sizeof(p->arg[0]);
    for (uint32_t i = 0; i < p->n_args; i++) {
        const remote_buf *b = &args[i].buf;
        const struct share *s = b->nLen ? share_of(q, b) : NULL;
        size_t *message = i < p->n_in ? &p->bytes : &back;

        if (b->nLen > INT32_MAX)
            return 0;
        p->arg[i] = (struct hx_call_arg){(uint32_t)b->nLen, HX_CALL_INLINE};
        if (s)
            add_buffer(p, i, s, b);
        else
            *message += hx_call_padded(b->nLen);
    }
    return p->bytes <= HX_CALL_MESSAGE && back <= HX_CALL_MESSAGE;
}

static void write_message(uint8_t *message, const struct packet *p, uint32_t sc, const remote_arg *args)
{
    const struct hx_call_packet head = {sc, 0};
    const size_t arg_bytes = p->n_args * sizeof(p->arg[0]);
    uint8_t *at = message + HEADER + arg_bytes;

    memcpy(message, &head, HEADER);
    memcpy(message + HEADER, p->arg, arg_bytes);
    for (uint32_t i = 0; i < p->n_in; i++) {
        const size_t bytes = p->arg[i].bytes, padded = hx_call_padded(bytes);

        if (p->arg[i].buffer != HX_CALL_INLINE || !bytes)
            continue;
        memcpy(at, args[i].buf.pv, bytes);
        memset(at + bytes, 0, padded - bytes);
        at += padded;
    }
}

/* The answer's outputs to where the caller wants them.  AEE_EBADITEM: it has another length than they have. */
static int read_outputs(const uint8_t *message, size_t bytes, const struct packet *p, remote_arg *args)
{
    size_t at = sizeof(struct hx_call_answer);

    for (uint32_t i = p->n_in; i < p->n_args; i++) {
        if (p->arg[i].buffer != HX_CALL_INLINE)
            continue;
        if (p->arg[i].bytes > bytes - at)
            return AEE_EBADITEM;
        if (p->arg[i].bytes)
            memcpy(args[i].buf.pv, message + at, p->arg[i].bytes);
        at += hx_call_padded(p->arg[i].bytes);
        at = at < bytes ? at : bytes;
    }
    return AEE_SUCCESS;
}

/* The lock is held. */
static int exchange(struct hx_packets *q, struct packet *p, remote_arg *args)
{
    struct dspqueue_buffer back[HX_CALL_ARGS];
    struct hx_call_answer a;
    uint32_t n, bytes, flags;
    int code = dspqueue_write(q->q, 0, p->n_buffers, p->buffer, (uint32_t)p->bytes, q->message, DSPQUEUE_TIMEOUT_NONE);

    if (!code)
        code = dspqueue_read(q->q, &flags, HX_CALL_ARGS, &n, back, HX_CALL_MESSAGE, &bytes, q->message, DSPQUEUE_TIMEOUT_NONE);
    if (code)
        return code;
    if (bytes < sizeof(a))
        return AEE_EBADITEM;
    memcpy(&a, q->message, sizeof(a));
    return a.code ? a.code : read_outputs(q->message, bytes, p, args);
}

static int invoke(void *context, uint32_t sc, remote_arg *args)
{
    struct hx_packets *q = context;
    struct packet p;
    int code;

    if (!plan(q, &p, sc, args))
        return remote_handle64_invoke(q->handle, sc, args);
    pthread_mutex_lock(&q->lock);
    write_message(q->message, &p, sc, args);
    code = exchange(q, &p, args);
    pthread_mutex_unlock(&q->lock);
    return code;
}

/* --- shared memory */

int hx_packets_share(struct hx_skel *s, const char *who, void *memory, size_t bytes, struct hx_error *err)
{
    struct share *new;
    int code;

    if (!s->packets)
        return 0;
    new = malloc(sizeof(*new));
    if (!new)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", who);
    *new = (struct share){s->packets->shares, memory, bytes, rpcmem_to_fd(memory)};
    code = fastrpc_mmap(CDSP_DOMAIN_ID, new->fd, memory, 0, bytes, FASTRPC_MAP_FD);
    if (code) {
        free(new);
        return hx_dsp_error(err, HX_DSP_CALL, s->node, code, "%s: cannot map %zu bytes", who, bytes);
    }
    s->packets->shares = new;
    return 0;
}

static void drop_share(struct share *s)
{
    fastrpc_munmap(CDSP_DOMAIN_ID, s->fd, s->at, s->bytes);
    free(s);
}

void hx_packets_unshare(struct hx_skel *s, void *memory)
{
    struct share **at, *old;

    if (!s->packets)
        return;
    for (at = &s->packets->shares; *at && (*at)->at != memory; at = &(*at)->next)
        ;
    old = *at;
    if (!old)
        return;
    *at = old->next;
    drop_share(old);
}

/* --- opening and closing */

static int open_queue(struct hx_packets *q, hx_packets_method *attach, hx_packets_method *detach)
{
    int code = dspqueue_create(CDSP_DOMAIN_ID, 0, QUEUE_BYTES, QUEUE_BYTES, NULL, NULL, NULL, &q->q);

    if (!code)
        code = dspqueue_export(q->q, &q->id);
    if (!code)
        code = attach(q->handle, q->id);
    q->detach = code ? NULL : detach;
    return code;
}

int hx_packets_open(struct hx_skel *s, const char *who, hx_packets_method *attach, hx_packets_method *detach, struct hx_error *err)
{
    struct hx_packets *q = calloc(1, sizeof(*q));
    int code;

    if (!q)
        return hx_error_set(err, -ENOMEM, "%s: out of memory", who);
    q->handle = s->handle;
    pthread_mutex_init(&q->lock, NULL);
    code = open_queue(q, attach, detach);
    if (!code && !hx_invoke_divert(s->handle, invoke, q)) {
        s->packets = q;
        return 0;
    }
    hx_packets_close(q);
    return code ? hx_dsp_error(err, HX_DSP_CALL, s->node, code, "%s: cannot make a dspqueue", who)
                : hx_error_set(err, -ENOMEM, "%s: out of memory", who);
}

void hx_packets_close(struct hx_packets *q)
{
    if (!q)
        return;
    hx_invoke_restore(q->handle); /* detach is a call again */
    if (q->detach)
        q->detach(q->handle, q->id);
    if (q->q)
        dspqueue_close(q->q);
    while (q->shares) {
        struct share *s = q->shares;

        q->shares = s->next;
        drop_share(s);
    }
    pthread_mutex_destroy(&q->lock);
    free(q);
}
