/* Adds what packets take to the PD's figures. */
#include "queue_cost.h"

#include "dspqueue.h"
#include "base/machine.h"
#include "machine/slow_path.h"
#include "shared.h"
#include "traffic.h"
#include "vtime.h"

static struct hx_packet_sums *sums;
static __thread struct {
    int in_callback;
    int reads;                 /* it works on a packet that it has read by itself */
    struct hx_vtime charged;   /* of the thread's present call */
    uint64_t counted_ops;      /* likewise, */
    struct hx_traffic counted; /* and of the threads that work for it */
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

/* Adds what the packet's call spent since the last time. */
static void charge(void)
{
    struct hx_vtime spent = hx_vtime_spent();
    const uint64_t ops = hx_traffic_hvx_ops();

    if (sums) {
        atomic_fetch_add(&sums->exec_pcycles, spent.exec_pcycles - thread.charged.exec_pcycles);
        atomic_fetch_add(&sums->queue_pcycles, spent.queue_pcycles - thread.charged.queue_pcycles);
        atomic_fetch_add(&sums->hvx_ops, ops > thread.counted_ops ? ops - thread.counted_ops : 0);
        count_traffic();
        atomic_fetch_add(&sums->slow_path_packets, hx_slow_path_taken());
    }
    thread.charged = spent;
    thread.counted_ops = ops;
}

static void begin_call(void)
{
    hx_vt_call_begin_next(!thread.in_callback);
    thread.charged = (struct hx_vtime){0};
    thread.counted_ops = 0;
    thread.counted = (struct hx_traffic){.hit_bytes = 0};
}

static void end_call(void)
{
    charge();
    hx_vt_call_end();
}

void hx_queue_cost_callback_begin(void)
{
    thread.in_callback = 1;
    begin_call();
}

void hx_queue_cost_callback_end(void)
{
    end_call();
    thread.in_callback = 0;
}

/* Whether the thread serves a call, which takes what it runs. */
static int serves(void)
{
    return !thread.in_callback && !thread.reads && hx_shared_serves();
}

void hx_queue_cost_enter(void)
{
    hx_hvx_settle();
    hx_vt_order_begin();
    hx_vt_order_end();
}

void hx_queue_cost_none(void *ctx)
{
    (void)ctx;
    if (!sums || thread.in_callback || serves())
        return;
    hx_vt_order_begin();
    hx_hvx_thread_waits();
    hx_vt_order_end();
    if (thread.reads)
        end_call();
    else
        hx_vt_call_leave();
    thread.reads = 0;
    hx_vt_off_duty();
}

void hx_queue_cost_thread_end(void)
{
    if (thread.reads)
        end_call();
    thread.reads = 0;
}

/* A packet begins on a thread that reads it by itself. */
static void begin_packet(void)
{
    if (thread.reads)
        end_call();
    thread.reads = 1;
    begin_call();
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
    if (taken && !thread.in_callback && !serves()) {
        begin_packet();
    } else if (taken && thread.in_callback) {
        end_call();
        begin_call();
    } else if (thread.in_callback || thread.reads) {
        charge();
        hx_vt_call_tell(); /* its reader's next call finds the contexts and VTCM that this one has given back */
    }
}
