/* What the DSP's threads did during one call, for the driver's filter `trace`.
 *
 * The driver reserves a struct hx_trace behind the arguments of the call (hx_msg.h: hx_invoke.trace); the threads of the
 * call fill it in while it runs, in any order, and leave it alone once the reply is sent.  The driver trusts nothing in it. */
#ifndef HX_TRACE_H
#define HX_TRACE_H

#include <stddef.h>
#include <stdint.h>

enum hx_trace_kind {
    /* on a thread, one inside another */
    HX_TRACE_THREAD, /* the thread's part in the call; name: its own, none for the thread that serves the call */
    HX_TRACE_RUN,    /* code outside of functions with a listing; detail: pcycles of it that waited for memory */
    HX_TRACE_CODE,   /* function `name`, called `count` times in a row; detail as above */
    HX_TRACE_WAIT_SYNC,
    HX_TRACE_WAIT_DMA,
    HX_TRACE_WAIT_SLEEP,
    HX_TRACE_WAIT_HVX,
    HX_TRACE_WAIT_VTCM,
    /* elsewhere */
    HX_TRACE_DMA, /* a transfer of the thread's engine; detail: bytes */
    HX_TRACE_HVX, /* lane: the HVX context, detail: lane of the thread that held it */
    HX_TRACE_KINDS
};

#define HX_TRACE_OPEN UINT64_MAX /* not over when the call was */

struct hx_trace_event {
    uint64_t start, end; /* pcycles since the call began */
    uint32_t detail;
    uint32_t count;
    uint16_t kind;
    uint16_t lane; /* 0: the thread that serves the call; others: threads of the PD, see dsp/cost/trace.h */
    uint16_t name; /* index + 1 of hx_trace.name, 0 = none */
    uint16_t reserved; /* 0 */
};

enum { HX_TRACE_NAMES = 64, HX_TRACE_NAME_BYTES = 32 };

struct hx_trace {
    uint32_t capacity; /* driver: events that there is room for */
    /* written by the DSP under its own lock, before the reply; atomic because the driver reads them whatever the DSP does: */
    _Atomic uint32_t n;       /* events that are there; those of one lane in the order in which they began */
    _Atomic uint32_t n_names;
    _Atomic uint32_t dropped; /* events that found no room */
    char name[HX_TRACE_NAMES][HX_TRACE_NAME_BYTES]; /* terminated */
    struct hx_trace_event event[]; /* [capacity] */
};

_Static_assert(sizeof(struct hx_trace_event) == 32, "event");
_Static_assert(sizeof(struct hx_trace) == 16 + HX_TRACE_NAMES * HX_TRACE_NAME_BYTES, "trace");

static inline uint64_t hx_trace_bytes(uint32_t events)
{
    return sizeof(struct hx_trace) + (uint64_t)events * sizeof(struct hx_trace_event);
}

#endif
