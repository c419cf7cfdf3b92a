/* Front ends: the ways in which clients reach the driver. */
#ifndef HX_FRONT_H
#define HX_FRONT_H

#include <stddef.h>

#include "driver.h"

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

#endif
