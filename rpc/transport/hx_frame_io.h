/* Moving frames over the socket.  All return 0 or a negative errno; -ECONNRESET: the peer has gone. */
#ifndef HX_FRAME_IO_H
#define HX_FRAME_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "hx_frame.h"

/* Sends all bytes of iov[0..n_iov) (which is used up); fds ride on the first byte.  Signals do not break a frame. */
int hx_frame_send(int sock, struct iovec *iov, size_t n_iov, const struct hx_frame_fd *fds,
                  size_t n_fds);

/* The same; *sent gets the number of bytes that went out, also when it fails. */
int hx_frame_send_count(int sock, struct iovec *iov, size_t n_iov, const struct hx_frame_fd *fds,
                        size_t n_fds, size_t *sent);

/* Reads exactly n bytes.  Signals do not break it; *interrupted (may be NULL) is set when one arrived. */
int hx_frame_recv(int sock, void *buf, size_t n, int *interrupted);

/* The same into memory that may not be there: -EFAULT after all n bytes were taken off the socket. */
int hx_frame_recv_user(int sock, void *buf, size_t n, int *interrupted);

/* Reads the rest of a reply header, of which *got bytes are there.  Returns -EINTR when a signal came first: call
 * again.  An impossible header is -EPROTO. */
int hx_frame_recv_head(int sock, struct hx_frame_reply *head, size_t *got);

#endif
