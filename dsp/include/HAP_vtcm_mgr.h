/* VTCM manager as skels call it (published names).
 *
 * VTCM is 8 MiB, one page, granted in steps of 256 KiB, shared by all PDs of the rig.  Memory stays granted until
 * HAP_release_VTCM() or until the PD ends.  Thread-safe. */
#ifndef HAP_VTCM_MGR_H
#define HAP_VTCM_MGR_H

#ifdef __cplusplus
extern "C" {
#endif

/* `size` bytes (rounded up to 256 KiB) of contiguous VTCM, or NULL when no such range is free; never waits.  The
 * contents are undefined.  single_page_flag: 1 asks for one page, which every grant here is. */
void *HAP_request_VTCM(unsigned int size, unsigned int single_page_flag);

/* 0, or AEE_EBADPARM when pVA is not the start of a grant of this PD. */
int HAP_release_VTCM(void *pVA);

/* Whole VTCM: page size in bytes and number of pages.  Returns 0. */
int HAP_query_total_VTCM(unsigned int *page_size, unsigned int *page_count);

/* Largest free range and largest page in bytes, and the number of such pages.  Returns 0. */
int HAP_query_avail_VTCM(unsigned int *avail_block_size, unsigned int *max_page_size,
                         unsigned int *num_pages);

#ifdef __cplusplus
}
#endif

#endif
