/* How one end of a dspqueue waits, and wakes the other end.  For hx_dspq.c. */
#ifndef HX_DSPQ_WAIT_H
#define HX_DSPQ_WAIT_H

#include <time.h>

#include "hx_dspq.h"

/* What a waiting call waits for. */
struct hx_wish {
    enum { HX_WISH_PACKET, HX_WISH_SPACE, HX_WISH_NEW_COUNT } kind;
    uint32_t n_buffers, message_len; /* SPACE: of the packet */
    uint32_t seen;                   /* NEW_COUNT: a count of packets */
};

static inline uint64_t hx_dspq_now(void) /* ns */
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void hx_dspq_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* After publishing something: wakes the other end if it may sleep. */
void hx_dspq_wake_reader(struct hx_dspq *q);
void hx_dspq_wake_writer(struct hx_dspq *q);

/* Whether the other end cannot run while we poll, because it last ran on our CPU.  Publishes where we run. */
int hx_dspq_in_its_way(struct hx_dspq *q);

/* Polls, then sleeps until w seems fulfilled, at most until `end` (ns, UINT64_MAX = for ever).  0: try again;
 * AEE_EEXPIRED; AEE_ENOMORE: `end` is UINT64_MAX, and for a second no reader could have made the room, see
 * hx_pktq_is_stuck(); q's end code.  The caller holds no lock of q. */
int hx_dspq_wait(struct hx_dspq *q, const struct hx_wish *w, uint64_t end);

#endif
