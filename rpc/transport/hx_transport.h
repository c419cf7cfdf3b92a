/* How an ioctl reaches the driver: a file descriptor (FUSE, CUSE, a real phone) or the socket front end's frames.
 *
 * A transport is one open file of the driver.  ioctl() may be called from several threads at once; close() only when
 * none is inside. */
#ifndef HX_TRANSPORT_H
#define HX_TRANSPORT_H

#include <stddef.h>
#include <sys/types.h>

#include "hx_frame.h"

struct hx_transport;

#define HX_NODE_LIMIT_S 5 /* a text node or a greeting that takes longer is -ETIMEDOUT */

struct hx_transport_ops {
    /* Returns the result as the kernel sees it (hx_aee.h): >= 0, a negative errno, or a DSP code below -4095. */
    int (*ioctl)(struct hx_transport *t, unsigned long cmd, void *arg);
    void (*close)(struct hx_transport *t); /* frees t */
};

struct hx_transport {
    const struct hx_transport_ops *ops;
};

/* Opens a node, whatever it is.  Returns 0, or the negative errno that open() gives.  A FUSE rig that may not read the memory
 * of this process (not dumpable, Yama's ptrace_scope) is used through the sockets beside its mount. */
int hx_transport_open(const char *node, struct hx_transport **out);

/* The same for a node whose kind is known. */
int hx_transport_file_open(const char *node, struct hx_transport **out);
int hx_transport_socket_open(const char *node, struct hx_transport **out);

/* 0: the node of a FUSE rig that cannot reach this process; instead[bytes] gets the socket to use.  -ENOENT and others: go on
 * with the node itself. */
int hx_transport_detour(const char *node, char *instead, size_t bytes);

/* Writes to a node (`control`) through the socket `node`, likewise.  *reply: the rig's answer, malloc'ed, may be
 * empty; NULL when there was none. */
int hx_transport_socket_write(const char *node, const char *name, const char *text, char **reply);

/* Reads a text node through the socket `node` on a connection of its own.  *text: malloc'ed, for the caller. */
int hx_transport_socket_read(const char *node, const char *name, char **text);

/* The user who listens on the socket `node`. */
int hx_transport_socket_peer(const char *node, uid_t *uid);

/* One connection to the socket `node`, greeting read.  *fd is the caller's. */
int hx_frame_connect(const char *node, int *fd);

#endif
