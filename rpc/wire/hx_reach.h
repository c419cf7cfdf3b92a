/* Can the rig reach this process?  A driver outside the kernel reads what an ioctl points to with process_vm_readv() and takes
 * descriptors with pidfd_getfd(), and Linux allows both only to a process that may trace it.
 *
 * Asked on a text node (`status`) of a FUSE mount, so that no session is taken.  Anything but a rig answers ENOTTY. */
#ifndef HX_REACH_H
#define HX_REACH_H

#include <stdint.h>
#include <sys/ioctl.h>

struct hx_reach {
    uint64_t addr;      /* in: 8 readable bytes of the caller's */
    int32_t fd;         /* in: any descriptor of the caller's that is not a file on a FUSE mount */
    int32_t memory;     /* out: 0, or the negative errno of reading addr */
    int32_t descriptor; /* out: 0, or the negative errno of taking fd */
    int32_t rig_pid;    /* out: as the rig sees itself */
    int32_t caller_pid; /* out: as the rig sees the caller; another number: another PID namespace */
    uint32_t reserved;  /* 0 */
};

#define HX_IOCTL_REACH _IOWR('X', 2, struct hx_reach)

_Static_assert(sizeof(struct hx_reach) == 32, "reach");

#endif
