/* Messages of this PD for its client: a ring in the client's memory, which its library reads (adspmsgd_adsp1, static handle 5).
 *
 * The DSP asks the client's listener for the memory, writes each message as text with its 0 and then, at the end of the memory, where the
 * next one will start; messages go on at the start of the ring, in the middle of a text, too.  The reader keeps to itself how far it is.
 * But it waits (hx_messages_wait()) only when it has read everything, so what the wait before told of may be written over then.
 * A message that finds no room is lost, and counted.  The ring is the client's to spoil: nothing in it is read here.
 *
 * Names, method numbers and the ring: src/adspmsgd.c, inc/adspmsgd_adsp1.h and a page in Docs of github.com/qualcomm/fastrpc.
 * File, line, thread and number before a text: Halide's reader of a phone's log expects them (its profiler for Hexagon). */
#ifndef HX_MESSAGES_H
#define HX_MESSAGES_H

#include <stdint.h>

enum {
    HX_MESSAGE_BYTES = 256,        /* with its 0: the reader's line */
    HX_MESSAGES_BYTES_MIN = 4096,  /* of the memory, a multiple of 4 */
    HX_MESSAGES_BYTES_MAX = 16 << 20,
    HX_MESSAGES_WAIT_MS = 1000,
};

/* Arguments of init3, as on the wire. */
struct hx_messages_in {
    int32_t heap;
    uint32_t flags;  /* of the memory: heap and flags are the listener's to understand */
    uint32_t filter; /* bit 1 << HAP_LEVEL_*: messages that are logged and of these levels; ALWAYS counts as HIGH */
    uint32_t pad;
    uint64_t bytes;
};
_Static_assert(sizeof(struct hx_messages_in) == 24, "init3");

/* init3: *at_host is where the client has the memory; 0 when messages are being written already.  Waits for the client's listener.
 * AEE_SUCCESS, AEE_DSP(AEE_EBADPARM): bytes; AEE_DSP(AEE_EBADSTATE): no listener came, or another start is under way;
 * AEE_DSP(AEE_EFAILED): what it gave is no buffer of the client's; or what it said. */
int hx_messages_start(const struct hx_messages_in *in, uint64_t *at_host);

/* deinit: no more messages, and no wait.  The memory stays, as a reader may be in it, and the next start of as many bytes has it again. */
int hx_messages_stop(void);

/* wait: until there are messages, but HX_MESSAGES_WAIT_MS at most: who stops reading waits until its reader comes back.  *bytes: since
 * the last wait.  A newer wait ends an older one, whose caller was interrupted.  AEE_SUCCESS; AEE_DSP(AEE_EBADSTATE): there are none to
 * come; AEE_DSP(AEE_EINTERRUPTED). */
int hx_messages_wait(uint64_t *bytes);

#endif
