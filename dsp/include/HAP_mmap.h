/* Client buffers on the DSP by descriptor (published names).
 *
 * A buffer that the client has mapped (fastrpc_mmap) or passed as a DMA handle is found by the client's descriptor number.
 * When the last HAP_mmap_put() or HAP_munmap() is done, the driver learns it with the next reply and may forget the buffer.
 * Thread-safe. */
#ifndef HAP_MMAP_H
#define HAP_MMAP_H

#include <stddef.h>
#include <stdint.h>

#define HAP_PROT_NONE 0x00
#define HAP_PROT_READ 0x01
#define HAP_PROT_WRITE 0x02
#define HAP_PROT_EXEC 0x04

#ifdef __cplusplus
extern "C" {
#endif

/* *vaddr: where the buffer lies in this PD, below 4 GiB.  *paddr: the same number, as there is no other address here.
 * Either may be NULL.  AEE_SUCCESS, or AEE_ENOSUCHMAP. */
int HAP_mmap_get(int fd, void **vaddr, uint64_t *paddr);

/* AEE_SUCCESS, AEE_ENOSUCHMAP, or AEE_EBADSTATE when nobody holds it. */
int HAP_mmap_put(int fd);

/* Address of `len` bytes from `offset` on of the client's buffer; counts like HAP_mmap_get().  It lies where the buffer lies,
 * readable and writable whatever addr, prot and flags say; HAP_PROT_EXEC is refused.  (void *)-1: no such buffer, or
 * not that many bytes; the log says which. */
void *HAP_mmap(void *addr, int len, int prot, int flags, int fd, long offset);
void *HAP_mmap2(void *addr, size_t len, int prot, int flags, int fd, long offset);

/* Ends what HAP_mmap() gave.  AEE_SUCCESS, or AEE_ENOSUCHMAP: addr[len] does not lie in a buffer that somebody mapped. */
int HAP_munmap(void *addr, int len);
int HAP_munmap2(void *addr, size_t len);

#ifdef __cplusplus
}
#endif

#endif
