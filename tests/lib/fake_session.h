/* Test support: a session of libcdsprpc.so's without a PD.  What its listener asks the DSP is answered by functions of the test, on the
 * listener's thread.  For programs that link the objects of rpc/listen: stands for rpc/client's session.c, invoke.c and mmap.c. */
#ifndef FAKE_SESSION_H
#define FAKE_SESSION_H

#include <stdint.h>

#include "hx_reverse.h"
#include "hx_session.h"

/* All must be set.  Each returns what the listener's call does. */
struct fake_session {
    /* request: of in->room bytes. */
    int (*next2)(const struct hx_next_in *in, const uint8_t *answer, struct hx_next_out *out, uint8_t *request);
    /* request: of in->room bytes. */
    int (*get_in_bufs2)(const struct hx_in_bufs_in *in, uint32_t *bytes, uint8_t *request);
    void (*exit)(void);
    int (*map)(const struct fastrpc_mem_map *want, uint64_t *vaddrout);
    int (*unmap)(int fd);
};

/* Starts the listener.  AEE code. */
int fake_session_open(const struct fake_session *f);

/* Stops it, and waits until it has gone. */
void fake_session_close(void);

#endif
