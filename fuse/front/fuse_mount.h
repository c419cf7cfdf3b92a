/* Mounting by fusermount3, which is setuid: as libfuse does it, but all or nothing.  libfuse mounts a second time when the
 * descriptor of the first mount does not come through, and nobody serves that one: whoever looks at it hangs. */
#ifndef HX_FUSE_MOUNT_H
#define HX_FUSE_MOUNT_H

struct hx_fuse_mount {
    int fd;   /* of /dev/fuse; owned by whoever serves it */
    int keep; /* ours: when it is closed, by our death too, fusermount3 takes the mount away (auto_unmount) */
    int helper; /* ours: a pidfd of that fusermount3, or -1 */
    int mounts; /* ours: /proc/self/mountinfo, which tells when it has changed; -1 = there is none */
    unsigned dev; /* minor number of the mount's device; its major is 0 */
};

/* Mounts on dir with these options (mount(8)'s, separated by commas).  0, or negative errno and nothing is mounted. */
int hx_fuse_mount(struct hx_fuse_mount *m, const char *dir, const char *options);

/* Takes the mount away, unless somebody else has.  hx_fuse_is_mounted() has to be asked while the descriptor is open.  A mount that was
 * detached (umount -l) while files of it are open is not mounted. */
void hx_fuse_unmount(struct hx_fuse_mount *m, const char *dir, int is_mounted);
int hx_fuse_is_mounted(const struct hx_fuse_mount *m);

/* 1: mounts have changed since it was last asked, and ours is not among them any more.  Asks no file system. */
int hx_fuse_was_detached(const struct hx_fuse_mount *m);

#endif
