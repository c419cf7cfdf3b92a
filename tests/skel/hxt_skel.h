/* Interface of the test skel: every call's in-buffer 0 is a struct hxt_in. */
#ifndef HXT_SKEL_H
#define HXT_SKEL_H

#include <stdint.h>

#include "remote.h"

#define HXT_SKEL_URI "file:///libhxt_skel.so?hxt_skel_handle_invoke&_modver=1.0&_dom=cdsp"

enum hxt_method {
    HXT_ECHO = 2,  /* in bytes, out the same bytes */
    HXT_RIPPLE,    /* in bytes, out[i] = in[i] + 1 */
    HXT_BLOCK,     /* takes `value` ms */
    HXT_CRASH,     /* the PD dies */
    HXT_MEET,      /* returns when `value` calls are inside */
    HXT_VTCM,      /* requests `value` bytes; keeps them when code is not 0; out struct hxt_vtcm */
    HXT_HVX_TWICE, /* out i32[4]: lock, lock, unlock, unlock */
    HXT_ADDRESSES, /* out u64[4]: stack, data, in buffer, out buffer */
};

struct hxt_in {
    int32_t code;   /* what the method returns */
    uint32_t value;
};

struct hxt_vtcm {
    uint64_t address; /* 0 = refused */
    uint32_t avail, page, pages;
    uint32_t reserved;
};

#endif
