/* Page frames: pages numbered in the order in which a thread first touches them.
 *
 * Caches are indexed by frame, so that what a call costs depends on what it touches and not on where the host's kernel
 * has mapped it. */
#ifndef HX_PAGE_MAP_H
#define HX_PAGE_MAP_H

#include <stdint.h>

enum { HX_PAGE_SHIFT = 12 };

struct hx_page_map {
    struct hx_page_entry {
        uint64_t page;       /* address >> HX_PAGE_SHIFT */
        uint32_t frame;
        uint32_t generation; /* of `generation` below, else the slot is free */
    } *slot;                 /* [slots], open addressing */
    uint32_t slots;          /* a power of two, or 0 */
    uint32_t used;
    uint32_t generation;
    uint64_t last_page;      /* of the last question */
    uint64_t last_frame;
};

/* Forgets all pages; also makes a zeroed struct ready. */
void hx_page_map_clear(struct hx_page_map *f);

/* The address with its page's number replaced by its frame's.  The address itself when there is no memory for the table. */
uint64_t hx_page_map_at(struct hx_page_map *f, uint64_t addr);

/* Frees the memory; the struct can still be used. */
void hx_page_map_free(struct hx_page_map *f);

#endif
