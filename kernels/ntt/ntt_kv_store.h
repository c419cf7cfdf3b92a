/* Where the keys of a cache lie: a part of them in VTCM, the others in the heap.
 *
 * Positions fill the places in their order and stay where they are.  A store belongs to one handle of the skel; whoever calls holds
 * that handle's lock, or is one of the threads that work for its call and write different blocks. */
#ifndef NTT_KV_STORE_H
#define NTT_KV_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "ring_ntt.h"

enum hx_store_place { HX_STORE_VTCM, HX_STORE_HEAP, HX_STORE_PLACES };

struct hx_store {
    size_t layers, heads; /* layers 0: there is none */
    size_t positions;     /* in all places */
    size_t block_words;   /* of one key */
    struct {
        size_t first, positions;
        uint32_t *blocks; /* [layer][position - first][head][block_words], 128-byte aligned; NULL: no positions */
    } place[HX_STORE_PLACES];
};

/* What a store is to hold, and the most bytes that each place may give. */
struct hx_store_cfg {
    size_t layers, positions, heads, block_words; /* none is 0 */
    size_t vtcm_bytes, heap_bytes;
};

/* All of it in the heap: AEE_EBADPARM (2 GiB or more), AEE_ENOMEMORY. */
int hx_store_make(struct hx_store *s, const struct hx_store_cfg *cfg);

/* As many positions as fit, maybe none.  AEE_EBADPARM: not even one position of this shape is below 2 GiB. */
int hx_store_make_within(struct hx_store *s, const struct hx_store_cfg *cfg);

/* Leaves a store without layers; accepts one. */
void hx_store_drop(struct hx_store *s);

/* The block of a key that the store holds. */
uint32_t *hx_store_block(const struct hx_store *s, size_t layer, size_t pos, size_t head);

/* Bytes read, by place. */
struct hx_store_read {
    uint64_t bytes[HX_STORE_PLACES];
};

/* hx_ring_dots_hvx() of a vector and the keys at first .. first + count - 1, whose residues of the ring begin `at` words into
 * each block.  Adds to *read. */
int hx_store_dots(const struct hx_store *s, const struct hx_ring *r, size_t at, size_t layer, size_t head, size_t first,
                  size_t count, const uint32_t *v, uint32_t *sums, struct hx_store_read *read);

#endif
