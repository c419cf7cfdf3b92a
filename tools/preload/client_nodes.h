/* What a FastRPC client finds in /dev on a phone, and the two ioctls there that give it a descriptor: what hexrig has to do
 * inside or for the client, because a file system cannot put a descriptor into its caller.  Shared by libhexrig-preload.so
 * (inside the client) and `hexrig run-with` (beside it).
 *
 * All functions may be called from any thread.  Results are 0 (or a descriptor) or negative errno. */
#ifndef HX_CLIENT_NODES_H
#define HX_CLIENT_NODES_H

#include <linux/dma-heap.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fastrpc_uapi.h"

enum hx_client_node {
    HX_CLIENT_OTHER,  /* none of ours */
    HX_CLIENT_CDSP,   /* /dev/fastrpc-cdsp */
    HX_CLIENT_SECURE, /* /dev/fastrpc-cdsp-secure */
    HX_CLIENT_HEAP,   /* /dev/dma_heap/system */
    HX_CLIENT_PROC,   /* /sys/class/remoteproc/remoteproc0/name, by which the open library sees that there is a CDSP */
};

enum { HX_CLIENT_PATH_BYTES = 40 }; /* longer paths are none of ours */

/* What `path` (may be NULL) means, literally: no links, no doubled slashes, no relative names.  PROC only on machines without
 * remote processors of their own. */
enum hx_client_node hx_client_node(const char *path);

/* The rig's node for CDSP and SECURE, given the path of its fastrpc-cdsp.  -ENAMETOOLONG. */
int hx_client_node_path(enum hx_client_node node, const char *device, char *path, size_t bytes);

/* A descriptor that stands for HEAP or PROC: a memfd, PROC's with a text to read.  HEAP's has a name of its own, by which
 * hx_client_fd_kind() knows it, also after dup(), fork() and exec().  flags: O_CLOEXEC or 0. */
int hx_client_stand_in(enum hx_client_node node, int flags);

/* What descriptor `fd` of process `pid` (0 = this one) is: CDSP for both nodes of the rig whose fastrpc-cdsp is `device`, HEAP
 * for its stand-in, else OTHER.  Looks at the file, not at how it was opened.  Waits for a rig that was stopped. */
enum hx_client_node hx_client_fd_kind(pid_t pid, int fd, const char *device);

/* FASTRPC_IOCTL_ALLOC_DMA_BUFF and DMA_HEAP_IOCTL_ALLOC: check the request as the drivers do and make the memory, a sealed
 * memfd in whole pages of zeros.  The descriptor is returned, not stored in the struct.  -ENOMEM: 0 bytes, or 4 GiB and more,
 * which the DSP cannot address; the heap has -EINVAL for 0 and for flags that no heap knows. */
int hx_client_alloc_buff(const struct fastrpc_alloc_dma_buf *a);
int hx_client_alloc_heap(const struct dma_heap_allocation_data *a);

#endif
