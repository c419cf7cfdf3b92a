/* Who may open the device nodes. */
#ifndef HX_ACCESS_H
#define HX_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct hx_access {
    bool set; /* false: no option was given; FUSE then lets only the rig's owner in, CUSE everybody, and sockets whom
               * their folder lets in */
    mode_t mode;
    uid_t uid;
    gid_t gid;
};

/* mode: octal, NULL = 0660 when owner is given; owner: "UID", "UID:GID" or ":GID" in numbers, NULL = this process's.  0, or
 * -EINVAL, or -EPERM (only root gives files away), with one line in why. */
int hx_access_parse(struct hx_access *a, const char *mode, const char *owner, char *why,
                    size_t why_bytes);

#endif
