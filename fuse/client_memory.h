/* Another process's memory and descriptors, by process id: how a kernel driver's view is had from user space. */
#ifndef HX_CLIENT_MEMORY_H
#define HX_CLIENT_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* All return 0 (hx_client_fd: a descriptor that the caller owns) or negative errno.  tid: any thread of the client. */
int hx_client_read(pid_t tid, void *dst, uint64_t addr, uint64_t len);
int hx_client_write(pid_t tid, uint64_t addr, const void *src, uint64_t len);
int hx_client_fd(pid_t tid, int fd);

/* Finds the mapping that holds `addr` and shows the file with this inode: [*va, *va + *len) from *offset on. */
int hx_client_locate(pid_t tid, uint64_t inode, uint64_t addr, uint64_t *va, uint64_t *len,
                     uint64_t *offset);

/* The process that thread `tid` belongs to, or 0. */
pid_t hx_client_process(pid_t tid);

#endif
