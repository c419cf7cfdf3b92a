/* Just enough of <sys/types.h> to compile kernels for Hexagon where the compiler has no C library. */
#ifndef HEXRIG_LIBC_SYS_TYPES_H
#define HEXRIG_LIBC_SYS_TYPES_H

#include <stddef.h>

typedef int ssize_t;
typedef long off_t;
typedef int pid_t;

#endif
