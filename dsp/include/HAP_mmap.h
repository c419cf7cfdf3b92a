/* Client buffers on the DSP by descriptor (published names).
 *
 * A buffer that the client has mapped (fastrpc_mmap) or passed as a DMA handle is found by the client's descriptor number.
 * When the last HAP_mmap_put() is done, the driver learns it with the next reply and may forget the buffer.
 * Thread-safe. */
#ifndef HAP_MMAP_H
#define HAP_MMAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* *vaddr: where the buffer lies in this PD, below 4 GiB.  *paddr: the same number, as there is no other address here.
 * Either may be NULL.  AEE_SUCCESS, or AEE_ENOSUCHMAP. */
int HAP_mmap_get(int fd, void **vaddr, uint64_t *paddr);

/* AEE_SUCCESS, AEE_ENOSUCHMAP, or AEE_EBADSTATE when nobody holds it. */
int HAP_mmap_put(int fd);

#ifdef __cplusplus
}
#endif

#endif
