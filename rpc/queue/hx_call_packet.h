/* A call of an interface as a packet on a dspqueue, for skels that took the queue by a method `packets_attach`: what INVOKE
 * would carry, without INVOKE.  For interfaces whose calls have buffers and no handles.
 *
 * Request: a message of struct hx_call_packet, one struct hx_call_arg for each argument of its scalars (inputs, then outputs, as
 * in remote_arg), and the inputs that lie in the message, one behind the other.  An argument lies in a buffer of the packet,
 * whose size is its own, or in a message; one without bytes counts as the latter.
 * Answer, one per request, in order: a message of struct hx_call_answer and, unless the call failed, the outputs that lie in the
 * message, and as buffers the others, for the host's caches.
 * In messages everything begins at a multiple of 8. */
#ifndef HX_CALL_PACKET_H
#define HX_CALL_PACKET_H

#include <stddef.h>
#include <stdint.h>

enum {
    HX_CALL_ARGS = 24,         /* most of a call */
    HX_CALL_MESSAGE = 32 << 10, /* most bytes of a message */
};

#define HX_CALL_INLINE 0xffffffffu

struct hx_call_packet {
    uint32_t sc;     /* scalars, attributes 0 */
    uint32_t unused; /* 0 */
};

struct hx_call_arg {
    uint32_t bytes;
    uint32_t buffer; /* its index in the packet, or HX_CALL_INLINE */
};

struct hx_call_answer {
    int32_t code;    /* what the call returned; AEE_DSP(AEE_EBADPARM) also for a packet that is wrong */
    uint32_t unused; /* 0 */
};

_Static_assert(sizeof(struct hx_call_packet) == 8 && sizeof(struct hx_call_arg) == 8 && sizeof(struct hx_call_answer) == 8,
               "everything begins at a multiple of 8");

static inline size_t hx_call_padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

#endif
