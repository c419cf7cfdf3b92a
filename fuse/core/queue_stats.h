/* dspqueue packets in a session's figures: the PD adds them up (rpc/wire/hx_ring.h), the filters turn what is new into counts
 * and modelled time (hx_filter.packets). */
#ifndef HX_PACKETS_VIEW_H
#define HX_PACKETS_VIEW_H

#include <stdint.h>

#include "hx_traffic.h"

struct hx_session;

struct hx_queue_stats {
    uint64_t packets, buffers, bytes_copied, bytes_shared;
    uint64_t exec_pcycles, queue_pcycles, hvx_ops, slow_path_packets;
    struct hx_traffic traffic;
};

/* Adds what is new since the last time.  To be called before the session's figures or clock are read, and before its channel
 * is closed. */
void hx_queue_stats_collect(struct hx_session *s);

#endif
