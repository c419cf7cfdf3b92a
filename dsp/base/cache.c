/* A simulated cache: tags only, least recently used goes first. */
#include "cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int hx_cache_init(struct hx_cache *c, unsigned bytes, unsigned line_shift)
{
    unsigned sets = 1;

    while (((uint64_t)sets * 2 * HX_CACHE_WAYS << line_shift) <= bytes)
        sets *= 2;
    c->line_shift = line_shift;
    c->sets = sets;
    c->tag = calloc((size_t)sets * HX_CACHE_WAYS, sizeof(*c->tag));
    return c->tag ? 0 : -ENOMEM;
}

void hx_cache_clear(struct hx_cache *c)
{
    memset(c->tag, 0, (size_t)c->sets * HX_CACHE_WAYS * sizeof(*c->tag));
}

/* The ways of a line's set, and its tag: never 0, and unique for addresses of up to 36 bits (more with wider lines). */
static uint32_t *find_set(const struct hx_cache *c, uint64_t addr, uint32_t *tag)
{
    uint64_t line = addr >> c->line_shift;

    *tag = (uint32_t)line + 1;
    return c->tag + (line & (c->sets - 1)) * HX_CACHE_WAYS;
}

static int way_of(const uint32_t *set, uint32_t tag)
{
    int w = 0;

    while (w < HX_CACHE_WAYS && set[w] != tag)
        w++;
    return w;
}

int hx_cache_touch(struct hx_cache *c, uint64_t addr)
{
    uint32_t tag, *set = find_set(c, addr, &tag);
    int w = way_of(set, tag), hit = w < HX_CACHE_WAYS;

    if (!hit)
        w = HX_CACHE_WAYS - 1;
    memmove(set + 1, set, (size_t)w * sizeof(*set));
    set[0] = tag;
    return hit;
}

void hx_cache_drop(struct hx_cache *c, uint64_t addr)
{
    uint32_t tag, *set = find_set(c, addr, &tag);
    int w = way_of(set, tag);

    if (w == HX_CACHE_WAYS)
        return;
    memmove(set + w, set + w + 1, (size_t)(HX_CACHE_WAYS - 1 - w) * sizeof(*set));
    set[HX_CACHE_WAYS - 1] = 0;
}
