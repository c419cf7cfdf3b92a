/* Opening a device node through libfuse: a file of a FUSE mount, or a CUSE device. */
#ifndef HX_FUSE_OPEN_H
#define HX_FUSE_OPEN_H

#include <stdbool.h>
#include <sys/types.h>

struct fuse_file_info;
struct fuse_req;
struct hx_driver;

/* Opens a session for process `pid` and answers req in every case, perhaps later: the opener may have to wait for one that is being
 * closed (core/opener.h).  fi->fh of the file is the session.  Each request that waits is a thread inside open(). */
void hx_fuse_open(struct fuse_req *req, const struct fuse_file_info *fi, struct hx_driver *d, pid_t pid, bool secure);

/* Ends the waiting of openers that have got a signal: EINTR.  Called at the end of each round of the loop. */
void hx_fuse_open_interrupts(struct hx_driver *d);

/* Ends the waiting of all, whose nodes are about to go. */
void hx_fuse_open_end_all(struct hx_driver *d);

#endif
