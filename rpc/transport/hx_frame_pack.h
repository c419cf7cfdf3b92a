/* One ioctl as one frame (hx_frame.h): which client memory and which descriptors it carries, and where a reply may
 * write. */
#ifndef HX_FRAME_PACK_H
#define HX_FRAME_PACK_H

#include <sys/uio.h>

#include "hx_frame.h"

/* A request, ready to be sent with one sendmsg(): iov[0..n_iov) and fd_numbers[0..head.n_fds). */
struct hx_frame_out {
    struct hx_frame head;
    struct hx_frame_seg segs[HX_FRAME_MAX_SEGS];
    struct hx_frame_fd fds[HX_FRAME_MAX_FDS];
    struct iovec iov[HX_FRAME_MAX_SEGS + 4];
    size_t n_iov;
};

/* Collects what `cmd` with its struct `arg` points to (borrowed until the frame is sent).
 * Descriptors that are not open are left out.
 * Returns 0, -EFAULT (an argument list or buffer at address 0, or /proc/self/maps cannot be asked where a shared one lies),
 * -E2BIG (more segments or descriptors than a frame holds), -EINVAL (more bytes than a frame holds, or a struct larger than
 * HX_FRAME_MAX_ARG). */
int hx_frame_pack(struct hx_frame_out *f, uint64_t id, unsigned long cmd, void *arg);

/* 1 when [addr, addr + len) lies inside one segment that the request offered with HX_SEG_OUT. */
int hx_frame_may_write(const struct hx_frame_out *f, uint64_t addr, uint64_t len);

#endif
