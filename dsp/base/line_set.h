/* A set of 128-byte lines that forgets everything at once: which were touched. */
#ifndef HX_LINE_SET_H
#define HX_LINE_SET_H

#include <stdint.h>

struct hx_line_set {
    struct hx_line_page {
        uint64_t page;       /* address >> 12 */
        uint32_t generation; /* of `generation` below, else the slot is free */
        uint32_t lines;      /* bit per line */
    } *slot;                 /* [slots], open addressing */
    uint32_t slots;          /* a power of two, or 0 */
    uint32_t used;
    uint32_t generation;
};

/* Forgets all lines; also makes a zeroed struct ready. */
void hx_line_set_clear(struct hx_line_set *s);

/* Adds the line of `addr`.  1 when it was not in the set; 0 also when there is no memory for it. */
int hx_line_set_add(struct hx_line_set *s, uint64_t addr);

/* Frees the memory; the struct can still be used. */
void hx_line_set_free(struct hx_line_set *s);

#endif
