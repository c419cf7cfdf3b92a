/* Client buffers (rpcmem, dma-buf) that the driver has imported for a session.
 *
 * Keyed by the client's descriptor number and the file behind it, which is looked at on every use, as the kernel driver
 * compares the dma-buf: a number that was closed and opened again means the new file, whoever still holds the old buffer (a
 * call in flight, MEM_MAP).  A file that has grown since is imported anew as well.  A buffer that nobody holds any more stays
 * cached for the next call. */
#ifndef HX_BUFFER_H
#define HX_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"

struct hx_session;

struct hx_buffer {
    struct hx_buffer *next;
    int client_fd;     /* -1 = made by the driver */
    int32_t id;        /* announced to the PD */
    int fd;            /* our duplicate */
    uint64_t device, inode; /* the file */
    uint64_t size;     /* bytes, when it was imported */
    bool may_grow;     /* its file may have more by now; a dma-buf and what rpcmem_alloc() makes never do */
    unsigned refs;     /* calls in flight and MEM_MAPs */
    unsigned mem_maps; /* of which MEM_MAPs */
    unsigned handles;  /* references of DMA handles that the DSP has not given back */
    uint64_t raddr;    /* DSP address given by MEM_MAP */
    bool is_stranded;  /* made for MMAP before an INVOKE that was interrupted: MUNMAP does not find it any more */
};

/* The buffer behind the caller's descriptor, imported if need be; one reference is taken.  0, -EBADF when it is not open, -EINVAL
 * when it cannot be imported, or -ENOMEM when the session has as many as it may. */
int hx_buffer_get(struct hx_call *call, int client_fd, struct hx_buffer **out);

/* Without importing it: 0 when `client_fd` could be, and has `bytes` bytes, else -EBADF or -EINVAL. */
int hx_buffer_check(struct hx_call *call, int client_fd, uint64_t bytes);

/* Whether it has so many bytes.  A dma-buf consists of whole pages. */
bool hx_buffer_has(const struct hx_buffer *b, uint64_t bytes);

/* How many buffers each session may have: 1024, or its share of what is left of `descriptors` (RLIMIT_NOFILE). */
unsigned hx_buffer_share(uint64_t descriptors, unsigned sessions);

/* A buffer of the driver's own, `size` bytes of zeros, for MMAP; one reference is taken.  It has no client descriptor and
 * goes away with its last reference.  0 or negative errno. */
int hx_buffer_make(struct hx_session *s, uint64_t size, struct hx_buffer **out);
int hx_buffer_is_made(const struct hx_buffer *b);

/* An INVOKE is interrupted: what MMAP has made so far stays until the session ends, as in the kernel. */
void hx_buffer_strand_made(struct hx_session *s);

/* The DSP gives back a DMA handle (fdlist): drops the reference that the call with the handle left. */
void hx_buffer_return(struct hx_session *s, int client_fd);

/* Drops a reference. */
void hx_buffer_put(struct hx_session *s, struct hx_buffer *b);

/* Offset in the buffer of client address `addr`, by the client's mappings as they are now.  0, or -EFAULT: they cannot be looked at. */
int hx_buffer_offset(struct hx_call *call, const struct hx_buffer *b, uint64_t addr, uint64_t *offset);

/* Changes n bytes where they are. */
typedef void (*hx_buffer_alterer)(uint8_t *bytes, size_t n);

/* Hands the buffer's bytes from `at` on, `len` of them, to `alter`, piece by piece.  0 or negative errno; -EFAULT: they lie
 * outside, or not all of them are there any more because the client has truncated its file. */
int hx_buffer_alter(struct hx_buffer *b, uint64_t at, uint64_t len, hx_buffer_alterer alter);

/* The session ends: releases every buffer. */
void hx_buffer_forget_all(struct hx_session *s);

#endif
