/* Bytes of a file as locks: they are gone with the process that has them, however it ended, and machines that share the file share them.
 * A lock is of an open file: of children that have it from their parent, too. */
#ifndef HX_DENSITY_LOCK_H
#define HX_DENSITY_LOCK_H

#include <sys/types.h>

/* 0; -EAGAIN: somebody else has it; or another negative errno. */
int hx_lock_take(int fd, off_t byte);

/* 1: somebody else has it, 0: nobody has, or negative errno. */
int hx_lock_is_held(int fd, off_t byte);

#endif
