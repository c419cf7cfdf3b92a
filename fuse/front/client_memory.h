/* Another process's memory and descriptors, by process id: what a kernel driver gets for free. */
#ifndef HX_CLIENT_MEMORY_H
#define HX_CLIENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hx_piece;

/* All return 0 (hx_client_fd: a descriptor that the caller owns) or negative errno.  tid: any thread of the client. */
int hx_client_read(pid_t tid, void *dst, uint64_t addr, uint64_t len);
int hx_client_fd(pid_t tid, int fd);
/* n pieces, 1..HX_PIECES_MAX (call.h), with one system call; on failure some may have been moved. */
int hx_client_read_pieces(pid_t tid, const struct hx_piece *p, unsigned n);
int hx_client_write_pieces(pid_t tid, const struct hx_piece *p, unsigned n);

/* Whether the client's descriptor `fd` and `own` of this process are the same open file; false also when that cannot be
 * determined. */
bool hx_client_same_file(pid_t tid, int fd, int own);

/* Offset in the file with this inode of what the client sees at `addr`.  -ENOENT: another file, or nothing, is mapped
 * there; -EFAULT: it cannot be told. */
int hx_client_locate(pid_t tid, uint64_t inode, uint64_t addr, uint64_t *offset);

/* The process that thread `tid` belongs to, or 0. */
pid_t hx_client_process(pid_t tid);

/* Who answers for what thread `tid` of user `uid` does, so that a limit per user is one: who may take subordinate ids (/etc/subuid) has
 * thousands, but only in a user namespace, and that is its maker's.  `uid` itself outside of such namespaces, in one that root or the
 * rig's owner made (for others, in a container), and where the rig may not look. */
uid_t hx_client_user(pid_t tid, uid_t uid);

#endif
