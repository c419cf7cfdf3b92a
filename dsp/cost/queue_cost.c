/* Adds what a dspqueue's callbacks spend to the PD's figures. */
#include "queue_cost.h"

#include "dspqueue.h"
#include "machine/slow_path.h"
#include "traffic.h"
#include "vtime.h"

static struct hx_packet_sums *sums;
static __thread struct {
    int in_callback;
    struct hx_vtime charged;   /* of the thread's present call */
    struct hx_traffic counted; /* likewise */
} thread;

void hx_queue_cost_open(struct hx_packet_sums *s)
{
    sums = s;
}

/* Adds what the call moved since the last time. */
static void count_traffic(void)
{
    const struct hx_traffic now = hx_traffic_spent();
    const uint64_t *to = (const uint64_t *)&now, *from = (const uint64_t *)&thread.counted;

    for (size_t i = 0; i < sizeof(now) / sizeof(*to); i++)
        if (to[i] > from[i])
            atomic_fetch_add(&sums->traffic[i], to[i] - from[i]);
    thread.counted = now;
}

/* Adds what the callback spent since the last time. */
static void charge(void)
{
    struct hx_vtime spent = hx_vtime_spent();

    if (sums) {
        atomic_fetch_add(&sums->exec_pcycles, spent.exec_pcycles - thread.charged.exec_pcycles);
        atomic_fetch_add(&sums->queue_pcycles, spent.queue_pcycles - thread.charged.queue_pcycles);
        atomic_fetch_add(&sums->hvx_ops, spent.hvx_ops - thread.charged.hvx_ops);
        count_traffic();
        atomic_fetch_add(&sums->slow_path_packets, hx_slow_path_taken());
    }
    thread.charged = spent;
}

static void begin_call(void)
{
    hx_vt_call_begin(0, 0);
    thread.charged = (struct hx_vtime){0};
    thread.counted = (struct hx_traffic){.hit_bytes = 0};
}

void hx_queue_cost_callback_begin(void)
{
    begin_call();
    thread.in_callback = 1;
}

void hx_queue_cost_callback_end(void)
{
    charge();
    hx_vt_call_end();
    thread.in_callback = 0;
}

static void count(uint32_t n_buffers, const struct dspqueue_buffer *buffers)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; buffers && i < n_buffers; i++)
        bytes += buffers[i].size;
    atomic_fetch_add(&sums->packets, 1);
    atomic_fetch_add(&sums->buffers, n_buffers);
    atomic_fetch_add(&sums->bytes_shared, bytes);
}

void hx_queue_cost_note(void *ctx, int taken, uint32_t n_buffers,
                        const struct dspqueue_buffer *buffers, uint32_t message_len)
{
    (void)ctx;
    if (!sums)
        return;
    atomic_fetch_add(&sums->bytes_copied, message_len);
    if (taken)
        count(n_buffers, buffers);
    if (!thread.in_callback)
        return;
    charge();
    if (taken) {
        hx_vt_call_end();
        begin_call();
    } else {
        hx_vt_call_tell(); /* its reader's next call finds the contexts and VTCM that this one has given back */
    }
}
