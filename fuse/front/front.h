/* Front ends: the ways in which clients reach the driver. */
#ifndef HX_FRONT_H
#define HX_FRONT_H

#include <stddef.h>

#include "core/driver.h"

struct hx_front {
    const char *name;
    /* Makes the nodes appear in d->mount.  0, or negative errno with one line in why. */
    int (*start)(struct hx_driver *d, char *why, size_t why_bytes);
    /* Takes them away. */
    void (*stop)(struct hx_driver *d);
    /* After each round of the loop; may be NULL. */
    void (*idle)(struct hx_driver *d);
};

extern const struct hx_front hx_front_fuse, hx_front_socket, hx_front_cuse;

/* front_socket.c: the device nodes as sockets in `folder`, which is kept until hx_sockets_stop(), beside any other front
 * end; once per process.  Results as start() has them. */
int hx_sockets_start(struct hx_driver *d, const char *folder, char *why, size_t why_bytes);
void hx_sockets_stop(struct hx_driver *d);

/* side_sockets.c: the same in the folder `<mount>.socket`, which is made: the way in for clients whose memory the rig may not
 * read.  A rig works without, so a failure is a line in the log. */
void hx_sockets_beside_start(struct hx_driver *d);
void hx_sockets_beside_stop(struct hx_driver *d);

#endif
