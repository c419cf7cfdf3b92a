/* A rig that root starts runs other people's code as root: what is left of root's capabilities then. */
#ifndef HX_PRIVILEGES_H
#define HX_PRIVILEGES_H

/* Takes every capability but CAP_DAC_READ_SEARCH from the calling process, and so from what it forks: effective, permitted,
 * inheritable, ambient, and as far as it may, the bounding set.  Call it before there are threads and before seccomp.
 * Returns 0 or negative errno. */
int hx_drop_privileges(void);

#endif
