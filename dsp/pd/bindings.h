/* Buffers that MEM_MAP mapped, by the client's descriptor, with references (dspqueue).  A buffer that is referred to stays
 * where it is when the driver takes it away, so no client can pull memory from under a queue.  Thread-safe; below the
 * lock of buffers.c. */
#ifndef HX_DSP_BINDINGS_H
#define HX_DSP_BINDINGS_H

#include <stdint.h>

/* Buffer `id` lies at base and is mapped.  May be repeated.  0 or -ENOMEM. */
int hx_bindings_bind(int32_t id, int32_t client_fd, uint8_t *base, uint64_t size);

/* It is mapped no more; an id that is not bound is fine. */
void hx_bindings_unbind(int32_t id);

/* The driver takes buffer `id` away.  1: it is referred to and will be unmapped from here; 0: unmap it. */
int hx_bindings_keep(int32_t id);

/* Takes (delta 1), gives back (-1) or looks up (0) a reference.  va, size: may be NULL.  0, -ENOENT (not mapped), -EINVAL
 * (there is no reference to give back). */
int hx_bindings_ref(int32_t client_fd, int delta, void **va, uint64_t *size);

#endif
