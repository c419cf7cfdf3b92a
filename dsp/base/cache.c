/* A simulated cache: for each line when it came in, and how many may come after it. */
#include "cache.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <sys/mman.h>

enum { LONGEST = 6, SPARE = 3, STEPS = 16, PAGE_SHIFT = 12 };

/* Lines that may come in after one that stays longest. */
static uint64_t longest(const struct hx_cache *c)
{
    return c->stay == HX_CACHE_BY_LOT ? LONGEST * c->lines : c->lines;
}

int hx_cache_init(struct hx_cache *c, uint64_t bytes, unsigned line_shift, enum hx_cache_stay stay)
{
    *c = (struct hx_cache){.line_shift = line_shift, .stay = stay, .lines = bytes >> line_shift, .sets = 1};
    if (c->lines == 0)
        c->lines = 1;
    /* Sets fill unevenly; with this much to spare none loses a line that could still be there. */
    while (c->sets * HX_CACHE_WAYS < SPARE * longest(c))
        c->sets *= 2;
    /* Not from the heap: the addresses that a skel gets there must not depend on which thread served which calls.
     * MAP_NORESERVE distinguishes it from malloc's maps, which the sandbox refuses. */
    c->set = mmap(NULL, c->sets * sizeof(*c->set), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c->set != MAP_FAILED)
        return 0;
    c->set = NULL;
    return -ENOMEM;
}

void hx_cache_free(struct hx_cache *c)
{
    if (c->set)
        munmap(c->set, c->sets * sizeof(*c->set));
    c->set = NULL;
}

void hx_cache_clear(struct hx_cache *c)
{
    c->cleared = c->counted = c->stepped = c->came;
    c->steps = 0;
}

/* Lines that came in when the cache was full; by lot, others take no place from any. */
static uint64_t took_a_place(const struct hx_cache *c)
{
    const uint64_t came = c->came - c->cleared, free_places = c->stay == HX_CACHE_BY_LOT ? c->lines : 0;

    return c->cleared + (came > free_places ? came - free_places : 0);
}

void hx_cache_step(struct hx_cache *c)
{
    c->steps++;
    c->stepped = c->came;
    c->counted = took_a_place(c);
}

static struct hx_cache_set *set_of(const struct hx_cache *c, uint64_t line)
{
    return &c->set[line * 0x9e3779b97f4a7c15u >> 32 & (c->sets - 1)];
}

static unsigned way_of(const struct hx_cache_set *s, uint64_t line)
{
    unsigned w = 0;

    while (w < HX_CACHE_WAYS && s->line[w] != line + 1)
        w++;
    return w;
}

/* How many lines may come in before the one with this lot goes. */
static uint32_t may_come(const struct hx_cache *c, uint32_t lot)
{
    if (c->stay == HX_CACHE_IN_TURN)
        return (uint32_t)c->lines;
    return (uint32_t)(-log((lot + 0.5) / 4294967296.0) * (double)c->lines);
}

/* The lot of a line that comes in, from its last one, or from the step and the line's place in its page. */
static uint32_t draw(uint64_t from)
{
    uint64_t x = (from + 1) * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(x >> 32);
}

static uint32_t first_lot(const struct hx_cache *c, uint64_t addr)
{
    return draw(c->steps << PAGE_SHIFT | addr % (1u << PAGE_SHIFT) >> c->line_shift);
}

int hx_cache_touch(struct hx_cache *c, uint64_t addr)
{
    const uint64_t line = addr >> c->line_shift;
    struct hx_cache_set *s = set_of(c, line);
    unsigned w = way_of(s, line);
    const uint64_t age = w < HX_CACHE_WAYS && s->since[w] > c->cleared ? c->counted + 1 - s->since[w] : UINT64_MAX;
    const int known = age < longest(c);

    if (age == 0 || (known && age < s->stays[w]))
        return 1;
    if (c->came - c->stepped > c->lines / STEPS)
        hx_cache_step(c);
    const uint32_t lot = known ? draw(s->lot[w]) : first_lot(c, addr);
    if (w < HX_CACHE_WAYS)
        s->line[w] = 0; /* ways are used in turn, so that those which came last are safe */
    w = s->next++ % HX_CACHE_WAYS;
    s->line[w] = line + 1;
    s->lot[w] = lot;
    s->stays[w] = may_come(c, lot);
    s->since[w] = c->counted + 1;
    c->came++;
    return 0;
}

void hx_cache_drop(struct hx_cache *c, uint64_t addr)
{
    const uint64_t line = addr >> c->line_shift;
    struct hx_cache_set *s = set_of(c, line);
    const unsigned w = way_of(s, line);

    if (w < HX_CACHE_WAYS)
        s->since[w] = 0;
}
