/* Test support: what rigs of other users need of the machine.  All of it is for root, and changes the mount namespace that the caller
 * is in, which should be one of its own: unshare(CLONE_NEWNS). */
#ifndef OTHER_USERS_H
#define OTHER_USERS_H

#include <stddef.h>
#include <sys/types.h>

enum { HXT_NOBODY = 65534, HXT_STRANGER = 65533 };

/* `folder`: where it may put what it needs. */

/* A mount namespace of the calling process' own, out of which nothing is seen, also in a chroot whose root is no mount point: that one's
 * root becomes another mount of the same files.  0 or -1 with errno. */
int hxt_own_mounts(void);

/* /dev/fuse is for root alone on one machine and for everybody on the next: a device node of our own, with `mode`, lies over it afterwards.
 * 0 or -1. */
int hxt_fuse_with_mode(const char *folder, mode_t mode);

/* A fuse.conf with user_allow_other lies over the machine's: rigs that are not root's may have --mode.  0 or -1. */
int hxt_fuse_lets_others_in(const char *folder);

/* HXT_BUILD may lie where only root may go: shows it in `folder`/build, and points HEXRIG_LIBEXEC and DSP_LIBRARY_PATH there.  0 or -1. */
int hxt_show_build(const char *folder);

/* 1: user nobody may run what was built, and `build`, of `bytes`, becomes its path: HXT_BUILD; or where hxt_show_build() shows it in a
 * mount namespace that the caller gets; or, where there can be none, a copy in `folder`.  0: not even that.  For a process that does not
 * itself remove `folder` afterwards. */
int hxt_build_for_nobody(const char *folder, char *build, size_t bytes);

#endif
