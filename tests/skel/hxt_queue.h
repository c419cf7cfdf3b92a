/* Interface of the queue skel: the DSP's end of test queues. */
#ifndef HXT_QUEUE_H
#define HXT_QUEUE_H

#include <stdint.h>

#define HXT_QUEUE_URI "file:///libhxt_queue_skel.so?hxt_queue_skel_handle_invoke&_modver=1.0"

enum hxt_queue_method {
    HXQ_START = 2, /* in struct hxq_start: imports the queue */
    HXQ_STOP,      /* in u64 queue id: closes it */
    HXQ_READ,      /* in struct hxq_start (flags = timeout in us): one blocking read; out i32 code, u32 message length */
    HXQ_WRITE,     /* in struct hxq_start (flags = message bytes): one blocking write of that many bytes; out i32, u32 */
    HXQ_CRASH,
    HXQ_HEAP,      /* in struct hxq_start: out i32 code, u32 where in its page malloc() has memory, which stays taken */
    HXQ_WAKEUP,    /* in struct hxq_start (flags = us): early wakeup, then after that time a packet of 8 bytes */
};

enum { HXQ_ECHO = 1 }; /* flags of HXQ_START: a callback echoes every packet; bytes of its buffers go up by 1 */

/* Of a read or write that will succeed, in us: it only has to be longer than any machine stands still. */
enum { HXQ_PATIENCE_US = 100000000 };

/* An echo that failed: a message of 4 bytes, the AEE code of the read. */

struct hxq_start {
    uint64_t id;
    uint32_t flags;
    uint32_t reserved;
};

#endif
