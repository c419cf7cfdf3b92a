/* An ioctl that came through libfuse, from a FUSE file or a CUSE device: its struct is in the request, what that points to
 * is read from the caller's memory, and the answer may come much later. */
#ifndef HX_FUSE_REQUEST_H
#define HX_FUSE_REQUEST_H

#include <stdbool.h>

#include "core/call.h"

struct fuse_req;

/* Serves `cmd`, whose struct is `bytes` long and arrived as in[0..in_bytes).  Answers req in every case. */
void hx_fuse_request_begin(struct fuse_req *req, const char *front_name, struct hx_session *session,
                           uint32_t cmd, const void *in, size_t in_bytes, size_t bytes);

/* Answers HX_IOCTL_REACH, whose struct is at `in`. */
void hx_fuse_request_reach(struct fuse_req *req, const void *in);

/* Serves the interrupts that have arrived.  Called at the end of each round of the loop. */
void hx_fuse_request_interrupts(void);

/* Ends all that are under way with -EPIPE. */
void hx_fuse_request_end_all(void);

#endif
