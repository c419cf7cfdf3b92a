/* Calls that were recorded: by `hexrig trace`, or by hand in lines of text (docs/trace.md). */
#ifndef HX_RECORDING_H
#define HX_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { HX_RECORDING_VERSION = 1, HX_RECORDED_NAME = 128 };

struct hx_recorded_call {
    char method[HX_RECORDED_NAME];
    unsigned session, thread;                              /* whose call; calls of one thread do not overlap */
    int service;                                           /* 1: of a service that every PD has */
    uint64_t at_ns;                                        /* its begin */
    uint64_t dispatch_ns, marshal_ns, queue_ns, exec_ns;   /* what it took, in all their sum */
    uint64_t copied_bytes, shared_bytes, shared_buffers;
    size_t line; /* of the file */
};

struct hx_recording { /* zeroed: empty */
    struct hx_recorded_call *at; /* [n], by their begin; owned */
    size_t n, room;
    char profile[64]; /* whose times these are; "": not known */
    double clock_mhz; /* at which the DSP executed; 0: not known */
};

static inline uint64_t hx_recorded_ns(const struct hx_recorded_call *c)
{
    return c->dispatch_ns + c->marshal_ns + c->queue_ns + c->exec_ns;
}

/* Reads a file of either kind.  0; -EINVAL: FILE:LINE, what is wrong and what is legal; other negative errno.
 * hx_recording_free() in any case. */
int hx_recording_read(struct hx_recording *r, const char *file, struct hx_error *err);
void hx_recording_free(struct hx_recording *r);

#endif
