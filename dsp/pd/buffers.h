/* Client buffers (rpcmem, dma-buf) that the driver announced to this PD, by id.  Thread-safe. */
#ifndef HX_DSP_BUFFERS_H
#define HX_DSP_BUFFERS_H

#include <stdint.h>

#include "hx_msg.h"

/* Applies a control message: HX_CTL_MAP maps fd (owned by the callee) below 4 GiB, HX_CTL_UNMAP forgets.  Either way
 * the message counts as seen.  Returns 0 or negative errno (the id then stays unknown). */
int hx_buffers_apply(const struct hx_ctl *ctl, int fd);

/* MEM_MAP mapped buffer `id`: from now on a dspqueue finds it by its descriptor (bindings.h), until HX_CTL_UNBIND.
 * 0 or negative errno. */
int hx_buffers_bind(int32_t id);

/* Counts a control message that is not about buffers (the root PD's) as seen. */
void hx_buffers_seen(uint32_t seq);

/* Waits until control messages up to `seq` were applied. */
void hx_buffers_wait(uint32_t seq);

/* HAP_mmap_get() and _put() (dsp/include/HAP_mmap.h).  AEE_SUCCESS, or AEE_ENOSUCHMAP / AEE_EBADSTATE. */
int hx_buffers_get_fd(int client_fd, void **vaddr);
int hx_buffers_put_fd(int client_fd);

/* Ends one use of the buffer that [addr, addr + len) lies in.  AEE_SUCCESS, or AEE_ENOSUCHMAP: nobody uses one there. */
int hx_buffers_put_addr(const void *addr, uint64_t len);

/* Bytes of the client's buffer.  AEE_SUCCESS or AEE_ENOSUCHMAP. */
int hx_buffers_size_fd(int client_fd, uint64_t *bytes);

/* A mapping of the caller's own, who unmaps it, of bytes [addr, addr + len) of a client's buffer: it stays when the buffer goes.  addr on a
 * page.  NULL: no buffer has them, or no memory. */
void *hx_buffers_twin(uint64_t addr, uint64_t len);

/* Client descriptors whose last use ended since the last time: the driver may forget them.  At most `max`. */
unsigned hx_buffers_returned(uint64_t *fds, unsigned max);

/* Address of bytes [offset, offset + len) of buffer `id`, or NULL when there is no such buffer or range. */
void *hx_buffers_at(int32_t id, uint64_t offset, uint64_t len);

#endif
