/* Density queue: the work of per-token as packets on a dspqueue, one for each token: it encodes what the token before brought,
 * then decodes all layers of all positions.  No calls. */
#include <errno.h>
#include <stdlib.h>

#include "dsp/dsp_error.h"
#include "dspqueue.h"
#include "hx_sp_packet.h"
#include "kv_spinor_dispatch.h"
#include "rpcmem.h"

enum { WORKS_MAX = 2, NONE = -1 };

struct hx_spinor_queue {
    dspqueue_t q;
    uint64_t id;
    int attached;
    int x_fd, blocks_fd; /* mapped into the PD; NONE: not */
    size_t pending_pos, pending_n; /* put, but not encoded yet */
};

struct packet {
    struct hx_sp_work work[WORKS_MAX];
    struct dspqueue_buffer buffer[2 * WORKS_MAX];
    uint32_t n;
};

/* Queues have no names for what goes through them; these are the same words as in calls. */
static const char *const op_names[HX_SP_OPS] = {
    [HX_SP_ENCODE] = "hier_encode packet",
    [HX_SP_DECODE] = "hier_decode packet",
};

static void add_work(struct packet *p, const struct hx_kv_spinor *s, enum hx_sp_op op, size_t pos,
                     size_t n)
{
    const size_t slots = s->kv.n_layer * s->n_slots;
    const size_t x = slots * s->shape->dh * sizeof(float), blocks = slots * s->shape->slot;
    const uint32_t flags = DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER |
                           DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT;
    const struct hx_spinor_queue *q = s->queue;

    p->work[p->n] = (struct hx_sp_work){(uint32_t)op, 0, (int32_t)slots, (int32_t)n};
    p->buffer[2 * p->n] = (struct dspqueue_buffer){.fd = (uint32_t)q->x_fd,
                                                   .size = (uint32_t)(n * x),
                                                   .offset = (uint32_t)(pos * x),
                                                   .flags = flags};
    p->buffer[2 * p->n + 1] = (struct dspqueue_buffer){.fd = (uint32_t)q->blocks_fd,
                                                       .size = (uint32_t)(n * blocks),
                                                       .offset = (uint32_t)(pos * blocks),
                                                       .flags = flags};
    p->n++;
}

/* Sends a packet and waits for its answer.  AEE code; *work: what failed. */
static int exchange(struct hx_spinor_queue *q, struct packet *p, uint32_t *work)
{
    struct dspqueue_buffer out[WORKS_MAX];
    struct hx_sp_answer a;
    uint32_t n, bytes, flags;
    int code = dspqueue_write(q->q, 0, 2 * p->n, p->buffer, p->n * (uint32_t)sizeof(p->work[0]),
                              (const uint8_t *)p->work, DSPQUEUE_TIMEOUT_NONE);

    if (code == AEE_SUCCESS)
        code = dspqueue_read(q->q, &flags, WORKS_MAX, &n, out, sizeof(a), &bytes, (uint8_t *)&a,
                             DSPQUEUE_TIMEOUT_NONE);
    if (code)
        return code;
    if (bytes != sizeof(a))
        return AEE_EBADITEM;
    *work = a.work;
    return a.code;
}

static int send(struct hx_kv_spinor *s, struct packet *p, size_t n_decode, struct hx_error *err)
{
    struct hx_spinor_queue *q = s->queue;
    uint32_t work = 0;
    int code, encode;

    if (p->n == 0)
        return 0;
    code = exchange(q, p, &work);
    if (code == AEE_SUCCESS) {
        q->pending_n = 0;
        return 0;
    }
    encode = p->work[work < p->n ? work : 0].op == HX_SP_ENCODE;
    return encode ? hx_spinor_failed(s, op_names[HX_SP_ENCODE], 0, q->pending_pos,
                                     q->pending_pos + q->pending_n - 1, code, err)
                  : hx_spinor_failed(s, op_names[HX_SP_DECODE], 0, 0, n_decode - 1, code, err);
}

static void add_pending(struct packet *p, const struct hx_kv_spinor *s)
{
    if (s->queue->pending_n)
        add_work(p, s, HX_SP_ENCODE, s->queue->pending_pos, s->queue->pending_n);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The rows stay where they are in x until the next packet takes them along. */
static int encode(struct hx_kv_spinor *s, size_t layer, size_t pos, size_t n, struct hx_error *err)
{
    struct packet p = {.n = 0};
    int rc = 0;

    if (layer + 1 < s->kv.n_layer)
        return 0;
    add_pending(&p, s); /* nobody has asked for the past since */
    rc = send(s, &p, 0, err);
    s->queue->pending_pos = pos;
    s->queue->pending_n = n;
    return rc;
}

static int decode(struct hx_kv_spinor *s, size_t layer, size_t n, struct hx_error *err)
{
    struct packet p = {.n = 0};

    (void)layer;
    if (s->queue->pending_pos < n) { /* else it is not read now */
        s->queue->pending_n = least(s->queue->pending_n, n - s->queue->pending_pos); /* guesses that were wrong are not */
        add_pending(&p, s);
    }
    if (n)
        add_work(&p, s, HX_SP_DECODE, 0, n);
    return send(s, &p, n, err);
}

/* A tree's rows wait to be encoded. */
static void keep(struct hx_kv_spinor *s, size_t pos, size_t n)
{
    if (s->queue->pending_n && s->queue->pending_pos == pos)
        s->queue->pending_n = n;
}

static struct hx_calls calls(double layers, double kv_heads, double pos)
{
    (void)layers;
    (void)kv_heads;
    return (struct hx_calls){0, pos > 0}; /* before the first token there is nothing to code */
}

/* Maps an rpcmem buffer into the PD. */
static int map(const struct hx_kv_spinor *s, void *p, size_t bytes, int *fd, struct hx_error *err)
{
    int of = rpcmem_to_fd(p);
    int code = fastrpc_mmap(CDSP_DOMAIN_ID, of, p, 0, bytes, FASTRPC_MAP_FD);

    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, s->dsp.node, code, "kv spinor: cannot map %zu bytes",
                            bytes);
    *fd = of;
    return 0;
}

static int open_queue(struct hx_kv_spinor *s, struct hx_error *err)
{
    struct hx_spinor_queue *q = s->queue = calloc(1, sizeof(*q));
    int rc, code;

    if (!q)
        return hx_error_set(err, -ENOMEM, "kv spinor: out of memory");
    q->x_fd = q->blocks_fd = NONE;
    rc = map(s, s->x, s->x_bytes, &q->x_fd, err);
    if (!rc)
        rc = map(s, s->blocks, s->block_bytes, &q->blocks_fd, err);
    if (rc)
        return rc;
    code = dspqueue_create(CDSP_DOMAIN_ID, 0, 0, 0, NULL, NULL, NULL, &q->q);
    if (code == AEE_SUCCESS)
        code = dspqueue_export(q->q, &q->id);
    if (code == AEE_SUCCESS)
        code = sp_hex_queue_attach(s->dsp.handle, q->id);
    if (code)
        return hx_dsp_error(err, HX_DSP_CALL, s->dsp.node, code, "kv spinor: cannot make a dspqueue");
    q->attached = 1;
    return 0;
}

static void close_queue(struct hx_kv_spinor *s)
{
    struct hx_spinor_queue *q = s->queue;

    if (!q)
        return;
    if (q->attached)
        sp_hex_queue_detach(s->dsp.handle, q->id);
    if (q->q)
        dspqueue_close(q->q);
    if (q->blocks_fd != NONE)
        fastrpc_munmap(CDSP_DOMAIN_ID, q->blocks_fd, s->blocks, s->block_bytes);
    if (q->x_fd != NONE)
        fastrpc_munmap(CDSP_DOMAIN_ID, q->x_fd, s->x, s->x_bytes);
    free(q);
}

const struct hx_spinor_dispatch hx_spinor_dispatch_queue = {
    .name = "queue",
    .by_token = 1,
    .one_by_one = 1,
    .alloc = hx_spinor_shared_alloc,
    .free = rpcmem_free,
    .open = open_queue,
    .close = close_queue,
    .encode = encode,
    .decode = decode,
    .keep = keep,
    .calls = calls,
};
