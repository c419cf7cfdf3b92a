/* Interface of the test skel: every call's in-buffer 0 is a struct hxt_in. */
#ifndef HXT_SKEL_H
#define HXT_SKEL_H

#include <stddef.h>
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
    HXT_ANY,       /* any shape whose first out buffer is a struct hxt_any; fills the others, see hxt_any_byte() */
    HXT_WAIT,      /* in struct hxt_gate: returns when it is open; after `value` ms HXT_TIMED_OUT */
    HXT_KEEP,      /* in handles: takes hold of each and returns the first byte of the last one's buffer */
    HXT_GIVE_BACK, /* lets go of `value` consecutive descriptors from `code` on; returns how many it held */
    HXT_ACQUIRE,   /* VTCM of `value` bytes within `code` us; keeps it; out struct hxt_grant */
    HXT_RELEASE,   /* compute resource context `value`; returns what HAP_compute_res_release() says */
    HXT_THREADS,   /* starts `value` threads: one holds an HVX context and spins, the others wait for ever */
    HXT_POOL,      /* sum of 1..value from a worker pool */
    HXT_HVX_BARE,  /* `value` HVX operations without a context, then `code` with one */
    HXT_DMA_WAIT,  /* dmwait without dmstart; out i32: what it returned */
    HXT_VTCM_LOOK, /* bytes of all of VTCM that are not 0, seen by way of `value` (enum hxt_vtcm_way); out u32 */
    HXT_DAMAGE,    /* writes what in buffer 1, a struct hxt_damage, says */
    HXT_PRINT,     /* in bytes: writes them to stderr `value` times; 0: once, then the PD dies */
    HXT_SAY,       /* in text: `code` 1: to stdout, 2: to stderr by stdio, 3: by FARF */
    HXT_SPOIL_LOG, /* truncates what is behind descriptors 0..2, takes their flags away; returns how many are files */
    HXT_HEAP,      /* allocates blocks of `value` bytes until there is none, and frees them; out struct hxt_heap */
};

enum { HXT_TIMED_OUT = 1000 };

struct hxt_in {
    int32_t code;   /* what the method returns */
    uint32_t value;
};

/* What HXT_ANY saw. */
struct hxt_any {
    uint32_t sum;        /* hxt_any_sum() over all in buffers */
    uint32_t misaligned; /* buffers that do not start at a multiple of 128 */
    uint32_t handles;    /* in and out handles */
    uint32_t offsets;    /* sum of the offsets of the in handles */
};

/* Runs over one in buffer; starts with 1. */
static inline uint32_t hxt_any_sum(uint32_t sum, const uint8_t *p, size_t n)
{
    sum = sum * 31 + (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + p[i];
    return sum;
}

/* What HXT_ANY writes into every byte of out buffer i (i > 0). */
static inline uint8_t hxt_any_byte(unsigned i)
{
    return (uint8_t)(i * 7 + 3);
}

/* In memory that the client shares with the call. */
struct hxt_gate {
    uint32_t open;   /* client: non-zero lets everybody go */
    uint32_t inside; /* skel: callers that have come */
    uint32_t done;   /* skel: callers that have left */
};

struct hxt_grant {
    uint64_t address; /* 0 = refused */
    uint32_t context; /* 0 = refused */
    uint32_t asked;   /* how often the release callback was called in this PD so far */
};

struct hxt_heap {
    uint64_t highest; /* address of a block */
    uint32_t blocks;
    uint32_t reserved;
};

enum hxt_vtcm_way {
    HXT_BY_GRANT,
    HXT_WITHOUT_GRANT, /* just reads */
    HXT_BY_FORCE,      /* makes it readable first */
};

/* The memory that a pointer variable of the DSP process points to. */
struct hxt_damage {
    uint64_t variable; /* its address */
    uint32_t offset, bytes;
    uint32_t fill; /* byte */
    uint32_t ms;   /* not 0: writes the word at `offset` for so long, as fast as it goes; its first byte is `fill` ... */
    uint32_t step; /* ... and the rest, from 1 on, grows by this */
    uint32_t reserved;
};

struct hxt_vtcm {
    uint64_t address; /* 0 = refused */
    uint32_t avail, page, pages;
    uint32_t reserved;
};

#endif
