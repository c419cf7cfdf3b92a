/* The DSP's end of a channel (rpc/wire/hx_msg.h): takes requests, sends replies, receives descriptors. */
#ifndef HX_DSP_CHANNEL_H
#define HX_DSP_CHANNEL_H

#include <pthread.h>

#include "hx_msg.h"
#include "hx_ring.h"

struct hx_dsp_channel {
    int fd[HX_PD_FDS]; /* owned; -1 = none */
    struct hx_rings *rings;
    uint8_t *arena;         /* HX_ARENA_BYTES, below 4 GiB */
    pthread_mutex_t pop;    /* one consumer of rings->request at a time */
    pthread_mutex_t push;   /* one producer of rings->reply at a time */
};

/* Maps the channel behind fd[HX_PD_FDS], which it then owns, even on failure.  Returns 0 or negative errno. */
int hx_dsp_channel_open(struct hx_dsp_channel *c, const int *fd);

/* Waits for the next request.  0, or -EPROTO (the driver broke the ring).  Any thread of a user PD. */
int hx_dsp_channel_take(struct hx_dsp_channel *c, struct hx_msg *msg);

/* The same for the root PD, which sleeps in poll() on fd[HX_FD_REQ_BELL]: takes the request that the bell was rung for. */
int hx_dsp_channel_take_rung(struct hx_dsp_channel *c, struct hx_msg *msg);

/* Sends a reply and wakes the driver if it sleeps.  Any thread. */
void hx_dsp_channel_answer(struct hx_dsp_channel *c, const struct hx_reply *reply);

/* Receives one control message; up to HX_PD_FDS descriptors go to fd[] (-1 where there is none), owned by the caller.
 * 1 = got one, 0 = the driver closed the socket, negative errno. */
int hx_dsp_channel_control(struct hx_dsp_channel *c, struct hx_ctl *ctl, int *fd);

/* Closes and unmaps; accepts a half-open channel. */
void hx_dsp_channel_close(struct hx_dsp_channel *c);

#endif
