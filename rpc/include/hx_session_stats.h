/* What the `count` and `cost` filters know of one open file, and the ioctl that reads it.
 *
 * hexrig's own ioctls use magic 'X', which the kernel driver answers with ENOTTY: a client can tell a rig from a phone. */
#ifndef HX_SESSION_STATS_H
#define HX_SESSION_STATS_H

#include <stdint.h>
#include <sys/ioctl.h>

#include "hx_traffic.h"

struct hx_session_stats {
    uint64_t invokes;       /* user INVOKE ioctls that the driver accepted */
    uint64_t kernel_calls;  /* the driver's own calls for this file (create, map, ...) */
    uint64_t maps;          /* buffers imported */
    uint64_t errors;        /* INVOKEs that ended with a non-zero result */
    uint64_t packets;       /* dspqueue packets that the DSP took; what it sends back is not counted */
    uint64_t bytes_copied;  /* inline bytes moved in and out, messages of packets included */
    uint64_t bytes_shared;  /* sum of the lengths of fd-backed arguments, and of buffers in packets that the DSP took */
    uint64_t hvx_ops;       /* HVX operations that ran for this file */
    uint64_t dispatch_ns;   /* modelled */
    uint64_t marshal_ns;    /* modelled */
    uint64_t queue_ns;      /* modelled */
    uint64_t exec_ns;       /* modelled */
    uint64_t clock_ns;      /* modelled: this client's virtual clock, the latest of its threads': wall time, where calls overlap
                             * less than the sum of the four above and of the host's own time */
    struct hx_traffic traffic; /* what DSP code moved for this file, packets included */
    uint64_t slow_path_calls; /* calls and packets for which the skel had to take a slow path, say for a buffer that is not 128-byte
                               * aligned (hexrig_slow_path.h) */
};

/* The calling thread's calls are made beside those of the client's other threads: it has a virtual clock of its own, which goes on
 * from the latest of theirs.  Threads that have not said so get one once their calls have really met. */
#define HX_IOCTL_OWN_CLOCK _IO('X', 2)

#define HX_IOCTL_SESSION_STATS _IOR('X', 1, struct hx_session_stats)

/* The same without `traffic` and what follows it, as earlier releases had it. */
#define HX_SESSION_STATS_1_BYTES 104
#define HX_IOCTL_SESSION_STATS_1 _IOC(_IOC_READ, 'X', 1, HX_SESSION_STATS_1_BYTES)

_Static_assert(sizeof(struct hx_session_stats) == HX_SESSION_STATS_1_BYTES + sizeof(struct hx_traffic) + 8, "session stats");

#endif
