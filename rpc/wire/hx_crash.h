/* What a user PD tells of its crash: it fills this in, behind its channel's rings (hx_ring.h), in the handler of the signal, says so by
 * HX_CTL_CRASH on its control socket, and waits a while for the driver's answer; then the signal takes its course.  Meanwhile the
 * driver has a process look at the PD (fuse/crash).  Nothing here is trusted. */
#ifndef HX_CRASH_H
#define HX_CRASH_H

#include <stdatomic.h>
#include <stdint.h>

enum { HX_CRASH_FRAMES = 48, HX_CRASH_REGS = 34 };

enum hx_crash_answer {
    HX_CRASH_WAIT, /* none yet */
    HX_CRASH_HOLD, /* wait for the next answer without a limit: a debugger will come */
    HX_CRASH_END,
};

struct hx_crash {
    _Atomic uint32_t answer; /* enum hx_crash_answer, written by the driver; the PD sleeps on it */
    int32_t signal, code;    /* si_code */
    int32_t tid;             /* of the thread, as the PD sees it */
    uint32_t ctx_id;         /* context id of the call that the thread serves, 0 = it serves none */
    uint32_t n_frames;
    uint64_t address;                 /* si_addr */
    uint64_t frame[HX_CRASH_FRAMES];  /* [0]: where it happened; then return addresses, outwards */
    uint64_t reg[HX_CRASH_REGS];      /* of the thread, in the order of the machine's struct user_regs_struct */
};

#endif
