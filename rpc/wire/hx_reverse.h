/* Calls of the DSP to its host: how their arguments travel through `next2` of the listener (adsp_listener, adsp_listener1).
 *
 * The request is one block of bytes: of each in buffer its length as u32 and, behind it, at the next multiple of 8, its bytes; then of
 * each out buffer its length.  The answer is made in the same way of the out buffers alone.  Lengths lie wherever the bytes before
 * them end.  The format is that of inc/listener_buf.h of github.com/qualcomm/fastrpc.  Handles are not passed in this direction.
 *
 * Neither side trusts the other: whatever is read is checked against the bytes that there are. */
#ifndef HX_REVERSE_H
#define HX_REVERSE_H

#include <stddef.h>
#include <stdint.h>

#include "fastrpc_uapi.h"
#include "remote.h"

/* Handles of the host by their published numbers: the first is there without being opened. */
enum { HX_HOST_REMOTECTL = 0 };

/* Methods of the listener: of adsp_listener1 (static handle 7) and, in the same order, of adsp_listener (3). */
enum {
    HX_LISTENER1_INIT2 = 5, HX_LISTENER1_NEXT2, HX_LISTENER1_GET_IN_BUFS2,
    HX_LISTENER_INIT2 = 3, HX_LISTENER_NEXT2, HX_LISTENER_GET_IN_BUFS2,
};

/* In buffer 0 and out buffer 0 of next2.  In buffer 1: the answer to call `ctx`; out buffer 1: the next request, as much of it as there
 * is room for. */
struct hx_next_in {
    uint32_t ctx;   /* of the call that is answered, 0: none */
    int32_t result; /* of it; the host's own, without an offset */
    uint32_t answer_bytes;
    uint32_t room; /* bytes */
};
struct hx_next_out {
    uint32_t ctx; /* of the new call, not 0 */
    uint32_t handle;
    uint32_t sc;
    uint32_t request_bytes; /* of the whole request, may be more than room */
};

/* In buffer 0 and out buffer 0 of get_in_bufs2, which has the rest of a request.  Out buffer 1: its bytes from `offset` on. */
struct hx_in_bufs_in {
    uint32_t ctx;
    uint32_t offset;
    uint32_t room;
};

/* hexrig's own bit of INIT_CREATE's attrs: the client has no listener yet, and starts one when opening a skel gives HX_LISTEN_FIRST.  So
 * programs whose skels ask nothing of the host have no listener, and no calls of one. */
#define HX_MODE_LISTENS (1u << 31)
#define HX_LISTEN_FIRST ((int)AEE_DSP(AEE_ENOTINITIALIZED))

/* The request for a call: writes it to `to`, or only measures it (NULL).  Returns its bytes. */
size_t hx_reverse_pack(uint8_t *to, uint32_t sc, const remote_arg *pra);

/* What hx_reverse_pack() made: sets pra[] of sc's buffers, in buffers to where they lie in `from`, out buffers to their lengths and NULL.
 * Returns 0 with the bytes of the answer in *answer, or -EPROTO. */
int hx_reverse_unpack(uint8_t *from, size_t bytes, uint32_t sc, remote_arg *pra, size_t *answer);

/* Prepares the answer at `to`, of as many bytes as hx_reverse_unpack() said: writes the lengths, and points the out buffers to their
 * places. */
void hx_reverse_place(uint8_t *to, uint32_t sc, remote_arg *pra);

/* Copies the answer into the caller's out buffers.  0, or -EPROTO: it is not one to this call. */
int hx_reverse_take(const uint8_t *from, size_t bytes, uint32_t sc, const remote_arg *pra);

_Static_assert(sizeof(struct hx_next_in) == 16 && sizeof(struct hx_next_out) == 16, "next2");
_Static_assert(sizeof(struct hx_in_bufs_in) == 12, "get_in_bufs2");

#endif
