/* Which descriptors of clients the rig takes at all; the others are closed by closer.h. */
#ifndef HX_MEMORY_FD_H
#define HX_MEMORY_FD_H

#include <stdbool.h>

/* Whether fd is a memfd, other shared memory that can be sealed, or a dma-buf.  Asks no file system: that of a client's file
 * may be this rig's mount, which would wait for itself, or one whose server never answers. */
bool hx_fd_is_memory(int fd);

#endif
