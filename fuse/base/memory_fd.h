/* Which descriptors of clients the rig takes at all. */
#ifndef HX_MEMORY_FD_H
#define HX_MEMORY_FD_H

#include <stdbool.h>

/* Whether fd is a memfd, other shared memory that can be sealed, or a dma-buf.  Asks no file system: that of a client's file
 * may be this rig's mount, which would wait for itself, or one whose server never answers. */
bool hx_fd_is_memory(int fd);

/* Closes n descriptors of a client's that are something else.  Closing a file asks its file system, which may never answer, so
 * that is done by a thread that nobody waits for. */
void hx_fd_drop(const int *fd, unsigned n);

/* Whether another descriptor may be taken at all: not while 64 such threads hang. */
bool hx_fd_may_take(void);

#endif
