/* Which memory is shared with the DSP: the registries behind rpcmem_alloc() and remote_register_buf().  Thread-safe. */
#ifndef HX_RPCMEM_H
#define HX_RPCMEM_H

#include <stddef.h>
#include <stdint.h>

/* What rpcmem_alloc() gave out. */
struct hx_allocation {
    char *va;
    size_t len; /* bytes, whole pages */
    int fd;
    int hidden; /* RPCMEM_HEAP_NOREG: never shared by itself */
};

/* Adds a copy of *a.  0 or -ENOMEM. */
int hx_rpcmem_add(const struct hx_allocation *a);

/* Removes the allocation that starts at va, and hands its descriptor and memory to the caller.  0, or -ENOENT (*a untouched). */
int hx_rpcmem_remove(const void *va, struct hx_allocation *a);

/* Descriptor of the allocation that starts at va, or -1. */
int hx_rpcmem_fd(const void *va);

/* Descriptor of the allocation that [va, va + len) lies wholly inside, or -1. */
int hx_rpcmem_find(const void *va, size_t len);

/* The same for buffers that the client registered (register.c). */
int hx_registered_find(const void *va, size_t len);

/* Bytes of the buffer behind a DMA handle: as registered for this one use, else the file's size.  0 or -1. */
int hx_dma_length(int fd, uint64_t *len);

/* Offset of va in the file of descriptor `fd` when that is the allocation that va lies in.  0, or -1: it is not (*offset untouched). */
int hx_rpcmem_locate(int fd, const void *va, uint64_t *offset);

#endif
