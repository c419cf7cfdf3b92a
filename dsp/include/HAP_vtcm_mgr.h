/* VTCM manager as skels call it (published names).
 *
 * VTCM is 8 MiB, one page, granted in steps of 256 KiB, shared by all PDs of the rig.  Memory stays granted until
 * HAP_release_VTCM() or until the PD ends.  Thread-safe.  HAP_compute_res.h is the newer interface to the same memory. */
#ifndef HAP_VTCM_MGR_H
#define HAP_VTCM_MGR_H

#ifdef __cplusplus
extern "C" {
#endif

/* `size` bytes (rounded up to 256 KiB) of contiguous VTCM, or NULL when no such range is free; never waits.  The contents
 * are undefined.  single_page_flag: 1 asks for one page of the processor: 256 KiB, 1, 4 or 8 MiB at a multiple of its
 * size, all of which the grant then has. */
void *HAP_request_VTCM(unsigned int size, unsigned int single_page_flag);

/* The same, but waits up to timeout_us for others to release; on the virtual clock, which shows it as `queue`.  More
 * urgent threads (QuRT priority) are served first. */
void *HAP_request_async_VTCM(unsigned int size, unsigned int single_page_flag, unsigned int timeout_us);

/* 0, or AEE_EBADPARM when pVA is not the start of a grant of this PD. */
int HAP_release_VTCM(void *pVA);

/* Whole VTCM: page size in bytes and number of pages.  Returns 0.  Pointers may be NULL. */
int HAP_query_total_VTCM(unsigned int *page_size, unsigned int *page_count);

/* Largest free range in bytes, the largest page in it, and the number of such pages.  Returns 0.  Pointers may be NULL. */
int HAP_query_avail_VTCM(unsigned int *avail_block_size, unsigned int *max_page_size,
                         unsigned int *num_pages);

#ifdef __cplusplus
}
#endif

#endif
