/* The queue skel, see hxt_queue.h. */
#include "hxt_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dspqueue.h"
#include "hexrig_uncosted.h"
#include "remote.h"

HX_UNCOSTED("what a test calls, not a kernel");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects queues */
static struct {
    uint64_t id; /* 0 = free */
    dspqueue_t q;
} queues[64];

static void touch(const struct dspqueue_buffer *b)
{
    uint8_t *p = b->ptr;

    for (uint32_t i = 0; i < b->size; i++)
        p[i]++;
}

static void echo(dspqueue_t q, AEEResult error, void *context)
{
    struct dspqueue_buffer buffers[64];
    static __thread uint8_t message[65536];
    uint32_t flags, n, len;
    int rc;

    (void)error;
    (void)context;
    while ((rc = dspqueue_read_noblock(q, &flags, 64, &n, buffers, sizeof(message), &len,
                                       message)) != AEE_EWOULDBLOCK) {
        if (rc) {
            int32_t code = rc;

            dspqueue_write(q, 0, 0, NULL, sizeof(code), (uint8_t *)&code, HXQ_PATIENCE_US);
            if (rc == AEE_EBADITEM || rc == AEE_EINTERRUPTED)
                return;
            continue;
        }
        for (uint32_t i = 0; i < n; i++) {
            touch(&buffers[i]);
            /* what came with a reference goes back with one less */
            buffers[i].flags = buffers[i].flags & DSPQUEUE_BUFFER_FLAG_REF
                                   ? DSPQUEUE_BUFFER_FLAG_DEREF
                                   : 0;
        }
        if (dspqueue_write(q, 0, n, buffers, len, message, HXQ_PATIENCE_US))
            return;
    }
}

static int start(const struct hxq_start *in)
{
    dspqueue_t q = NULL;
    int rc = dspqueue_import(in->id, in->flags & HXQ_ECHO ? echo : NULL, NULL, NULL, &q);

    pthread_mutex_lock(&lock);
    for (int i = 0; rc == AEE_SUCCESS && i < 64; i++)
        if (!queues[i].id) {
            queues[i].id = in->id;
            queues[i].q = q;
            break;
        }
    pthread_mutex_unlock(&lock);
    return rc;
}

static dspqueue_t find(uint64_t id, int forget)
{
    dspqueue_t q = NULL;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < 64 && !q; i++)
        if (queues[i].id == id) {
            q = queues[i].q;
            if (forget)
                queues[i].id = 0;
        }
    pthread_mutex_unlock(&lock);
    return q;
}

static int read_one(const struct hxq_start *in, remote_arg *pra)
{
    static __thread uint8_t message[65536];
    uint32_t out[2] = {0, 0};
    dspqueue_t q = find(in->id, 0);

    if (!q)
        return AEE_ENOSUCH;
    out[0] = (uint32_t)dspqueue_read(q, NULL, 0, NULL, NULL, sizeof(message), &out[1], message,
                                     in->flags);
    memcpy(pra[1].buf.pv, out, sizeof(out));
    return AEE_SUCCESS;
}

static int write_one(const struct hxq_start *in, remote_arg *pra)
{
    static __thread uint8_t message[65536];
    uint32_t out[2] = {0, in->flags};
    dspqueue_t q = find(in->id, 0);

    if (!q)
        return AEE_ENOSUCH;
    memset(message, 0x5a, sizeof(message));
    out[0] = (uint32_t)dspqueue_write(q, 0, 0, NULL, in->flags, message, HXQ_PATIENCE_US);
    memcpy(pra[1].buf.pv, out, sizeof(out));
    return AEE_SUCCESS;
}

static int heap(remote_arg *pra)
{
    enum { BYTES = 40, PAGE = 4096 };
    const uint32_t out[2] = {0, (uint32_t)(uintptr_t)malloc(BYTES) % PAGE};

    memcpy(pra[1].buf.pv, out, sizeof(out));
    return AEE_SUCCESS;
}

static int wakeup(const struct hxq_start *in)
{
    struct timespec t = {0, (long)in->flags * 1000};
    dspqueue_t q = find(in->id, 0);
    int rc = q ? dspqueue_write_early_wakeup_noblock(q, in->flags, 0) : AEE_ENOSUCH;

    if (rc)
        return rc;
    nanosleep(&t, NULL);
    return dspqueue_write(q, 0, 0, NULL, 8, (const uint8_t *)"wakeup!", HXQ_PATIENCE_US);
}

__attribute__((visibility("default"))) int
hxt_queue_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg *pra)
{
    struct hxq_start in = {0};
    unsigned m = REMOTE_SCALARS_METHOD(sc);

    (void)h;
    if (m == 0) {
        pra[2].h64 = 1;
        return AEE_SUCCESS;
    }
    if (m == 1)
        return AEE_SUCCESS;
    if (m == HXQ_CRASH)
        __builtin_trap();
    if (REMOTE_SCALARS_INBUFS(sc) != 1 || pra[0].buf.nLen != sizeof(in))
        return AEE_EBADPARM;
    memcpy(&in, pra[0].buf.pv, sizeof(in));
    switch (m) {
    case HXQ_START:
        return start(&in);
    case HXQ_STOP:
        return dspqueue_close(find(in.id, 1));
    case HXQ_READ:
        return read_one(&in, pra);
    case HXQ_WRITE:
        return write_one(&in, pra);
    case HXQ_HEAP:
        return heap(pra);
    case HXQ_WAKEUP:
        return wakeup(&in);
    default:
        return AEE_DSP(AEE_EUNSUPPORTED);
    }
}
