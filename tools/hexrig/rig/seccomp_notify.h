/* seccomp user notification: a program's open() of /dev/fastrpc-cdsp and its kin, and the two ioctls that give a descriptor,
 * are answered by this process; the program may be static, needs no root and knows nothing of it.
 *
 * What is caught is decided in the kernel by a filter that looks at the system call's number and the ioctl's command, so
 * INVOKE and all else run at full speed; only open() and openat() are slower, as the filter cannot read their path.
 * It is no security boundary: what is not ours goes on unchanged. */
#ifndef HX_SECCOMP_NOTIFY_H
#define HX_SECCOMP_NOTIFY_H

#include <stddef.h>

/* 0, or -ENOTSUP with a reason: this machine has no user notification that we could use. */
int hx_seccomp_supported(char *err, size_t why_bytes);

/* Puts this process, and all that it starts, under the filter, for good.  Returns the descriptor that
 * hx_seccomp_serve() needs (close-on-exec), or negative errno: -EBUSY, another listener watches already; -ENOTSUP, Linux
 * before 5.14. */
int hx_seccomp_watch(void);

/* Takes one notification of `listener` and answers it, or lets a thread answer what may have to wait for the rig.  device:
 * path of the rig's fastrpc-cdsp, borrowed for good.  Blocks unless the listener is readable. */
void hx_seccomp_serve(int listener, const char *device);

#endif
