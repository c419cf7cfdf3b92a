/* Programs that talk to the driver of Qualcomm's own kernels by ioctls: their /dev/adsprpc-smd is the rig's fastrpc-cdsp-secure, and each
 * request becomes one of Linux's driver; their /dev/ion gives memfds.  Nothing is remembered about descriptors: that of adsprpc-smd has
 * O_APPEND, which nobody sets on a device, and that of ion its name. */
#ifndef HX_MSM_H
#define HX_MSM_H

#include <stdbool.h>
#include <stdint.h>

enum hx_msm_node { HX_MSM_NONE, HX_MSM_DSP, HX_MSM_ION };

/* What a path means: /dev/adsprpc-smd, /dev/adsprpc-smd-secure, /dev/ion. */
enum hx_msm_node hx_msm_node(const char *path);

/* A descriptor for /dev/ion, or negative errno. */
int hx_msm_open_ion(int flags);

/* What an ioctl `cmd` on `fd` is for; NONE: it goes on untouched.  DSP: the caller still has to see that fd is the rig's. */
enum hx_msm_node hx_msm_of(int fd, uint32_t cmd);

/* Does the request.  `send` is the ioctl() to do it with.  As ioctl(): a result, or -1 with errno. */
int hx_msm_ioctl(int (*send)(int fd, unsigned long cmd, ...), int fd, uint32_t cmd, void *arg);
int hx_msm_ion_ioctl(uint32_t cmd, void *arg);

#endif
