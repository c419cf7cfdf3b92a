/* The table of VTCM grants: which grains fit a request, who holds them, from which pcycle on they are free.  And the memory behind
 * them, which the calling PD can touch only while it holds it. */
#include "vtcm.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "HAP_farf.h"
#include "cost/vtime.h"

/* In grains. */
static const uint32_t pages[] = {1, 4, 16, 32};
#define N_PAGES (sizeof(pages) / sizeof(pages[0]))

static uint32_t grains_of(uint32_t bytes)
{
    return bytes / HX_VTCM_GRAIN + (bytes % HX_VTCM_GRAIN != 0);
}

/* Smallest page of at least `grains`; 0: there is none. */
static uint32_t page_of(uint32_t grains)
{
    for (size_t i = 0; i < N_PAGES; i++)
        if (pages[i] >= grains)
            return pages[i];
    return 0;
}

static uint32_t round_up(uint32_t n, uint32_t to)
{
    return (n + to - 1) / to * to;
}

int hx_vtcm_want(struct hx_vtcm_want *want, uint32_t bytes, int single_page, uint32_t min_page,
                 uint32_t min_bytes)
{
    uint32_t page = page_of(grains_of(single_page ? bytes : min_page));

    *want = (struct hx_vtcm_want){grains_of(bytes), grains_of(min_bytes ? min_bytes : bytes), page};
    if (!page)
        return -1;
    want->grains = round_up(want->grains, page);
    want->least = round_up(want->least, page);
    if (want->least > want->grains)
        want->least = want->grains;
    return want->least > hx_machine->vtcm_grains ? -1 : 0;
}

int hx_vtcm_can_be(const struct hx_vtcm_want *want)
{
    return page_of(want->page) == want->page && want->page && want->least <= want->grains &&
           want->least <= hx_machine->vtcm_grains;
}

int hx_vtcm_exists(int first, uint32_t n)
{
    const unsigned all = hx_machine->vtcm_grains;

    return first >= 0 && (unsigned)first < all && n <= all - (unsigned)first;
}

/* Length of the free run that starts at grain `i`. */
static unsigned free_run(unsigned i)
{
    unsigned n = 0;

    while (i + n < hx_machine->vtcm_grains && hx_machine->vtcm[i + n].client == 0)
        n++;
    return n;
}

/* A context in cache mode holds it. */
static int held_cached(unsigned grain)
{
    uint32_t id = hx_machine->vtcm[grain].context;

    for (unsigned i = 0; id && i < HX_CRM_ENTRIES; i++)
        if (hx_machine->crm->entry[i].client && hx_machine->crm->entry[i].id == id)
            return hx_machine->crm->entry[i].cached;
    return 0;
}

static int suits(int first, uint32_t n, int over_cached)
{
    for (uint32_t i = (uint32_t)first; i < (uint32_t)first + n; i++)
        if (hx_machine->vtcm[i].client && !(over_cached && held_cached(i)))
            return 0;
    return 1;
}

int hx_vtcm_is_free(int first, uint32_t n)
{
    return hx_vtcm_exists(first, n) && suits(first, n, 0);
}

uint64_t hx_vtcm_free_at(int first, uint32_t n)
{
    uint64_t at = 0;

    if (!hx_vtcm_exists(first, n))
        return 0;
    for (uint32_t i = (uint32_t)first; i < (uint32_t)first + n; i++)
        if (hx_machine->vtcm[i].free_at > at)
            at = hx_machine->vtcm[i].free_at;
    return at;
}

/* Where exactly n grains fit; among places that are free by now in virtual time, none is better. */
static int find_exactly(uint32_t n, uint32_t page, int over_cached)
{
    uint64_t best_at = 0, now = hx_vt_now();
    int best = -1;

    for (uint32_t i = 0; i + n <= hx_machine->vtcm_grains; i += page) {
        uint64_t at;

        if (!suits((int)i, n, over_cached))
            continue;
        at = hx_vtcm_free_at((int)i, n);
        if (at < now)
            at = now;
        if (best < 0 || at < best_at) {
            best = (int)i;
            best_at = at;
        }
    }
    return best;
}

int hx_vtcm_find(const struct hx_vtcm_want *want, int over_cached, uint32_t *n)
{
    int first = -1;

    *n = want->grains;
    if (*n > hx_machine->vtcm_grains)
        *n = hx_machine->vtcm_grains;
    for (;; *n -= want->page) {
        first = find_exactly(*n, want->page, over_cached);
        if (first >= 0 || *n < want->least + want->page)
            return first;
    }
}

static void set_access(int first, uint32_t n, int protection)
{
    if (mprotect(hx_vtcm + (size_t)first * HX_VTCM_GRAIN, (size_t)n * HX_VTCM_GRAIN, protection))
        FARF(ERROR, "vtcm: %u grains from %d on: %s", n, first, strerror(errno));
}

/* What this PD had in a grain before somebody else held it is gone, as it would be from one memory.  Dropped pages come back as
 * zeroes; so do those that were never there. */
static void clear_if_others_held(int grain)
{
    if (hx_machine_shared->vtcm_last[grain] != hx_vtcm_owner())
        madvise(hx_vtcm + (size_t)grain * HX_VTCM_GRAIN, HX_VTCM_GRAIN, MADV_DONTNEED);
    hx_machine_shared->vtcm_last[grain] = hx_vtcm_owner();
}

void hx_vtcm_take(int first, uint32_t n, uint32_t context, uint32_t bytes)
{
    if (!hx_vtcm_exists(first, n))
        return;
    for (uint32_t i = (uint32_t)first; i < (uint32_t)first + n; i++) {
        hx_machine->vtcm[i].first = first;
        hx_machine->vtcm[i].context = context;
        hx_machine->vtcm[i].client = hx_vtcm_owner();
        clear_if_others_held((int)i);
    }
    hx_machine->vtcm[first].bytes = bytes;
    set_access(first, n, PROT_READ | PROT_WRITE);
}

void hx_vtcm_give(int first, uint32_t n)
{
    if (!hx_vtcm_exists(first, n))
        return;
    set_access(first, n, PROT_NONE);
    for (uint32_t i = (uint32_t)first; i < (uint32_t)first + n; i++) {
        hx_machine->vtcm[i].free_at = hx_vt_now();
        hx_machine->vtcm[i].client = 0;
        hx_machine->vtcm[i].context = 0;
    }
    hx_machine_freed();
}

uint32_t hx_vtcm_total(uint32_t *page, uint32_t *n_pages)
{
    const unsigned all = hx_machine->vtcm_grains;
    size_t i = N_PAGES - 1;

    while (pages[i] > all)
        i--;
    if (page)
        *page = pages[i] * HX_VTCM_GRAIN;
    if (n_pages)
        *n_pages = all / pages[i];
    return all * HX_VTCM_GRAIN;
}

uint32_t hx_vtcm_free(uint32_t *range, uint32_t *page, uint32_t *n_pages)
{
    uint32_t all = 0, largest = 0, start = 0, p = 0, n = 0;

    for (unsigned i = 0; i < hx_machine->vtcm_grains; i++) {
        all += hx_machine->vtcm[i].client == 0;
        if (free_run(i) > largest) {
            largest = free_run(i);
            start = i;
        }
    }
    for (size_t i = N_PAGES; i-- > 0 && !n;) {
        p = pages[i];
        for (uint32_t at = round_up(start, p); at + p <= start + largest; at += p)
            n++;
    }
    if (range)
        *range = largest * HX_VTCM_GRAIN;
    if (page)
        *page = n ? p * HX_VTCM_GRAIN : 0;
    if (n_pages)
        *n_pages = n;
    return all * HX_VTCM_GRAIN;
}

int32_t hx_vtcm_owner(void)
{
    return hx_pd_client ? hx_pd_client : -1;
}
