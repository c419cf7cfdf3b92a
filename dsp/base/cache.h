/* A fully associative cache; tags only.
 *
 * A line's fate depends on how many lines came in since it did, and on nothing else: not on hits, nor on its address beyond its place in a
 * page.  Lines are counted in steps, so that within a step their order does not matter, either.  So it makes no difference where
 * the host maps memory, nor which accesses its compiler repeats, leaves out or exchanges. */
#ifndef HX_CACHE_H
#define HX_CACHE_H

#include <stdint.h>

enum { HX_CACHE_WAYS = 32 };

/* How long a line stays in a cache of C lines. */
enum hx_cache_stay {
    HX_CACHE_IN_TURN, /* until C others have come in */
    HX_CACHE_BY_LOT,  /* as if each that comes in took the place of a random one: until C others have in the mean, 6 C at most */
};

struct hx_cache {
    unsigned line_shift; /* log2 of the line's bytes */
    enum hx_cache_stay stay;
    uint64_t lines;      /* C */
    uint64_t came;       /* lines that ever came in */
    uint64_t steps;      /* since the last clear */
    uint64_t stepped;    /* lines that came in, before the present step */
    uint64_t counted;    /* of these, that took the place of another */
    uint64_t cleared;    /* and before the last clear */
    uint64_t sets;       /* a power of two */
    struct hx_cache_set {
        uint64_t line[HX_CACHE_WAYS]; /* + 1 */
        uint64_t since[HX_CACHE_WAYS]; /* `counted` when it came in, + 1 */
        uint32_t lot[HX_CACHE_WAYS];
        uint32_t stays[HX_CACHE_WAYS]; /* until so many others have come in */
        uint32_t next;                 /* way to be used next */
    } *set; /* [sets], NULL before hx_cache_init(); large enough for all that can still be there */
};

/* Room for `bytes`, at least one line.  0 or -ENOMEM. */
int hx_cache_init(struct hx_cache *c, uint64_t bytes, unsigned line_shift, enum hx_cache_stay stay);

/* Gives the memory back. */
void hx_cache_free(struct hx_cache *c);

/* Forgets everything. */
void hx_cache_clear(struct hx_cache *c);

/* A step ends.  Those of many lines end by themselves: after C/16, so that no loop finds more than there could be. */
void hx_cache_step(struct hx_cache *c);

/* Looks the line of `addr` up and takes it in.  1: it was there. */
int hx_cache_touch(struct hx_cache *c, uint64_t addr);

/* Drops the line of `addr`. */
void hx_cache_drop(struct hx_cache *c, uint64_t addr);

#endif
