/* Packets on a dspqueue that sp_hex.queue_attach() took: batches of encodes and decodes without calls.
 *
 * Request: a message of struct hx_sp_work[n], 1 <= n <= HX_SP_WORKS, and 2 n buffers: buffer 2i is the x of work i, buffer
 * 2i + 1 its blocks, both with the lengths that hier_encode_batch_f32() and hier_decode_batch_f32() insist on for these
 * numbers.  Works are done in order, until one fails.
 * Answer, one per request, in order: a message of struct hx_sp_answer and, when all was done, what the works wrote, one buffer
 * each.  An error of the queue itself (a buffer that is not mapped, ...) comes as code with work 0. */
#ifndef HX_SP_PACKET_H
#define HX_SP_PACKET_H

#include <stdint.h>

#define HX_SP_WORKS 32

enum hx_sp_op { HX_SP_ENCODE, HX_SP_DECODE, HX_SP_OPS };

struct hx_sp_work {
    uint32_t op; /* enum hx_sp_op */
    int32_t first_slot, n_slots, n_pos;
};

struct hx_sp_answer {
    int32_t code;  /* of the work that failed, as its method would give it; 0: all done */
    uint32_t work; /* its index; AEE_DSP(AEE_EBADPARM) with n: the packet itself is wrong, nothing was done */
};

_Static_assert(sizeof(struct hx_sp_work) == 16, "work");
_Static_assert(sizeof(struct hx_sp_answer) == 8, "answer");

#endif
