/* Weights that a client handed over once: a buffer of its own that it mapped (fastrpc_mmap with FASTRPC_MAP_FD) and that the
 * skel uses where it is, from a load to the next.  One owner, who locks. */
#ifndef HX_SKEL_WEIGHTS_H
#define HX_SKEL_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

enum { HX_WEIGHTS_ALIGN = 128 }; /* of the buffer, and of each matrix in it */

struct hx_weights_map {
    int fd; /* the client's descriptor; -1: nothing is mapped */
};

/* Maps the first `bytes` of the buffer behind the client's descriptor; *at gets its start.  Nothing is mapped yet.
 * AEE_ENOSUCHMAP: the client has not mapped it; AEE_EBADPARM: it is smaller, or not aligned; both with a line in the log
 * that begins with `who`. */
int hx_weights_map(struct hx_weights_map *m, const char *who, int fd, size_t bytes, const uint8_t **at);

/* Lets go of the buffer, if there is one: until then the client cannot unmap it. */
void hx_weights_unmap(struct hx_weights_map *m);

/* 1 when a matrix of `need` bytes (0: there is no such matrix) at `offset` is aligned and lies in the first `bytes`. */
static inline int hx_weights_fit(size_t need, size_t offset, size_t bytes)
{
    return need && offset % HX_WEIGHTS_ALIGN == 0 && offset <= bytes && need <= bytes - offset;
}

#endif
