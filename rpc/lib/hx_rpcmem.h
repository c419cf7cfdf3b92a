/* Which memory is shared with the DSP: the registry behind rpcmem_alloc().  Thread-safe. */
#ifndef HX_RPCMEM_H
#define HX_RPCMEM_H

#include <stddef.h>

/* Descriptor of the allocation that [va, va + len) lies wholly inside, or -1. */
int hx_rpcmem_find(const void *va, size_t len);

/* Where an allocation's descriptor is mapped.  Returns 0, or -1 (not ours; *va and *len untouched). */
int hx_rpcmem_find_fd(int fd, void **va, size_t *len);

#endif
