/* Test support: files on a FUSE server that does not answer everything, so that whoever needs the answer waits for ever. */
#ifndef MUTE_FILE_H
#define MUTE_FILE_H

#include <sys/types.h>

enum { MUTE_FILE_BYTES = 4096 };

/* Serves the folder `mute` of hxt_tmpdir(), which has to be there, until it is killed; for drv_fork().  In it are
 * "x": neither read() nor close() of it is answered;
 * "y": reading it is answered, writing is not, and opened with O_SYNC it is not cached, so that mmap() first waits for what was
 * written to it through another mapping. */
void mute_file_serve(int ready);

/* Kills it: whoever waits gets an error.  fusermount3's auto_unmount leaves the mount if it looks before the kernel has noticed the
 * server's end, so this unmounts, too. */
void mute_file_end(pid_t server);

#endif
