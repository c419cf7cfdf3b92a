/* How a client reaches the driver under test: the same calls for every front end.
 *
 * `fuse` and `cuse` are plain open(), ioctl() and close() on a node.  `socket` sends frames (rpc/wire/hx_frame.h) from a
 * client of its own, which keeps what a file descriptor promises: a fork shares it, and a call that is under way keeps
 * it open. */
#ifndef CONFORMANCE_ACCESS_H
#define CONFORMANCE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access {
    const char *name;
    bool kernel; /* the calls are system calls on a descriptor: the kernel restarts them, checks pointers, ... */
    int (*open)(const char *node);                     /* "fastrpc-cdsp": a handle, or -1 and errno */
    int (*ioctl)(int h, unsigned long cmd, void *arg); /* as ioctl() */
    int (*close)(int h);                               /* as close() */
    char *(*text)(const char *node);                   /* "status": malloc'ed, or NULL */
};

extern const struct access access_fuse, access_cuse, access_socket;
extern const struct access *dev; /* the one under test */

/* Folder of the rig's mount. */
extern char mount_dir[64];

/* Path of a node that is a file, until the next call. */
const char *access_path(const char *node);

/* access.text for rigs whose mount folder holds sockets. */
char *access_text_by_socket(const char *node);

/* Memory that the client shares with the DSP by descriptor, mapped from its start. */
struct shared {
    int fd;
    uint8_t *p;
    size_t bytes;
};
enum { SHARED_MAX = 64 };

#endif
