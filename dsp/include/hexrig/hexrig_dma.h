/* User DMA: the six intrinsics (published names) and the descriptors that they take.
 *
 * Each thread has an engine of its own that works through a chain of descriptors while the thread goes on.  Time is
 * virtual: a transfer takes its bytes by the profile's rate, and its bytes arrive in the destination when the thread, by
 * Q6_R_dmwait(), Q6_R_dmpoll() or Q6_R_dmpause(), has reached that time.  So overlap costs what it should, code that forgets
 * to wait reads old bytes, and code that overwrites a source too early sends the new ones.
 *
 * Addresses are 32 bits wide, as on the device; all memory of a skel lies below 4 GiB.  Descriptors stay the caller's and
 * must live until their transfer is done.
 *
 * Code that declares descriptors itself may begin them with `void *next`, as on the device; compiled for 64 bits such a structure
 * is eight bytes of address, of which the upper four are 0, and then the rest, at a multiple of 8.  The engine tells it by these four
 * bytes: what stands there in a descriptor of the device is 0 only when it has neither length nor flags, so such an empty one of
 * 32-bit layout must not be given.
 *
 * A bad descriptor (not aligned to 16 bytes, an unknown type, an address that is not mapped or VTCM that was not
 * granted) stops the engine: the status is HX_DMA_ERROR with the descriptor's address, and the rig's log says why.  The next
 * Q6_dmstart_A() clears it. */
#ifndef HEXRIG_DMA_H
#define HEXRIG_DMA_H

#include <stdint.h>

/* What Q6_R_dmwait(), dmpoll and dmpause return: a descriptor's address (bits 3..31) and in bits 0..1: */
enum hx_dma_status {
    HX_DMA_IDLE = 0,
    HX_DMA_RUNNING = 1, /* address: the descriptor in work */
    HX_DMA_ERROR = 2,   /* address: the bad one */
    HX_DMA_STATUS_MASK = 3
};

/* 16 bytes: `length` bytes from src to dst. */
struct hx_dma_type0 {
    uint32_t next;         /* address of the next descriptor, 0 = end of the chain */
    uint32_t length : 24;  /* bytes */
    uint32_t type : 2;     /* 0 */
    uint32_t dst_dlbc : 1; /* bandwidth compression: must be 0 */
    uint32_t src_dlbc : 1;
    uint32_t dst_bypass : 1; /* past L2: no effect on the result */
    uint32_t src_bypass : 1;
    uint32_t order : 1; /* begin after all before are done; here they always do */
    uint32_t done : 1;  /* set by the engine */
    uint32_t src, dst;
};

/* 32 bytes: roi_height rows of roi_width bytes.  The low eight bits of `allocation` are the kind of rectangle; with 9 (from V75 on) the
 * fields are others: bits 0..23 of the second word the stride of dst, then words of row width (24 bits) and the low 8 bits of the number
 * of rows, its high 8 bits and the stride of src (24), and an offset that must be 0. */
struct hx_dma_type1 {
    uint32_t next;
    uint32_t length : 24; /* unused */
    uint32_t type : 2;    /* 1 */
    uint32_t dst_dlbc : 1;
    uint32_t src_dlbc : 1;
    uint32_t dst_bypass : 1;
    uint32_t src_bypass : 1;
    uint32_t order : 1;
    uint32_t done : 1;
    uint32_t src, dst;
    uint32_t allocation; /* cache hints, unless it is 9: no effect; padding above bit 3 */
    uint16_t roi_width, roi_height;
    uint16_t src_stride, dst_stride;             /* bytes from row to row */
    uint16_t src_width_offset, dst_width_offset; /* bytes of the first row that are left out */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Starts a chain.  An error while another chain runs. */
void Q6_dmstart_A(void *descriptor);

/* Appends a chain to `tail`, the last descriptor of what was given before; starts it when the engine is idle. */
void Q6_dmlink_AA(void *tail, void *descriptor);

/* Status at this time; each poll takes the time of a packet, from the 129th of a transfer on ever more, but no more than is left of it. */
int Q6_R_dmpoll(void);

/* Waits until the chain is done.  On an engine that was not started it returns HX_DMA_IDLE at once, and the log says so. */
int Q6_R_dmwait(void);

/* Stops after the transfers that are done by now; the status names the descriptor to go on with. */
int Q6_R_dmpause(void);

/* Goes on with the chain at `descriptor`. */
void Q6_dmresume_A(void *descriptor);

#ifdef __cplusplus
}
#endif

#endif
