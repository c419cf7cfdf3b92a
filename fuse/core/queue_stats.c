/* Taking what dspqueue packets added to a session's figures. */
#include "queue_stats.h"

#include <stdatomic.h>

#include "driver.h"

/* What a sum grew by; a PD that counts backwards gets nothing. */
static uint64_t grown(_Atomic uint64_t *sum, uint64_t *seen)
{
    uint64_t value = atomic_load(sum), before = *seen;

    *seen = value;
    return value > before ? value - before : 0;
}

/* 1: there is something new. */
static int traffic_grown(struct hx_packet_sums *sums, struct hx_traffic *seen, struct hx_traffic *news)
{
    uint64_t *have = (uint64_t *)seen, *to = (uint64_t *)news;
    int any = 0;

    for (size_t i = 0; i < sizeof(*seen) / sizeof(*have); i++) {
        to[i] = grown(&sums->traffic[i], &have[i]);
        any |= to[i] != 0;
    }
    return any;
}

void hx_queue_stats_collect(struct hx_session *s)
{
    struct hx_packet_sums *sums;
    struct hx_queue_stats *seen = &s->packets, news;
    const struct hx_session_stats before = s->stats;

    if (!s->channel.rings)
        return;
    sums = &s->channel.rings->packets;
    news = (struct hx_queue_stats){
        .packets = grown(&sums->packets, &seen->packets),
        .buffers = grown(&sums->buffers, &seen->buffers),
        .bytes_copied = grown(&sums->bytes_copied, &seen->bytes_copied),
        .bytes_shared = grown(&sums->bytes_shared, &seen->bytes_shared),
        .exec_pcycles = grown(&sums->exec_pcycles, &seen->exec_pcycles),
        .queue_pcycles = grown(&sums->queue_pcycles, &seen->queue_pcycles),
        .hvx_ops = grown(&sums->hvx_ops, &seen->hvx_ops),
        .slow_path_packets = grown(&sums->slow_path_packets, &seen->slow_path_packets),
    };
    if (traffic_grown(sums, &seen->traffic, &news.traffic) || news.packets || news.bytes_copied || news.exec_pcycles ||
        news.queue_pcycles || news.hvx_ops) {
        hx_filter_packets(&s->driver->filters, s, &news);
        hx_methods_count_packets(s, &before);
    }
}
