/* Packets for sp_hex, see sp_hex_queue.h: each attached queue has a callback that does what the packet asks by calling the
 * same functions as a call would. */
#include "sp_hex_queue.h"

#include <pthread.h>
#include <stdlib.h>

#include "HAP_farf.h"
#include "dspqueue.h"
#include "hx_sp_packet.h"
#include "sp_hex.h"

enum { ANSWER_TIMEOUT_US = 1000000 };

struct queue {
    struct queue *next;
    remote_handle64 handle;
    uint64_t id;
    dspqueue_t q;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects queues */
static struct queue *queues;

static int encode(remote_handle64 h, const struct hx_sp_work *w, const struct dspqueue_buffer *x,
                  const struct dspqueue_buffer *blocks)
{
    return sp_hex_hier_encode_batch_f32(h, w->first_slot, w->n_slots, w->n_pos, x->ptr,
                                        (int)(x->size / sizeof(float)), blocks->ptr,
                                        (int)blocks->size);
}

static int decode(remote_handle64 h, const struct hx_sp_work *w, const struct dspqueue_buffer *x,
                  const struct dspqueue_buffer *blocks)
{
    return sp_hex_hier_decode_batch_f32(h, w->first_slot, w->n_slots, w->n_pos, blocks->ptr,
                                        (int)blocks->size, x->ptr,
                                        (int)(x->size / sizeof(float)));
}

static int (*const ops[HX_SP_OPS])(remote_handle64, const struct hx_sp_work *,
                                   const struct dspqueue_buffer *,
                                   const struct dspqueue_buffer *) = {
    [HX_SP_ENCODE] = encode,
    [HX_SP_DECODE] = decode,
};

/* One packet as it was read. */
struct packet {
    struct dspqueue_buffer buffer[2 * HX_SP_WORKS];
    struct hx_sp_work work[HX_SP_WORKS];
    uint32_t n_buffers, bytes;
};

static int is_legal(const struct packet *p)
{
    const uint32_t n = p->bytes / sizeof(p->work[0]);

    if (n == 0 || p->bytes % sizeof(p->work[0]) || p->n_buffers != 2 * n)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        if (p->work[i].op >= HX_SP_OPS || p->buffer[2 * i].size % sizeof(float) ||
            p->buffer[2 * i].size > INT32_MAX || p->buffer[2 * i + 1].size > INT32_MAX)
            return 0;
    return 1;
}

/* What the works before `end` wrote goes back to the host with the answer, for its caches; n_out buffers. */
static uint32_t outputs(const struct packet *p, uint32_t end, struct dspqueue_buffer *out)
{
    for (uint32_t i = 0; i < end; i++) {
        out[i] = p->buffer[2 * i + (p->work[i].op == HX_SP_ENCODE)];
        out[i].flags = DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER |
                       DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT;
    }
    return end;
}

static struct hx_sp_answer serve(remote_handle64 h, const struct packet *p)
{
    const uint32_t n = p->bytes / (uint32_t)sizeof(p->work[0]);
    struct hx_sp_answer a = {AEE_SUCCESS, 0};

    if (!is_legal(p))
        return (struct hx_sp_answer){AEE_EBADPARM, n};
    for (a.work = 0; a.work < n && a.code == AEE_SUCCESS; a.work++)
        a.code = ops[p->work[a.work].op](h, &p->work[a.work], &p->buffer[2 * a.work],
                                         &p->buffer[2 * a.work + 1]);
    a.work -= a.code != AEE_SUCCESS;
    return a;
}

/* A message that is longer than any of ours is dropped: AEE_EBADPARM. */
static int read_packet(dspqueue_t q, struct packet *p)
{
    uint32_t bytes, flags;
    int rc = dspqueue_peek_noblock(q, NULL, NULL, &bytes);

    if (rc)
        return rc;
    if (bytes <= sizeof(p->work))
        return dspqueue_read_noblock(q, &flags, 2 * HX_SP_WORKS, &p->n_buffers, p->buffer,
                                     sizeof(p->work), &p->bytes, (uint8_t *)p->work);
    rc = dspqueue_read_noblock(q, NULL, 0, NULL, NULL, 0, NULL, NULL);
    return rc ? rc : AEE_EBADPARM;
}

/* An answer does not pass the generated skel, so its code gets the DSP's offset here. */
static int answer(dspqueue_t q, const struct packet *p, struct hx_sp_answer a)
{
    struct dspqueue_buffer out[HX_SP_WORKS];
    uint32_t n = a.code ? 0 : outputs(p, a.work, out);

    if (a.code)
        a.code = AEE_DSP(a.code);
    return dspqueue_write(q, 0, n, out, sizeof(a), (const uint8_t *)&a, ANSWER_TIMEOUT_US);
}

static void packets_came(dspqueue_t q, AEEResult error, void *context)
{
    const struct queue *own = context;
    struct packet p;
    int rc;

    (void)error;
    while ((rc = read_packet(q, &p)) != AEE_EWOULDBLOCK && rc != AEE_EBADITEM &&
           rc != AEE_EINTERRUPTED) {
        rc = answer(q, &p, rc ? (struct hx_sp_answer){rc, 0} : serve(own->handle, &p));
        if (rc) {
            FARF(ERROR, "sp_hex: the answer to a packet was not taken: 0x%x", (unsigned)rc);
            return;
        }
    }
}

int sp_hex_queue_attach(remote_handle64 h, uint64_t id)
{
    struct queue *own = calloc(1, sizeof(*own));
    int rc;

    if (!own)
        return AEE_ENOMEMORY;
    own->handle = h;
    own->id = id;
    rc = dspqueue_import(id, packets_came, NULL, own, &own->q);
    if (rc) {
        FARF(ERROR, "sp_hex: queue 0x%llx cannot be imported: 0x%x", (unsigned long long)id,
             (unsigned)rc);
        free(own);
        return rc;
    }
    pthread_mutex_lock(&lock);
    own->next = queues;
    queues = own;
    pthread_mutex_unlock(&lock);
    return AEE_SUCCESS;
}

/* Takes a queue of this handle off the list; id 0: any. */
static struct queue *take(remote_handle64 h, uint64_t id)
{
    struct queue **at, *own;

    pthread_mutex_lock(&lock);
    for (at = &queues; *at && ((*at)->handle != h || (id && (*at)->id != id)); at = &(*at)->next)
        ;
    own = *at;
    if (own)
        *at = own->next;
    pthread_mutex_unlock(&lock);
    return own;
}

/* Waits for the callback. */
static int close_queue(struct queue *own)
{
    int rc = dspqueue_close(own->q);

    free(own);
    return rc;
}

int sp_hex_queue_detach(remote_handle64 h, uint64_t id)
{
    struct queue *own = id ? take(h, id) : NULL;

    return own ? close_queue(own) : AEE_ENOSUCH;
}

void hx_sp_queues_drop(remote_handle64 h)
{
    struct queue *own;

    while ((own = take(h, 0)))
        close_queue(own);
}
