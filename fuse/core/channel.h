/* The driver's end of a channel (rpc/wire/hx_msg.h). */
#ifndef HX_CHANNEL_H
#define HX_CHANNEL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/pd_log.h"
#include "hx_msg.h"
#include "hx_ring.h"

struct hx_channel {
    struct hx_rings *rings; /* NULL = no channel */
    uint8_t *arena;         /* HX_ARENA_BYTES */
    struct hx_arena space;
    int req_bell, rep_bell, ctl; /* owned */
    int arena_fd;                /* owned, to punch holes */
    uint32_t ctl_seq;            /* last control message sent */
    bool rings_bell;             /* its other end sleeps in poll(), not on the ring itself */
    struct hx_pd_log log;        /* what the PD prints */
    unsigned in_flight;          /* requests whose contexts are not freed yet */
};

/* Makes a channel to PD `pd` (0 = root) and the descriptors of its other end, which the caller owns.  c must not move any more.
 * 0 or negative errno. */
int hx_channel_create(struct hx_channel *c, struct hx_loop *loop, unsigned pd, int peer_fd[HX_PD_FDS]);

/* Sends a request and wakes the DSP if it sleeps.  0, or -EPROTO / -EAGAIN when the DSP broke the ring. */
int hx_channel_send(struct hx_channel *c, const struct hx_msg *msg);

/* Next reply: 0, -EAGAIN (none), -EPROTO. */
int hx_channel_take(struct hx_channel *c, struct hx_reply *reply);

/* Sends a control message with n descriptors (borrowed) and returns 0 or negative errno. */
int hx_channel_control(struct hx_channel *c, enum hx_ctl_op op, int32_t id, uint64_t size,
                       const int *fd, int n);

/* Announces buffer `id` (HX_CTL_MAP): descriptor fd, borrowed, and the number that the client knows it by. */
int hx_channel_map(struct hx_channel *c, int32_t id, int client_fd, uint64_t size, int fd);

/* Gives arena space back; large pieces return their pages to the system. */
void hx_channel_give(struct hx_channel *c, uint64_t offset, uint64_t bytes);

/* Accepts a channel that was never made. */
void hx_channel_close(struct hx_channel *c);

#endif
