/* Grants of VTCM, for HAP_vtcm_mgr and the compute resource manager.  All under the machine's lock. */
#ifndef HX_VTCM_H
#define HX_VTCM_H

#include "base/machine.h"

/* What a request of `bytes` means.  single_page: it fits into one page (256 KiB, 1, 4 or 8 MiB), which it then gets wholly.
 * min_page: pages of at least this size, 0 = any.  min_bytes: less would do, 0 = no.  -1: more than there is. */
int hx_vtcm_want(struct hx_vtcm_want *want, uint32_t bytes, int single_page, uint32_t min_page,
                 uint32_t min_bytes);

/* First grain of what fits best (largest, then earliest free, then lowest) and its grains; -1: nothing fits.
 * over_cached: grains that contexts in cache mode hold count as free. */
int hx_vtcm_find(const struct hx_vtcm_want *want, int over_cached, uint32_t *n);

/* `want` is something that hx_vtcm_want() makes: for one that lay in shared memory. */
int hx_vtcm_can_be(const struct hx_vtcm_want *want);

/* There are such grains.  Functions below do nothing, or find nothing free, where there are not. */
int hx_vtcm_exists(int first, uint32_t n);

/* All of the grains are free. */
int hx_vtcm_is_free(int first, uint32_t n);

/* Pcycle from which on all of the grains are free. */
uint64_t hx_vtcm_free_at(int first, uint32_t n);

/* What the calling PD holds from now on, and can touch; and what it no longer holds. */
void hx_vtcm_take(int first, uint32_t n, uint32_t context, uint32_t bytes);
void hx_vtcm_give(int first, uint32_t n);

/* Bytes of VTCM that there are, by the profile: so many of the largest page that fits.  Both may be NULL. */
uint32_t hx_vtcm_total(uint32_t *page, uint32_t *n_pages);

/* Bytes of VTCM that are free; of the largest free range; of the largest free page, and how many such pages that range
 * has.  Each but the first may be NULL. */
uint32_t hx_vtcm_free(uint32_t *range, uint32_t *page, uint32_t *n_pages);

/* The calling PD in the machine's tables; the root PD has no client id and takes -1. */
int32_t hx_vtcm_owner(void);

#endif
