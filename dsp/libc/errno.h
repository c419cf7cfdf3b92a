/* Just enough of <errno.h> to compile kernels for Hexagon where the compiler has no C library. */
#ifndef HEXRIG_LIBC_ERRNO_H
#define HEXRIG_LIBC_ERRNO_H

extern int errno;

#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EAGAIN 11
#define ENOMEM 12
#define EBUSY 16
#define EINVAL 22
#define ENOSPC 28
#define ERANGE 34
#define ETIMEDOUT 110

#endif
