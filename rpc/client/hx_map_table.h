/* Which descriptors are mapped in which session.
 *
 * A map lives as long as its session, which may be an ended one that a thread still calls into: a later session of the same
 * number has maps of its own.  Thread-safe; AEE codes. */
#ifndef HX_MAP_TABLE_H
#define HX_MAP_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct hx_map {
    struct hx_map *next;
    int fd;
    unsigned index;      /* session that it belongs to */
    uint32_t generation; /* of that session */
    void *va;            /* host side, as the client said */
    uint64_t vaddr;      /* DSP side */
    size_t length;       /* bytes */
    unsigned refs;       /* of dspqueue packets */
};

/* What is looked for: fd, or (fd < 0) the DSP's address. */
struct hx_map_key {
    int fd;
    uint64_t vaddr;
};

/* Held over the driver's call, too, so that map and unmap of one descriptor cannot cross. */
void hx_map_lock(void);
void hx_map_unlock(void);

/* Under the lock.  Where the list points to the map, to take it out, or NULL. */
struct hx_map **hx_map_find(unsigned index, uint32_t generation, struct hx_map_key k);
void hx_map_add(struct hx_map *m); /* m: malloc'ed, the table's from now on */

/* Reference for dspqueue: delta as in hx_dspq.h.  AEE_ENOSUCHMAP, AEE_EBADPARM (nothing to give back). */
int hx_map_ref(unsigned index, uint32_t generation, int fd, int delta, void **va, uint64_t *size);

/* The session is over and nobody is inside it any more: its maps are forgotten. */
void hx_map_end_session(unsigned index, uint32_t generation);

#endif
